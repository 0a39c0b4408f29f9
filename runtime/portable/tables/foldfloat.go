package tables

import (
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// If the floats that a fold adds are whole numbers of one unit that are not too
// large, their exact sums need no floating point: each float is two words, and
// a group adds both up without a carry (pre-rounding: Demmel, Nguyen, 2015).

// term is a float as upper * 2^unit.lower + lower, both of the float's sign.
type term [2]uint64

const (
	upper = iota
	lower
)

// unit is 2^exponent, and lower the number of bits of the lower part.
type unit struct {
	exponent, lower int
	size            float64 // of the unit, 0 if it is no normal number
	// upper is the size of a unit of the upper part, 0 unless both parts of all
	// sums are floats.
	upper float64
}

// newUnit makes a unit; exact says that both parts of all sums are floats.
func newUnit(exponent, lower int, exact bool) unit {
	u := unit{exponent: exponent, lower: lower}
	if exponent >= leastNormal {
		u.size = math.Ldexp(1, exponent)
		if exact && exponent+lower <= greatest {
			u.upper = math.Ldexp(1, exponent+lower)
		}
	}
	return u
}

// float returns the float nearest to a sum of terms.
func (u unit) float(t term) float64 {
	if u.upper != 0 { // the only rounding is that of the sum
		return math.FMA(float64(int64(t[upper])), u.upper, float64(int64(t[lower]))*u.size)
	}
	sum := scalar.Int128{Hi: int64(t[upper]) >> (64 - u.lower), Lo: t[upper] << u.lower}
	sum, _ = sum.Add(scalar.Int128Of(int64(t[lower])))
	// Below 2^53 units the product is exact, above it is no subnormal number.
	if u.size != 0 {
		return sum.Float64() * u.size
	}
	return math.Ldexp(sum.Float64(), u.exponent)
}

const (
	fractionBits = 52
	leastUnit    = -1074
	leastNormal  = -1022
	greatest     = 1023
)

// splitTerms makes terms of the words, of which a group adds up to most, if all
// are finite and their sums fit.
func (v *foldValues) splitTerms(r *work.Run, name string, most int) {
	v.split = false
	low, high := uint64(0x7ff), uint64(0) // exponents as in the words of floats
	for _, w := range v.words {
		e := uint64(w) >> fractionBits & 0x7ff
		high = max(high, e)
		if w != 0 {
			low = min(low, max(e, 1))
		}
	}
	room := 63 - bits.Len(uint(most))
	width := fractionBits + 1 + int(high) - int(low)
	if high == 0x7ff || width > 2*room {
		return
	}
	floats := fractionBits + 1 - bits.Len(uint(most)) // the room if sums are floats
	exact := width <= 2*floats
	if exact {
		room = floats
	}
	if v.terms == nil {
		v.terms = work.Alloc[term](r.Mem, name, len(v.words))
	}
	v.split = true
	v.unit = newUnit(leastUnit+int(low)-1, room, exact)
	mask := uint64(1)<<room - 1
	for i, w := range v.words {
		e := uint64(w) >> fractionBits & 0x7ff
		m := uint64(w) & (1<<fractionBits - 1)
		if e > 0 {
			m |= 1 << fractionBits
			e--
		}
		shift := uint(e - (low - 1))
		if w == 0 {
			shift = 0
		}
		// m << shift is at most 2 * room bits wide.
		over, under := m<<(shift-64), uint64(0)
		if shift < 64 {
			over, under = m>>(64-shift), m<<shift
		}
		sign := uint64(w >> 63)
		v.terms[i] = term{(over<<(64-room) | under>>room) ^ sign - sign, under&mask ^ sign - sign}
	}
}

// foldTerms adds up terms. Their unit is a variable of its own, as the compiler
// keeps no fields in registers.
func (s *floatSum) foldTerms(v *foldValues, p *foldRange) {
	rounded, terms, begin := s.rounded, v.terms, p.starts[0]
	unit, size, above := v.unit, v.unit.size, v.unit.upper
	for i, g := range p.order {
		end := p.starts[i+1]
		var high, low uint64
		for _, from := range p.from[begin:end] {
			t := &terms[from]
			high += t[upper]
			low += t[lower]
		}
		begin = end
		if above != 0 { // as in unit.float
			rounded[int(g)-p.first] = math.FMA(float64(int64(high)), above,
				float64(int64(low))*size)
		} else {
			rounded[int(g)-p.first] = unit.float(term{high, low})
		}
	}
}

func (s *floatSum) fold(v *foldValues, p *foldRange) {
	clear(s.big)
	s.rounded = s.rounded[:0]
	if v.split {
		s.rounded = growTo(s.rounded, p.groups.N)
		s.foldTerms(v, p)
		return
	}
	for i := range p.order {
		g := p.group(i)
		s.pairs[2*g], s.pairs[2*g+1] = 0, 0
		for _, from := range p.of(i) {
			s.addFloat(uint32(g), work.Float(v.words[from]))
		}
	}
}
