package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
)

var proveKeys = &Pass{
	Name: "ProveKeys",
	Reason: "A functional predicate whose rules are proved to keep its key needs no check at run " +
		"time, and a dedup of what cannot repeat, or of what goes into a set or only has to exist, " +
		"does nothing.",
	Unless: "A dedup below a join stays if its input may repeat: it saves the join work.",
	Before: "dedup\n  aggregate [x] n: int = count()\n    scan a(x, y)",
	After:  "aggregate [x] n: int = count()\n  scan a(x, y)",
	Source: "functional dependencies through queries: Paulley, PhD thesis, Waterloo 2000; duplicate " +
		"elimination: Paulley, Larson, ICDE 1994",
	run: func(p *program) error {
		p.rewriteTrees(func(_ *queryplan.Block, c queryplan.Command,
			n queryplan.Node) queryplan.Node {
			return dropDedup(n, joins.RootSite(c).Set)
		})
		checked := map[*queryplan.Var]bool{}
		for _, c := range p.Commands() {
			if check, ok := c.(*queryplan.CheckKey); ok {
				checked[check.Var] = true
			}
		}
		for _, v := range p.Vars {
			if checked[v] && queryplan.KeepsKey(p.Plan, v) {
				v.Unique, v.Checked = true, false
			}
		}
		for _, b := range p.Blocks {
			b.Cmds = slices.DeleteFunc(b.Cmds, func(c queryplan.Command) bool {
				check, ok := c.(*queryplan.CheckKey)
				return ok && check.Var.Unique
			})
		}
		return nil
	},
}

// dropDedup removes dedups that do nothing. free means that repeated tuples of
// n cost nothing more, because they are inserted into a set.
func dropDedup(n queryplan.Node, free bool) queryplan.Node {
	if d, ok := n.(*queryplan.Dedup); ok && (free || queryplan.IsSet(d.Input)) {
		return dropDedup(d.Input, free)
	}
	in := n.Inputs()
	if len(in) == 0 {
		return n
	}
	out := make([]queryplan.Node, len(in))
	for i, x := range in {
		switch n := n.(type) {
		case *queryplan.Filter, *queryplan.Map, *queryplan.Project, *queryplan.Union:
			out[i] = dropDedup(x, free)
		case *queryplan.Dedup:
			out[i] = dropDedup(x, true)
		case *queryplan.Join:
			out[i] = dropDedup(x, i == 1 && n.Kind != queryplan.Inner)
		default:
			out[i] = dropDedup(x, false)
		}
	}
	if j, ok := n.(*queryplan.Join); ok && j.Unique && out[1] != j.Right {
		return matchedAgain(&queryplan.Join{Kind: j.Kind, Left: out[0], Right: out[1]})
	}
	return queryplan.WithInputs(n, out)
}

// dropVainDedups removes dedups of tuples that do not repeat.
func dropVainDedups(n queryplan.Node) queryplan.Node {
	if d, ok := n.(*queryplan.Dedup); ok && queryplan.IsSet(d.Input) {
		return dropVainDedups(d.Input)
	}
	in := n.Inputs()
	if len(in) == 0 {
		return n
	}
	return queryplan.WithInputs(n, list.Map(in, dropVainDedups))
}

// matchedAgain determines again whether a join matches each left tuple once,
// because its right side may repeat tuples now.
func matchedAgain(j *queryplan.Join) queryplan.Node {
	return &queryplan.Join{Kind: j.Kind, Left: j.Left, Right: j.Right, Unique: j.MatchesOnce()}
}
