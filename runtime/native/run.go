package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// run is one evaluation of a program. It is the machine (woven.Machine) of the
// cpu engine.
type run struct {
	*woven.Bound
	walk woven.Walk
	code *compiled
	// improving compiles better code for a cold function.
	improving func(k woven.Knowledge, symbol string) (*compiled, error)
	uses      []func() // functions that end the use of better code
	threads   int
	sizes     sizes
	mem       *account.Memory
	cancel    canceller

	machine.Variables
	relations map[*harmony.Relation]*relation
	indexes   map[*harmony.Index]*index
	groups    map[*harmony.Groups]*groups
	entries   map[string][]*boundEntry // by name: one of a kernel, all builds of an index
	hosts     []*hostCalls
	dropped   int64
	fault     [1]int64
}

// allocate declares the variables, which are empty.
func (r *run) allocate() {
	g := r.Graph
	r.Variables = machine.Variables{}
	r.relations = make(map[*harmony.Relation]*relation, len(g.Relations))
	r.indexes = make(map[*harmony.Index]*index, len(g.Indexes))
	r.groups = make(map[*harmony.Groups]*groups, len(g.Groups))
	r.entries = map[string][]*boundEntry{}
	name := r.Names(r.walk.Request.Plan)
	for _, decl := range g.Relations {
		rel := &relation{Versions: machine.Versions{Decl: decl, What: name(decl)}, mem: r.mem,
			gauge: &gauge{}, minRows: r.sizes.rows}
		loaded := r.Data.Columns(decl)
		rel.facts = loaded
		for i, c := range decl.Cols {
			col := &column{Column: r.Layouts.Columns[decl][i], typ: c.Type,
				Region: account.Region{Memory: r.mem}}
			if loaded != nil {
				col.loaded = loaded[i]
			}
			rel.cols = append(rel.cols, col)
		}
		if loaded != nil {
			rel.gauge.cursor = int64(r.Data.Rows(decl))
			rel.Full = rel.gauge.cursor
		}
		if lay := r.Layouts.Sets[decl]; lay != nil {
			rel.set = newTupleSet(r.mem, rel.What, lay, r.sizes.convert)
		}
		r.relations[decl], r.Variables[decl] = rel, rel
	}
	for _, decl := range g.Indexes {
		x := newIndex(r.mem, decl, r.Layouts.Indexes[decl], r.relations[decl.Of])
		x.extents = extents{able: r.code.spaces(decl), threads: r.threads, cancel: &r.cancel}
		if x.Form == abi.Wide && machine.GrowsByRuns(g, decl) {
			x.growByRuns(int64(min(r.sizes.rows, shortRun)))
		}
		r.indexes[decl], r.Variables[decl] = x, x
	}
	for _, decl := range g.Groups {
		g := newGroups(r.mem, decl, r.Layouts.Groups[decl], name(decl), r.threads)
		for i, a := range decl.Accs {
			d := r.Domains.Column(decl, len(decl.Keys)+i)
			if d != nil && d.Grows && (a.Fn == queryplan.Min || a.Fn == queryplan.Max) {
				g.strings[i] = r.Data.Dict(d.ID)
			}
		}
		r.groups[decl], r.Variables[decl] = g, g
	}
}

// Merge makes the inserted tuples the delta of a relation. After the last
// merge, the relation needs no set.
func (r *run) Merge(decl *harmony.Relation, last bool) error {
	rel := r.relations[decl]
	rel.Advance(rel.gauge.cursor)
	if last {
		rel.dropSet()
	}
	return nil
}

// Size returns the number of tuples of a relation.
func (r *run) Size(decl *harmony.Relation) (woven.Size, error) {
	rel := r.relations[decl]
	return rel.Count(rel.gauge.cursor), nil
}

// Rows returns the full version of a relation.
func (r *run) Rows(decl *harmony.Relation) (*order.Rows, error) {
	rel := r.relations[decl]
	_, n := rel.version(harmony.Full)
	rows := &order.Rows{Name: rel.What, N: n}
	for i, c := range rel.cols {
		col := order.Column{Type: c.typ, Words: c}
		if c.typ.Kind == scalar.String {
			col.Dict = r.Dict(decl, i)
		}
		rows.Cols = append(rows.Cols, col)
	}
	return rows, nil
}

// copyBlock is the number of rows that are widened at a time.
const copyBlock = 1 << 12

// Append adds tuples that the host computed.
func (r *run) Append(decl *harmony.Relation, n int,
	read func(col int, dst []int64, from int)) error {
	to := r.relations[decl]
	if err := to.makeRoom(n); err != nil {
		return err
	}
	at := to.rows()
	block := make([]int64, min(copyBlock, n))
	for from := 0; from < n; from += copyBlock {
		part := block[:min(copyBlock, n-from)]
		for i, c := range to.cols {
			read(i, part, from)
			c.write(part, at+from)
		}
	}
	to.gauge.cursor += int64(n)
	return nil
}

// Kernel runs a kernel over all rows of its source.
func (r *run) Kernel(k *harmony.Kernel) (woven.Work, error) {
	if r.entries[k.Name] == nil {
		b, err := r.bindKernel(k, r.kernelEntry(k))
		if err != nil {
			return woven.Work{}, err
		}
		r.entries[k.Name] = []*boundEntry{b}
	}
	e := r.entries[k.Name][0]
	var choice *bitJoin
	if !r.walk.Request.NoBitJoins {
		choice = e.bitJoin()
	}
	source, before, size := int64(0), e.filled(), e.filledBytes()
	exec := func(from, until int) error {
		source += int64(until - from)
		j := &job{entry: e, from: from, until: until}
		runs := func(x *harmony.Index) *machine.Runs[*index] {
			return r.indexes[x].runsOf(choice)
		}
		return machine.EachChoice(k, runs, func() error { return r.exec(j) })
	}
	var err error
	if choice != nil {
		if err := choice.choose(r.mem); err != nil {
			return woven.Work{}, err
		}
		defer choice.done()
	}
	switch s := k.Source.(type) {
	case *harmony.Rows:
		err = exec(r.relations[s.Rel].version(s.Version))
	case *harmony.GroupRows:
		g := r.groups[s.Groups]
		for _, g.current = range g.tables() {
			if err = exec(0, g.current.numbers()); err != nil {
				break
			}
		}
	case *harmony.Values:
		err = exec(0, len(s.Rows))
	}
	if err != nil {
		return woven.Work{}, err
	}
	if r.fault[0] != 0 {
		return woven.Work{}, r.overflow(k)
	}
	return woven.Work{
		Source: source,
		Kept:   e.filled() - before,
		Bytes:  source*int64(r.LoadedBytes(k)) + e.filledBytes() - size,
		ByBits: choice != nil && choice.index.joinsByBits(),
	}, nil
}

// filled returns the total number of tuples of the relations that an entry
// fills.
func (b *boundEntry) filled() int64 {
	n := int64(0)
	for _, t := range b.targets {
		n += t.To.gauge.cursor
	}
	return n
}

// filledBytes returns the total size of these tuples.
func (b *boundEntry) filledBytes() int64 {
	n := int64(0)
	for _, t := range b.targets {
		n += t.To.gauge.cursor * int64(t.To.rowBytes())
	}
	return n
}

// Build builds an index over a version of its relation.
func (r *run) Build(decl *harmony.Index, of harmony.Version) error {
	if r.entries[decl.Name] == nil {
		for _, e := range r.code.module.Entries {
			if e.Of == decl.Name && e.Role != abi.Kernel {
				b, err := r.bindEntry(e)
				if err != nil {
					return err
				}
				r.entries[decl.Name] = append(r.entries[decl.Name], b)
			}
		}
	}
	passes, err := r.indexes[decl].prepare(of)
	if err != nil {
		return err
	}
	return machine.RunPasses(passes, func(role abi.Role, from, until int64) error {
		for _, e := range r.entries[decl.Name] {
			if e.entry.Role == role {
				if err := r.exec(&job{entry: e, from: int(from), until: int(until)}); err != nil {
					return err
				}
			}
		}
		return nil
	}, r.tasks)
}
