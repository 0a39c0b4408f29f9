package pipeline

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// aggregation computes an Aggregate when a pipeline scans it.
type aggregation struct {
	cached
	tables.Grouping
	pipes []*pipeline
	sink  *groupSink // from the first computation on
	node  *queryplan.Aggregate
	span  source.Span
	by    []columns.Column
	in    []columns.Column // of each aggregate; Count has none
	// uses are the places of the aggregates among the accumulators; -1 for
	// Count. avg(x), total(x) and the words of a wide total share an
	// accumulator.
	uses []int
	// most is how many groups a worker's table had in the last computation. The
	// next one, in a loop, has about as many.
	most int
}

// newAggregation makes an aggregation that finds the groups in pipelines, and
// the arguments in the same or in others.
func newAggregation(name string, n *queryplan.Aggregate, pipes, args []*pipeline,
	span source.Span, inputs stamp) *aggregation {
	a := &aggregation{cached: cached{memo: memo{inputs: inputs}},
		Grouping: tables.Grouping{Name: name}, pipes: pipes, node: n, span: span}
	a.by = mergedAll(pipes, n.By)
	a.Key = interval.NewLayout(boundsOf(a.by))
	for _, g := range n.Aggs {
		a.Counts = a.Counts || g.Fn == queryplan.Count || g.Fn == queryplan.Avg
		if g.Fn == queryplan.Count {
			a.in, a.uses = append(a.in, columns.Column{}), append(a.uses, -1)
			continue
		}
		b := merged(args, g.In)
		fn := g.Fn
		if fn.IsTotal() {
			fn = queryplan.Total
		}
		use := -1
		for i, s := range a.Accs {
			if s.Fn == fn && s.Col == b.Name {
				use = i
			}
		}
		if use < 0 {
			use = len(a.Accs)
			a.Accs = append(a.Accs,
				tables.AccSpec{Fn: fn, Col: b.Name, Type: b.Type, Bound: b.Bound,
					Codes: b.Unordered()})
		}
		a.in, a.uses = append(a.in, b), append(a.uses, use)
	}
	return a
}

// columns returns the result's columns.
func (a *aggregation) columns() []columns.Column {
	var out []columns.Column
	for _, b := range a.by {
		b.Slot = len(out)
		out = append(out, b)
	}
	for i, g := range a.node.Aggs {
		out = append(out, columns.Column{Name: g.Out.Name, Slot: len(out), Type: g.Out.Type,
			Dict: a.in[i].Dict, Bound: interval.Aggregate(g.Fn.String(), g.Out.Type,
				a.in[i].Bound)})
	}
	return out
}

// compute returns the groups.
func (a *aggregation) compute(r *work.Run) *bag {
	return a.bag(r, func() *bag {
		if a.sink == nil {
			a.sink = &groupSink{agg: a}
			setSink(a.pipes, a.sink)
		}
		a.sink.workers = make([][]*tables.Groups, r.Threads)
		exec(r, a.pipes)
		made := slices.Concat(a.sink.workers...)
		a.sink.workers, a.most = nil, 0
		for _, t := range made {
			a.most = max(a.most, t.N)
		}
		return a.finish(r, tables.MergeGroups(r, made), nil)
	})
}

// finish turns tables of different groups into rows, and frees them. The rows
// may take the place of those of an earlier call for tables with the same keys.
func (a *aggregation) finish(r *work.Run, tables []*tables.Groups, had *bag) *bag {
	out := had
	if had == nil {
		out = &bag{parts: make([]part, len(tables))}
	}
	overflows := make([]*groupOverflow, len(tables))
	r.Tasks(len(tables), func(i int) {
		overflows[i] = a.rows(r, tables[i], &out.parts[i])
		tables[i].Free()
	})
	var first *groupOverflow
	for _, o := range overflows {
		if o != nil && (first == nil || a.compareGroups(o, first) < 0) {
			first = o
		}
	}
	if first != nil {
		work.Abort(a.overflow(first))
	}
	return out
}

// groupOverflow is a result that does not fit its type.
type groupOverflow struct {
	agg   int
	group []int64
}

// rows makes the groups of a table a part of a bag and returns, of those whose
// results do not fit, the first.
func (a *aggregation) rows(r *work.Run, t *tables.Groups, p *part) (first *groupOverflow) {
	made := p.cols != nil
	if !made {
		for range len(a.by) + len(a.node.Aggs) {
			p.cols = append(p.cols, work.Alloc[int64](r.Mem, a.Name, t.N))
		}
	}
	same := made && p.n == t.N // nothing was removed from the keys
	p.n = t.N
	for i := range p.cols {
		p.cols[i] = p.cols[i][:t.N]
	}
	for i := range a.by {
		if !same {
			a.Key.Unpack(p.cols[i], t.Keys, i, t.N)
		}
	}
	defer func() { p.remove(t.Taken) }()
	for i := range a.node.Aggs {
		g, col := &a.node.Aggs[i], p.cols[len(a.by)+i]
		if g.Fn == queryplan.Count {
			copy(col, t.Counts)
			continue
		}
		t.Accs[a.uses[i]].Results(col, g, a.in[i].Type, t.Counts, func(k int) {
			if _, gone := slices.BinarySearch(t.Taken, k); gone {
				return
			}
			o := &groupOverflow{agg: i}
			for _, by := range p.cols[:len(a.by)] {
				o.group = append(o.group, by[k])
			}
			if first == nil || a.compareGroups(o, first) < 0 {
				first = o
			}
		})
	}
	return first
}

// compareGroups orders overflows by group, then by aggregate.
func (a *aggregation) compareGroups(x, y *groupOverflow) int {
	for c, b := range a.by {
		if o := b.Compare(x.group[c], y.group[c]); o != 0 {
			return o
		}
	}
	return cmp.Compare(x.agg, y.agg)
}

func (a *aggregation) overflow(o *groupOverflow) error {
	g := a.node.Aggs[o.agg]
	e := &runtime.OverflowError{Fn: g.Fn, Out: g.Out, Span: a.span}
	for c, b := range a.by {
		e.By = append(e.By, queryplan.Column{Name: b.Name, Type: b.Type})
		e.Group = append(e.Group, b.Value(o.group[c]))
	}
	return e
}

// groupSink groups the rows of pipelines.
type groupSink struct {
	agg     *aggregation
	workers [][]*tables.Groups // of each worker; it adds to the last one
	share   int                // rows of the source for each worker
}

func (s *groupSink) begin(r *work.Run, rows int, parallel bool) {
	if s.share = rows; parallel {
		s.share = rows / r.Threads
	}
}

func (s *groupSink) start(w *work.Worker, p *pipeline) work.Op {
	o := &groupOp{groupSink: s, w: w, ids: make([]uint32, w.Run.Sizes.Vector),
		keys: make([]uint64, w.Run.Sizes.Vector*s.agg.Key.Words)}
	for _, b := range s.agg.by {
		o.by = append(o.by, p.find(b.Name).Slot)
	}
	for _, a := range s.agg.Accs {
		o.in = append(o.in, p.find(a.Col).Slot)
	}
	o.inCols = make([][]int64, len(o.in))
	return o
}

type groupOp struct {
	*groupSink
	w               *work.Worker
	by, in          []int // slots
	keyCols, inCols [][]int64
	keys            []uint64
	ids             []uint32
}

func (o *groupOp) Close() {}

// table returns the table that the worker adds to.
func (o *groupOp) table() *tables.Groups {
	mine := &o.workers[o.w.ID]
	switch n := len(*mine); {
	case n == 0:
		expected := min(o.agg.most, o.w.Run.Sizes.Groups)
		*mine = append(*mine, tables.NewGroups(&o.agg.Grouping, o.w.Run, expected,
			o.agg.IsDense(o.agg.most) || o.agg.FewKeys(o.share)))
	case (*mine)[n-1].Full():
		*mine = append(*mine, tables.NewGroups(&o.agg.Grouping, o.w.Run, o.w.Run.Sizes.Groups,
			false))
	}
	return (*mine)[len(*mine)-1]
}

func (o *groupOp) Push(b *work.Batch) {
	o.keyCols = b.Pick(o.keyCols, o.by)
	o.agg.Key.Pack(o.keys, o.keyCols, b.N)
	if b.Copies != nil {
		o.table().AddCopies(o.keys, o.ids[:b.N], b.Copies)
		return
	}
	for i, slot := range o.in {
		o.inCols[i] = b.Cols[slot][:b.N]
	}
	o.table().Add(o.keys, o.ids[:b.N], o.inCols)
}
