package facts

import (
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Conditions returns the comparisons that each scan of a table asks of its
// rows, by the table's column. The plan is made with the catalogue. Rows that
// fail one of them change no answer. The second result is the plan without
// the comparisons.
func Conditions(plan *queryplan.Plan, cat *stats.Catalog) (
	map[Column][]queryplan.Expr, *queryplan.Plan) {
	c := conditions{cat: cat, asked: map[string][]asked{}, scanned: map[string]bool{}}
	eachNode(plan, func(n queryplan.Node) { c.collect(n, nil) })
	out := map[Column][]queryplan.Expr{}
	for table, list := range c.asked {
		for _, a := range list {
			at := Column{table, a.column}
			out[at] = append(out[at], a.cond)
		}
	}
	without := queryplan.Clone(plan)
	for _, b := range without.Blocks {
		for i, cmd := range b.Cmds {
			if n := queryplan.CommandNode(cmd); n != nil {
				b.Cmds[i] = queryplan.WithNode(cmd, queryplan.Rewrite(n, c.remove))
			}
		}
	}
	return out, without
}

// Column is a column of a table of a catalogue.
type Column struct {
	Table string
	At    int
}

func eachNode(plan *queryplan.Plan, f func(queryplan.Node)) {
	for _, b := range plan.Blocks {
		for _, cmd := range b.Cmds {
			if n := queryplan.CommandNode(cmd); n != nil {
				f(n)
			}
		}
	}
}

// asked is a comparison about one column, which it calls by no name.
type asked struct {
	column int
	cond   queryplan.Expr
	text   string
}

func (a asked) same(b asked) bool { return a.column == b.column && a.text == b.text }

// conditions gathers what all scans seen so far ask of the rows of a table.
type conditions struct {
	cat     *stats.Catalog
	asked   map[string][]asked
	scanned map[string]bool
}

// collect visits the scans of a tree, whose rows pass the conditions.
func (c *conditions) collect(n queryplan.Node, conds []queryplan.Expr) {
	switch n := n.(type) {
	case *queryplan.Filter:
		c.collect(n.Input, append(slices.Clone(conds), queryplan.Conjuncts(n.Cond)...))
		return
	case *queryplan.Scan:
		table, _ := c.cat.Stored(n.Var)
		if table == nil {
			return
		}
		var list []asked
		for _, cond := range conds {
			if a, ok := c.about(n, cond); ok {
				list = append(list, a)
			}
		}
		if c.scanned[table.Name] {
			list = slices.DeleteFunc(slices.Clone(c.asked[table.Name]), func(a asked) bool {
				return !slices.ContainsFunc(list, a.same)
			})
		}
		c.scanned[table.Name], c.asked[table.Name] = true, list
		return
	}
	var room [2]queryplan.Node
	for _, in := range queryplan.AppendInputs(room[:0], n) {
		c.collect(in, nil)
	}
}

// about returns a condition over a scan as one about a single column.
func (c *conditions) about(s *queryplan.Scan, cond queryplan.Expr) (asked, bool) {
	name := ""
	ok := true
	queryplan.WalkExpr(cond, func(e queryplan.Expr) {
		switch e := e.(type) {
		case *queryplan.ColRef:
			ok = ok && (name == "" || name == e.Col.Name)
			name = e.Col.Name
		case *queryplan.Call:
			ok = ok && slices.Contains(comparisons, e.Func.Name)
		}
	})
	at := slices.Index(s.Names, name)
	if !ok || name == "" || at < 0 {
		return asked{}, false
	}
	_, stored := c.cat.Stored(s.Var)
	unnamed := queryplan.RewriteExpr(cond, func(e queryplan.Expr) queryplan.Expr {
		if ref, ok := e.(*queryplan.ColRef); ok {
			return &queryplan.ColRef{Col: queryplan.Column{Name: "x", Type: ref.Col.Type}}
		}
		return e
	})
	return asked{stored[at], unnamed, queryplan.ExprString(unnamed)}, true
}

// comparisons are the functions that comparisons consist of.
var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "string:like",
	"string:notlike"}

// remove drops the comparisons of a filter over a scan that all scans of the
// table ask.
func (c *conditions) remove(n queryplan.Node) queryplan.Node {
	f, ok := n.(*queryplan.Filter)
	if !ok {
		return n
	}
	in := f.Input
	for {
		below, ok := in.(*queryplan.Filter)
		if !ok {
			break
		}
		in = below.Input
	}
	s, ok := in.(*queryplan.Scan)
	if !ok {
		return n
	}
	table, _ := c.cat.Stored(s.Var)
	if table == nil {
		return n
	}
	rest := slices.DeleteFunc(queryplan.Conjuncts(f.Cond), func(cond queryplan.Expr) bool {
		a, ok := c.about(s, cond)
		return ok && slices.ContainsFunc(c.asked[table.Name], a.same)
	})
	if len(rest) == 0 {
		return f.Input
	}
	return &queryplan.Filter{Input: f.Input, Cond: queryplan.And(rest)}
}

// Test returns comparisons about one column as a test of its values.
func Test(conds []queryplan.Expr) read.Test {
	t := read.Test{Least: math.MinInt64, Most: math.MaxInt64, Range: true}
	for _, cond := range conds {
		least, most, ok := rangeOf(cond)
		t.Range = t.Range && ok
		t.Least, t.Most = max(t.Least, least), min(t.Most, most)
		if t.Equal == nil {
			t.Equal = equalTo(cond)
		}
	}
	if len(conds) == 1 {
		if like, not, ok := pattern(conds[0]); ok {
			t.Text = func(text string) bool { return like.Match(text) != not }
		}
	}
	t.Holds = func(v scalar.Value) bool {
		for _, cond := range conds {
			holds, ok := queryplan.Eval(cond, func(string) scalar.Value { return v })
			if !ok || !holds.Bool() {
				return false
			}
		}
		return true
	}
	return t
}

// equalTo returns the constants of which a column must be one for a condition
// to hold; nil if it asks something else.
func equalTo(cond queryplan.Expr) []scalar.Value {
	call, ok := cond.(*queryplan.Call)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	switch call.Func.Name {
	case "or":
		a, b := equalTo(call.Args[0]), equalTo(call.Args[1])
		if a == nil || b == nil {
			return nil
		}
		return slices.Concat(a, b)
	case "eq":
		column, constant := call.Args[0], call.Args[1]
		if _, ok := column.(*queryplan.Const); ok {
			column, constant = constant, column
		}
		_, isColumn := column.(*queryplan.ColRef)
		c, isConst := constant.(*queryplan.Const)
		if isColumn && isConst && column.Type() == c.Value.Type {
			return []scalar.Value{c.Value}
		}
	}
	return nil
}

// pattern returns the pattern that a condition matches, or does not.
func pattern(cond queryplan.Expr) (like *scalar.Like, not, ok bool) {
	call, ok := cond.(*queryplan.Call)
	if !ok || call.Func.Name != "string:like" && call.Func.Name != "string:notlike" {
		return nil, false, false
	}
	_, isColumn := call.Args[0].(*queryplan.ColRef)
	text, isConst := call.Args[1].(*queryplan.Const)
	if !isColumn || !isConst {
		return nil, false, false
	}
	like, err := scalar.CompileLike(text.Value.Str())
	return like, call.Func.Name == "string:notlike", err == nil
}

// rangeOf returns the words for which a comparison with a constant holds, if
// they are all those between two.
func rangeOf(cond queryplan.Expr) (least, most int64, ok bool) {
	least, most = math.MinInt64, math.MaxInt64
	call, isCall := cond.(*queryplan.Call)
	if !isCall || len(call.Args) != 2 {
		return least, most, false
	}
	name := call.Func.Name
	column, isColumn := call.Args[0].(*queryplan.ColRef)
	constant, isConst := call.Args[1].(*queryplan.Const)
	if !isColumn || !isConst {
		constant, isConst = call.Args[0].(*queryplan.Const)
		column, isColumn = call.Args[1].(*queryplan.ColRef)
		name = map[string]string{"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}[name]
	}
	if !isColumn || !isConst || column.Col.Type != constant.Value.Type {
		return least, most, false
	}
	switch column.Col.Type.Kind {
	case scalar.Int, scalar.Decimal, scalar.Datetime:
	default:
		return least, most, false
	}
	w := int64(constant.Value.Bits())
	switch {
	case name == "eq":
		return w, w, true
	case name == "le":
		return least, w, true
	case name == "ge":
		return w, most, true
	case name == "lt" && w > least:
		return least, w - 1, true
	case name == "gt" && w < most:
		return w + 1, most, true
	}
	return least, most, false
}
