package pipeline

import (
	"slices"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/store"
)

// foldSides are the two sides of a join whose rows are aggregated: pairs, which
// a loop does not change, and values, of which each round has others. The pairs
// lead from sources to groups, and a source has at most one tuple of values.
type foldSides struct {
	pairs     memo
	facts     []*store.Column // of sources and groups, if the pairs are all of facts
	kept      *tables.Kept    // nil if indexes on facts are not kept
	pairPipes []*pipeline
	pairSink  *packSink
	on        []string
	sources   tables.Grouping
	bounds    []interval.Interval // of on
	fold      *tables.Fold

	values []*pipeline
	keys   []string // columns of values that are those of on
	args   []string // columns of values that the fold keeps
	found  atomic.Int64
}

// folding computes an aggregate of values for each group.
type folding struct {
	memo
	*foldSides
	agg *aggregation // of the same groups, with the bounds of pairs and values
	// plain groups the rows of the join, in rounds in which few pairs have
	// values.
	plain *aggregation

	result *bag
	own    *bag // of the fold; nil if the result is that of plain
	// whole says that the last result had all groups, and same that the one
	// before had them, too.
	whole, same bool
}

// foldSides compiles the sides of a fold. The pairs have the columns by under
// the names that they have in the result.
func (c *Compiler) foldSides(s queryplan.Fold, from, by, args []string, name string) *foldSides {
	pairs := c.node(s.Pairs, names{}.with(s.On...).with(from...))
	for _, p := range pairs {
		var cols []columns.Column
		for i, name := range from {
			col := *p.find(name)
			col.Name = by[i]
			cols = append(cols, col)
		}
		for _, name := range s.On {
			col := *p.find(name)
			col.Name = sourceName(name)
			cols = append(cols, col)
		}
		p.cols = cols
	}
	f := &foldSides{pairs: memo{inputs: c.stamp(s.Pairs)}, pairPipes: pairs,
		values: c.node(s.Values, names{}.with(s.Keys...).with(args...)), keys: s.Keys, args: args}
	for _, name := range s.On {
		f.on = append(f.on, sourceName(name))
	}
	f.bounds = boundsOf(mergedAll(pairs, f.on))
	f.sources = tables.Grouping{Name: name, Key: interval.NewLayout(f.bounds)}
	if c.Kept != nil {
		f.facts, f.kept = factsOf(pairs, slices.Concat(f.on, by)), c.Kept
	}
	return f
}

// ensure calls make with the pairs, if that is not done. The groups have the
// columns by.
func (f *foldSides) ensure(r *work.Run, by []string, groups *tables.Grouping,
	make func(pairs *tables.FoldPairs)) {
	f.pairs.refresh(func() {
		if f.facts != nil {
			if pairs := f.kept.AdoptPairs(r.Mem, groups, &f.sources, f.facts); pairs != nil {
				make(pairs)
				return
			}
		}
		if f.pairSink == nil {
			f.pairSink = newPackSink(r, f.sources.Name, packing{f.on, &f.sources.Key},
				packing{by, &groups.Key})
			setSink(f.pairPipes, f.pairSink)
		}
		exec(r, f.pairPipes)
		pairs := tables.NewFoldPairs(r, groups, &f.sources, f.pairSink.parts)
		if f.facts != nil {
			f.kept.OfferPairs(pairs, groups, &f.sources, f.facts)
		}
		make(pairs)
	})
}

// fill gives the fold the values of a round, and reports whether it is worth
// it.
func (f *foldSides) fill(r *work.Run) bool {
	f.fold.Reset()
	f.found.Store(0)
	exec(r, f.values)
	return f.fold.Found(int(f.found.Load()))
}

// folding compiles an aggregate as a folding; nil if it cannot be one.
func (c *Compiler) folding(n *queryplan.Aggregate, plain *aggregation,
	s queryplan.Fold) *folding {
	if slices.ContainsFunc(plain.Accs, func(a tables.AccSpec) bool { return !a.Folds() }) {
		return nil
	}
	f := &folding{memo: memo{inputs: c.stamp(n)}, plain: plain}
	var args []string
	for _, a := range plain.Accs {
		args = append(args, a.Col)
	}
	f.foldSides = c.foldSides(s, s.By, n.By, args, plain.Name)
	f.agg = newAggregation(plain.Name, n, f.pairPipes, f.values, plain.span, nil)
	setSink(f.values, &foldSink{f.foldSides})
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
		f.ensure(r, f.agg.node.By, &f.agg.Grouping, func(pairs *tables.FoldPairs) {
			if f.fold != nil {
				f.fold.Free(r.Mem)
			}
			f.drop(r)
			f.fold, f.whole = tables.NewFold(r, &f.agg.Grouping, pairs), false
		})
		had := f.whole
		if f.fill(r) {
			ranges := f.fold.Ranges(r)
			f.whole = !slices.ContainsFunc(ranges, func(t *tables.Groups) bool {
				return len(t.Taken) > 0
			})
			f.same = f.whole && had
			f.own = f.agg.finish(r, ranges, f.own)
			f.result = f.own
		} else {
			f.whole, f.same = false, false
			f.drop(r)
			f.result = f.plain.compute(r)
		}
	})
	return f.result
}

// drop frees the rows of the fold.
func (f *folding) drop(r *work.Run) {
	if f.own != nil {
		f.own.release(r.Mem)
		f.own = nil
	}
}

// foldSink takes the values of a round.
type foldSink struct{ *foldSides }

func (s *foldSink) begin(*work.Run, int, bool) {}

func (s *foldSink) start(w *work.Worker, p *pipeline) work.Op {
	size := w.Run.Sizes.Vector
	o := &foldOp{foldSink: s, by: p.slotsOf(s.keys), in: p.slotsOf(s.args),
		ids: make([]uint32, size), valid: make([]bool, size),
		packed: make([]uint64, size*s.sources.Key.Words)}
	for i, name := range s.keys {
		if b := p.find(name).Bound; b.Empty() || !s.bounds[i].Covers(b) {
			o.check = append(o.check, i)
		}
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
