package stats

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Bound is a closed interval that is certain to hold all of a column's values:
// ints as they are, decimals as their unscaled numbers. It is a proof, not an
// estimate.
type Bound struct{ Min, Max *big.Int }

// Bounds returns intervals that certainly contain the values of an operator's
// int and decimal columns. Columns whose interval is no narrower than their
// type are left out.
func (c *Catalog) Bounds(n queryplan.Node) map[string]Bound {
	out := map[string]Bound{}
	switch n := n.(type) {
	case *queryplan.Scan:
		table, at := c.Stored(n.Var)
		if table == nil || table.Rows == 0 {
			return out
		}
		for i, name := range n.Names {
			kind := n.Var.Cols[i].Type.Kind
			if name != "" && (kind == scalar.Int || kind == scalar.Decimal) {
				s := table.Columns[at[i]]
				out[name] = Bound{big.NewInt(s.Min), big.NewInt(s.Max)}
			}
		}
		return out
	case *queryplan.Project:
		in := c.Bounds(n.Input)
		for _, r := range n.Cols {
			if b, ok := in[r.From]; ok {
				out[r.To] = b
			}
		}
		return out
	case *queryplan.Map:
		out = c.Bounds(n.Input)
		in := n.Input.Columns()
		for _, e := range n.Exprs {
			if b, ok := ExprBound(e.Expr, out); ok {
				if _, again := queryplan.FindColumn(in, e.Name); !again {
					out[e.Name] = b
				}
			}
		}
		return out
	case *queryplan.Join:
		out = c.Bounds(n.Left)
		if n.Kind == queryplan.Inner {
			for name, b := range c.Bounds(n.Right) {
				if _, ok := out[name]; !ok {
					out[name] = b
				}
			}
		}
		return out
	case *queryplan.MultiJoin:
		for _, in := range n.Nodes {
			for name, b := range c.Bounds(in) {
				if _, ok := out[name]; !ok {
					out[name] = b
				}
			}
		}
		return out
	case *queryplan.Filter:
		return c.Bounds(n.Input)
	case *queryplan.Dedup:
		return c.Bounds(n.Input)
	case *queryplan.TopK:
		return c.Bounds(n.Input)
	case *queryplan.Seq:
		return c.Bounds(n.Input)
	case *queryplan.Aggregate:
		in := c.Bounds(n.Input)
		keep := func(from, to string) {
			if b, ok := in[from]; ok {
				out[to] = b
			}
		}
		for _, name := range n.By {
			keep(name, name)
		}
		for _, a := range n.Aggs {
			switch a.Fn {
			case queryplan.Min, queryplan.Max:
				keep(a.In, a.Out.Name)
			case queryplan.Count:
				if most, ok := c.MostRows(n.Input); ok {
					out[a.Out.Name] = Bound{big.NewInt(1), big.NewInt(most)}
				}
			}
		}
	}
	return out
}

// MostRows returns an upper bound on the tuples of an operator. ok is false if
// none is known, or it exceeds 64 bits.
func (c *Catalog) MostRows(n queryplan.Node) (rows int64, ok bool) {
	switch n := n.(type) {
	case *queryplan.Scan:
		table, _ := c.Stored(n.Var)
		if table == nil {
			return 0, false
		}
		return table.Rows, true
	case *queryplan.Values:
		return int64(len(n.Rows)), true
	case *queryplan.Project, *queryplan.Map, *queryplan.Filter, *queryplan.Dedup,
		*queryplan.Aggregate:
		return c.MostRows(n.Inputs()[0])
	case *queryplan.Join:
		left, ok := c.MostRows(n.Left)
		if !ok || n.Kind != queryplan.Inner || n.Unique {
			return left, ok
		}
		right, ok := c.MostRows(n.Right)
		if high, low := bits.Mul64(uint64(left), uint64(right)); ok && high == 0 &&
			low <= math.MaxInt64 {
			return int64(low), true
		}
	}
	return 0, false
}

// Stored returns the table that holds an Input or Table variable and the
// table's column for each of the variable's.
func (c *Catalog) Stored(v *queryplan.Var) (*Table, []int) {
	if c == nil {
		return nil, nil
	}
	switch v.Kind {
	case queryplan.Table:
		if t := c.Tables[v.Source]; t != nil {
			return t, v.Stored
		}
	case queryplan.Input:
		if r := c.Relation(v.Source); r != nil && len(r.Cols) == len(v.Cols) &&
			c.TableOf(r) != nil {
			return c.TableOf(r), r.Cols
		}
	}
	return nil, nil
}

// ExprBound bounds an int or decimal expression by interval arithmetic, given
// bounds of columns. It succeeds only if the expression has a value for all of
// them, in 128 bits throughout and without wrapping.
func ExprBound(e queryplan.Expr, cols map[string]Bound) (Bound, bool) {
	switch e := e.(type) {
	case *queryplan.ColRef:
		if b, ok := cols[e.Col.Name]; ok {
			return b, true
		}
		return typeBound(e.Col.Type)
	case *queryplan.Const:
		return constBound(e.Value)
	case *queryplan.Call:
		args := make([]Bound, len(e.Args))
		for i, a := range e.Args {
			b, ok := ExprBound(a, cols)
			if !ok {
				return Bound{}, false
			}
			args[i] = b
		}
		out, ok := callBound(e, args)
		if !ok {
			return Bound{}, false
		}
		limit := wide
		if e.Result.Kind != scalar.Decimal {
			limit, _ = typeBound(e.Result)
		}
		return out, out.within(limit)
	}
	return Bound{}, false
}

// AlwaysFits reports whether an expression is certain to have a value of its
// type, so that a Map that computes it drops no tuple.
func AlwaysFits(e queryplan.Expr, cols map[string]Bound) bool {
	decimal := e.Type().Kind == scalar.Decimal
	if !decimal && !queryplan.MayFail(e) {
		return true
	}
	if ref, ok := e.(*queryplan.ColRef); ok {
		return ref.Col.Type == e.Type()
	}
	b, ok := ExprBound(e, cols)
	if !ok {
		return false
	}
	limit, ok := typeBound(e.Type())
	return ok && b.within(limit)
}

// TotalFits reports whether the total of up to values values within a bound
// always fits an int or decimal type.
func TotalFits(t scalar.Type, b Bound, values int64) bool {
	limit, ok := typeBound(t)
	n := big.NewInt(values)
	return ok && (Bound{new(big.Int).Mul(b.Min, n), new(big.Int).Mul(b.Max, n)}).within(limit)
}

func (b Bound) within(limit Bound) bool {
	return b.Min.Cmp(limit.Min) >= 0 && b.Max.Cmp(limit.Max) <= 0
}

// wide bounds decimal intermediates with room to spare: they have 128 bits.
var wide = Bound{new(big.Int).Lsh(big.NewInt(-1), 120), new(big.Int).Lsh(big.NewInt(1), 120)}

func typeBound(t scalar.Type) (Bound, bool) {
	bits := uint(64)
	switch t.Kind {
	case scalar.Int:
		bits = uint(t.Bits)
	case scalar.Decimal:
	default:
		return Bound{}, false
	}
	half := new(big.Int).Lsh(big.NewInt(1), bits-1)
	return Bound{new(big.Int).Neg(half), new(big.Int).Sub(half, big.NewInt(1))}, true
}

func constBound(v scalar.Value) (Bound, bool) {
	if v.Type.Kind != scalar.Int && v.Type.Kind != scalar.Decimal || !v.FitsWord() {
		return Bound{}, false
	}
	x := big.NewInt(v.Int())
	return Bound{x, x}, true
}

func callBound(e *queryplan.Call, args []Bound) (Bound, bool) {
	if e.Result.Kind != scalar.Int && e.Result.Kind != scalar.Decimal {
		return Bound{}, false
	}
	switch e.Func.Name {
	case "add", "sub":
		// Both operands have the result's scale: a type of a call's argument is
		// the overload's.
		x, y := args[0], args[1]
		if e.Args[0].Type() != e.Result || e.Args[1].Type() != e.Result {
			return Bound{}, false
		}
		if e.Func.Name == "sub" {
			y = Bound{new(big.Int).Neg(y.Max), new(big.Int).Neg(y.Min)}
		}
		return Bound{new(big.Int).Add(x.Min, y.Min), new(big.Int).Add(x.Max, y.Max)}, true
	case "mul":
		return product(args[0], args[1]), true
	case "neg":
		return Bound{new(big.Int).Neg(args[0].Max), new(big.Int).Neg(args[0].Min)}, true
	case "convert":
		from := e.Args[0].Type()
		if from.Kind == e.Result.Kind && e.Result.Kind == scalar.Int {
			return args[0], true
		}
		up := int64(e.Result.Scale) - int64(from.Scale)
		if e.Result.Kind != scalar.Decimal || up < 0 {
			return Bound{}, false
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(up), nil)
		return Bound{new(big.Int).Mul(args[0].Min, scale),
			new(big.Int).Mul(args[0].Max, scale)}, true
	}
	return Bound{}, false
}

func product(x, y Bound) Bound {
	out := Bound{}
	for _, a := range []*big.Int{x.Min, x.Max} {
		for _, b := range []*big.Int{y.Min, y.Max} {
			p := new(big.Int).Mul(a, b)
			if out.Min == nil || p.Cmp(out.Min) < 0 {
				out.Min = p
			}
			if out.Max == nil || p.Cmp(out.Max) > 0 {
				out.Max = p
			}
		}
	}
	return out
}
