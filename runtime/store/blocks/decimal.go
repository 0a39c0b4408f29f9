package blocks

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/bitpack"
)

// Floats that are read from text are mostly decimals of few digits. Form
// Decimal stores their digits as integers, after ALP (Afroozeh, Kuffo and
// Boncz, "ALP: Adaptive Lossless Floating-Point Compression", SIGMOD 2024). ALP
// multiplies by the inverse of a power of ten; Decimal divides by the power.
// The quotient of two exact floats is the float nearest to the decimal, and so
// is the float that parsing its text gives.

const (
	// mostPlaces bounds the decimal places: greater powers of ten are not exact
	// as floats.
	mostPlaces = 22
	// mostDigits bounds the integers: not all greater ones are exact as floats.
	mostDigits = 1 << 53
	// wordBits is the size of an exception of form Decimal.
	wordBits = 64
)

// powers are the powers of ten, from 10^0 on.
var powers = func() (out [mostPlaces + 1]float64) {
	out[0] = 1
	for i := range mostPlaces {
		out[i+1] = 10 * out[i]
	}
	return out
}()

// digitsOf returns the integer d for which d / 10^places is the float of a
// word, and whether there is one.
func digitsOf(word uint64, places int) (d int64, ok bool) {
	scaled := math.Round(math.Float64frombits(word) * powers[places])
	if !(math.Abs(scaled) <= mostDigits) {
		return 0, false
	}
	d = int64(scaled)
	return d, decimalWord(d, places) == word
}

// decimalWord returns d / 10^places as the word of a float.
func decimalWord(d int64, places int) uint64 {
	return math.Float64bits(float64(d) / powers[places])
}

// placesOf returns the number of decimal places with which most of a few
// sampled entries are integers; of several, the least. It is -1 if hardly any
// are.
func placesOf(entries []uint64) int {
	const looks = 32
	best, most := -1, looks/2
	for places := range mostPlaces + 1 {
		found := 0
		for i := range looks {
			if _, ok := digitsOf(entries[i*len(entries)/looks], places); ok {
				found++
			}
		}
		if found > most {
			best, most = places, found
		}
	}
	return best
}

// decimals returns a header of form Decimal for words of floats. It returns
// false if they are not decimals.
func (e *Encoder[T]) decimals(words []uint64, h Header) (Header, bool) {
	places := placesOf(words)
	if places < 0 {
		return h, false
	}
	least := int64(math.MaxInt64)
	for _, w := range words {
		if d, ok := digitsOf(w, places); ok {
			least = min(least, d)
		}
	}
	var lengths [wordBits + 1]int
	over := 0
	for _, w := range words {
		if d, ok := digitsOf(w, places); ok {
			lengths[bits.Len64(uint64(d-least))]++
		} else {
			over++
		}
	}
	h.Form, h.First, h.Step = Decimal, uint64(least), uint64(places)
	best := h
	for n := wordBits; n >= 0; n-- {
		h.Bits, h.Count, h.MoreBits = uint8(n), uint32(over), 0
		if over > 0 {
			h.MoreBits = wordBits
		}
		if size := h.size(len(words)); n == wordBits || size < best.size(len(words)) {
			best = h
		}
		over += lengths[n]
	}
	return best, true
}

// split separates words of floats into integers, for a header of form Decimal,
// and exceptions.
func (e *Encoder[T]) split(words []uint64, h *Header) {
	e.numbers = e.numbers[:0]
	for i, w := range words {
		d, ok := digitsOf(w, int(h.Step))
		number := uint64(d) - h.First
		if !ok || bits.Len64(number) > int(h.Bits) {
			e.rows, e.some = append(e.rows, uint16(i)), append(e.some, T(w))
			number = 0
		}
		e.numbers = append(e.numbers, T(number))
	}
}

// undecimal replaces integers by the floats that they stand for in form
// Decimal, and then sets the exceptions.
func undecimal(d *Decoder, words []uint64, h *Header, positions, exceptions []byte) error {
	scale := powers[h.Step]
	for i, w := range words {
		words[i] = math.Float64bits(float64(int64(w)) / scale)
	}
	rows, others := d.positions[:h.Count], d.words[:h.Count]
	bitpack.Unpack(rows, positions, PositionBits, 0)
	bitpack.Unpack(others, exceptions, int(h.MoreBits), 0)
	for i, row := range rows {
		if int(row) >= len(words) {
			return errEntries
		}
		words[row] = others[i]
	}
	return nil
}

// wordsOf returns entries of 8 bytes as words. It returns nil for other widths.
func wordsOf[T bitpack.Unsigned](entries []T) []uint64 {
	if unsafe.Sizeof(T(0)) != wordBits/8 || len(entries) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&entries[0])), len(entries))
}
