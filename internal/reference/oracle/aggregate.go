package oracle

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// aggregate evaluates a rule with `agg<<>>`: one contribution for each binding
// of the body, a tuple for each group that has one.
func (m *machine) aggregate(rule *core.Rule) (out []Tuple, err error) {
	var grouping []core.Term // the head's arguments that are not aggregates
	for _, arg := range rule.Head.Args {
		isOut := slices.ContainsFunc(rule.Agg, func(s core.AggSpec) bool {
			return core.Term(s.Out) == arg
		})
		if !isOut {
			grouping = append(grouping, arg)
		}
	}
	groups := map[string][]env{}
	var keys []Tuple
	bindings := env{}
	m.solve(rule.Body, bindings, func() {
		key := bindings.tuple(grouping)
		if groups[key.String()] == nil {
			keys = append(keys, key)
		}
		groups[key.String()] = append(groups[key.String()], copyOf(bindings))
	})
	slices.SortFunc(keys, Compare)
	for _, key := range keys {
		members := groups[key.String()]
		head, fits := members[0], true
		for _, spec := range rule.Agg {
			var inputs []scalar.Value
			for _, member := range members {
				if spec.In != nil {
					inputs = append(inputs, member[spec.In])
				}
			}
			if spec.Fn == core.StringJoin {
				head[spec.Out] = joined(spec, members)
				continue
			}
			v, ok := fold(chosen(spec, inputs, len(members)))
			if !ok {
				return nil, &OverflowError{rule, key}
			}
			head[spec.Out] = v
			fits = fits && v.Fits()
		}
		if fits {
			out = append(out, head.tuple(rule.Head.Args))
		}
	}
	return out, nil
}

// chosen reduces an aggregation that takes some of its inputs to one that takes
// all of them.
func chosen(spec core.AggSpec, inputs []scalar.Value, count int,
) (core.AggFn, scalar.Type, []scalar.Value, int) {
	fn, t := spec.Fn, spec.Out.Type
	sorted := slices.SortedStableFunc(slices.Values(inputs), scalar.Compare)
	switch fn {
	case core.CountDistinct:
		seen := map[string]bool{}
		for _, v := range inputs {
			seen[Tuple{v}.String()] = true
		}
		return core.Count, t, nil, len(seen)
	case core.Median:
		middle := sorted[(count-1)/2 : count/2+1]
		return core.Avg, t, middle, len(middle)
	case core.Quantile:
		// The first value that the part of all values does not exceed.
		part := new(big.Rat).SetFrac(big.NewInt(spec.At.Int()), scale(int64(spec.At.Type.Scale)))
		for i, v := range sorted {
			if big.NewRat(int64(i+1), int64(count)).Cmp(part) >= 0 {
				return core.Min, t, []scalar.Value{v}, 1
			}
		}
	}
	return fn, t, inputs, count
}

// fold is one aggregation function over a group that is not empty; it fails
// where the result does not fit its type, but for totals of wide decimals: of
// those only what leaves 128 bits is a failure.
func fold(fn core.AggFn, t scalar.Type, inputs []scalar.Value, count int) (scalar.Value, bool) {
	switch fn {
	case core.Count:
		return scalar.OfInt(t, int64(count)), true
	case core.Min:
		return slices.MinFunc(inputs, scalar.Compare), true
	case core.Max:
		return slices.MaxFunc(inputs, scalar.Compare), true
	}
	if inputs[0].Type.Kind == scalar.Float {
		sum := totalFloat(inputs)
		if fn == core.Avg {
			sum /= float64(count)
		}
		return scalar.OfFloat(t, sum), true
	}
	// Exact in math/big; the unscaled total has the scale of the inputs.
	sum := new(big.Int)
	for _, v := range inputs {
		n := v.Int128()
		sum.Add(sum, new(big.Int).Lsh(big.NewInt(n.Hi), 64)).Add(sum, new(big.Int).SetUint64(n.Lo))
	}
	if fn == core.Avg {
		up := int64(t.Scale) - int64(inputs[0].Type.Scale)
		sum.Mul(sum, scale(up))
		sum = roundedQuotient(sum, int64(count))
	}
	if t.IsWide() {
		if fn == core.Total {
			sum.Mul(sum, scale(int64(t.Scale)-int64(inputs[0].Type.Scale)))
		}
		low := new(big.Int).And(sum, new(big.Int).SetUint64(math.MaxUint64))
		n := scalar.Int128{Hi: new(big.Int).Rsh(sum, 64).Int64(), Lo: low.Uint64()}
		return scalar.OfInt128(t, n), sum.CmpAbs(scale(scalar.MaxWideScale)) < 0
	}
	v, err := scalar.ParseText(unscaled(t), sum.String())
	return scalar.OfBits(t, v.Bits()), err == nil
}

// scale is 10^n.
func scale(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// unscaled is the type of a decimal's digits.
func unscaled(t scalar.Type) scalar.Type {
	if t.Kind == scalar.Decimal {
		return scalar.IntType
	}
	return t
}

// roundedQuotient is n / count rounded half away from zero.
func roundedQuotient(n *big.Int, count int64) *big.Int {
	twice := new(big.Int).Abs(n)
	twice.Lsh(twice, 1).Add(twice, big.NewInt(count)).Quo(twice, big.NewInt(2*count))
	if n.Sign() < 0 {
		twice.Neg(twice)
	}
	return twice
}

// totalFloat is the exact sum, rounded once.
func totalFloat(inputs []scalar.Value) float64 {
	var infinite float64
	sum := new(big.Float).SetPrec(2200) // holds every sum of float64 exactly
	for _, v := range inputs {
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			infinite += f // Inf - Inf and NaN give NaN, as in any order of adding
			continue
		}
		sum.Add(sum, big.NewFloat(f))
	}
	if infinite != 0 {
		return infinite
	}
	f, _ := sum.Float64()
	return f
}

// joined concatenates the texts of a group in their order.
func joined(spec core.AggSpec, members []env) scalar.Value {
	members = slices.Clone(members)
	slices.SortStableFunc(members, func(a, b env) int {
		for _, k := range append(slices.Clip(spec.By), core.SeqKey{Var: spec.In}) {
			c := scalar.Compare(a[k.Var], b[k.Var])
			if k.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	var texts []string
	for _, m := range members {
		texts = append(texts, m[spec.In].Str())
	}
	return scalar.OfString(strings.Join(texts, spec.Separator))
}
