package pipeline

import (
	"slices"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// folding computes an aggregate over a join of pairs, which a loop does not
// change, with values, of which each round has others. The pairs lead from
// sources to groups, and a source has at most one tuple of values.
type folding struct {
	memo
	agg *aggregation // of the same groups, with the bounds of pairs and values
	// plain groups the rows of the join, in rounds in which few pairs have
	// values.
	plain *aggregation

	pairs     memo
	pairPipes []*pipeline
	pairSink  *packSink
	on        []string
	sources   tables.Grouping
	bounds    []interval.Interval // of on
	fold      *tables.Fold

	values []*pipeline
	sink   *foldSink
	result *bag
	own    bool // result is not that of plain
}

// folding compiles an aggregate as a folding; nil if it cannot be one.
func (c *Compiler) folding(n *queryplan.Aggregate, plain *aggregation) *folding {
	s, ok := c.Flow.Fold(n, c.block)
	if !ok || slices.ContainsFunc(plain.Accs, func(a tables.AccSpec) bool { return !a.Folds() }) {
		return nil
	}
	pairs := c.node(s.Pairs, names{}.with(s.On...).with(s.By...))
	for _, p := range pairs { // under the names of the result
		var by []columns.Column
		for i, name := range s.By {
			col := *p.find(name)
			col.Name = n.By[i]
			by = append(by, col)
		}
		for _, name := range s.On {
			col := *p.find(name)
			col.Name = sourceName(name)
			by = append(by, col)
		}
		p.cols = by
	}
	args := names{}.with(s.Keys...)
	for _, a := range n.Aggs {
		if a.Fn != queryplan.Count {
			args[a.In] = true
		}
	}
	values := c.node(s.Values, args)
	f := &folding{memo: memo{inputs: c.stamp(n)}, plain: plain,
		agg: newAggregation(plain.Name, n, pairs, values, plain.span, nil), pairPipes: pairs,
		pairs: memo{inputs: c.stamp(s.Pairs)}, values: values}
	for _, name := range s.On {
		f.on = append(f.on, sourceName(name))
	}
	f.bounds = boundsOf(mergedAll(pairs, f.on))
	f.sources = tables.Grouping{Name: f.agg.Name, Key: interval.NewLayout(f.bounds)}
	f.sink = &foldSink{folding: f, keys: s.Keys}
	setSink(values, f.sink)
	return f
}

// sourceName is the name of a column by which pairs are joined. A group may
// have the same column.
func sourceName(name string) string { return "source " + name }

// columns returns the result's columns, with the bounds of both ways to compute
// it.
func (f *folding) columns() []columns.Column {
	out := f.agg.columns()
	for i, c := range f.plain.columns() {
		out[i].Bound = out[i].Bound.Union(c.Bound)
	}
	return out
}

// compute returns the groups.
func (f *folding) compute(r *work.Run) *bag {
	f.refresh(func() {
		if f.own {
			f.result.release(r.Mem)
		}
		f.ensure(r)
		f.fold.Reset()
		f.sink.found.Store(0)
		exec(r, f.values)
		if f.own = f.fold.Found(int(f.sink.found.Load())); f.own {
			f.result = f.agg.finish(r, f.fold.Ranges(r))
		} else {
			f.result = f.plain.compute(r)
		}
	})
	return f.result
}

// ensure sorts the pairs, if that is not done.
func (f *folding) ensure(r *work.Run) {
	f.pairs.refresh(func() {
		if f.fold != nil {
			f.fold.Free(r.Mem)
		}
		if f.pairSink == nil {
			f.pairSink = newPackSink(r, f.agg.Name, packing{f.on, &f.sources.Key},
				packing{f.agg.node.By, &f.agg.Key})
			setSink(f.pairPipes, f.pairSink)
		}
		exec(r, f.pairPipes)
		f.fold = tables.NewFold(r, &f.agg.Grouping, &f.sources, f.pairSink.parts)
	})
}

// foldSink takes the values of a round.
type foldSink struct {
	*folding
	keys  []string // columns of values that are those of on
	found atomic.Int64
}

func (s *foldSink) begin(*work.Run, int, bool) {}

func (s *foldSink) start(w *work.Worker, p *pipeline) work.Op {
	size := w.Run.Sizes.Vector
	o := &foldOp{foldSink: s, by: p.slotsOf(s.keys), ids: make([]uint32, size),
		valid: make([]bool, size), packed: make([]uint64, size*s.sources.Key.Words)}
	for i, name := range s.keys {
		if b := p.find(name).Bound; b.Empty() || !s.bounds[i].Covers(b) {
			o.check = append(o.check, i)
		}
	}
	for _, a := range s.agg.Accs {
		o.in = append(o.in, p.find(a.Col).Slot)
	}
	return o
}

type foldOp struct {
	*foldSink
	by, in       []int // slots
	check        []int // as in joinStage
	cols, inCols [][]int64
	packed       []uint64
	valid        []bool
	ids          []uint32
	n            int64
}

func (o *foldOp) Push(b *work.Batch) {
	o.cols = b.Pick(o.cols, o.by)
	o.inCols = b.Pick(o.inCols, o.in)
	var valid []bool
	if len(o.check) > 0 {
		valid = o.valid[:b.N]
		withinBounds(valid, o.cols, o.bounds, o.check)
	}
	o.sources.Key.Pack(o.packed, o.cols, b.N)
	o.n += int64(o.fold.Put(o.packed, valid, o.ids[:b.N], o.inCols))
}

func (o *foldOp) Close() {
	o.found.Add(o.n)
	o.n = 0
}
