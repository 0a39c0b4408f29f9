package scalar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestMeanOfWords compares means of any sums with those of math/big.
func TestMeanOfWords(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	most, least := Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}, Int128{Hi: math.MinInt64}
	edges := []Int128{{}, Int128Of(1), Int128Of(-1), Int128Of(math.MinInt64),
		Uint128Of(math.MaxUint64), most, least}
	number := func() Int128 {
		if r.IntN(4) == 0 {
			return edges[r.IntN(len(edges))]
		}
		n, _ := random128(r).Quo(Pow10(r.IntN(39)))
		return n
	}
	none, some := 0, 0
	for range 50_000 {
		high, low, unit := number(), number(), Pow10(r.IntN(7)).Lo
		n := int64(r.Uint64()) >> r.IntN(64)
		sum := new(big.Int).Lsh(big128(high), 64)
		sum.Add(sum, big128(low)).Add(sum, new(big.Int).Lsh(big.NewInt(n), 63))
		got, ok := meanOfWords(high, low, n, unit)
		if n <= 0 {
			if ok {
				t.Fatalf("%d numbers have the mean %s", n, got)
			}
			continue
		}
		sum.Mul(sum, new(big.Int).SetUint64(unit))
		want := roundedQuotient(sum, big.NewInt(n))
		fits := want.Cmp(big128(least)) >= 0 && want.Cmp(big128(most)) <= 0
		if ok != fits || ok && big128(got).Cmp(want) != 0 {
			t.Fatalf("the sums %s and %s of %d numbers have the mean %s, %t; want %s / %d", high,
				low, n, got, ok, want, unit)
		}
		if ok {
			some++
		} else {
			none++
		}
	}
	if none < 1000 || some < 1000 {
		t.Errorf("%d means fit and %d do not", some, none)
	}
}

// TestMeanOfDecimals takes sums of the words that decimals have.
func TestMeanOfDecimals(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 8))
	for range 5000 {
		typ := WideDecimalOf(uint8(r.IntN(MaxWideScale + 1)))
		result := WideDecimalOf(QuotientScale(typ.Scale, 0))
		n := 1 + r.IntN(5)
		var high, low Int128
		sum := new(big.Int)
		for range n {
			v := randomWide(r, typ)
			if r.IntN(3) == 0 {
				v = OfInt128(typ, Pow10(MaxWideScale))
			}
			h, l := v.Words()
			high, _ = high.Add(Int128Of(h.Int()))
			low, _ = low.Add(Int128Of(l.Int()))
			sum.Add(sum, big128(v.Int128()))
		}
		got, ok := Lookup("mean").Eval(result,
			[]Value{OfInt128(typ, high), OfInt128(typ, low), OfInt(IntType, int64(n))})
		sum.Mul(sum, big128(Pow10(int(result.Scale-typ.Scale))))
		want := roundedQuotient(sum, big.NewInt(int64(n)))
		if fits := want.BitLen() < 128; ok != fits || ok && big128(got.Int128()).Cmp(want) != 0 {
			t.Fatalf("the mean is %s, %t; want %s", Literal(got), ok, want)
		}
	}
}
