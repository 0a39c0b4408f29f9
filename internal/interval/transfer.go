package interval

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Call bounds the words of a function's results, given bounds of its arguments,
// which are words of the given types. It knows nothing of arguments without a
// value: they give none.
//
// exact says that no result wraps around its integer type, or leaves the 64
// bits of a decimal; an interval that is not exact is that of the type, and
// bounds the decimals that do fit.
func Call(f *scalar.Func, result scalar.Type, types []scalar.Type,
	args []Interval) (bound Interval, exact bool) {
	for _, a := range args {
		if a.Empty() {
			return None, true
		}
	}
	if !isWhole(result) {
		return otherwise(f, result, types, args)
	}
	in := make([]span, len(args))
	for i, t := range types {
		if !isWhole(t) {
			return otherwise(f, result, types, args)
		}
		in[i] = spanOf(t, args[i])
	}
	var out span
	ok := true
	switch f.Name {
	case "add":
		out, ok = in[0].add(in[1])
	case "sub":
		out, ok = in[0].sub(in[1])
	case "mul":
		out, ok = in[0].mul(in[1])
	case "min":
		out = span{least(in[0].lo, in[1].lo), least(in[0].hi, in[1].hi)}
	case "max":
		out = span{greatest(in[0].lo, in[1].lo), greatest(in[0].hi, in[1].hi)}
	case "neg":
		out, ok = span{}.sub(in[0])
	case "abs":
		out, ok = in[0].abs()
	case "div":
		return quotient(result, types, in)
	case "mod":
		if out, ok = in[0].mod(in[1]); !ok {
			return None, true
		}
	case "convert":
		return converted(result, types[0], in[0])
	case "round":
		// Rounding is monotone.
		out, ok = in[0].each(func(x scalar.Int128) (scalar.Int128, bool) {
			v, ok := f.Eval(result, []scalar.Value{scalar.OfInt128(types[0], x)})
			return v.Int128(), ok
		})
	case "wide":
		// The order of pairs of words is that of the numbers.
		out = span{joined(args[0].Lo, args[1].Lo), joined(args[0].Hi, args[1].Hi)}
	case "high", "low":
		// Arguments that do not fit 64 bits have them, too.
		return OfType(result), f.Name == "low"
	case "bitand", "bitor", "bitxor", "shr":
		return bitwise(f.Name, result, args)
	default:
		return otherwise(f, result, types, args)
	}
	if !ok {
		return OfType(result), false
	}
	return out.words(result)
}

// otherwise bounds the results of functions that are no arithmetic on whole
// numbers. Of decimals, floats convert to those that fit only.
func otherwise(f *scalar.Func, result scalar.Type, types []scalar.Type,
	args []Interval) (Interval, bool) {
	switch f.Name {
	case "string:length":
		return Interval{0, math.MaxInt64}, true
	case "string:indexof":
		return Interval{-1, math.MaxInt64}, true
	case "float_exponent":
		return Interval{1, scalar.InfiniteExponent}, true
	case "float_digit":
		return Interval{-scalar.MostFloatDigit, scalar.MostFloatDigit}, true
	case "min", "max":
		if types[0] == result && types[1] == result && Orders(result) {
			if f.Name == "min" {
				return Interval{min(args[0].Lo, args[1].Lo), min(args[0].Hi, args[1].Hi)}, true
			}
			return Interval{max(args[0].Lo, args[1].Lo), max(args[0].Hi, args[1].Hi)}, true
		}
	}
	exact := result.Kind != scalar.Decimal || f.Name == "convert" && !result.IsWide() ||
		f.Name == "min" || f.Name == "max"
	return OfType(result), exact
}

// DatetimePart bounds a field of datetimes.
func DatetimePart(unit scalar.Unit, in Interval) Interval {
	if in.Empty() {
		return None
	}
	switch unit {
	case scalar.Year:
		lo, _ := scalar.DatetimePart(in.Lo, unit)
		hi, _ := scalar.DatetimePart(in.Hi, unit)
		return Interval{lo, hi}
	case scalar.Quarter:
		return Interval{1, 4}
	case scalar.Month:
		return Interval{1, 12}
	case scalar.Day:
		return Interval{1, 31}
	case scalar.DayOfYear:
		return Interval{1, 366}
	case scalar.DayOfWeek:
		return Interval{0, 6}
	case scalar.Hour:
		return Interval{0, 23}
	case scalar.Minute, scalar.Second:
		return Interval{0, 59}
	case scalar.Millisecond:
		return Interval{0, 999}
	case scalar.Microsecond:
		return Interval{0, scalar.MicrosPerSecond - 1}
	}
	return All
}

// Aggregate bounds the results of an aggregation, by the name that plans give
// it, over words that are bounded by in.
func Aggregate(name string, result scalar.Type, in Interval) Interval {
	switch name {
	case "count":
		return Interval{0, math.MaxInt64}
	case "min", "max":
		return in
	}
	return OfType(result)
}

// span bounds numbers: those of whole types, decimals times their unit.
type span struct{ lo, hi scalar.Int128 }

func isWhole(t scalar.Type) bool {
	switch t.Kind {
	case scalar.Boolean, scalar.Int, scalar.Uint, scalar.Decimal:
		return true
	}
	return false
}

// spanOf returns the numbers of the words of a whole type.
func spanOf(t scalar.Type, r Interval) span {
	of := scalar.Int128Of
	if t.Kind == scalar.Uint {
		if (r.Lo < 0) != (r.Hi < 0) {
			// On both sides of 2^63.
			return numbers(t)
		}
		of = func(w int64) scalar.Int128 { return scalar.Uint128Of(uint64(w)) }
	}
	return span{of(r.Lo), of(r.Hi)}
}

// numbers returns all numbers of a whole type.
func numbers(t scalar.Type) span {
	if t.Kind == scalar.Uint {
		return span{scalar.Int128{}, scalar.Uint128Of(math.MaxUint64 >> (64 - t.Bits))}
	}
	r := OfType(t)
	return span{scalar.Int128Of(r.Lo), scalar.Int128Of(r.Hi)}
}

// joined returns the number of the words of a wide decimal.
func joined(high, low int64) scalar.Int128 { return scalar.JoinWords(0, high, low).Int128() }

// words returns the bound of the words of a whole type that stand for the
// numbers, and whether there is a word for each.
func (s span) words(t scalar.Type) (Interval, bool) {
	if !numbers(t).covers(s) {
		return OfType(t), false
	}
	r := Interval{s.lo.Int64(), s.hi.Int64()}
	if r.Empty() {
		return All, true
	}
	return r, true
}

func (s span) covers(o span) bool { return s.lo.Cmp(o.lo) <= 0 && o.hi.Cmp(s.hi) <= 0 }

func least(a, b scalar.Int128) scalar.Int128 {
	if b.Cmp(a) < 0 {
		return b
	}
	return a
}

func greatest(a, b scalar.Int128) scalar.Int128 {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

// The arithmetic on spans fails where a number leaves 128 bits.

func (s span) add(o span) (span, bool) {
	lo, ok := s.lo.Add(o.lo)
	hi, ok2 := s.hi.Add(o.hi)
	return span{lo, hi}, ok && ok2
}

func (s span) sub(o span) (span, bool) {
	lo, ok := s.lo.Sub(o.hi)
	hi, ok2 := s.hi.Sub(o.lo)
	return span{lo, hi}, ok && ok2
}

func (s span) mul(o span) (span, bool) {
	return corners(s, []scalar.Int128{o.lo, o.hi}, scalar.Int128.Mul)
}

func (s span) abs() (span, bool) {
	switch neg, ok := (span{}).sub(s); {
	case s.lo.Sign() >= 0:
		return s, true
	case s.hi.Sign() <= 0:
		return neg, ok
	default:
		return span{hi: greatest(neg.hi, s.hi)}, ok
	}
}

// mod bounds remainders, whose sign is that of the dividend; it fails if there
// are none.
func (s span) mod(o span) (span, bool) {
	size, _ := o.abs()
	if size.hi.Sign() == 0 {
		return span{}, false
	}
	top, _ := size.hi.Sub(scalar.Int128Of(1))
	bottom, _ := top.Neg()
	var zero scalar.Int128
	return span{greatest(least(s.lo, zero), bottom), least(greatest(s.hi, zero), top)}, true
}

// each applies a monotone function to both ends.
func (s span) each(f func(scalar.Int128) (scalar.Int128, bool)) (span, bool) {
	lo, ok := f(s.lo)
	hi, ok2 := f(s.hi)
	return span{lo, hi}, ok && ok2
}

// corners applies a function that is monotone in each argument between the
// given second ones.
func corners(s span, seconds []scalar.Int128,
	f func(a, b scalar.Int128) (scalar.Int128, bool)) (span, bool) {
	var out span
	for i, y := range seconds {
		for j, x := range [...]scalar.Int128{s.lo, s.hi} {
			r, ok := f(x, y)
			if !ok {
				return span{}, false
			}
			if i == 0 && j == 0 {
				out = span{r, r}
			}
			out = span{least(out.lo, r), greatest(out.hi, r)}
		}
	}
	return out, true
}

// quotient bounds the quotients by divisors other than 0.
func quotient(result scalar.Type, types []scalar.Type, in []span) (Interval, bool) {
	var divisors []scalar.Int128
	for _, d := range [...]scalar.Int128{in[1].lo, scalar.Int128Of(-1), scalar.Int128Of(1),
		in[1].hi} {
		if d.Sign() != 0 && in[1].covers(span{d, d}) {
			divisors = append(divisors, d)
		}
	}
	if len(divisors) == 0 {
		return None, true
	}
	f := scalar.Int128.Quo
	if result.Kind == scalar.Decimal {
		up := scalar.Pow10(int(result.Scale) + int(types[1].Scale) - int(types[0].Scale))
		f = func(a, b scalar.Int128) (scalar.Int128, bool) {
			a, ok := a.Mul(up)
			if !ok {
				return a, false
			}
			return a.QuoRound(b)
		}
	}
	out, ok := corners(in[0], divisors, f)
	if !ok {
		return OfType(result), false
	}
	return out.words(result)
}

// converted bounds conversions between whole types. An integer type has no
// value for a number that it cannot hold.
func converted(to, from scalar.Type, in span) (Interval, bool) {
	out, ok := in.each(func(x scalar.Int128) (scalar.Int128, bool) {
		return x.Rescale(int(from.Scale), int(to.Scale))
	})
	if !ok {
		return OfType(to), false
	}
	if to.Kind != scalar.Decimal {
		all := numbers(to)
		out = span{greatest(out.lo, all.lo), least(out.hi, all.hi)}
		if out.lo.Cmp(out.hi) > 0 {
			return None, true
		}
	}
	return out.words(to)
}

// bitwise bounds functions on the bits of integers, mostly of those that are
// not negative.
func bitwise(name string, t scalar.Type, args []Interval) (Interval, bool) {
	a, b := args[0], args[1]
	switch {
	case name == "shr":
		if b = b.Intersect(Interval{0, math.MaxInt64}); b.Empty() {
			return None, true
		}
		if t.Kind == scalar.Uint && a.Lo < 0 {
			break
		}
		least, most := uint64(b.Lo), uint64(b.Hi)
		return Interval{min(a.Lo>>least, a.Lo>>most), max(a.Hi>>least, a.Hi>>most)}, true
	case name == "bitand" && (a.Lo >= 0 || b.Lo >= 0):
		hi := int64(math.MaxInt64)
		if a.Lo >= 0 {
			hi = min(hi, a.Hi)
		}
		if b.Lo >= 0 {
			hi = min(hi, b.Hi)
		}
		return Interval{0, hi}, true
	case a.Lo >= 0 && b.Lo >= 0:
		return Interval{0, int64(1<<bits.Len64(uint64(a.Hi|b.Hi)) - 1)}, true
	}
	return OfType(t), true
}
