package cost

import (
	"math"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// Work is what a kernel does, in all of its calls, as far as its time depends
// on it.
type Work struct {
	Kernel string
	Calls  float64 `json:",omitempty"`
	// Builds is how many indexes that runs do not share are built since the
	// kernel before.
	Builds float64 `json:",omitempty"`
	// Divides says that decimals are divided, in 128 bits.
	Divides bool    `json:",omitempty"`
	Rows    float64 `json:",omitempty"` // of the source
	Read    float64 `json:",omitempty"` // bytes of its columns, by whole sectors
	// Fresh are bytes among these that kernels of the run have just written.
	Fresh float64 `json:",omitempty"`
	// Listed says that the source is groups in the order of their keys, of
	// which the first and the last ones of tiles have to be joined.
	Listed bool    `json:",omitempty"`
	Steps  float64 `json:",omitempty"` // stages, times the rows that they are carried out for
	// Scanned are rows of tiles whose threads meet to place what the tile
	// appends, or to join its runs, and Waits such tiles, times the accesses
	// that each waits for one after the other.
	Scanned  float64 `json:",omitempty"`
	Waits    float64 `json:",omitempty"`
	Queued   float64 `json:",omitempty"` // rows that go through the queue
	Expanded float64 `json:",omitempty"` // rows that expansions make
	Runs     float64 `json:",omitempty"` // rows that are added up as runs of equal keys
	Appended float64 `json:",omitempty"` // tuples
	Written  float64 `json:",omitempty"` // bytes of these, and of groups in order
	Shared   float64 `json:",omitempty"` // additions to groups in shared memory
	Table    float64 `json:",omitempty"` // bytes of a block's own groups
	Merged   float64 `json:",omitempty"` // cells of these that a block adds to those of all
	// Accesses are those to tables and columns by key or by row number.
	Accesses []Access `json:",omitempty"`
}

// Access is a random access of many rows to one table.
type Access struct {
	To      string  `json:",omitempty"`
	Kind    Kind    `json:",omitempty"`
	Rows    float64 `json:",omitempty"` // accesses
	Bytes   float64 `json:",omitempty"` // of the table
	Ordered bool    `json:",omitempty"` // neighbouring rows reach neighbouring entries
	Search  bool    `json:",omitempty"` // entries are found by search
}

// Kind is the kind of an access.
type Kind string

// The kinds of accesses.
const (
	Probe  Kind = "probe"
	Gather Kind = "gather"
	Atomic Kind = "atomic" // to the cells of groups, or to a set
)

// sector is the part of a column, in bytes, that memory delivers at once.
const sector = 32

// Facts is what the model asks of the facts and layouts of a program.
type Facts struct {
	Layouts *layout.Layouts
	// Loaded returns the number of rows of a relation of facts.
	Loaded func(r *harmony.Relation) (rows float64, ok bool)
	// Ascends reports whether the values of a column of facts ascend.
	Ascends func(r *harmony.Relation, col int) bool
	// Table returns the bytes of the table of a function of strings.
	Table func(i int) float64
	// NeedsSet reports whether a tuple may be inserted twice.
	NeedsSet func(r *harmony.Relation) bool
}

// Works returns what the kernels of a program do, in the order of the text,
// given their shapes and the sizes of the unfused graph. Kernels of the host
// are left out.
func Works(p *shape.Program, facts Facts, sizes Sizes) []Work {
	m := model{facts: facts, domains: p.Options.Domains, sizes: sizes, fills: fills(p.Graph),
		rows: map[string]float64{}, filling: map[string]float64{},
		ordered: map[string]map[int]bool{}}
	for _, k := range origins(p.Graph) {
		if s, ok := k.Source.(*harmony.GroupRows); ok {
			m.rows[s.Groups.Name] = sizes[k.Name].Out
		}
	}
	shapes := map[string]*shape.Function{}
	for _, f := range p.Functions {
		if f.Index == nil {
			shapes[f.Of] = f
		}
	}
	var out []Work
	builds := 0.0
	for _, c := range p.Graph.Commands() {
		run, ok := c.(*harmony.Run)
		if !ok {
			if b, ok := c.(*harmony.Build); ok {
				if _, shared := facts.Loaded(b.Index.Of); !shared {
					builds++
				}
			}
			continue
		}
		k := run.Kernel
		if f := shapes[k.Name]; f != nil {
			for _, s := range k.Sinks {
				if g, ok := s.(*harmony.Group); ok {
					m.filling[g.To.Name] += m.source(k)
				}
			}
			w := m.work(f)
			w.Builds, builds = builds, 0
			for _, s := range k.Sinks {
				w.Calls = max(w.Calls, sizes[k.OriginOf(s).Name].Calls)
			}
			out = append(out, w)
		}
	}
	return out
}

type model struct {
	facts   Facts
	domains *domain.Domains
	sizes   Sizes
	fills   map[string][]*harmony.Kernel
	rows    map[string]float64 // of groups
	filling map[string]float64 // rows of the sources of kernels that fill groups
	// ordered are the columns of temps and derived relations whose values
	// ascend within a tile, as their only kernel reads rows in that order.
	ordered map[string]map[int]bool
}

// ascends reports whether the values of a column of rows ascend.
func (m *model) ascends(r *harmony.Relation, col int) bool {
	return m.facts.Ascends(r, col) || len(m.fills[r.Name]) == 1 && m.ordered[r.Name][col]
}

// rowsOf returns the rows of a relation, over all calls that fill it.
func (m *model) rowsOf(r *harmony.Relation) float64 {
	if n, ok := m.facts.Loaded(r); ok {
		return n
	}
	n := 0.0
	for _, k := range m.fills[r.Name] {
		n += m.sizes[k.Name].Out
	}
	return n
}

// factor is by how much a stage changes the number of rows.
func (m *model) factor(k *harmony.Kernel, s harmony.Stage) float64 {
	if !harmony.ChangesRows(s) {
		return 1
	}
	from := k.OriginOf(s)
	f, n := m.sizes[from.Name], drops(from)
	if f.In <= 0 || n == 0 {
		return 1
	}
	return math.Pow(f.Out/f.In, 1/float64(n))
}

// source returns the rows that a kernel reads.
func (m *model) source(k *harmony.Kernel) float64 {
	switch s := k.Source.(type) {
	case *harmony.Rows:
		if n, ok := m.facts.Loaded(s.Rel); ok {
			return n
		}
		// The origin that reads the same rows has counted them.
		for _, work := range k.Stages {
			from := k.OriginOf(work)
			if rows, ok := from.Source.(*harmony.Rows); ok && rows.Rel.Name == s.Rel.Name {
				return m.sizes[from.Name].In
			}
		}
		return m.rowsOf(s.Rel)
	case *harmony.GroupRows:
		return m.slots(s.Groups)
	case *harmony.Values:
		return float64(len(s.Rows))
	}
	return 0
}

// slots is how many places a table of groups has.
func (m *model) slots(g *harmony.Groups) float64 {
	switch k := m.facts.Layouts.Groups[g]; k.Form {
	case abi.None:
		return 1
	case abi.Direct:
		return float64(k.Size)
	case abi.Ordered:
		return m.rows[g.Name]
	}
	// A table begins with room for the rows that come, within bounds.
	// A table begins with room for the rows that come, within bounds, and for
	// what all blocks may have begun.
	n := m.filling[g.Name]
	return slotsFor(max(m.rows[g.Name], min(n, expectedGroups)+min(n, begunGroups)))
}

// expectedGroups bounds the groups that a table has room for before any are
// known, and begunGroups those of tiles that are under way.
const (
	expectedGroups = 1 << 22
	begunGroups    = 1 << 21
)

// slotsFor is the number of slots of a hash table, at a load of two thirds or
// less.
func slotsFor(keys float64) float64 {
	slots := 64.0
	for 2*slots < 3*keys {
		slots *= 2
	}
	return slots
}

// pass is a walk along the stages of a kernel.
type pass struct {
	*model
	f       *shape.Function
	w       *Work
	ordered map[*harmony.Reg]bool // values and rows that ascend
	live    float64               // rows that are left
	all     float64               // that the tiles have
	depth   float64               // accesses that wait for one another
}

// work walks along the stages of a kernel in the order of their work.
func (m *model) work(f *shape.Function) Work {
	k := f.Kernel
	w := &Work{Kernel: k.Name, Calls: 1, Rows: m.source(k)}
	p := &pass{model: m, f: f, w: w, ordered: map[*harmony.Reg]bool{}, live: w.Rows, all: w.Rows}
	if s, ok := k.Source.(*harmony.GroupRows); ok {
		p.live = min(m.rows[s.Groups.Name], w.Rows) // the others are empty
		w.Listed = m.facts.Layouts.Groups[s.Groups].Form == abi.Ordered
	}
	p.walk(f.Work, false, nil)
	if f.Queue != nil {
		w.Queued = p.live
		ahead := map[harmony.Stage]bool{}
		for _, s := range f.Work.Stages {
			ahead[s] = true
		}
		p.walk(f.Queue.Behind, true, ahead)
	}
	scanned := w.Rows
	if f.Queue != nil {
		scanned = p.live
	}
	for _, s := range k.Sinks {
		g, grouped := s.(*harmony.Group)
		if !grouped || f.IsOrdered(g.To) || w.Expanded > 0 {
			w.Scanned = scanned
		}
		p.sink(s)
	}
	w.Waits = w.Scanned / float64(f.Threads*f.Items) * p.depth
	return *w
}

// walk goes along stages. Those behind a queue that are carried out again drop
// no rows.
func (p *pass) walk(work *shape.Work, queued bool, again map[harmony.Stage]bool) {
	k := p.f.Kernel
	for _, step := range work.Steps {
		// A tile begins the loads of a run at once.
		begun := p.live
		if step.Kind != shape.Run {
			p.depth++
		}
		if !queued && step.From == 0 {
			begun = p.all
		}
		for _, s := range work.Stages[step.From:step.To] {
			if queued {
				p.w.Steps += p.live
			} else {
				p.w.Steps += p.all
			}
			p.stage(k, s, begun, queued)
			if !again[s] {
				p.live *= p.factor(k, s)
			}
			if shape.IsExpansion(s) {
				p.all = p.live
				p.w.Expanded += p.live
			}
			if _, ok := s.(*harmony.Gather); ok {
				p.depth++
			}
		}
	}
}

func (p *pass) stage(k *harmony.Kernel, s harmony.Stage, begun float64, queued bool) {
	switch s := s.(type) {
	case *harmony.Load:
		p.load(k, s, begun)
	case *harmony.Map:
		if s.Func.Name == "div" && s.Out.Type.Kind == scalar.Decimal {
			p.w.Divides = true
		}
		if _, i, ok := p.domains.Table(s); ok {
			p.w.Accesses = append(p.w.Accesses, Access{To: s.Func.Name, Kind: Gather, Rows: p.live,
				Bytes: p.facts.Table(i)})
		}
	case *harmony.Probe:
		ordered := len(s.Key) > 0
		for _, o := range s.Key {
			ordered = ordered && p.ordered[o.Reg]
		}
		if s.Out != nil {
			p.ordered[s.Out] = ordered
		}
		bytes, search := p.index(s.Index)
		if bytes > 0 {
			p.w.Accesses = append(p.w.Accesses, Access{To: s.Index.Name, Kind: Probe, Rows: p.live,
				Bytes: bytes, Ordered: ordered && !search, Search: search})
		}
	case *harmony.Gather:
		of := s.Row.Row
		if k.PositionOf(s) != nil {
			return
		}
		bits := p.facts.Layouts.Columns[of][s.Col].Bits()
		p.ordered[s.Out] = p.ordered[s.Row] && p.ascends(of, s.Col)
		if bits > 0 {
			p.w.Accesses = append(p.w.Accesses, Access{To: of.Name + "." + of.Cols[s.Col].Name,
				Kind: Gather, Rows: p.live, Bytes: p.rowsOf(of) * float64(bits) / 8,
				Ordered: p.ordered[s.Row]})
		}
	}
}

// load counts the bytes of a column of which the rows that are left are read.
func (p *pass) load(k *harmony.Kernel, s *harmony.Load, rows float64) {
	bits := 64
	switch src := k.Source.(type) {
	case *harmony.Rows:
		if k.PositionOf(s) != nil {
			p.ordered[s.Out] = true
			return
		}
		bits = p.facts.Layouts.Columns[src.Rel][s.Col].Bits()
		p.ordered[s.Out] = p.ascends(src.Rel, s.Col)
	case *harmony.GroupRows:
		at := s.Col - len(src.Groups.Keys)
		if at >= 0 && src.Groups.Accs[at].Fn == queryplan.Avg && s.Out.Type.Kind == scalar.Decimal {
			p.w.Divides = true
		}
		p.ordered[s.Out] = s.Col == 0 && p.facts.Layouts.Groups[src.Groups].Form != abi.Hash
	case *harmony.Values:
		return
	}
	read := touched(rows, p.w.Rows, bits)
	p.w.Read += read
	if src, ok := k.Source.(*harmony.Rows); ok {
		if _, loaded := p.facts.Loaded(src.Rel); loaded {
			return
		}
	}
	p.w.Fresh += read
}

// touched returns the bytes of the sectors of a column in which some of its
// rows are.
func touched(rows, of float64, bits int) float64 {
	if rows <= 0 || of <= 0 || bits == 0 {
		return 0
	}
	each := sector * 8 / float64(bits)
	return of * float64(bits) / 8 * (1 - math.Pow(1-min(rows/of, 1), each))
}

// index returns the size of the table of an index, 0 for none, and whether it
// is searched.
func (p *pass) index(x *harmony.Index) (bytes float64, search bool) {
	k := p.facts.Layouts.Indexes[x]
	rows := p.rowsOf(x.Of)
	_, loaded := p.facts.Loaded(x.Of)
	form := k.Form
	if k.Open {
		form = k.FormFor(x.Kind, int(rows))
	}
	switch form {
	case abi.None:
		return 0, false
	case abi.Direct:
		switch x.Kind {
		case harmony.Exists:
			return float64(k.Size) / 8, false
		case harmony.Multi:
			return 8*float64(k.Size) + 4*rows, false
		}
		return 4 * float64(k.Size), false
	}
	slots := slotsFor(rows)
	if x.Kind != harmony.Multi && !loaded {
		slots *= 2
	}
	if x.Kind == harmony.Exists {
		return 8 * slots, true
	}
	return 16*slots + 4*rows, true
}

func (p *pass) sink(s harmony.Sink) {
	out := p.live
	p.w.Steps += out * float64(len(harmony.SinkOperands(s)))
	switch s := s.(type) {
	case *harmony.Store:
		p.append(s.To, s.Vals, out)
	case *harmony.Insert:
		if p.facts.NeedsSet(s.To) {
			k := p.facts.Layouts.Sets[s.To]
			bytes := float64(k.BitmapBytes())
			if k.Form != abi.Direct {
				bytes = 8 * slotsFor(out)
			}
			p.w.Accesses = append(p.w.Accesses, Access{To: s.To.Name, Kind: Atomic, Rows: out,
				Bytes: bytes, Search: k.Form != abi.Direct})
		}
		p.append(s.To, s.Vals, out)
	case *harmony.Group:
		p.group(s, out)
	}
}

// append counts the bytes of appended tuples.
func (p *pass) append(to *harmony.Relation, vals []harmony.Operand, rows float64) {
	bits := 0
	for _, c := range p.facts.Layouts.Columns[to] {
		bits += c.Bits()
	}
	p.keepOrder(to, vals)
	p.w.Appended += rows
	p.w.Written += rows * float64((bits+7)/8)
}

// keepOrder notes which columns of appended tuples ascend.
func (p *pass) keepOrder(to *harmony.Relation, vals []harmony.Operand) {
	cols := map[int]bool{}
	for i, o := range vals {
		cols[i] = o.Reg != nil && p.ordered[o.Reg]
	}
	p.model.ordered[to.Name] = cols
}

// group counts the additions to groups.
func (p *pass) group(s *harmony.Group, rows float64) {
	g := s.To
	lay := p.facts.Layouts.Groups[g]
	n := p.rows[g.Name]
	at := slices.IndexFunc(p.f.Groups, func(x *shape.Group) bool { return x.Sink == s })
	cells := 0.0
	for _, a := range g.Accs {
		if c := layout.Cell(a); c.Words > 0 {
			cells++
		}
		if a.Fn == queryplan.Avg {
			cells++
		}
	}
	how := shape.InMemory
	if at >= 0 {
		how = p.f.Groups[at].How
	}
	search := lay.Form == abi.Hash || lay.Form == abi.Wide
	slots := p.slots(g)
	switch how {
	case shape.InRegisters:
		p.w.Steps += p.w.Rows * cells
	case shape.InRuns:
		p.w.Runs += rows
		p.w.Written += n * 8 * (1 + cells)
	case shape.InCells:
		p.w.Shared += rows * cells
	case shape.InTable:
		t := p.f.Groups[at].Table
		p.w.Table += float64(t.Size)
		in := 1.0
		if places := float64(t.Places) * max(1, float64(t.Sharing)); n > places && !t.Fits {
			in = places / n
		}
		p.w.Shared += rows * cells * in
		p.w.Merged += cells * min(n, float64(t.Places))
		if in < 1 {
			p.memory(g, rows*(1-in), cells, slots, search)
		}
	default:
		p.memory(g, rows, cells, slots, search)
	}
}

// memory counts additions to the groups of all blocks.
func (p *pass) memory(g *harmony.Groups, rows, cells, slots float64, search bool) {
	if search {
		p.w.Accesses = append(p.w.Accesses, Access{To: g.Name, Kind: Probe, Rows: rows,
			Bytes: 8 * slots, Search: true})
	}
	p.w.Accesses = append(p.w.Accesses, Access{To: g.Name, Kind: Atomic, Rows: rows * cells,
		Bytes: 8 * slots * cells})
}
