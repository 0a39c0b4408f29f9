package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// tallying counts the pairs of each group by labels, columns of the values.
type tallying struct {
	memo
	*foldSides
	tally    *tables.Tally
	ofValues []bool // whether a column of the groups is part of the label
	groups   tables.Grouping
	labels   interval.Layout
	cols     []columns.Column
	by       []string // the columns of groups that are of pairs
	counts   int      // aggregates
	// plain groups the rows of the join, in rounds in which few pairs have
	// values.
	plain  *aggregation
	result *bag
	own    bool // result is not that of plain
}

// tallying compiles an aggregate as a tallying.
func (c *Compiler) tallying(n *queryplan.Aggregate, plain *aggregation,
	s queryplan.Fold) *tallying {
	t := &tallying{memo: memo{inputs: c.stamp(n)}, ofValues: s.OfValues, plain: plain,
		cols: plain.columns(), counts: len(n.Aggs)}
	var from, args []string
	for i, name := range s.By {
		if s.OfValues[i] {
			args = append(args, name)
		} else {
			from, t.by = append(from, name), append(t.by, n.By[i])
		}
	}
	t.foldSides = c.foldSides(s, from, t.by, args, plain.Name)
	groups, labels := mergedAll(t.pairPipes, t.by), mergedAll(t.values, args)
	t.groups = tables.Grouping{Name: plain.Name, Key: interval.NewLayout(boundsOf(groups))}
	t.labels = interval.NewLayout(boundsOf(labels))
	for i, ofValues := range s.OfValues {
		of := &groups
		if ofValues {
			of = &labels
		}
		t.cols[i].Bound = t.cols[i].Bound.Union((*of)[0].Bound)
		*of = (*of)[1:]
	}
	setSink(t.values, &foldSink{t.foldSides})
	return t
}

// columns returns the result's columns.
func (t *tallying) columns() []columns.Column { return t.cols }

// compute returns the groups.
func (t *tallying) compute(r *work.Run) *bag {
	t.refresh(func() {
		if t.own {
			t.result.release(r.Mem)
		}
		t.makeTally(r)
		if t.own = t.fill(r); t.own {
			t.result = t.rows(r)
		} else {
			t.result = t.plain.compute(r)
		}
	})
	return t.result
}

// makeTally makes the tally, if that is not done.
func (t *tallying) makeTally(r *work.Run) {
	t.ensure(r, t.by, &t.groups, func(pairs *tables.FoldPairs) {
		if t.tally != nil {
			t.tally.Free(r.Mem)
		}
		t.tally = tables.NewTally(r, &t.groups, t.labels, pairs)
		t.fold = t.tally.Fold
	})
}

// rows returns what the ranges have counted.
func (t *tallying) rows(r *work.Run) *bag {
	ranges := t.tally.Ranges(r)
	out := &bag{parts: make([]part, len(ranges))}
	r.Tasks(len(ranges), func(i int) {
		from, p := ranges[i], &out.parts[i]
		p.n = len(from.Counts)
		room := func() []int64 {
			col := work.Alloc[int64](r.Mem, t.plain.Name, p.n)
			p.cols = append(p.cols, col)
			return col
		}
		groups, labels := 0, 0
		for _, ofValues := range t.ofValues {
			if ofValues {
				layout, keys := t.tally.Labels()
				layout.UnpackAt(room(), keys, from.Labels, labels)
				labels++
			} else {
				layout, keys := t.tally.Keys()
				layout.UnpackAt(room(), keys, from.Groups, groups)
				groups++
			}
		}
		for range t.counts {
			for k, col := 0, room(); k < len(col); k++ {
				col[k] = int64(from.Counts[k])
			}
		}
	})
	return out
}
