package tables

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// exactTotal is the sum of finite floats, rounded once.
func exactTotal(terms []float64) float64 {
	sum := new(big.Float).SetPrec(2300)
	for _, x := range terms {
		sum.Add(sum, new(big.Float).SetFloat64(x))
	}
	f, _ := sum.Float64()
	return f
}

func TestFloatTotalsAreExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	makers := map[string]func() float64{
		"money":     func() float64 { return float64(rnd.IntN(1e7)) / 100 },
		"uniform":   rnd.Float64,
		"signed":    rnd.NormFloat64,
		"huge":      func() float64 { return math.Ldexp(rnd.NormFloat64(), rnd.IntN(2000)-1000) },
		"tiny":      func() float64 { return math.Float64frombits(rnd.Uint64N(1 << 54)) },
		"cancel":    func() float64 { return []float64{1e300, -1e300, 1, 1e-300}[rnd.IntN(4)] },
		"very long": func() float64 { return math.MaxFloat64 * float64(1-2*rnd.IntN(2)) },
	}
	for name, next := range makers {
		for _, n := range []int{0, 1, 2, 3, 100, 1000} {
			terms := make([]float64, n)
			for i := range terms {
				terms[i] = next()
			}
			want := exactTotal(terms)
			for range 5 {
				rnd.Shuffle(n, func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
				// Split over two workers, in two groups that become one.
				var parts [2]floatSum
				parts[0].grow(1)
				parts[1].grow(2)
				for _, x := range terms {
					if rnd.IntN(2) == 0 {
						parts[0].addFloat(0, x)
					} else {
						parts[1].addFloat(uint32(rnd.IntN(2)), x)
					}
				}
				parts[0].merge(&parts[1], nil, []uint32{0, 0})
				if got := parts[0].total(0); got != want {
					t.Fatalf("%s, %d terms: got %v, want %v", name, n, got, want)
				}
			}
		}
	}
}

func TestFloatTotalsOfSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		terms []float64
		want  float64
	}{
		{[]float64{1, inf}, inf}, {[]float64{-inf, 5}, -inf}, {[]float64{inf, -inf},
			nan}, {[]float64{nan, 1}, nan},
		{[]float64{math.MaxFloat64, math.MaxFloat64},
			inf}, {[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, math.MaxFloat64},
	} {
		var s floatSum
		s.grow(1)
		for _, x := range c.terms {
			s.addFloat(0, x)
		}
		if got := s.total(0); got != c.want && (got == got || c.want == c.want) {
			t.Errorf("%v: got %v", c.terms, got)
		}
	}
}

func TestWholeTotals(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		typ scalar.Type
		rng interval.Interval
	}{
		{scalar.IntType, interval.Interval{Lo: -5, Hi: 1000}}, {scalar.IntType,
			interval.All}, {scalar.IntType, interval.Interval{Lo: -1 << 40, Hi: 1 << 42}},
		{scalar.UintType, interval.All}, {scalar.DecimalOf(2),
			interval.Interval{Lo: math.MinInt64, Hi: 3}},
	} {
		s := newWholeSum(c.typ, c.rng)
		if s.limit > 0 {
			s.limit = 7 // spill often
		}
		s.grow(3)
		var want [3]big.Int
		for range 50 {
			col, ids := make([]int64, 1+rnd.IntN(5)), make([]uint32, 5)
			for i := range col {
				col[i] = c.rng.Lo + int64(rnd.Uint64()&(1<<min(63, c.rng.Bits())-1))
				col[i] = min(max(col[i], c.rng.Lo), c.rng.Hi)
				ids[i] = uint32(rnd.IntN(3))
				x := big.NewInt(col[i])
				if c.typ == scalar.UintType {
					x = new(big.Int).SetUint64(uint64(col[i]))
				}
				want[ids[i]].Add(&want[ids[i]], x)
			}
			s.add(ids, col)
		}
		s.spill()
		for g := range want {
			if got := s.total(g).String(); got != want[g].String() {
				t.Errorf("%v in %v: group %d is %s, want %s", c.typ, c.rng, g, got, &want[g])
			}
		}
	}
}
