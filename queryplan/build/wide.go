package build

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// splitWide makes two columns of every column of a wide decimal: its words (see
// scalar.Word), which order as the decimal does. Sets, joins, groups, keys and
// orders are then what they are for other columns, and nothing behind the plan
// knows of values that take more than a word. Only expressions compute with
// wide decimals, which they do in 128 bits anyway: `wide` makes one of its
// words, `high` and `low` take them from it. It is the expansion of types that
// a machine does not have, as compilers do it.
func (b *builder) splitWide() {
	s := &splitter{names: queryplan.VarNames(b.plan)}
	for _, block := range b.plan.Blocks {
		var cmds []queryplan.Command
		for _, c := range block.Cmds {
			s.before = nil
			switch x := c.(type) {
			case *queryplan.Insert:
				s.span = x.Span
				c = queryplan.WithNode(c, s.node(x.Node))
			case *queryplan.Assign:
				s.span = x.Var.Span
				c = queryplan.WithNode(c, s.node(x.Node))
			case *queryplan.Check:
				s.span = x.Span
				c = queryplan.WithNode(c, s.node(x.Node))
			}
			cmds = append(append(cmds, s.before...), c)
		}
		block.Cmds = cmds
	}
	// Scans take types from their variables, so that these change last.
	for _, v := range b.plan.Vars {
		v.Keys = len(queryplan.SplitWords(v.Cols[:v.Keys]))
		v.OrderBy = splitOrder(v.OrderBy, v.Cols)
		v.Cols = queryplan.SplitWords(v.Cols)
	}
	b.plan.Vars = append(b.plan.Vars, s.vars...)
}

// splitter splits what commands evaluate, one after the other.
type splitter struct {
	names *queryplan.Names // of variables
	vars  []*queryplan.Var // temporary ones that aggregations have got
	// span is that of the command at hand, and before has commands that fill
	// and check temporary variables for it.
	span   source.Span
	before []queryplan.Command
}

// node returns an operator over words in place of wide decimals. Its columns
// are known when the variables are split.
func (s *splitter) node(n queryplan.Node) queryplan.Node {
	var cols []queryplan.Column // of the input, before it is split
	inputs := slices.Clone(n.Inputs())
	for i, in := range inputs {
		cols = in.Columns()
		inputs[i] = s.node(in)
	}
	switch n := n.(type) {
	case *queryplan.Scan:
		out := &queryplan.Scan{Var: n.Var, Version: n.Version, Position: n.Position}
		for i, name := range n.Names {
			for _, w := range (queryplan.Column{Name: name, Type: n.Var.Cols[i].Type}).Words() {
				if name == "" {
					w.Name = ""
				}
				out.Names = append(out.Names, w.Name)
			}
		}
		return out
	case *queryplan.Values:
		out := &queryplan.Values{Cols: queryplan.SplitWords(n.Cols)}
		for _, row := range n.Rows {
			out.Rows = append(out.Rows, scalar.SplitRow(row))
		}
		return out
	case *queryplan.Filter:
		return &queryplan.Filter{Input: inputs[0], Cond: splitExpr(n.Cond)}
	case *queryplan.Map:
		out := &queryplan.Map{Input: inputs[0]}
		for _, e := range n.Exprs {
			out.Exprs = append(out.Exprs, splitNamed(e.Name, e.Expr)...)
		}
		return out
	case *queryplan.Project:
		out := &queryplan.Project{Input: inputs[0]}
		for _, c := range n.Cols {
			col, _ := queryplan.FindColumn(cols, c.From)
			to := queryplan.Column{Name: c.To, Type: col.Type}.Words()
			for i, from := range col.Words() {
				out.Cols = append(out.Cols, queryplan.Rename{From: from.Name, To: to[i].Name})
			}
		}
		return out
	case *queryplan.Aggregate:
		return s.aggregate(n, inputs[0], cols)
	case *queryplan.Seq:
		return &queryplan.Seq{Input: inputs[0], Group: splitNames(n.Group, cols),
			Order: splitOrder(n.Order, cols), Index: n.Index}
	}
	return queryplan.WithInputs(n, inputs)
}

// splitNames returns the names of the words of columns.
func splitNames(names []string, cols []queryplan.Column) []string {
	var out []string
	for _, name := range names {
		c, _ := queryplan.FindColumn(cols, name)
		for _, w := range c.Words() {
			out = append(out, w.Name)
		}
	}
	return out
}

func splitOrder(keys []queryplan.OrderKey, cols []queryplan.Column) []queryplan.OrderKey {
	var out []queryplan.OrderKey
	for _, k := range keys {
		for _, name := range splitNames([]string{k.Col}, cols) {
			out = append(out, queryplan.OrderKey{Col: name, Desc: k.Desc})
		}
	}
	return out
}

// splitNamed returns the columns of a computed one. Where it has more than 38
// digits, its upper word does not fit and drops the row.
func splitNamed(name string, e queryplan.Expr) []queryplan.NamedExpr {
	words := queryplan.Column{Name: name, Type: e.Type()}.Words()
	if len(words) == 1 {
		return []queryplan.NamedExpr{{Name: name, Expr: splitExpr(e)}}
	}
	high, low := wordsOf(e)
	return []queryplan.NamedExpr{{Name: words[0].Name, Expr: high},
		{Name: words[1].Name, Expr: low}}
}

// splitExpr returns an expression over the columns of words. Columns and
// constants that are compared for equality are compared word by word, so that
// such conditions remain conditions on columns.
func splitExpr(e queryplan.Expr) queryplan.Expr {
	switch e := e.(type) {
	case *queryplan.ColRef:
		if e.Col.Type.IsWide() {
			high, low := wordsOf(e)
			return queryplan.WideOf(high, low)
		}
	case *queryplan.Const:
		if !e.Value.FitsWord() {
			high, low := wordsOf(e)
			return queryplan.WideOf(high, low)
		}
	case *queryplan.Call:
		if (e.Func.Name == "eq" || e.Func.Name == "ne") && e.Args[0].Type().IsWide() &&
			!isCall(e.Args[0]) && !isCall(e.Args[1]) {
			high, low := wordsOf(e.Args[0])
			otherHigh, otherLow := wordsOf(e.Args[1])
			both := call("and", call("eq", high, otherHigh), call("eq", low, otherLow))
			if e.Func.Name == "ne" {
				return call("not", both)
			}
			return both
		}
		if isParsed(e) {
			return queryplan.WideOf(wordsOf(e))
		}
		out := &queryplan.Call{Func: e.Func, Result: e.Result}
		for _, a := range e.Args {
			out.Args = append(out.Args, splitExpr(a))
		}
		return out
	}
	return e
}

func isCall(e queryplan.Expr) bool {
	_, ok := e.(*queryplan.Call)
	return ok
}

// isParsed reports whether a wide expression is made of a text. Each of its
// words is then a function of the text by itself: engines evaluate functions of
// one string once for each string that there is, and have a word for each.
func isParsed(e *queryplan.Call) bool {
	return e.Func.Name == "convert" && e.Result.IsWide() && e.Args[0].Type().Kind == scalar.String
}

// wordsOf returns the words of a wide expression.
func wordsOf(e queryplan.Expr) (high, low queryplan.Expr) {
	switch e := e.(type) {
	case *queryplan.ColRef:
		words := e.Col.Words()
		return ref(words[0]), ref(words[1])
	case *queryplan.Const:
		h, l := e.Value.Words()
		return &queryplan.Const{Value: h}, &queryplan.Const{Value: l}
	case *queryplan.Call:
		if isParsed(e) {
			s := splitExpr(e.Args[0])
			return convert(s, e.Result.WordOf(scalar.High)), convert(s, e.Result.WordOf(scalar.Low))
		}
	}
	e = splitExpr(e)
	word := func(name string, w scalar.Word) queryplan.Expr {
		return &queryplan.Call{Func: scalar.Lookup(name), Args: []queryplan.Expr{e},
			Result: e.Type().WordOf(w)}
	}
	return word("high", scalar.High), word("low", scalar.Low)
}
