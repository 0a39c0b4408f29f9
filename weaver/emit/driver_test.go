package emit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// variant is one way to generate code for a program and to run it.
type variant struct {
	name  string
	items int
	fixed bool // parameters that are known are constants of the code
	// groupBits is how many bits the numbers of groups have at most, 0 for 8;
	// others have none.
	groupBits int
	compact   bool
	tight     bool // gauges stop workers after each tile or round
	bounds    bool // registers have the bounds of package ranges
	form      abi.Form
	cut       bool // queues wherever rows are dropped
	// pipeline optimises a CPU's code; empty for quick.
	pipeline string
	// crowded means that each group gets hundreds of rows, as far as code
	// knows.
	crowded bool
	// sm is the compute capability that a GPU's code is for, and threads what a
	// block has; 0 on a CPU.
	sm, threads int
}

var variants = []variant{
	{name: "direct fixed", items: 32, fixed: true, compact: true, bounds: true, form: abi.Direct},
	{name: "hash fixed", items: 1024, fixed: true, compact: true, bounds: true, form: abi.Hash,
		pipeline: "default<O3>"},
	{name: "wide fixed", items: 64, fixed: true, compact: true, tight: true, form: abi.Wide},
	{name: "direct open", items: 32, compact: true, tight: true, form: abi.Direct},
	{name: "hash open in place", items: 64, tight: true, bounds: true, form: abi.Hash},
	{name: "hash fixed in place", items: 32, fixed: true, tight: true, form: abi.Hash},
	{name: "wide open in place", items: 32, form: abi.Wide},
	{name: "direct fixed queue", items: 32, fixed: true, bounds: true, cut: true, form: abi.Direct},
	{name: "hash open queue", items: 64, tight: true, cut: true, form: abi.Hash},
	{name: "wide fixed queue", items: 32, fixed: true, tight: true, cut: true, form: abi.Wide},
}

// Sizes of tables, which hold all that the tests' programs derive.
const (
	mostRows   = 1 << 16
	mostGroups = 1 << 12
	mostBits   = 18 // of keys of form Direct
	mostBorder = 64 // groups of form Ordered that are before the list
)

// memory keeps what code has addresses of.
type memory struct {
	kept  []any
	arena *arena // nil: Go's heap
}

// alloc returns n zeroes, of a type without pointers.
func alloc[T any](m *memory, n int) []T {
	if m.arena != nil {
		var zero T
		return unsafe.Slice((*T)(m.arena.take(n*int(unsafe.Sizeof(zero)))), n)
	}
	s := make([]T, n)
	m.kept = append(m.kept, s)
	return s
}

func address[T any](s []T) int64 { return int64(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) }

// columnData is a column's layout and offsets.
type columnData struct {
	width      int
	base, step int64
	data       []byte
}

func (c *columnData) word(i int) int64 {
	var offset uint64
	for b := range c.width {
		offset |= uint64(c.data[i*c.width+b]) << (8 * b)
	}
	return c.base + c.step*int64(offset)
}

func (c *columnData) set(i int, word int64) {
	offset := uint64(word-c.base) / uint64(c.step)
	for b := range c.width {
		c.data[i*c.width+b] = byte(offset >> (8 * b))
	}
}

// newColumn makes a column for words within a bound.
func newColumn(m *memory, in interval.Interval, step int64, n int) *columnData {
	c := &columnData{width: 8, step: step}
	if bits := in.Bits(); !in.Empty() && bits < 64 {
		c.base = in.Lo
		for _, w := range []int{4, 2, 1, 0} {
			if bits <= 8*w {
				c.width = w
			}
		}
	}
	c.data = alloc[byte](m, n*c.width+16)
	return c
}

// keyFields is the layout of packed keys.
type keyFields struct {
	form   abi.Form
	fields []interval.Field
	bits   int
}

// chooseKeys lays out keys of columns within bounds in a form, or one that
// suits them better.
func chooseKeys(in []interval.Interval, form abi.Form) keyFields {
	l := interval.NewLayout(in)
	k := keyFields{form: form, fields: l.Fields}
	for _, f := range l.Fields {
		k.bits += int(f.Bits)
	}
	switch {
	case l.Words > 1:
		k.form, k.fields = abi.Wide, make([]interval.Field, len(in))
	case form == abi.Ordered: // as groups alone may be
		k.form = abi.Hash
	case form == abi.Wide && len(in) < 2:
		k.form = abi.Hash
	case form == abi.Direct && k.bits > mostBits:
		k.form = abi.Hash
	}
	return k
}

// relationData is a relation's rows; gauge[0] counts them.
type relationData struct {
	decl      *harmony.Relation
	cols      []*columnData
	gauge     []int64
	old, full int
	keys      keyFields
	table     []uint64
	size      int64
	pointers  []int64
}

type indexData struct {
	keys          keyFields
	table, begins []uint64
	rows          []uint32
	size          int64
	wide          *wideData
}

// wideData is a row set with its columns.
type wideData struct {
	slots    []uint64
	columns  [][]int64
	pointers []int64
	gauge    []int64
}

func newWide(m *memory, width, n int) *wideData {
	w := &wideData{slots: alloc[uint64](m, n), gauge: alloc[int64](m, 2)}
	w.gauge[1] = math.MaxInt64
	w.pointers = alloc[int64](m, width)
	for i := range width {
		w.columns = append(w.columns, alloc[int64](m, n))
		w.pointers[i] = address(w.columns[i])
	}
	return w
}

type groupsData struct {
	decl     *harmony.Groups
	keys     keyFields
	table    []uint64
	size     int64
	wide     *wideData
	gauge    []int64
	cells    [][]int64
	occupied []int64
	slots    int
}

// driver runs a program the way that harmony/abi asks of a runtime.
type driver struct {
	t       testing.TB
	program *harmony.Program
	domains *domain.Domains
	dicts   []*dictionary
	ranges  *ranges.Ranges
	v       variant
	mem     memory
	code    *Code
	on      machine
	rels    map[*harmony.Relation]*relationData
	indexes map[*harmony.Index]*indexData
	groups  map[*harmony.Groups]*groupsData
	values  map[*harmony.Kernel][]*columnData
	tables  []*tableData
	// violations has the tuples by the text of the constraint.
	violations map[string]planref.Rows
	dropped    []int64
	fault      []int64
	passes     int // of workers over the rest of their tiles
}

// newDriver lays out a program's data over facts, and compiles the program.
func newDriver(t testing.TB, p *harmony.Program, facts map[string]planref.Rows, v variant,
	on machine) *driver {
	t.Helper()
	d := &driver{
		t: t, program: p, v: v, domains: domain.Find(p), on: on, mem: memory{arena: on.memory()},
		rels: map[*harmony.Relation]*relationData{}, indexes: map[*harmony.Index]*indexData{},
		groups: map[*harmony.Groups]*groupsData{}, values: map[*harmony.Kernel][]*columnData{},
		violations: map[string]planref.Rows{},
	}
	d.dropped, d.fault = alloc[int64](&d.mem, 1), alloc[int64](&d.mem, 1)
	d.settle(facts)
	d.ranges = ranges.Find(p, d.domains, ranges.Options{
		UnknownLiterals: true,
		Column: func(rel *harmony.Relation, col int) interval.Interval {
			in := interval.None
			for _, row := range factsOf(rel, facts) {
				in = in.Union(interval.Of(d.word(row[col], d.domains.Column(rel, col))))
			}
			return in
		},
		Domain: func(id int) interval.Interval { return d.dicts[id].bounds() },
	})
	d.layOut(facts)
	code, err := Program(p, Options{
		Target:    on.target(v),
		Fix:       d.fix,
		Range:     d.registerRange,
		Domains:   d.domains,
		NoCompact: !v.compact,
		Cut:       v.cut,
	})
	if err != nil {
		t.Fatal(err)
	}
	d.code = code
	on.load(t, code, v)
	return d
}

// newJIT makes a JIT that has the primitives which code calls.
func newJIT(t testing.TB, c *Code) *llvm.JIT {
	t.Helper()
	jit, err := library(t).NewJIT()
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := hostcode.Symbols(library(t), nil, hostcode.Calls(c.IR))
	if err == nil {
		err = jit.Define(symbols)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := jit.Close(); err != nil {
			t.Error(err)
		}
	})
	return jit
}

func (d *driver) registerRange(r *harmony.Reg) (lo, hi int64, ok bool) {
	if !d.v.bounds {
		return 0, 0, false
	}
	in, exact := d.ranges.Reg(r)
	return in.Lo, in.Hi, exact && !in.Empty()
}

func factsOf(rel *harmony.Relation, facts map[string]planref.Rows) planref.Rows {
	if rel.Kind != queryplan.Input && rel.Kind != queryplan.Table {
		return nil
	}
	rows := facts[rel.Source]
	if rel.Kind == queryplan.Input {
		return planref.Dedup(rows)
	}
	var out planref.Rows
	for _, r := range rows {
		row := make([]scalar.Value, len(rel.Stored))
		for i, s := range rel.Stored {
			row[i] = r[s]
		}
		out = append(out, row)
	}
	return out
}

func (d *driver) layOut(facts map[string]planref.Rows) {
	bounds := func(v harmony.Managed, cols []int) []interval.Interval {
		out := make([]interval.Interval, len(cols))
		for i, c := range cols {
			out[i] = d.ranges.Column(v, c)
		}
		return out
	}
	for _, rel := range d.program.Relations {
		r := &relationData{decl: rel, gauge: alloc[int64](&d.mem, 2)}
		d.rels[rel] = r
		all := bounds(rel, upTo(len(rel.Cols)))
		r.pointers = alloc[int64](&d.mem, len(rel.Cols))
		if rel.Kind == queryplan.Derived {
			r.keys = chooseKeys(all, d.v.form)
			r.table, r.size = d.tableFor(r.keys)
		}
		rows := factsOf(rel, facts)
		n := mostRows
		if rows != nil {
			n = len(rows)
		}
		for i := range rel.Cols {
			in := all[i]
			if r.keys.form == abi.Wide {
				in = interval.All
			}
			c := newColumn(&d.mem, in, 1, n)
			r.cols = append(r.cols, c)
			r.pointers[i] = address(c.data)
			for j, row := range rows {
				c.set(j, d.word(row[i], d.domains.Column(rel, i)))
			}
		}
		r.gauge[0], r.full = int64(len(rows)), len(rows)
	}
	for _, x := range d.program.Indexes {
		d.indexes[x] = &indexData{}
		d.indexes[x].keys.fields = []interval.Field{{Bits: 32}}
		if !x.ByPosition() {
			d.indexes[x].keys = chooseKeys(bounds(x.Of, x.Key), d.v.form)
		}
	}
	for _, g := range d.program.Groups {
		k := chooseKeys(bounds(g, upTo(len(g.Keys))), d.v.form)
		switch {
		case len(g.Keys) == 0:
			k.form = abi.None
		case k.form == abi.Direct && k.bits > cmp.Or(d.v.groupBits, 8):
			k.form = abi.Hash
		case d.v.form == abi.Ordered:
			k.form = abi.Ordered
		}
		d.groups[g] = &groupsData{decl: g, keys: k}
		d.clearGroups(d.groups[g])
	}
	for _, k := range d.program.Kernels() {
		src, ok := k.Source.(*harmony.Values)
		if !ok {
			continue
		}
		for i := range src.Cols {
			c := newColumn(&d.mem, interval.All, 1, len(src.Rows))
			for j, row := range src.Rows {
				c.set(j, d.word(row[i], d.domains.Values(src, i)))
			}
			d.values[k] = append(d.values[k], c)
		}
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// tableFor makes the table of a set or of an exists index.
func (d *driver) tableFor(k keyFields) (table []uint64, size int64) {
	switch k.form {
	case abi.Direct:
		return alloc[uint64](&d.mem, 1<<k.bits/64+1), 1 << k.bits
	case abi.Hash, abi.Wide:
		return alloc[uint64](&d.mem, 2*mostRows+2), 2*mostRows - 1
	}
	return nil, 0
}

func (d *driver) clearGroups(g *groupsData) {
	m := &d.mem
	g.gauge = alloc[int64](m, 2)
	switch g.keys.form {
	case abi.None:
		g.slots, g.size = 1, 1
	case abi.Direct:
		g.slots, g.size = 1<<g.keys.bits, 1<<g.keys.bits
	case abi.Hash:
		g.table = alloc[uint64](m, mostGroups+2)
		g.slots, g.size = mostGroups+1, mostGroups-1
	case abi.Wide:
		g.wide = newWide(m, len(g.decl.Keys), mostGroups)
		g.table, g.gauge, g.size = g.wide.slots, g.wide.gauge, mostGroups-1
		g.slots = mostGroups
	case abi.Ordered:
		g.table = alloc[uint64](m, mostRows)
		g.slots, g.size = mostRows, mostBorder-1
		for i := range mostBorder {
			g.table[i] = math.MaxUint64
		}
	}
	g.gauge[1] = math.MaxInt64
	g.cells = nil
	for _, a := range g.decl.Accs {
		cell := abi.CellOf(a.Fn, a.In)
		words := alloc[int64](m, cell.Words*g.slots)
		for i := range words {
			words[i] = cell.Initial
			if g.keys.form == abi.Ordered && i >= cell.Words*mostBorder {
				words[i] = 0x5555555555 // nobody clears them
			}
		}
		g.cells = append(g.cells, words)
	}
	g.occupied = alloc[int64](m, g.slots)
}

// entry returns the function of a role.
func (d *driver) entry(role abi.Role, of string) *abi.Entry {
	for _, e := range d.code.Module.Entries {
		if e.Role == role && e.Of == of {
			return e
		}
	}
	d.t.Fatalf("there is no %s of %s", role, of)
	return nil
}

// call runs an entry over rows, and makes room whenever a gauge stops workers.
func (d *driver) call(e *abi.Entry, from, until int, gauges [][]int64,
	special func(p abi.Param) (int64, bool)) {
	// Not on the stack, which a call back into Go may move.
	params := alloc[int64](&d.mem, len(e.Params)+1)
	for i, p := range e.Params {
		word, ok := special(p)
		switch {
		case ok:
		case p.Kind == abi.RowsFrom:
			word = int64(from)
		case p.Kind == abi.RowsUntil:
			word = int64(until)
		default:
			word = d.param(p, e)
		}
		params[i] = word
	}
	workers, words := d.on.workers(), e.StateWords()
	states := alloc[int64](&d.mem, workers*words)
	sharing := 1
	if d.v.tight {
		sharing = workers
	}
	e.Start(states, workers, int64(from), int64(until), sharing)
	for more := true; more; {
		for _, g := range gauges {
			g[1] = math.MaxInt64
			if d.v.tight {
				g[1] = g[0]
			}
		}
		if d.passes++; d.passes > 1<<20 {
			d.t.Fatalf("%s does not end", e.Symbol)
		}
		d.on.pass(d.t, e, params[:len(e.Params)], states)
		more = false
		for w := range workers {
			more = more || states[w*words] < states[w*words+1]
		}
	}
}

func noSpecial(abi.Param) (int64, bool) { return 0, false }

func (d *driver) rowsOf(r *relationData, version harmony.Version) (from, until int) {
	switch {
	case r.decl.Kind != queryplan.Derived:
		return 0, int(r.gauge[0])
	case version == harmony.Old:
		return 0, r.old
	case version == harmony.Delta:
		return r.old, r.full
	}
	return 0, r.full
}

func (d *driver) runKernel(k *harmony.Kernel) error {
	e := d.entry(abi.Kernel, k.Name)
	from, until := 0, 0
	special := noSpecial
	switch s := k.Source.(type) {
	case *harmony.Rows:
		from, until = d.rowsOf(d.rels[s.Rel], s.Version)
	case *harmony.GroupRows:
		until = d.groups[s.Groups].slots
		switch d.groups[s.Groups].keys.form {
		case abi.Wide:
			until = int(d.groups[s.Groups].gauge[0])
		case abi.Ordered:
			until = mostBorder + int(d.groups[s.Groups].gauge[0])
		}
	case *harmony.Values:
		until = len(s.Rows)
		special = func(p abi.Param) (int64, bool) {
			switch p.Kind {
			case abi.ValuesData:
				return address(d.values[k][p.Index].data), true
			case abi.ValuesBase:
				return d.values[k][p.Index].base, true
			case abi.ValuesStep:
				return 1, true
			case abi.ValuesWidth:
				return int64(d.values[k][p.Index].width), true
			}
			return 0, false
		}
	}
	var gauges [][]int64
	for _, s := range k.Sinks {
		switch v := harmony.SinkTarget(s).(type) {
		case *harmony.Relation:
			gauges = append(gauges, d.rels[v].gauge)
		case *harmony.Groups:
			gauges = append(gauges, d.groups[v].gauge)
		}
	}
	d.call(e, from, until, gauges, special)
	for _, s := range k.Sinks {
		if r, ok := harmony.SinkTarget(s).(*harmony.Relation); ok && d.rels[r].gauge[0] > mostRows {
			d.t.Fatalf("%s has %d rows", r.Name, d.rels[r].gauge[0])
		}
	}
	if d.fault[0] != 0 {
		return planref.ErrOverflow
	}
	return nil
}

func (d *driver) build(x *harmony.Index, of harmony.Version) {
	m, data := &d.mem, d.indexes[x]
	rel := d.rels[x.Of]
	from, until := d.rowsOf(rel, of)
	n := until - from
	if data.size = int64(until); x.ByPosition() {
		return
	}
	keys := n + 1 // at most, of a table behind wide tuples
	form := data.keys.form
	if form == abi.Direct {
		keys = 1 << data.keys.bits
	}
	slots := 16
	for slots < 2*n {
		slots *= 2
	}
	var gauges [][]int64
	if form == abi.Wide {
		data.wide = newWide(m, len(x.Key), slots)
		gauges = append(gauges, data.wide.gauge)
	}
	hash := form == abi.Hash
	data.size = int64(keys)
	if hash {
		data.size = int64(slots - 1)
		keys = slots + 1
	}
	switch x.Kind {
	case harmony.Exists:
		data.table = alloc[uint64](m, keys+1)
	case harmony.Unique:
		data.table = alloc[uint64](m, 2*keys+2)
	case harmony.Multi:
		data.table = alloc[uint64](m, keys+1)
		data.begins = alloc[uint64](m, keys+2)
		data.rows = alloc[uint32](m, n+1)
		d.call(d.entry(abi.BuildCount, x.Name), from, until, gauges, noSpecial)
		sum := uint64(0)
		for i := 1; i < len(data.begins); i++ {
			sum, data.begins[i] = sum+data.begins[i], sum
		}
		d.call(d.entry(abi.BuildFill, x.Name), from, until, nil, noSpecial)
		return
	}
	d.call(d.entry(abi.BuildInsert, x.Name), from, until, gauges, noSpecial)
}

// run runs the program and returns its outputs.
func (d *driver) run() (map[string]planref.Rows, error) {
	b := d.program.Blocks[0]
	for range 10000 {
		for _, c := range b.Cmds {
			switch c := c.(type) {
			case *harmony.Run:
				if err := d.runKernel(c.Kernel); err != nil {
					return nil, err
				}
			case *harmony.Build:
				d.build(c.Index, c.Version())
			case *harmony.Merge:
				r := d.rels[c.Rel]
				r.old, r.full = r.full, int(r.gauge[0])
			case *harmony.Clear:
				d.clear(c.Var)
			case *harmony.Number:
				d.number(c)
			case *harmony.TopK:
				d.append(c.To,
					planref.TopK(d.rows(d.rels[c.From]), c.Group, c.From.Cols, c.By, c.Limit))
			case *harmony.CheckKey:
				if err := d.checkKey(c.Rel); err != nil {
					return nil, err
				}
			case *harmony.Check:
				if rows := d.rows(d.rels[c.Rel]); len(rows) > 0 {
					d.violations[c.Text] = append(d.violations[c.Text], rows...)
				}
			default:
				return nil, fmt.Errorf("the driver has no %T", c)
			}
		}
		switch t := b.Term.(type) {
		case *harmony.Jump:
			b = t.To
		case *harmony.Branch:
			b = t.Else
			if slices.ContainsFunc(t.Vars, func(r *harmony.Relation) bool {
				return d.rels[r].full > d.rels[r].old
			}) {
				b = t.Then
			}
		case *harmony.Halt:
			out := map[string]planref.Rows{}
			for _, r := range d.program.Relations {
				if r.Output {
					out[r.Name] = d.rows(d.rels[r])
				}
			}
			return out, nil
		}
	}
	return nil, planref.ErrRounds
}

func (d *driver) clear(v harmony.Managed) {
	switch v := v.(type) {
	case *harmony.Groups:
		d.clearGroups(d.groups[v])
	case *harmony.Relation:
		r := d.rels[v]
		r.gauge[0], r.old, r.full = 0, 0, 0
		clear(r.table)
	}
}

// rows returns a relation's tuples as values, sorted.
func (d *driver) rows(r *relationData) planref.Rows {
	n := r.full
	if r.decl.Kind != queryplan.Derived {
		n = int(r.gauge[0])
	}
	out := planref.Rows{}
	for i := range n {
		row := make([]scalar.Value, len(r.cols))
		for j, c := range r.cols {
			row[j] = d.valueOf(r.decl.Cols[j].Type, c.word(i), d.domains.Column(r.decl, j))
		}
		out = append(out, row)
	}
	planref.SortRows(out)
	return out
}

// randomRows makes rows of small numbers for columns.
func randomRows(r *rand.Rand, cols []harmony.Column, n int) planref.Rows {
	var out planref.Rows
	for range n {
		row := make([]scalar.Value, len(cols))
		for i, c := range cols {
			row[i] = randomValue(r, c.Type)
		}
		out = append(out, row)
	}
	return out
}

func randomValue(r *rand.Rand, t scalar.Type) scalar.Value {
	n := r.Int64N(40) - 5
	switch t.Kind {
	case scalar.String:
		return scalar.OfString([]string{"", "apple", "fig", "pear", "plum", "quince",
			"zebra"}[r.IntN(7)])
	case scalar.Boolean:
		return scalar.OfBool(n%2 == 0)
	case scalar.Float:
		return scalar.OfFloat(t,
			[]float64{-1.5, 0, 0.1, 2, 1e300, math.Inf(1), math.NaN()}[r.IntN(7)])
	case scalar.Decimal:
		if r.IntN(6) == 0 {
			return scalar.OfBits(t,
				uint64([]int64{math.MaxInt64, math.MinInt64, 1 << 62}[r.IntN(3)]))
		}
		return scalar.OfBits(t, uint64(n*100))
	case scalar.Datetime:
		return scalar.OfDatetime(n * 86_400_000_000 * 37)
	case scalar.Uint:
		return scalar.OfInt(t, max(n, 0))
	}
	return scalar.OfInt(t, n)
}
