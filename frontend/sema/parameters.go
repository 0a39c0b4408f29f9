package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// maxQuantileScale bounds the digits of the part of a quantile. The product of
// its digits and the number of tuples is a word.
const maxQuantileScale = 9

// parameters reads the arguments of an aggregation after its input. It reports
// those that the function does not take.
func (lo *lowering) parameters(s *ast.Spec, a *normal.Aggregate, k *conj) bool {
	switch a.Fn {
	case core.Quantile:
		return lo.quantileAt(s, a)
	case core.StringJoin:
		return lo.joinOrder(s, a, k)
	}
	if len(s.Args) == 0 {
		return true
	}
	d := lo.c.Errorf(diag.AggregateInput, s.Args[0].Pos(), "%s takes one argument", s.Fn.Text)
	d.Help("write %s = %s(%s)", s.Out.Text, s.Fn.Text, s.In.Pos().Text())
	return false
}

// quantileAt reads the part of a quantile.
func (lo *lowering) quantileAt(s *ast.Spec, a *normal.Aggregate) bool {
	example := s.Out.Text + " = quantile(" + s.In.Pos().Text() + ", 0.9)"
	if len(s.Args) != 1 {
		d := lo.c.Errorf(diag.AggregateInput, s.Span, "quantile takes two arguments")
		d.Help("write %s for the value that nine of ten do not exceed", example)
		return false
	}
	at := s.Args[0].Pos()
	l, ok := ast.Unparen(s.Args[0]).(*ast.Literal)
	if ok {
		a.At, ok = partOf(l.Value)
	}
	if !ok {
		d := lo.c.Errorf(diag.AggregateInput, at,
			"the part of a quantile is a decimal literal from 0 to 1")
		d.Note("it has up to %d digits after the point", maxQuantileScale)
		d.Help("write for example %s", example)
	}
	return ok
}

// partOf returns a number from 0 to 1 as a decimal.
func partOf(v scalar.Value) (scalar.Value, bool) {
	switch v.Type.Kind {
	case scalar.Int, scalar.Uint:
		v = scalar.OfDecimal(0, v.Int())
	case scalar.Decimal:
	default:
		return v, false
	}
	if v.Type.IsWide() || v.Type.Scale > maxQuantileScale {
		return v, false
	}
	one := int64(1)
	for range v.Type.Scale {
		one *= 10
	}
	return v, 0 <= v.Int() && v.Int() <= one
}

// joinOrder reads the separator of a join of strings, and its order.
func (lo *lowering) joinOrder(s *ast.Spec, a *normal.Aggregate, k *conj) bool {
	example := s.Out.Text + " = string_join(" + s.In.Pos().Text() + `, ", ")`
	separator, isText := (*ast.Literal)(nil), false
	if len(s.Args) > 0 {
		separator, isText = ast.Unparen(s.Args[0]).(*ast.Literal)
	}
	if !isText || separator.Value.Type != scalar.StringType {
		at := s.Span
		if len(s.Args) > 0 {
			at = s.Args[0].Pos()
		}
		d := lo.c.Errorf(diag.AggregateInput, at, "string_join needs a string literal as separator")
		d.Help("write %s", example)
		return false
	}
	a.Separator = separator.Value.Str()
	if len(s.Args) == 1 {
		return true
	}
	order, ok := ast.Unparen(s.Args[1]).(*ast.Apply)
	if !ok || order.Square || order.Name.Text != "order" || len(s.Args) > 2 {
		d := lo.c.Errorf(diag.AggregateInput, s.Args[1].Pos(),
			"string_join takes a string, a separator and order(...)")
		d.Help("write %s, order(x, desc(y)))", example[:len(example)-1])
		return false
	}
	a.By, ok = lo.orderKeys(order, k)
	return ok
}
