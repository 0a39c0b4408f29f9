package rewrite

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var compareWithExtremes = &Pass{
	Name: "CompareWithExtremes",
	Reason: "A rule that asks whether there is another value, as for two methods of one context, " +
		"joins all pairs of them. There is a value other than x exactly if the least or the greatest " +
		"one is not x, so a group with both takes the place of the pairs.",
	Unless: "The other value is used for something else, or repeated tuples of the rule matter, or the " +
		"values are floats, which need not equal themselves; or the rule computes columns; or the " +
		"pairs are not expected to cost more than the groups; or the relation is what a loop adds to. " +
		"If the few tuples that ask are in a temporary, groups are made for these only.",
	Before: "project c\n  filter ne(m, n)\n    join c\n      scan r(c, m)\n      scan r(c, n)",
	After: "project c\n  filter or(ne(lo, m), ne(hi, m))\n    unique join c\n      scan r(c, m)\n" +
		"      aggregate [c] lo: int = min(n), hi: int = max(n)\n        scan r(c, n)",
	Source: "with groups in place of self-joins: Yan, Larson, VLDB 1995",
	run: func(p *program) error {
		x := &extremes{est: stats.NewEstimator(p.Plan, p.catalog)}
		loop := loops.Changed(p.Plan)
		p.rewriteTrees(func(b *queryplan.Block, c queryplan.Command,
			n queryplan.Node) queryplan.Node {
			x.changed = loop[b]
			x.note = func(text string) { p.choose("CompareWithExtremes", b, c, text) }
			x.restricted = false
			n = joins.EachConjunction(n, joins.RootSite(c), x.apply)
			if x.restricted {
				n = dropVainDedups(n)
			}
			return n
		})
		return nil
	},
}

// extremesGain is the smallest ratio of the cost of pairs to that of groups.
// Tests lower it.
var extremesGain = 1.5

type extremes struct {
	est     *stats.Estimator
	changed map[*queryplan.Var]bool // variables that the current block's loop changes
	note    func(text string)       // records a decision
	// restricted means that groups are made only for the tuples of a temporary.
	restricted bool
}

// apply replaces relations whose only contribution is a column that differs
// from another one.
func (x *extremes) apply(n queryplan.Node, at joins.Site) queryplan.Node {
	if !at.Set {
		return n
	}
	c, found := joins.Flatten(n), false
	for again := true; again; {
		again = false
		for i := 0; i < len(c.Conds) && !again; i++ {
			for rel := 0; rel < len(c.Rels) && !again; rel++ {
				again = x.replace(c, i, rel)
			}
		}
		found = found || again
	}
	if !found {
		return n
	}
	return c.Assemble(joins.LeftDeep(len(c.Rels)), at)
}

// replace replaces a relation by groups with the minimum and maximum of the
// column that a condition compares with another column, if the relation has no
// other use and the replacement pays.
func (x *extremes) replace(c *joins.Conjunction, cond, rel int) bool {
	call, ok := c.Conds[cond].(*queryplan.Call)
	if !ok || call.Func.Name != "ne" || len(c.Rels) < 2 || len(c.Maps) > 0 {
		return false
	}
	r := c.Rels[rel]
	var column, other *queryplan.ColRef
	for i, arg := range call.Args {
		ref, isRef := arg.(*queryplan.ColRef)
		against, bothRefs := call.Args[1-i].(*queryplan.ColRef)
		if !isRef || !bothRefs {
			return false
		}
		if slices.Contains(trees.Columns(r), ref.Col.Name) {
			column, other = ref, against
		}
	}
	if column == nil || slices.Contains(trees.Columns(r), other.Col.Name) ||
		column.Col.Type != other.Col.Type || !isDiscrete(column.Col.Type) ||
		!trees.IsInvariant(r, x.changed) {
		return false
	}
	// Conditions on the relation alone are part of it.
	var own []queryplan.Expr
	rest := *c
	rest.Conds = nil
	for i, other := range c.Conds {
		switch {
		case i == cond:
		case trees.HasAll(trees.Columns(r), queryplan.ExprColumns(other)):
			own = append(own, other)
		default:
			rest.Conds = append(rest.Conds, other)
		}
	}
	r = trees.Filter(r, own)
	rest.Rels = slices.Delete(slices.Clone(c.Rels), rel, rel+1)
	elsewhere := func(name string) bool {
		return rest.Uses(name) || slices.ContainsFunc(rest.Rels, func(n queryplan.Node) bool {
			return slices.Contains(trees.Columns(n), name)
		})
	}
	var by []string
	for _, name := range trees.Columns(r) {
		if name != column.Col.Name && elsewhere(name) {
			by = append(by, name)
		}
	}
	if elsewhere(column.Col.Name) || len(by) == 0 {
		return false
	}
	filtered := *c
	filtered.Rels = slices.Clone(c.Rels)
	filtered.Rels[rel] = r
	pairs, groups := x.costs(&filtered, &rest, r)
	pays := func() bool { return pairs >= extremesGain*groups && pairs-groups > leastSaved }
	if few := x.ofFew(&rest, r, by); few != nil && !pays() {
		pairs, groups = x.costsOfFew(&filtered, &rest, few, by)
		if pays() {
			r, x.restricted = few, true
		}
	}
	what := "pairs"
	if pays() {
		what = "groups"
	}
	x.note(fmt.Sprintf("%s of %s: all pairs cost %.3g, groups with the extremes of %s %.3g", what,
		relationList(c.Rels[rel:rel+1]), pairs, column.Col.Name, groups))
	if !pays() {
		return false
	}
	agg := &queryplan.Aggregate{Input: r, By: by}
	var differs []queryplan.Expr
	for _, fn := range []queryplan.AggFn{queryplan.Min, queryplan.Max} {
		out := queryplan.Column{Name: c.Names.Fresh(column.Col.Name), Type: column.Col.Type}
		agg.Aggs = append(agg.Aggs, queryplan.Agg{Out: out, Fn: fn, In: column.Col.Name})
		differs = append(differs, &queryplan.Call{Func: call.Func,
			Args: []queryplan.Expr{&queryplan.ColRef{Col: out}, other}, Result: call.Result})
	}
	c.Rels[rel] = agg
	c.Conds = append(rest.Conds,
		&queryplan.Call{Func: scalar.Lookup("or"), Args: differs, Result: call.Result})
	return true
}

// isDiscrete reports whether values of a type are ordered and equal to
// themselves, which NaN is not.
func isDiscrete(t scalar.Type) bool {
	switch t.Kind {
	case scalar.Int, scalar.Uint, scalar.Decimal, scalar.String, scalar.Datetime:
		return true
	}
	return false
}

// ofFew returns the tuples of a relation whose groups are asked for by the few
// tuples of a temporary. It returns nil if there is no such temporary.
func (x *extremes) ofFew(rest *joins.Conjunction, r queryplan.Node, by []string) queryplan.Node {
	var best queryplan.Node
	for _, few := range rest.Rels {
		if !x.inTemporary(few) {
			continue
		}
		theirs := trees.Columns(few)
		on := slices.DeleteFunc(slices.Clone(by), func(name string) bool {
			return !slices.Contains(theirs, name)
		})
		if len(on) == 0 {
			continue
		}
		out := semiJoin(r, few, renamesOf(on, on))
		rows := x.est.Rows(out)
		if rows <= mostLeft*x.est.Rows(r) && (best == nil || rows < x.est.Rows(best)) {
			best = out
		}
	}
	return best
}

// inTemporary reports whether a tree reads a single temporary that the current
// loop does not change.
func (x *extremes) inTemporary(n queryplan.Node) bool {
	for {
		switch m := n.(type) {
		case *queryplan.Scan:
			return m.Var.Kind == queryplan.Temp && !x.changed[m.Var]
		case *queryplan.Project, *queryplan.Dedup:
			n = m.Inputs()[0]
		default:
			return false
		}
	}
}

// rows estimates the tuples of the joined relations of a conjunction.
func (x *extremes) rows(c *joins.Conjunction) float64 {
	part := &joins.Conjunction{Names: c.Names, Rels: c.Rels}
	for _, r := range part.Rels {
		for _, col := range trees.Columns(r) {
			part.Show(col, map[string]bool{col: true})
		}
	}
	return x.est.Rows(part.Assemble(joins.LeftDeep(len(part.Rels)), joins.Site{}))
}

// costs returns the costs of joining a relation and of joining groups of it.
func (x *extremes) costs(c, rest *joins.Conjunction,
	r queryplan.Node) (pairs, groups float64) {
	return (joins.EmitCost + matchCost) * x.rows(c),
		groupCost*x.est.Rows(r) + joins.EmitCost*x.rows(rest)
}

// orderedCost is the cost of adding a tuple to its group if groups are
// contiguous.
const orderedCost = 1

// costsOfFew returns the costs of joining a relation, and of joining groups of
// only those tuples that few asks for. Pairs repeat tuples, which are then
// looked up again; groups do not.
func (x *extremes) costsOfFew(c, rest *joins.Conjunction, few queryplan.Node,
	by []string) (pairs, groups float64) {
	each := float64(groupCost)
	if len(by) == 1 && comesInOrder(x.est, few, by[0]) {
		each = orderedCost
	}
	return (joins.EmitCost + matchCost + groupCost) * x.rows(c),
		each*x.est.Rows(few) + (joins.EmitCost+matchCost)*x.rows(rest)
}
