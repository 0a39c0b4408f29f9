package portable

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// aggregation computes an Aggregate when a pipeline scans it.
type aggregation struct {
	cached
	grouping
	pipes []*pipeline
	node  *queryplan.Aggregate
	span  source.Span
	by    []binding
	in    []binding // of each aggregate; Count has none
	// uses are the places of the aggregates among the accumulators; -1 for Count.
	// avg(x), total(x) and the words of a wide total share an accumulator.
	uses []int
}

func newAggregation(name string, n *queryplan.Aggregate, pipes []*pipeline, span source.Span, inputs stamp) *aggregation {
	a := &aggregation{cached: cached{inputs: inputs}, grouping: grouping{name: name}, pipes: pipes, node: n, span: span}
	ranges := make([]interval.Interval, len(n.By))
	for i, name := range n.By {
		a.by = append(a.by, *mergedBinding(pipes, name))
		ranges[i] = a.by[i].rng
	}
	a.key = interval.NewLayout(ranges)
	for _, g := range n.Aggs {
		a.counts = a.counts || g.Fn == queryplan.Count || g.Fn == queryplan.Avg
		if g.Fn == queryplan.Count {
			a.in, a.uses = append(a.in, binding{}), append(a.uses, -1)
			continue
		}
		b := *mergedBinding(pipes, g.In)
		fn := g.Fn
		if fn.IsTotal() {
			fn = queryplan.Total
		}
		use := -1
		for i, s := range a.accs {
			if s.fn == fn && s.col == b.name {
				use = i
			}
		}
		if use < 0 {
			use = len(a.accs)
			a.accs = append(a.accs, accSpec{fn: fn, col: b.name, typ: b.typ, rng: b.rng, codes: b.unordered()})
		}
		a.in, a.uses = append(a.in, b), append(a.uses, use)
	}
	return a
}

// mergedBinding returns a column of pipelines that go into one sink, with the
// bounds of all of them.
func mergedBinding(pipes []*pipeline, name string) *binding {
	b := *pipes[0].find(name)
	for _, p := range pipes[1:] {
		b.rng = b.rng.Union(p.find(name).rng)
	}
	return &b
}

// columns returns the result's columns.
func (a *aggregation) columns() []binding {
	var out []binding
	for _, b := range a.by {
		b.slot = len(out)
		out = append(out, b)
	}
	for i, g := range a.node.Aggs {
		out = append(out, binding{name: g.Out.Name, slot: len(out), typ: g.Out.Type, dict: a.in[i].dict, rng: interval.Aggregate(g.Fn.String(), g.Out.Type, a.in[i].rng)})
	}
	return out
}

// compute returns the groups.
func (a *aggregation) compute(r *run) *bag {
	return a.refresh(r, func() *bag {
		sink := &groupSink{agg: a, workers: make([][]*groups, r.threads)}
		for _, p := range a.pipes {
			p.sink, p.chains = sink, nil
		}
		exec(r, a.pipes)
		return a.finish(r, mergeGroups(r, slices.Concat(sink.workers...)))
	})
}

// finish turns tables of different groups into rows, and frees them.
func (a *aggregation) finish(r *run, tables []*groups) *bag {
	out := &bag{parts: make([]part, len(tables))}
	overflows := make([]*groupOverflow, len(tables))
	r.tasks(len(tables), func(i int) {
		out.parts[i], overflows[i] = a.rows(r, tables[i])
		tables[i].free()
	})
	var first *groupOverflow
	for _, o := range overflows {
		if o != nil && (first == nil || a.compareGroups(o, first) < 0) {
			first = o
		}
	}
	if first != nil {
		abort(a.overflow(first))
	}
	return out
}

// groupOverflow is a result that does not fit its type.
type groupOverflow struct {
	agg   int
	group []int64
}

// rows returns the groups of a table and, of those whose results do not fit, the
// first.
func (a *aggregation) rows(r *run, t *groups) (p part, first *groupOverflow) {
	p.n = t.n
	for i := range a.by {
		col := alloc[int64](r.mem, a.name, t.n)
		a.key.Unpack(col, t.keys, i, t.n)
		p.cols = append(p.cols, col)
	}
	defer func() { p.remove(t.taken) }()
	for i := range a.node.Aggs {
		g := &a.node.Aggs[i]
		col := alloc[int64](r.mem, a.name, t.n)
		p.cols = append(p.cols, col)
		if g.Fn == queryplan.Count {
			copy(col, t.counts)
			continue
		}
		t.accs[a.uses[i]].results(col, g, a.in[i].typ, t.counts, func(k int) {
			if _, gone := slices.BinarySearch(t.taken, k); gone {
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
	return p, first
}

// compareGroups orders overflows by group, then by aggregate.
func (a *aggregation) compareGroups(x, y *groupOverflow) int {
	for c, b := range a.by {
		if o := b.compare(x.group[c], y.group[c]); o != 0 {
			return o
		}
	}
	return cmp.Compare(x.agg, y.agg)
}

func (a *aggregation) overflow(o *groupOverflow) error {
	g := a.node.Aggs[o.agg]
	e := &runtime.OverflowError{Fn: g.Fn, Out: g.Out, Span: a.span}
	for c, b := range a.by {
		e.By = append(e.By, queryplan.Column{Name: b.name, Type: b.typ})
		e.Group = append(e.Group, b.value(o.group[c]))
	}
	return e
}

// groupSink groups the rows of pipelines.
type groupSink struct {
	agg     *aggregation
	workers [][]*groups // of each worker; it adds to the last one
}

func (s *groupSink) begin(*run, bool) {}

func (s *groupSink) start(w *worker, p *pipeline) op {
	o := &groupOp{groupSink: s, w: w, ids: make([]uint32, w.run.opts.vector), keys: make([]uint64, w.run.opts.vector*s.agg.key.Words)}
	for _, b := range s.agg.by {
		o.by = append(o.by, p.find(b.name).slot)
	}
	for _, a := range s.agg.accs {
		o.in = append(o.in, p.find(a.col).slot)
	}
	o.keyCols, o.inCols = make([][]int64, len(o.by)), make([][]int64, len(o.in))
	return o
}

type groupOp struct {
	*groupSink
	w               *worker
	by, in          []int // slots
	keyCols, inCols [][]int64
	keys            []uint64
	ids             []uint32
}

func (o *groupOp) close() {}

// table returns the table that the worker adds to.
func (o *groupOp) table() *groups {
	mine := &o.workers[o.w.id]
	switch n := len(*mine); {
	case n == 0:
		*mine = append(*mine, newGroups(&o.agg.grouping, o.w.run, 0))
	case (*mine)[n-1].full():
		*mine = append(*mine, newGroups(&o.agg.grouping, o.w.run, o.w.run.opts.groups))
	}
	return (*mine)[len(*mine)-1]
}

func (o *groupOp) push(b *batch) {
	for i, slot := range o.by {
		o.keyCols[i] = b.cols[slot]
	}
	o.agg.key.Pack(o.keys, o.keyCols, b.n)
	for i, slot := range o.in {
		o.inCols[i] = b.cols[slot][:b.n]
	}
	o.table().add(o.keys, o.ids[:b.n], o.inCols)
}
