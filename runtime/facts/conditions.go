package facts

import (
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Without returns the plan without the comparisons in Conditions, which a
// loader has tested already.
func (w *Wanted) Without(plan *queryplan.Plan) *queryplan.Plan {
	without := queryplan.Clone(plan)
	for _, b := range without.Blocks {
		for i, cmd := range b.Cmds {
			if n := queryplan.CommandNode(cmd); n != nil {
				b.Cmds[i] = queryplan.WithNode(cmd, queryplan.Rewrite(n, w.remove))
			}
		}
	}
	return without
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

// abouts returns those of some conditions over a scan that concern a single
// column.
func (w *Wanted) abouts(s *queryplan.Scan, conds []queryplan.Expr) (list []asked) {
	for _, cond := range conds {
		if a, ok := w.about(s, cond); ok {
			list = append(list, a)
		}
	}
	return list
}

// about returns a condition over a scan as one of a single column, if it is
// that.
func (w *Wanted) about(s *queryplan.Scan, cond queryplan.Expr) (asked, bool) {
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
	_, stored := w.cat.Stored(s.Var)
	return askedOf(stored[at], queryplan.RewriteExpr(cond, func(e queryplan.Expr) queryplan.Expr {
		if ref, ok := e.(*queryplan.ColRef); ok {
			return unnamed(ref.Col.Type)
		}
		return e
	})), true
}

// comparisons are the functions of which a comparison may consist.
var comparisons = []string{"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "string:like",
	"string:notlike"}

// remove drops those comparisons of a filter over a scan that are in
// Conditions.
func (w *Wanted) remove(n queryplan.Node) queryplan.Node {
	f, ok := n.(*queryplan.Filter)
	if !ok {
		return n
	}
	s, table := w.filtered(f)
	if table == nil {
		return n
	}
	rest := slices.DeleteFunc(queryplan.Conjuncts(f.Cond), func(cond queryplan.Expr) bool {
		a, ok := w.about(s, cond)
		return ok && slices.ContainsFunc(w.asked[table.Name], a.same)
	})
	if len(rest) == 0 {
		return f.Input
	}
	return &queryplan.Filter{Input: f.Input, Cond: queryplan.And(rest)}
}

// filtered returns the scan of a table to which filters are applied, and the
// table; nil if they are applied to something else.
func (w *Wanted) filtered(f *queryplan.Filter) (*queryplan.Scan, *stats.Table) {
	in := f.Input
	for {
		switch n := in.(type) {
		case *queryplan.Filter:
			in = n.Input
			continue
		case *queryplan.Scan:
			table, _ := w.cat.Stored(n.Var)
			return n, table
		}
		return nil, nil
	}
}

// Test compiles comparisons of one column to a test of its values.
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

// equalTo returns the constants if a condition says that a column equals one of
// them, else nil.
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

// pattern returns the pattern of a like condition, and whether it is negated.
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

// rangeOf returns the range of words for which a comparison with a constant
// holds, if they form one.
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
