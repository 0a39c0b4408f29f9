package primitives

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// floatCell is the words from cell to cell in the test kernels, more than are
// used.
const floatCell = abi.FloatSumWords + 2

// exactSum adds floats without rounding and rounds once.
func exactSum(terms []float64) float64 {
	var nan, plus, minus bool
	sum := new(big.Float).SetPrec(2300)
	for _, x := range terms {
		switch {
		case x != x:
			nan = true
		case math.IsInf(x, 1):
			plus = true
		case math.IsInf(x, -1):
			minus = true
		default:
			sum.Add(sum, new(big.Float).SetFloat64(x))
		}
	}
	switch {
	case nan || plus && minus:
		return math.NaN()
	case plus:
		return math.Inf(1)
	case minus:
		return math.Inf(-1)
	case sum.Sign() == 0:
		return 0
	}
	f, _ := sum.Float64()
	return f
}

// floatBits are the words of floats.
func floatBits(terms []float64) []int64 {
	out := make([]int64, len(terms))
	for i, x := range terms {
		out[i] = int64(math.Float64bits(x))
	}
	return out
}

// checkFloats sums terms into the cells of groups and compares the roundings.
func checkFloats(t *testing.T, d *device, terms []float64, slots []int64, groups int) {
	t.Helper()
	want := make([][]float64, groups)
	for i, s := range slots {
		if s >= 0 {
			want[s] = append(want[s], terms[i])
		}
	}
	cells, got := make([]uint64, floatCell*groups), make([]int64, groups)
	shared := 1
	if d.workers == 1 && d.threads == 1 {
		shared = 0
	}
	d.run(t, "float_sum", slots, floatBits(terms), len(terms), cells, shared)
	d.run(t, "float_round", cells, groups, got)
	for g := range groups {
		if w := exactSum(want[g]); uint64(got[g]) != math.Float64bits(w) {
			t.Fatalf("sum of %d floats is %x (%v), want %x (%v)", len(want[g]), uint64(got[g]),
				math.Float64frombits(uint64(got[g])), math.Float64bits(w), w)
		}
		for i, w := range cells[floatCell*g+abi.FloatSumWords : floatCell*(g+1)] {
			if w != 0 {
				t.Fatalf("word %d beyond a cell is %d", i, w)
			}
		}
	}
	// Merging is adding words: the first two cells become one.
	if groups > 1 {
		for i := range abi.FloatSumWords {
			cells[i] += cells[floatCell+i]
		}
		d.run(t, "float_round", cells, 1, got)
		if w := exactSum(append(want[0], want[1]...)); uint64(got[0]) != math.Float64bits(w) {
			t.Fatalf("merged sum is %x, want %x", uint64(got[0]), math.Float64bits(w))
		}
	}
}

func TestFloatSums(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		slots := make([]int64, len(words))
		groups := 3
		for i, w := range words {
			slots[i] = w%4 - 1
		}
		for name, term := range map[string]func(i int, w int64) float64{
			"numbers": func(i int, w int64) float64 { return float64(w) * float64(1-2*(i&1)) / 10 },
			// Every exponent and sign; no NaN and no infinity.
			"bits": func(i int, w int64) float64 {
				b := uint64(w) * 0x9e3779b97f4a7c15
				if b>>52&0x7ff == 0x7ff {
					b ^= 1 << 60
				}
				return math.Float64frombits(b)
			},
			"cancelling": func(i int, w int64) float64 {
				x := math.Ldexp(float64(w|1), i/4%40*20-400)
				return []float64{x, 1, -x, 0x1p-1074}[i%4]
			},
			"largest": func(i int, _ int64) float64 {
				return []float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}[i%3]
			},
		} {
			terms := []float64{}
			for i, w := range words {
				terms = append(terms, term(i, w))
			}
			checkFloats(t, d, terms, slots, groups)
			if t.Failed() {
				t.Fatal(name)
			}
		}
	})
}

// TestFloatSumsOfFew checks sums where rounding is hard: ties, carries through
// many digits, signs, subnormals, overflow, and what is no number.
func TestFloatSumsOfFew(t *testing.T) {
	inf, nan, least, most := math.Inf(1), math.NaN(), 0x1p-1074, math.MaxFloat64
	cases := [][]float64{
		{}, {0}, {math.Copysign(0, -1)}, {math.Copysign(0, -1), 0}, {1, -1}, {least}, {-least},
		{least, -least},
		{0x1p-1022}, {0x1p-1022, -least}, {-0x1p-1022, least}, {0x1p-1022, least},
		{0x1p-1021, -least},
		{0x1p52 * least, 0x1p51 * least}, {0x1p53 * least, least}, {0x1p53 * least, least, least},
		{0x1p53 * least, 3 * least},
		// Half way between 1 and the next: to even, then up by the least bit
		// there is.
		{1, 0x1p-53}, {1, 0x1p-53, least}, {1, 0x1p-53, -least}, {1 + 0x1p-52, 0x1p-53},
		{1 + 0x1p-52, 0x1p-53, -least},
		{-1, -0x1p-53}, {-1, -0x1p-53, -least}, {-1, -0x1p-53, least}, {1, -0x1p-54},
		{1, -0x1p-54, -least}, {1, -0x1p-54, least},
		{2 - 0x1p-52, 0x1p-53}, {2 - 0x1p-52, 0x1p-53, -least}, {0x1p1000, least},
		{0x1p1000, -least}, {-0x1p1000, least},
		{0x1p32, -0x1p-1074}, {0x1p64, 0x1p11}, {0x1p64, 0x1p11, 1}, {0x1p64, 0x1p12 + 0x1p11},
		{0x1p96, 0x1p43, 0x1p-200},
		{most}, {most, 0x1p970}, {most, 0x1p969}, {most, 0x1p970, -least}, {most, most},
		{most, most, -most}, {-most, -0x1p970},
		{most, most, most, most, most, -most, -most, -most, -most}, {-most, -most, -most},
		{inf}, {-inf}, {inf, -inf}, {nan}, {inf, nan}, {-inf, nan, 1}, {inf, 1, -most},
		{-inf, most}, {nan, nan},
		{math.Float64frombits(0xfff8000000000123)}, {inf, inf}, {-inf, -inf, -1},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		// Two numbers near a power of two, and something small on either side.
		x := math.Ldexp(1+float64(r.IntN(3))*0x1p-52, r.IntN(2000)-1000)
		y := x * 0x1p-53 * float64(r.IntN(5)-2)
		cases = append(cases, []float64{x, y, least * float64(r.IntN(3)-1)},
			[]float64{-x, y, 0x1p-900 * x * float64(r.IntN(3)-1)})
	}
	onEach(t, func(t *testing.T, d *device) {
		var terms []float64
		var slots []int64
		for g, c := range cases {
			terms = append(terms, c...)
			for range c {
				slots = append(slots, int64(g))
			}
		}
		checkFloats(t, d, terms, slots, len(cases))
	})
}

// TestFloatSumCarries fills digits as far as the bound in fsum.h allows.
func TestFloatSumCarries(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		for _, x := range []float64{0x1.fffffffffffffp+11, -0x1.fffffffffffffp+11,
			0x1.fffffffffffffp+36} {
			cells := make([]uint64, floatCell)
			d.run(t, "float_sum", []int64{0}, floatBits([]float64{x}), 1, cells, 1)
			const times = 1<<31 - 1
			for i := range abi.FloatSumWords {
				cells[i] *= times
			}
			got := make([]int64, 1)
			d.run(t, "float_round", cells, 1, got)
			exact := new(big.Float).SetPrec(200).Mul(big.NewFloat(x), big.NewFloat(times))
			if want, _ := exact.Float64(); math.Float64frombits(uint64(got[0])) != want {
				t.Errorf("%d times %v is %v, want %v", times, x,
					math.Float64frombits(uint64(got[0])), want)
			}
		}
	})
}
