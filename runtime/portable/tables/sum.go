package tables

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// wholeSum accumulates totals of ints and decimals, in 128 bits. Where the
// words' bounds allow many additions in 64 bits without overflow, rows are
// added to a 64-bit part, which is spilled before it could overflow. Most sums
// never are, and have no wide part then.
type wholeSum struct {
	unsigned bool
	limit    int // rows that part can take; 0: add in 128 bits at once
	added    int // rows in part

	n    int // groups
	part []int64
	wide []uint64 // low and high word of each group
}

// minPartRows is the least limit for which the 64-bit part pays.
const minPartRows = 1 << 20

func newWholeSum(t scalar.Type, rng interval.Interval) *wholeSum {
	s := &wholeSum{unsigned: t == scalar.UintType}
	if !s.unsigned && !rng.Empty() && rng.Lo != math.MinInt64 {
		largest := max(rng.Hi, -rng.Lo, 1)
		if n := math.MaxInt64 / largest; n >= minPartRows {
			s.limit = int(n)
		}
	} else if rng.Empty() {
		s.limit = math.MaxInt64
	}
	return s
}

func (s *wholeSum) grow(n int) {
	s.n = max(s.n, n)
	if s.limit > 0 {
		s.part = growTo(s.part, n)
	}
	if s.limit == 0 || s.wide != nil {
		s.wide = growTo(s.wide, 2*n)
	}
}

// growTo extends a slice with zeros to length n.
func growTo[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	t := make([]T, n, max(n, 2*cap(s)))
	copy(t, s)
	return t
}

func (s *wholeSum) add(groups []uint32, col []int64) {
	if s.limit > 0 {
		if s.added+len(col) > s.limit {
			s.spill()
		}
		s.added += len(col)
		part := s.part
		if groups == nil {
			var sum int64
			for _, v := range col {
				sum += v
			}
			part[0] += sum
			return
		}
		groups = groups[:len(col)]
		for i, v := range col {
			part[groups[i]] += v
		}
		return
	}
	for i, v := range col {
		g := uint32(0)
		if groups != nil {
			g = groups[i]
		}
		s.addWide(g, uint64(v), s.extension(v))
	}
}

// extension returns the high word of a word widened to 128 bits.
func (s *wholeSum) extension(v int64) uint64 {
	if s.unsigned {
		return 0
	}
	return uint64(v >> 63)
}

func (s *wholeSum) addWide(g uint32, lo, hi uint64) {
	w := s.wide[2*g : 2*g+2]
	var carry uint64
	w[0], carry = bits.Add64(w[0], lo, 0)
	w[1], _ = bits.Add64(w[1], hi, carry)
}

func (s *wholeSum) spill() {
	s.wide = growTo(s.wide, 2*s.n)
	for g, v := range s.part {
		s.addWide(uint32(g), uint64(v), uint64(v>>63))
		s.part[g] = 0
	}
	s.added = 0
}

// merge adds groups of another sum, which it only reads.
func (s *wholeSum) merge(other accumulator, numbers, ids []uint32) {
	from := other.(*wholeSum)
	if from.wide == nil && s.limit > 0 && from.added <= s.limit {
		if s.added > s.limit-from.added {
			s.spill()
		}
		s.added += from.added
		for k, to := range ids {
			s.part[to] += from.part[numberAt(numbers, k)]
		}
		return
	}
	if s.wide == nil {
		s.wide = growTo(s.wide, 2*s.n)
	}
	for k, to := range ids {
		sum := from.total(int(numberAt(numbers, k)))
		s.addWide(to, sum.Lo, uint64(sum.Hi))
	}
}

// total returns a group's sum.
func (s *wholeSum) total(g int) scalar.Int128 {
	var sum scalar.Int128
	if s.wide != nil {
		sum = scalar.Int128{Hi: int64(s.wide[2*g+1]), Lo: s.wide[2*g]}
	}
	if s.limit > 0 {
		sum, _ = sum.Add(scalar.Int128Of(s.part[g]))
	}
	return sum
}

// floatSum accumulates float totals exactly, so that they do not depend on the
// order of rows: the result is the exact sum, rounded once. A group is two
// floats whose sum is exact, kept so by error-free addition (Knuth's TwoSum,
// TAOCP 4.2.2); a group for which two floats are not enough is promoted to a
// fixed-point number as wide as the exponent range (a small superaccumulator,
// Neal 2015).
type floatSum struct {
	pairs []float64 // high and low of each group; high is NaN once it is promoted
	big   map[uint32]*superSum
	// rounded are the totals in place of the above, if a fold has made them.
	rounded []float64
}

func (s *floatSum) grow(n int) { s.pairs = growTo(s.pairs, 2*n) }

func (s *floatSum) add(groups []uint32, col []int64) {
	g := uint32(0)
	for i, w := range col {
		if groups != nil {
			g = groups[i]
		}
		s.addFloat(g, work.Float(w))
	}
}

func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

func (s *floatSum) addFloat(g uint32, x float64) {
	p := s.pairs[2*g : 2*g+2]
	high, e := twoSum(p[0], x)
	low, e2 := twoSum(p[1], e)
	// Infinite and undefined terms make e2 NaN.
	if e2 == 0 {
		p[0], p[1] = high, low
		return
	}
	s.promote(g).add(x)
}

func (s *floatSum) promote(g uint32) *superSum {
	if b := s.big[g]; b != nil {
		return b
	}
	if s.big == nil {
		s.big = map[uint32]*superSum{}
	}
	b := &superSum{}
	p := s.pairs[2*g : 2*g+2]
	b.add(p[0])
	b.add(p[1])
	p[0], p[1] = math.NaN(), 0
	s.big[g] = b
	return b
}

func (s *floatSum) merge(other accumulator, numbers, ids []uint32) {
	from := other.(*floatSum)
	for k, to := range ids {
		g := numberAt(numbers, k)
		if b := from.big[g]; b != nil {
			s.promote(to).merge(b)
			continue
		}
		s.addFloat(to, from.pairs[2*g])
		s.addFloat(to, from.pairs[2*g+1])
	}
}

// total returns a group's sum, correctly rounded.
func (s *floatSum) total(g int) float64 {
	if len(s.rounded) > 0 {
		return s.rounded[g]
	}
	if len(s.big) > 0 {
		if b := s.big[uint32(g)]; b != nil {
			return b.round()
		}
	}
	return s.pairs[2*g] + s.pairs[2*g+1]
}

// superSum is an exact sum of floats: a fixed-point number in units of the
// least subnormal, in digits of 32 bits that are kept in 64, so that a carry
// need not be passed on at once.
type superSum struct {
	digits [superDigits]int64
	adds   int
	// special terms
	nan, plus, minus bool
}

const (
	// superDigits covers exponents from -1074 to 1024 and sums of 2^64 terms.
	superDigits = (1074+1024)/32 + 4
	// maxAdds is how many terms the digits take before carries are passed on.
	maxAdds = 1 << 29
)

func (s *superSum) add(x float64) {
	switch {
	case x != x:
		s.nan = true
		return
	case math.IsInf(x, 1):
		s.plus = true
		return
	case math.IsInf(x, -1):
		s.minus = true
		return
	}
	if s.adds++; s.adds == maxAdds {
		s.carry()
	}
	b := math.Float64bits(x)
	mantissa, exponent := b&(1<<52-1), int(b>>52&0x7ff)
	if exponent > 0 {
		mantissa |= 1 << 52
		exponent--
	}
	at, shift := exponent/32, uint(exponent%32)
	lo := mantissa << shift
	parts := [3]int64{int64(lo & math.MaxUint32), int64(lo >> 32), int64(mantissa >> (64 - shift))}
	for i, p := range parts {
		if x < 0 {
			p = -p
		}
		s.digits[at+i] += p
	}
}

// carry brings all digits but the highest into 0 to 2^32-1.
func (s *superSum) carry() {
	for i := range superDigits - 1 {
		s.digits[i+1] += s.digits[i] >> 32
		s.digits[i] &= math.MaxUint32
	}
	s.adds = 1
}

func (s *superSum) merge(from *superSum) {
	s.carry()
	from.carry()
	for i, d := range from.digits {
		s.digits[i] += d
	}
	s.adds++
	s.nan, s.plus, s.minus = s.nan || from.nan, s.plus || from.plus, s.minus || from.minus
}

// round returns the nearest float, ties to even.
func (s *superSum) round() float64 {
	switch {
	case s.nan || s.plus && s.minus:
		return math.NaN()
	case s.plus:
		return math.Inf(1)
	case s.minus:
		return math.Inf(-1)
	}
	s.carry()
	sum := new(big.Int)
	for i := superDigits - 1; i >= 0; i-- {
		sum.Lsh(sum, 32)
		sum.Add(sum, big.NewInt(s.digits[i]))
	}
	f := new(big.Float).SetPrec(64 * superDigits).SetInt(sum)
	f.SetMantExp(f, -1074)
	r, _ := f.Float64()
	return r
}
