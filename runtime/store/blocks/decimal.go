package blocks

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/bitpack"
)

// Floats that are read from text are mostly decimals of few digits. Form
// Decimal has their digits as integers, after ALP (Afroozeh, Kuffo and Boncz,
// "ALP: Adaptive Lossless Floating-Point Compression", SIGMOD 2024). It divides
// where ALP multiplies by an inverse: a quotient of two exact floats is the
// float nearest to the decimal, which is what reading its text gives.

const (
	// mostPlaces bounds the decimal places: greater powers of ten are no exact
	// floats.
	mostPlaces = 22
	// mostDigits bounds the integers: greater ones are not all exact floats.
	mostDigits = 1 << 53
	// wordBits is the size of an exception of form Decimal.
	wordBits = 64
)

// powers are 10^0, 10^1 and so on.
var powers = func() (out [mostPlaces + 1]float64) {
	out[0] = 1
	for i := range mostPlaces {
		out[i+1] = 10 * out[i]
	}
	return out
}()

// digitsOf returns the integer d for which d / 10^places is a float, and
// whether there is one.
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

// placesOf returns the number of decimal places with which the most of some
// entries are integers, the least such number. It is -1 if hardly any are.
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

// decimals returns the header of form Decimal for words of floats, and false if
// they are not decimals.
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

// split separates words of floats into the integers of a header of form
// Decimal, and the exceptions.
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

// undecimal replaces integers by the floats of a header of form Decimal, but
// for its exceptions.
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

// wordsOf returns entries of 8 bytes as words; nil for others.
func wordsOf[T bitpack.Unsigned](entries []T) []uint64 {
	if unsafe.Sizeof(T(0)) != wordBits/8 || len(entries) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&entries[0])), len(entries))
}
