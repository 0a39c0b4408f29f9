package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var filterProbes = &Pass{
	Name: "FilterProbes",
	Reason: "Where few of the tuples that probe an index find something, a set of bits over the " +
		"keys that are there costs a probe of the index to these few alone: it is a fraction of the " +
		"index's size and stays in a cache. It goes as far down the probing side as it leaves less " +
		"than the joins on the way.",
	Unless: "One of the columns to match is an int of a known range, for which the bits are few, " +
		"and the index is expected to be larger, to be missed often, and to be probed in no order. In " +
		"a loop bits would be made anew in each round.",
	Before: "unique join p\n  scan line(o, p)\n  aggregate [p] a: decimal[18,6] = avg(q)\n" +
		"    scan sold(p, q)",
	After: "unique join p\n  unique semi join p\n    scan line(o, p)\n    project p\n" +
		"      aggregate [p] a: decimal[18,6] = avg(q)\n        scan sold(p, q)\n" +
		"  aggregate [p] a: decimal[18,6] = avg(q)\n    scan sold(p, q)",
	Source: "bit vectors: Babb, TODS 1979; sideways information passing: Chen, Hsiao, Yu, VLDB " +
		"Journal 1997; Shrinivas et al., ICDE 2013",
	run: func(p *program) error {
		f := &probeFilter{est: stats.NewEstimator(p.Plan, p.catalog)}
		loop := loops.Changed(p.Plan)
		p.rewriteTrees(func(b *queryplan.Block, _ queryplan.Command,
			n queryplan.Node) queryplan.Node {
			if loop[b] != nil {
				return n
			}
			return f.tree(n)
		})
		return nil
	},
}

type probeFilter struct{ est *stats.Estimator }

// tree filters the probing sides of all joins of a tree, bottom up.
func (f *probeFilter) tree(n queryplan.Node) queryplan.Node {
	in := n.Inputs()
	if len(in) == 0 {
		return n
	}
	out := make([]queryplan.Node, len(in))
	same := true
	for i, x := range in {
		out[i] = f.tree(x)
		same = same && out[i] == x
	}
	if !same {
		n = queryplan.WithInputs(n, out)
	}
	if j, ok := n.(*queryplan.Join); ok && j.Kind == queryplan.Inner {
		return f.join(j)
	}
	return n
}

// join filters the probing side of a join by the column that saves the most.
func (f *probeFilter) join(j *queryplan.Join) queryplan.Node {
	l, r := f.est.Of(j.Left), f.est.Of(j.Right)
	on := j.On()
	if l.Rows < joins.LeastProbes || len(on) == 0 {
		return j
	}
	x := joins.IndexShape{Rows: r.Rows, Columns: len(on), Size: 1, Probes: l.Rows, Unique: j.Unique}
	for _, name := range on {
		x.Size *= keysOf(l, r, name)
	}
	if len(on) == 1 {
		x.InOrder = comesInOrder(f.est, j.Left, on[0])
		stored, column := origin(f.est, j.Right, on[0], true)
		x.Numbered = stored != nil && stored.Numbers(column)
	}
	_, probe := x.Cost()
	best, gain := "", joins.LeastGain
	var below queryplan.Node
	for _, name := range on {
		c, _ := queryplan.ColumnOf(j.Left, name)
		if c.Type.Kind != scalar.Int {
			continue
		}
		keys := f.keys(j.Right, name)
		kept := stats.JoinEstimate(queryplan.Semi, l, f.est.Of(keys), []string{name},
			false).Rows / l.Rows
		if g := joins.FilterGain(r.Rows, keysOf(l, r, name), l.Rows, probe, kept); g > gain {
			best, gain = name, g
			below = f.place(j.Left, keys, name, kept)
		}
	}
	if best == "" {
		return j
	}
	return &queryplan.Join{Kind: queryplan.Inner, Left: below, Right: j.Right, Unique: j.Unique}
}

// keys returns a tree with the values of a column of n, and maybe some more,
// because it leaves out conditions that restrict them little.
func (f *probeFilter) keys(n queryplan.Node, name string) queryplan.Node {
	most := extraKeys * f.est.Of(n).Distinct([]string{name})
	best, column := n, name
	for at, from := n, name; at != nil; at, from = f.source(at, from, most) {
		if f.est.Rows(at) <= f.est.Rows(best) {
			best, column = at, from
		}
	}
	return &queryplan.Project{Input: best, Cols: []queryplan.Rename{{From: column, To: name}}}
}

// extraKeys is the largest acceptable ratio of the values in a cheaper filter
// to the needed values.
const extraKeys = 1.5

// source returns an input of an operator in which a column of the result has at
// most most values, and the column's name there; or nil. The values of the
// input include those of the result.
func (f *probeFilter) source(n queryplan.Node, name string, most float64) (queryplan.Node, string) {
	switch n := n.(type) {
	case *queryplan.Project:
		if i := slices.IndexFunc(n.Cols, func(c queryplan.Rename) bool {
			return c.To == name
		}); i >= 0 {
			return n.Input, n.Cols[i].From
		}
	case *queryplan.Map:
		if _, ok := queryplan.ColumnOf(n.Input, name); ok {
			return n.Input, name
		}
	case *queryplan.Aggregate:
		if slices.Contains(n.By, name) {
			return n.Input, name
		}
	case *queryplan.Join:
		sides := []queryplan.Node{n.Right, n.Left}
		if n.Kind == queryplan.Anti {
			sides = sides[1:]
		}
		for _, side := range sides {
			if _, ok := queryplan.ColumnOf(side, name); ok &&
				f.est.Of(side).Distinct([]string{name}) <= most {
				return side, name
			}
		}
	}
	return nil, ""
}

// keysOf returns the number of values in the range of a column on both sides of
// a join, or 0 if it is unknown.
func keysOf(l, r *stats.Estimate, name string) float64 {
	a, okA := l.Cols[name].Span()
	b, okB := r.Cols[name].Span()
	switch {
	case okA && okB:
		return min(a, b)
	case okA:
		return a
	case okB:
		return b
	}
	return 0
}

// origin follows a column of a tree along the probing sides to a stored table
// and its column. It returns nil if the column is not stored. With whole, it
// also returns nil if rows were dropped on the way.
func origin(est *stats.Estimator, n queryplan.Node, name string, whole bool) (*stats.Table, int) {
	switch n := n.(type) {
	case *queryplan.Scan:
		if t, at := est.Stored(n.Var); t != nil {
			if i := slices.Index(n.Names, name); i >= 0 {
				return t, at[i]
			}
		}
	case *queryplan.Project:
		if i := slices.IndexFunc(n.Cols, func(c queryplan.Rename) bool {
			return c.To == name
		}); i >= 0 {
			return origin(est, n.Input, n.Cols[i].From, whole)
		}
	case *queryplan.Filter, *queryplan.Map, *queryplan.Join:
		if !whole {
			return origin(est, n.Inputs()[0], name, whole)
		}
	}
	return nil, 0
}

// comesInOrder reports whether the tuples of a tree probably come in the order
// of a column.
func comesInOrder(est *stats.Estimator, n queryplan.Node, name string) bool {
	stored, column := origin(est, n, name, false)
	return stored != nil && (stored.Columns[column].Ascending ||
		stored.Columns[column].Rising > joins.MostlyRising)
}

// place inserts the semijoin with keys into the probing side of a tree: above
// the lowest operator from which every join keeps a larger share of tuples than
// the semijoin.
func (f *probeFilter) place(n, keys queryplan.Node, name string, kept float64) queryplan.Node {
	if j, ok := n.(*queryplan.Join); ok && j.Kind != queryplan.Anti {
		if _, has := queryplan.ColumnOf(j.Left, name); has &&
			f.est.Rows(j) > kept*f.est.Rows(j.Left) {
			return queryplan.WithInputs(j,
				[]queryplan.Node{f.place(j.Left, keys, name, kept), j.Right})
		}
	}
	out := &queryplan.Join{Kind: queryplan.Semi, Left: n, Right: keys}
	out.Unique = out.MatchesOnce()
	return out
}
