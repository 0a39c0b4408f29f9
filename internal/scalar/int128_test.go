package scalar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// big128 returns the number as math/big has it.
func big128(a Int128) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(a.Hi), 64)
	return n.Add(n, new(big.Int).SetUint64(a.Lo))
}

// edges128 are numbers next to where limbs carry, and random128 draws numbers
// of every length.
var edges128 = []Int128{
	{}, {0, 1}, {-1, math.MaxUint64}, {0, math.MaxInt64}, {0, 1 << 63}, {-1, 1 << 63},
	{0, math.MaxUint64}, {1, 0}, {-1, 0},
	{math.MaxInt64, math.MaxUint64}, {math.MinInt64, 0}, {math.MinInt64, 1}, {0, 10},
	{-1, math.MaxUint64 - 9},
	{1, math.MaxUint64}, {1 << 62, 0}, {-1 << 62, 0}, Pow10(18), Pow10(19), Pow10(38),
}

func random128(r *rand.Rand) Int128 {
	if r.IntN(8) == 0 {
		return edges128[r.IntN(len(edges128))]
	}
	a := Int128{int64(r.Uint64()), r.Uint64()}
	for n := r.IntN(128); n > 0; n-- {
		a = Int128{a.Hi >> 1, uint64(a.Hi)<<63 | a.Lo>>1}
	}
	return a
}

func TestInt128AgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lo, hi := big128(Int128{math.MinInt64, 0}), big128(Int128{math.MaxInt64, math.MaxUint64})
	check := func(op string, a, b, got Int128, ok bool, want *big.Int) {
		t.Helper()
		fits := want != nil && want.Cmp(lo) >= 0 && want.Cmp(hi) <= 0
		if ok != fits || ok && big128(got).Cmp(want) != 0 {
			t.Fatalf("%s %s %s = %s, %t; want %v, %t", a, op, b, got, ok, want, fits)
		}
	}
	for i := range 60_000 {
		a, b := random128(r), random128(r)
		if n := len(edges128); i < n*n {
			a, b = edges128[i/n], edges128[i%n]
		}
		x, y := big128(a), big128(b)
		if a.String() != x.String() {
			t.Fatalf("String gives %s for %s", a, x)
		}
		if a.Cmp(b) != x.Cmp(y) || a.Sign() != x.Sign() || a.Fits64() != x.IsInt64() {
			t.Fatalf("Cmp, Sign or Fits64 is wrong for %s and %s", a, b)
		}
		if f, _ := new(big.Float).SetInt(x).Float64(); a.Float64() != f {
			t.Fatalf("Float64 of %s is %g, want %g", a, a.Float64(), f)
		}
		got, ok := a.Add(b)
		check("+", a, b, got, ok, new(big.Int).Add(x, y))
		got, ok = a.Sub(b)
		check("-", a, b, got, ok, new(big.Int).Sub(x, y))
		got, ok = a.Mul(b)
		check("*", a, b, got, ok, new(big.Int).Mul(x, y))
		got, ok = a.Neg()
		check("neg", a, b, got, ok, new(big.Int).Neg(x))
		var quo, rounded *big.Int
		if y.Sign() != 0 {
			quo = new(big.Int).Quo(x, y)
			rounded = roundedQuotient(x, y)
		}
		got, ok = a.Quo(b)
		check("/", a, b, got, ok, quo)
		got, ok = a.QuoRound(b)
		check("rounded /", a, b, got, ok, rounded)
	}
}

// roundedQuotient is x / y rounded half away from zero: the sign times
// floor((2|x| + |y|) / 2|y|).
func roundedQuotient(x, y *big.Int) *big.Int {
	ax, ay := new(big.Int).Abs(x), new(big.Int).Abs(y)
	ax.Lsh(ax, 1).Add(ax, ay).Quo(ax, ay.Lsh(ay, 1))
	if x.Sign()*y.Sign() < 0 {
		ax.Neg(ax)
	}
	return ax
}

func TestDecimalArithmeticAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pow := func(n int) *big.Int {
		return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	}
	for range 40_000 {
		sa, sb := uint8(r.IntN(10)), uint8(r.IntN(10))
		a := OfDecimal(sa, random128(r).Int64())
		b := OfDecimal(sb, random128(r).Int64())
		x, y := big.NewInt(a.Int()), big.NewInt(b.Int())
		for _, op := range []string{"add", "sub", "mul", "div"} {
			sig, err := Resolve(op, []Type{a.Type, b.Type})
			if err != nil {
				t.Fatal(err)
			}
			args := make([]Value, 2)
			for i, v := range []Value{a, b} {
				var ok bool
				if args[i], ok = funcConvert.Eval(sig.Params[i], []Value{v}); !ok {
					t.Fatalf("%s does not widen to %s", Literal(v), sig.Params[i])
				}
			}
			got, ok := sig.Func.Eval(sig.Result, args)
			scale := int(sig.Result.Scale)
			var want *big.Int
			switch op {
			case "mul":
				want = new(big.Int).Mul(x, y)
			case "div":
				if y.Sign() == 0 {
					break
				}
				dividend := new(big.Int).Mul(x, pow(scale+int(sb)-int(sa)))
				if dividend.BitLen() > 127 {
					break
				}
				want = roundedQuotient(dividend, y)
			default:
				wide := new(big.Int).Mul(x, pow(scale-int(sa)))
				other := new(big.Int).Mul(y, pow(scale-int(sb)))
				if want = wide.Add(wide, other); op == "sub" {
					want.Sub(want, other).Sub(want, other)
				}
			}
			if ok != (want != nil) || ok && big128(got.Int128()).Cmp(want) != 0 {
				t.Fatalf("%s[%s, %s] = %s, %t; want %v at scale %d", op, Literal(a), Literal(b),
					Format(got), ok, want, scale)
			}
			if ok && got.Fits() != want.IsInt64() {
				t.Fatalf("%s[%s, %s]: Fits is wrong about %s", op, Literal(a), Literal(b),
					Format(got))
			}
		}
	}
}

func TestRescaleRoundsHalfAwayFromZero(t *testing.T) {
	for _, c := range []struct {
		n        int64
		from, to int
		want     string
	}{
		{125, 2, 1, "13"}, {-125, 2, 1, "-13"}, {124, 2, 1, "12"}, {5, 1, 0, "1"}, {-5, 1, 0, "-1"},
		{4, 1, 0, "0"}, {7, 0, 18, "7000000000000000000"},
	} {
		got, ok := Int128Of(c.n).Rescale(c.from, c.to)
		if !ok || got.String() != c.want {
			t.Errorf("%d from scale %d to %d: %s, want %s", c.n, c.from, c.to, got, c.want)
		}
	}
}
