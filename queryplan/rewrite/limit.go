package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

var limitOutputs = &Pass{
	Name: "LimitOutputs",
	Reason: "Of an output that is cut to its first tuples only these are kept while it is computed, " +
		"so that the rest is neither stored nor sorted.",
	Unless: "Something else reads the predicate, several rules or a loop derive it, or its key is " +
		"still to be checked.",
	Before: "var out(x: int) derived output order [x desc] limit 3\ninsert out\n  scan a(x)",
	After: "var out(x: int) derived output order [x desc] limit 3\ninsert out\n" +
		"  topk 3 order [x desc]\n    scan a(x)",
	Source: "Carey, Kossmann, On saying \"enough already!\" in SQL, SIGMOD 1997",
	run:    limitAtOutputs,
}

func limitAtOutputs(p *program) error {
	loop := loops.Changed(p.Plan)
	uses := map[*queryplan.Var]int{} // inserts; a use of all tuples counts as more
	const more = 2
	for b, c := range p.Commands() {
		switch c := c.(type) {
		case *queryplan.Insert:
			if uses[c.Var]++; loop[b] != nil {
				uses[c.Var] += more
			}
		case *queryplan.CheckKey:
			uses[c.Var] += more
		}
		if n := queryplan.CommandNode(c); n != nil {
			for _, s := range queryplan.Scans(n) {
				uses[s.Var] += more
			}
		}
	}
	for _, b := range p.Blocks {
		for i, c := range b.Cmds {
			if ins, ok := c.(*queryplan.Insert); ok && ins.Var.Output && ins.Var.Limit >= 0 &&
				uses[ins.Var] == 1 {
				b.Cmds[i] = queryplan.WithNode(c, firstTuples(ins))
			}
		}
	}
	return nil
}

// firstTuples returns the tree of the tuples that an output shows. A top-k
// breaks ties like the presentation of outputs: by all columns.
func firstTuples(ins *queryplan.Insert) queryplan.Node {
	n := ins.Node
	if _, done := n.(*queryplan.TopK); done {
		return n
	}
	// Repeated tuples would displace others.
	if !queryplan.IsSet(n) {
		n = &queryplan.Dedup{Input: n}
	}
	top := &queryplan.TopK{Input: n, Limit: ins.Var.Limit}
	cols := n.Columns()
	for _, k := range ins.Var.OrderBy {
		at := slices.IndexFunc(ins.Var.Cols, func(c queryplan.Column) bool {
			return c.Name == k.Col
		})
		top.By = append(top.By, queryplan.OrderKey{Col: cols[at].Name, Desc: k.Desc})
	}
	return top
}

var limitSequences = &Pass{
	Name: "LimitSequences",
	Reason: "Of a sequence that is filtered by a bound on its index only the first tuples are " +
		"numbered, so that sorting everything becomes a selection of the smallest.",
	Unless: "The bound must be a constant from above, or equality with one.",
	Before: "filter lt(i, 10)\n  seq i order [x]\n    scan a(x)",
	After:  "seq i order [x]\n  topk 10 order [x]\n    scan a(x)",
	Source: "Carey, Kossmann, On saying \"enough already!\" in SQL, SIGMOD 1997",
	run: func(p *program) error {
		p.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command,
			n queryplan.Node) queryplan.Node {
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
	// The filter may be above operators that neither add tuples nor use the
	// index. Filters have been pushed to scans before.
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
	if t, again := seq.Input.(*queryplan.TopK); limit < 0 || again && t.Limit <= limit &&
		len(rest) > 0 {
		return n
	}
	top := &queryplan.TopK{Input: seq.Input, Group: seq.Group, By: seq.Order, Limit: limit}
	return trees.Filter(&queryplan.Seq{Input: top, Group: seq.Group, Order: seq.Order,
		Index: seq.Index}, rest)
}

// upperBound recognises a condition that bounds a column from above. bound is
// an upper bound of the natural numbers that satisfy it. implied means that all
// numbers below the bound satisfy it.
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
