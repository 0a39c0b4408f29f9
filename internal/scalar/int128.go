package scalar

import (
	"math"
	"math/bits"
)

// Int128 is a 128-bit two's complement integer. Decimals are computed in it,
// and engines accumulate totals in it.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Int128Of returns v widened to 128 bits.
func Int128Of(v int64) Int128 { return Int128{v >> 63, uint64(v)} }

// Uint128Of returns the unsigned v widened to 128 bits.
func Uint128Of(v uint64) Int128 { return Int128{0, v} }

// Fits64 reports whether the number is in the range of int64.
func (a Int128) Fits64() bool { return a.Hi == int64(a.Lo)>>63 }

// Int64 returns the low 64 bits as a signed number: the value where Fits64
// holds.
func (a Int128) Int64() int64 { return int64(a.Lo) }

// Sign returns -1, 0 or 1.
func (a Int128) Sign() int {
	switch {
	case a.Hi < 0:
		return -1
	case a.Hi == 0 && a.Lo == 0:
		return 0
	}
	return 1
}

// Cmp returns -1, 0 or 1 as a is less than, equal to or greater than b.
func (a Int128) Cmp(b Int128) int {
	switch {
	case a.Hi < b.Hi:
		return -1
	case a.Hi > b.Hi:
		return 1
	case a.Lo < b.Lo:
		return -1
	case a.Lo > b.Lo:
		return 1
	}
	return 0
}

// Add returns a + b and whether it fits 128 bits.
func (a Int128) Add(b Int128) (Int128, bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), carry)
	r := Int128{int64(hi), lo}
	return r, (a.Hi^r.Hi)&(b.Hi^r.Hi) >= 0
}

// Sub returns a - b and whether it fits 128 bits.
func (a Int128) Sub(b Int128) (Int128, bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(uint64(a.Hi), uint64(b.Hi), borrow)
	r := Int128{int64(hi), lo}
	return r, (a.Hi^b.Hi)&(a.Hi^r.Hi) >= 0
}

// Neg returns -a and whether it fits 128 bits.
func (a Int128) Neg() (Int128, bool) { return Int128{}.Sub(a) }

// Mul returns a * b and whether it fits 128 bits.
func (a Int128) Mul(b Int128) (Int128, bool) {
	x, y := a.magnitude(), b.magnitude()
	if x.hi != 0 && y.hi != 0 {
		return Int128{}, false
	}
	hi, lo := bits.Mul64(x.lo, y.lo)
	c1, m1 := bits.Mul64(x.hi, y.lo)
	c2, m2 := bits.Mul64(x.lo, y.hi)
	hi, carry1 := bits.Add64(hi, m1, 0)
	hi, carry2 := bits.Add64(hi, m2, 0)
	if c1|c2|carry1|carry2 != 0 {
		return Int128{}, false
	}
	return signed(uint128{hi, lo}, (a.Hi < 0) != (b.Hi < 0))
}

// Quo returns a / b truncated toward zero. It has no value for b = 0 and for
// the one quotient that does not fit.
func (a Int128) Quo(b Int128) (Int128, bool) {
	if b.Sign() == 0 {
		return Int128{}, false
	}
	q, _ := a.magnitude().divide(b.magnitude())
	return signed(q, (a.Hi < 0) != (b.Hi < 0))
}

// QuoRound returns a / b rounded half away from zero, under Quo's conditions.
func (a Int128) QuoRound(b Int128) (Int128, bool) {
	if b.Sign() == 0 {
		return Int128{}, false
	}
	d := b.magnitude()
	q, r := a.magnitude().divide(d)
	// 2r >= d, without the overflow of 2r: r >= d - r.
	if rest := d.minus(r); !r.less(rest) {
		lo, carry := bits.Add64(q.lo, 1, 0)
		q = uint128{q.hi + carry, lo}
	}
	return signed(q, (a.Hi < 0) != (b.Hi < 0))
}

// Rescale returns the unscaled number of a decimal moved from one scale to
// another: exact upward, rounded half away from zero downward.
func (a Int128) Rescale(from, to int) (Int128, bool) {
	switch {
	case to > from:
		return a.Mul(Pow10(to - from))
	case to < from:
		return a.QuoRound(Pow10(from - to))
	}
	return a, true
}

// Pow10 returns 10^n for n of 0 to 38.
func Pow10(n int) Int128 { return powersOfTen[n] }

var powersOfTen = func() (t [39]Int128) {
	t[0] = Int128Of(1)
	for i := 1; i < len(t); i++ {
		t[i], _ = t[i-1].Mul(Int128Of(10))
	}
	return t
}()

// Float64 returns the nearest float64, ties to even.
func (a Int128) Float64() float64 {
	if a.Fits64() {
		return float64(int64(a.Lo))
	}
	m := a.magnitude()
	// Shift so that the 64 leading bits remain; whatever falls off is kept as a
	// sticky lowest bit, far below the 53 bits that decide the rounding.
	shift := 64 - bits.LeadingZeros64(m.hi)
	f := 0.0
	if shift == 0 {
		f = float64(m.lo)
	} else {
		top := m.hi<<(64-shift) | m.lo>>shift
		if m.lo<<(64-shift) != 0 {
			top |= 1
		}
		f = math.Ldexp(float64(top), shift)
	}
	if a.Hi < 0 {
		return -f
	}
	return f
}

// String returns the number in decimal digits.
func (a Int128) String() string { return a.Text(0) }

// Text returns the number divided by 10^scale, with exactly scale digits after
// the point.
func (a Int128) Text(scale int) string { return string(a.appendText(nil, scale)) }

func (a Int128) appendText(dst []byte, scale int) []byte {
	var digits [40]byte
	at := len(digits)
	for m := a.magnitude(); m != (uint128{}) || len(digits)-at <= scale; {
		var r uint128
		if m.hi == 0 {
			m, r.lo = uint128{0, m.lo / 10}, m.lo%10
		} else {
			m, r = m.divide(uint128{0, 10})
		}
		at--
		digits[at] = byte('0' + r.lo)
	}
	if a.Hi < 0 {
		dst = append(dst, '-')
	}
	point := len(digits) - scale
	dst = append(dst, digits[at:point]...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, digits[point:]...)
	}
	return dst
}

// uint128 is the magnitude of an Int128.
type uint128 struct{ hi, lo uint64 }

func (a Int128) magnitude() uint128 {
	if a.Hi >= 0 {
		return uint128{uint64(a.Hi), a.Lo}
	}
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.Hi), borrow)
	return uint128{hi, lo}
}

func signed(m uint128, negative bool) (Int128, bool) {
	r := Int128{int64(m.hi), m.lo}
	if negative {
		lo, borrow := bits.Sub64(0, m.lo, 0)
		hi, _ := bits.Sub64(0, m.hi, borrow)
		r = Int128{int64(hi), lo}
		return r, r.Hi < 0 || m == uint128{}
	}
	return r, r.Hi >= 0
}

func (m uint128) less(n uint128) bool { return m.hi < n.hi || m.hi == n.hi && m.lo < n.lo }

func (m uint128) minus(n uint128) uint128 {
	lo, borrow := bits.Sub64(m.lo, n.lo, 0)
	hi, _ := bits.Sub64(m.hi, n.hi, borrow)
	return uint128{hi, lo}
}

// divide returns quotient and remainder. For a divisor above 64 bits the
// quotient is estimated from the leading 64 bits of the normalised divisor and
// is then at most one too small (Knuth, TAOCP 4.3.1, theorem B).
func (m uint128) divide(n uint128) (q, r uint128) {
	if n.hi == 0 {
		q.hi, r.lo = m.hi/n.lo, m.hi%n.lo
		q.lo, r.lo = bits.Div64(r.lo, m.lo, n.lo)
		return q, r
	}
	shift := bits.LeadingZeros64(n.hi)
	top := n.hi<<shift | n.lo>>1>>(63-shift)
	estimate, _ := bits.Div64(m.hi>>1, m.hi<<63|m.lo>>1, top)
	estimate >>= 63 - shift
	if estimate > 0 {
		estimate--
	}
	hi, lo := bits.Mul64(estimate, n.lo)
	hi += estimate * n.hi
	q, r = uint128{0, estimate}, m.minus(uint128{hi, lo})
	if !r.less(n) {
		q.lo++
		r = r.minus(n)
	}
	return q, r
}
