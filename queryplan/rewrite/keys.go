package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

var proveKeys = &Pass{
	Name: "ProveKeys",
	Reason: "A functional predicate whose rules are proved to keep its key needs no check at run time, and a " +
		"dedup of what cannot repeat, or of what goes into a set or only has to exist, does nothing.",
	Unless: "A dedup below a join stays if its input may repeat: it saves the join work.",
	Before: "dedup\n  aggregate [x] n: int = count()\n    scan a(x, y)",
	After:  "aggregate [x] n: int = count()\n  scan a(x, y)",
	Source: "functional dependencies through queries: Paulley, PhD thesis, Waterloo 2000; duplicate elimination: Paulley, Larson, ICDE 1994",
	run: func(p *program) error {
		p.rewriteTrees(func(_ *queryplan.Block, c queryplan.Command, n queryplan.Node) queryplan.Node {
			return dropDedup(n, rootSite(c).set)
		})
		checked := map[*queryplan.Var]bool{}
		for _, b := range p.Blocks {
			for _, c := range b.Cmds {
				if check, ok := c.(*queryplan.CheckKey); ok {
					checked[check.Var] = true
				}
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

// dropDedup removes dedups that do nothing. Free says that repeated tuples of n
// cost nothing more, because a set takes them as they come.
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

// matchedAgain finds out anew whether a join matches each left tuple once: its
// right side may repeat tuples now.
func matchedAgain(j *queryplan.Join) queryplan.Node {
	return &queryplan.Join{Kind: j.Kind, Left: j.Left, Right: j.Right, Unique: j.MatchesOnce()}
}

var limitSequences = &Pass{
	Name: "LimitSequences",
	Reason: "Of a sequence that is filtered by a bound on its index only the first tuples are numbered, so " +
		"that sorting everything becomes a selection of the smallest.",
	Unless: "The bound must be a constant from above, or equality with one.",
	Before: "filter lt(i, 10)\n  seq i order [x]\n    scan a(x)",
	After:  "seq i order [x]\n  topk 10 order [x]\n    scan a(x)",
	Source: "Carey, Kossmann, On saying \"enough already!\" in SQL, SIGMOD 1997",
	run: func(p *program) error {
		p.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command, n queryplan.Node) queryplan.Node {
			return queryplan.Rewrite(n, limitSequence)
		})
		return nil
	},
}

func limitSequence(n queryplan.Node) queryplan.Node {
	f, ok := n.(*queryplan.Filter)
	if !ok {
		return n
	}
	// The filter may stand above operators that neither add tuples nor touch the
	// index; filters at scans are pushed there before.
	seq, ok := f.Input.(*queryplan.Seq)
	if !ok {
		return n
	}
	limit := int64(-1)
	var rest []queryplan.Expr
	for _, c := range queryplan.Conjuncts(f.Cond) {
		bound, implied, ok := upperBound(c, seq.Index)
		if ok && (limit < 0 || bound < limit) {
			limit = bound
		}
		if !ok || !implied {
			rest = append(rest, c)
		}
	}
	if t, again := seq.Input.(*queryplan.TopK); limit < 0 || again && t.Limit <= limit && len(rest) > 0 {
		return n
	}
	top := &queryplan.TopK{Input: seq.Input, Group: seq.Group, Limit: limit}
	for _, col := range seq.Order {
		top.By = append(top.By, queryplan.OrderKey{Col: col})
	}
	return filtered(&queryplan.Seq{Input: top, Group: seq.Group, Order: seq.Order, Index: seq.Index}, rest)
}

// upperBound recognises a condition that bounds a column from above and returns
// how many of the numbers from 0 on satisfy it at most. Implied says that those
// below the bound all do.
func upperBound(e queryplan.Expr, col string) (bound int64, implied, ok bool) {
	call, isCall := e.(*queryplan.Call)
	if !isCall || len(call.Args) != 2 {
		return 0, false, false
	}
	ref, isRef := call.Args[0].(*queryplan.ColRef)
	c, isConst := call.Args[1].(*queryplan.Const)
	if !isRef || !isConst || ref.Col.Name != col || c.Value.Type != scalar.IntType {
		return 0, false, false
	}
	const most = 1 << 40
	n := min(max(c.Value.Int(), -1), most)
	switch call.Func.Name {
	case "lt":
		return max(0, n), n < most, true
	case "le":
		return n + 1, n < most, true
	case "eq":
		return n + 1, false, true
	}
	return 0, false, false
}
