package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var aggregateBeforeJoins = &Pass{
	Name: "AggregateBeforeJoins",
	Reason: "Where an aggregate's arguments come from one relation, many of whose tuples are joined " +
		"on the same values, these are aggregated first: joins that repeat each tuple repeat one for " +
		"each combination of what they and the groups use, and the totals, counts, least and greatest " +
		"of these are aggregated again. Paths of two edges are counted in time linear in the edges.",
	Unless: "An average, or a total of floats, whose parts would be rounded; a total whose parts " +
		"are not certain to fit its type, as the whole may where they do not; in a loop; or where " +
		"joins are not expected to cost several times as much without it, selective ones counted with " +
		"the bits in front of their indexes.",
	Before: "aggregate [z] n: int = count()\n  join y\n    scan edge(_, y)\n    scan edge(y, z)",
	After: "aggregate [z] n: int = total(n$1)\n  join y\n    aggregate [y] n$1: int = count()\n" +
		"      scan edge(_, y)\n    scan edge(y, z)",
	Source: "eager group-by and eager count: Yan, Larson, VLDB 1995",
	run: func(p *program) error {
		e := &eager{program: p, est: stats.NewEstimator(p.Plan, p.catalog)}
		loop := loops.Changed(p.Plan)
		p.rewriteTrees(func(b *queryplan.Block, _ queryplan.Command,
			n queryplan.Node) queryplan.Node {
			if loop[b] != nil {
				return n
			}
			return queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
				if a, ok := n.(*queryplan.Aggregate); ok {
					return e.aggregate(a)
				}
				return n
			})
		})
		return nil
	},
}

// Limits, which tests change so that the pass applies to small facts.
var (
	// leastShare is the smallest ratio of the cost without early aggregation to
	// the cost with it. Joins that repeat tuples reach it. Lookups do not,
	// because engines make them part of a scan and need no memory for them.
	leastShare = 3.0
	// leastBefore is the smallest number of tuples for which early aggregation
	// is considered.
	leastBefore = float64(1 << 16)
)

// updateCost is the cost of adding a tuple to its group, after the group is
// found.
const updateCost = 2

type eager struct {
	*program
	est *stats.Estimator
}

// aggregate aggregates parts of a conjunction early, one after the other, as
// long as the cost falls.
func (e *eager) aggregate(a *queryplan.Aggregate) *queryplan.Aggregate {
	if len(a.Aggs) == 0 || !hasJoin(a.Input) || slices.ContainsFunc(a.Aggs, rounds) {
		return a
	}
	for {
		next := e.once(a)
		if next == nil {
			return a
		}
		a = next
	}
}

// once aggregates the part for which the cost falls most: a relation, or an
// aggregated relation and another one that it is joined with. It returns nil if
// the cost falls for none.
func (e *eager) once(a *queryplan.Aggregate) *queryplan.Aggregate {
	c := joins.Flatten(trees.Project(a.Input, identity(joins.Aggregated(a))))
	best, least := (*partial)(nil), -1.0
	for i := range c.Rels {
		for k := range c.Rels {
			if !mayBePart(c, i, k) {
				continue
			}
			rels := make([]bool, len(c.Rels))
			rels[i], rels[k] = true, true
			part := e.partial(a, c, rels)
			if part == nil {
				continue
			}
			if least < 0 {
				cost, ok := e.cost(c, a.By)
				if !ok {
					return nil
				}
				least = cost / leastShare
			}
			first, ok := e.cost(part.part, part.first.By)
			rest, okRest := e.cost(part.rest, a.By)
			if cost := first + joins.StoreCost*e.est.Rows(part.first) + rest; ok && okRest &&
				cost < least {
				best, least = part, cost
			}
		}
	}
	if best == nil {
		return nil
	}
	return &queryplan.Aggregate{Input: best.rest.Assemble(joins.LeftDeep(len(best.rest.Rels)),
		joins.Site{}), By: a.By, Aggs: best.again}
}

// mayBePart reports whether two relations, which may be the same, can form a
// part: a relation that is not aggregated, or an aggregated one with another
// one. This bounds the number of parts.
func mayBePart(c *joins.Conjunction, i, k int) bool {
	if i == k {
		return len(c.Rels) > 1 && !hasGroups(c.Rels[i])
	}
	return len(c.Rels) > 2 && hasGroups(c.Rels[i]) &&
		len(intersect(trees.Columns(c.Rels[i]), trees.Columns(c.Rels[k]))) > 0
}

// rounds reports whether an aggregate of aggregates may round to another number
// than the aggregate of all tuples.
func rounds(a queryplan.Agg) bool {
	return a.Fn == queryplan.Avg || a.Fn == queryplan.Total && a.Out.Type.Kind == scalar.Float
}

// isTotalWord reports whether a function is one word of a wide total. Wide
// totals are combined from totals of single words.
func isTotalWord(fn queryplan.AggFn) bool {
	return fn == queryplan.TotalHigh || fn == queryplan.TotalLow
}

func columnType(n queryplan.Node, name string) scalar.Type {
	c, _ := queryplan.ColumnOf(n, name)
	return c.Type
}

// partial is a conjunction in which a part is aggregated.
type partial struct {
	part  *joins.Conjunction
	first *queryplan.Aggregate // aggregates the part
	rest  *joins.Conjunction   // the conjunction with first as a relation
	again []queryplan.Agg
}

// partial aggregates some relations of a conjunction early. It returns nil if
// they lack the arguments of the aggregates, if totals of their tuples may
// overflow, or if too many tuples remain.
func (e *eager) partial(a *queryplan.Aggregate, c *joins.Conjunction, rels []bool) *partial {
	from := map[string]string{}
	for _, o := range c.Out {
		from[o.To] = o.From
	}
	f := &fewTuples{whole: c, rels: rels}
	f.extend()
	for _, g := range a.Aggs {
		if g.Fn != queryplan.Count && !f.have[from[g.In]] {
			return nil
		}
	}
	f.complete()
	in := f.tree
	rows := e.est.Rows(in)
	if rows < leastBefore || slices.ContainsFunc(a.Aggs, func(g queryplan.Agg) bool {
		return !e.fits(in, g, from[g.In])
	}) {
		return nil
	}
	// The conjunction without the arguments of the aggregates.
	grouped := *c
	grouped.Out = slices.DeleteFunc(slices.Clone(c.Out), func(o queryplan.Rename) bool {
		return !slices.Contains(a.By, o.To)
	})
	f.whole = &grouped
	used := f.usedOutside()
	first := &queryplan.Aggregate{Input: in}
	for _, name := range trees.Columns(in) {
		if used[name] {
			first.By = append(first.By, name)
		}
	}
	if e.est.Of(in).Distinct(first.By) > mostLeft*rows {
		return nil
	}
	p := &partial{part: joins.Flatten(in), first: first, rest: f.rest(first)}
	for _, g := range a.Aggs {
		made := queryplan.Agg{Out: queryplan.Column{Type: g.Out.Type}, Fn: g.Fn, In: from[g.In]}
		if isTotalWord(g.Fn) {
			made.Fn, made.Out.Type = queryplan.Total, columnType(in, made.In)
		}
		same := func(b queryplan.Agg) bool {
			return b.Fn == made.Fn && b.In == made.In && b.Out.Type == made.Out.Type
		}
		if at := slices.IndexFunc(first.Aggs, same); at >= 0 {
			made = first.Aggs[at]
		} else {
			made.Out.Name = c.Names.Fresh(g.Out.Name)
			first.Aggs = append(first.Aggs, made)
			p.rest.Out = append(p.rest.Out,
				queryplan.Rename{From: made.Out.Name, To: made.Out.Name})
		}
		fn := g.Fn
		if fn == queryplan.Count {
			fn = queryplan.Total
		}
		p.again = append(p.again, queryplan.Agg{Out: g.Out, Fn: fn, In: made.Out.Name})
	}
	return p
}

// fits reports whether an aggregate over some of the tuples of a tree certainly
// fits its type. Counts fit, because those of all tuples do.
func (e *eager) fits(in queryplan.Node, g queryplan.Agg, column string) bool {
	t := g.Out.Type
	switch {
	case isTotalWord(g.Fn):
		t = columnType(in, column)
	case g.Fn != queryplan.Total:
		return true
	}
	bound, ok := e.catalog.Bounds(in)[column]
	most, okRows := e.catalog.MostRows(in)
	return ok && okRows && stats.TotalFits(t, bound, most)
}

// cost estimates the cost of joining a conjunction and grouping the result by
// some columns. ok is false if the join has a product.
func (e *eager) cost(c *joins.Conjunction, by []string) (cost float64, ok bool) {
	g := joins.NewGraph(c, e.est, nil)
	g.Bits = true
	parts := g.Parts()
	if len(parts) != 1 {
		return 0, false
	}
	var names []string
	for _, o := range c.Out {
		if slices.Contains(by, o.To) {
			names = append(names, o.From)
			g.Conditioned.Add(g.Number[o.From])
		}
	}
	all := g.Best(parts[0])
	return all.Stream + groupingCost(all.Est, names), true
}

// groupingCost returns the cost of grouping tuples.
func groupingCost(in *stats.Estimate, by []string) float64 {
	if len(by) == 0 {
		return updateCost * in.Rows
	}
	x := joins.IndexShape{Rows: in.Distinct(by), Columns: len(by), Size: 1, Probes: in.Rows,
		Unique: true}
	for _, name := range by {
		width, _ := in.Cols[name].Span()
		x.Size *= width
	}
	_, find := x.Cost()
	return (find + updateCost) * in.Rows
}
