package planref

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// eval returns the bag of an operator.
func (m *machine) eval(n queryplan.Node) (Rows, error) {
	rows, err := m.operator(n)
	if err == nil && m.proofs != nil {
		err = m.checkProofs(n, rows)
	}
	return rows, err
}

func (m *machine) operator(n queryplan.Node) (Rows, error) {
	inputs := make([]Rows, len(n.Inputs()))
	for i, in := range n.Inputs() {
		rows, err := m.eval(in)
		if err != nil {
			return nil, err
		}
		inputs[i] = rows
	}
	switch n := n.(type) {
	case *queryplan.Scan:
		var keep []int
		for i, name := range n.Names {
			if name != "" {
				keep = append(keep, i)
			}
		}
		rows := pick(m.scan(n.Var, n.Version), keep)
		switch {
		case n.Position == "":
			return rows, nil
		case n.Version == queryplan.Delta:
			return Positioned(rows, m.derived[n.Var].old), nil
		}
		return Positioned(rows, 0), nil
	case *queryplan.Values:
		return n.Rows, nil
	case *queryplan.Filter:
		var out Rows
		for _, r := range inputs[0] {
			if v, ok := evalExpr(n.Cond, n.Input.Columns(), r); ok && v.Bool() {
				out = append(out, r)
			}
		}
		return out, nil
	case *queryplan.Map:
		return evalMap(n, inputs[0]), nil
	case *queryplan.Project:
		names := list.Map(n.Cols, func(c queryplan.Rename) string { return c.From })
		return pick(inputs[0], positions(n.Input.Columns(), names)), nil
	case *queryplan.Dedup:
		return Dedup(inputs[0]), nil
	case *queryplan.Join:
		return join(n, inputs[0], inputs[1])
	case *queryplan.Aggregate:
		return aggregate(n, inputs[0])
	case *queryplan.Union:
		var out Rows
		var names []string
		for _, c := range n.Columns() {
			names = append(names, c.Name)
		}
		for i, in := range n.Nodes {
			out = append(out, pick(inputs[i], positions(in.Columns(), names))...)
		}
		return out, nil
	case *queryplan.MultiJoin:
		return multiJoin(n, inputs)
	case *queryplan.Seq:
		return Number(inputs[0], positions(n.Input.Columns(), n.Group), n.Input.Columns(),
			n.Order), nil
	case *queryplan.TopK:
		cols := n.Columns()
		return TopK(inputs[0], positions(cols, n.Group), cols, n.By, n.Limit), nil
	}
	return nil, fmt.Errorf("planref: no operator %T", n)
}

func positions(cols []queryplan.Column, names []string) []int {
	return list.Map(names, func(name string) int { return index(cols, name) })
}

func pick(rows Rows, cols []int) Rows {
	out := make(Rows, len(rows))
	for i, r := range rows {
		out[i] = pickRow(r, cols)
	}
	return out
}

func pickRow(row []scalar.Value, cols []int) []scalar.Value {
	return list.Map(cols, func(c int) scalar.Value { return row[c] })
}

func evalExpr(e queryplan.Expr, cols []queryplan.Column, row []scalar.Value) (scalar.Value, bool) {
	return queryplan.Eval(e, func(name string) scalar.Value { return row[index(cols, name)] })
}

func evalMap(n *queryplan.Map, in Rows) Rows {
	cols := n.Input.Columns()
	var out Rows
rows:
	for _, r := range in {
		next := slices.Clone(r)
		for _, e := range n.Exprs {
			v, ok := evalExpr(e.Expr, cols, r)
			if !ok || !v.FitsWord() {
				continue rows
			}
			next = append(next, v)
		}
		out = append(out, next)
	}
	return out
}

func join(n *queryplan.Join, left, right Rows) (Rows, error) {
	lcols, rcols, on := n.Left.Columns(), n.Right.Columns(), n.On()
	lon, ron := positions(lcols, on), positions(rcols, on)
	var rest []int
	for i, c := range rcols {
		if !slices.Contains(on, c.Name) {
			rest = append(rest, i)
		}
	}
	matches := map[string]Rows{}
	for _, r := range right {
		k := Key(pickRow(r, ron))
		matches[k] = append(matches[k], r)
	}
	var out Rows
	for _, l := range left {
		found := matches[Key(pickRow(l, lon))]
		if n.Unique && len(found) > 1 {
			return nil, fmt.Errorf("planref: a unique join on %v finds %d matches", on, len(found))
		}
		switch n.Kind {
		case queryplan.Inner:
			for _, r := range found {
				out = append(out, append(slices.Clone(l), pickRow(r, rest)...))
			}
		case queryplan.Semi:
			if len(found) > 0 {
				out = append(out, l)
			}
		case queryplan.Anti:
			if len(found) == 0 {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// multiJoin joins the inputs from left to right, as if the operator were a
// chain of joins.
func multiJoin(n *queryplan.MultiJoin, inputs []Rows) (Rows, error) {
	cols, rows := n.Nodes[0].Columns(), inputs[0]
	for i, right := range n.Nodes[1:] {
		// The left side is only asked for its columns.
		step := &queryplan.Join{Left: &queryplan.Values{Cols: cols}, Right: right}
		var err error
		if rows, err = join(step, rows, inputs[i+1]); err != nil {
			return nil, err
		}
		cols = step.Columns()
	}
	names := make([]string, 0, len(cols))
	for _, c := range n.Columns() {
		names = append(names, c.Name)
	}
	return pick(rows, positions(cols, names)), nil
}

// groups returns the rows of each group, groups in order of appearance.
func groups(rows Rows, by []int) []Rows {
	at := map[string]int{}
	var out []Rows
	for _, r := range rows {
		k := Key(pickRow(r, by))
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	return out
}

// Number appends to each tuple its number within its group, in ascending order
// of the columns order.
func Number(in Rows, group []int, cols []queryplan.Column, keys []queryplan.OrderKey) Rows {
	var out Rows
	for _, g := range groups(in, group) {
		sortBy(g, cols, keys)
		for i, r := range g {
			out = append(out, append(slices.Clone(r), scalar.OfInt(scalar.IntType, int64(i))))
		}
	}
	return out
}

// TopK keeps the first limit tuples of each group in the order of by.
func TopK(in Rows, group []int, cols []queryplan.Column, by []queryplan.OrderKey,
	limit int64) Rows {
	var out Rows
	for _, g := range groups(in, group) {
		sortBy(g, cols, by)
		out = append(out, g[:min(int64(len(g)), limit)]...)
	}
	return out
}

func aggregate(n *queryplan.Aggregate, in Rows) (Rows, error) {
	cols := n.Input.Columns()
	by := positions(cols, n.By)
	var out Rows
	for _, g := range groups(in, by) {
		row := pickRow(g[0], by)
		for _, a := range n.Aggs {
			var values []scalar.Value
			if a.Fn != queryplan.Count {
				at := index(cols, a.In)
				for _, r := range g {
					values = append(values, r[at])
				}
			}
			v, err := AggregateValues(a, values, len(g))
			if err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		out = append(out, row)
	}
	return out, nil
}

// AggregateValues returns the result of an aggregation over a group of count
// tuples, of which values are the input column's; nothing for Count.
func AggregateValues(a queryplan.Agg, values []scalar.Value, count int) (scalar.Value, error) {
	switch a.Fn {
	case queryplan.Count:
		return scalar.OfInt(scalar.IntType, int64(count)), nil
	case queryplan.Min:
		return slices.MinFunc(values, scalar.Compare), nil
	case queryplan.Max:
		return slices.MaxFunc(values, scalar.Compare), nil
	}
	if values[0].Type.Kind == scalar.Float {
		return floatTotal(a, values), nil
	}
	sum, scale := new(big.Int), uint8(0)
	for _, v := range values {
		sum.Add(sum, bigOf(v))
		scale = v.Type.Scale
	}
	if a.Fn == queryplan.Avg {
		// Scale up to the result's, then divide, rounding half away from zero.
		up := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(a.Out.Type.Scale-scale)), nil)
		twice := sum.Mul(sum, up).Mul(sum, big.NewInt(2))
		n := big.NewInt(int64(count))
		if twice.Sign() < 0 {
			twice.Sub(twice, n)
		} else {
			twice.Add(twice, n)
		}
		sum = twice.Quo(twice, n.Mul(n, big.NewInt(2)))
	}
	return fit(a, sum)
}

// int128 returns the number in two words; it must be within 128 bits.
func int128(n *big.Int) scalar.Int128 {
	low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return scalar.Int128{Hi: new(big.Int).Rsh(n, 64).Int64(), Lo: low.Uint64()}
}

func bigOf(v scalar.Value) *big.Int {
	if v.Type.Kind == scalar.Uint {
		return new(big.Int).SetUint64(v.Bits())
	}
	return big.NewInt(v.Int())
}

func fit(a queryplan.Agg, sum *big.Int) (scalar.Value, error) {
	t := a.Out.Type
	switch a.Fn {
	case queryplan.TotalHigh:
		return scalar.OfBits(t, uint64(int128(sum).Hi)), nil
	case queryplan.TotalLow:
		return scalar.OfBits(t, uint64(int128(sum).LowWord())), nil
	}
	if t.Kind == scalar.Uint && sum.IsUint64() && sum.BitLen() <= int(t.Bits) {
		return scalar.OfBits(t, sum.Uint64()), nil
	}
	if sum.IsInt64() {
		switch {
		case t.Kind == scalar.Decimal:
			return scalar.OfBits(t, uint64(sum.Int64())), nil
		case t.Kind == scalar.Int && scalar.OfInt(t, sum.Int64()).Int() == sum.Int64():
			return scalar.OfInt(t, sum.Int64()), nil
		}
	}
	return scalar.Value{}, fmt.Errorf("%w: %s", ErrOverflow, a.Out.Name)
}

// floatTotal adds exactly and rounds once, so that order has no say.
func floatTotal(a queryplan.Agg, values []scalar.Value) scalar.Value {
	const exact = 2200 // bits from the least to the largest double, and carries
	sum := new(big.Float).SetPrec(exact)
	special := 0.0
	for _, v := range values {
		if f := v.Float(); f-f != 0 {
			special += f
		} else {
			sum.Add(sum, new(big.Float).SetFloat64(f))
		}
	}
	if special != 0 {
		return scalar.OfFloat(a.Out.Type, special)
	}
	f, _ := sum.Float64()
	if a.Fn == queryplan.Avg {
		f /= float64(len(values))
	}
	return scalar.OfFloat(a.Out.Type, f)
}
