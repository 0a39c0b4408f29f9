package store

import (
	"encoding/binary"
	goruntime "runtime"
)

// shortText is the number of bytes that are copied of a string of at most that
// length.
const shortText = 32

// TextBytes returns the total length of the strings of codes.
func (d *Dict) TextBytes(codes []uint32) int {
	total, ends := 0, d.sorted.ends
	for _, code := range codes {
		if int(code) < len(ends) {
			total += int(ends[code])
			if code > 0 {
				total -= int(ends[code-1])
			}
			continue
		}
		total += len(d.String(code))
	}
	return total
}

// AppendTexts writes the strings of codes to text, one after the other, from
// position at. It replaces each code by the position of its string. Most
// strings are short, so they are copied as a block of fixed size, which takes
// no call, unless that would exceed either slice.
func (d *Dict) AppendTexts(codes []uint32, text []byte, at int) {
	ends, data := d.sorted.ends, d.sorted.data
	for i, code := range codes {
		codes[i] = uint32(at)
		if int(code) >= len(ends) { // interned, or in a dictionary with wide ends
			at += copy(text[at:], d.String(code))
			continue
		}
		from, to := 0, int(ends[code])
		if code > 0 {
			from = int(ends[code-1])
		}
		if n := to - from; n <= shortText && from+shortText <= len(data) &&
			at+shortText <= len(text) {
			copyShort(text[at:], data[from:])
			at += n
			continue
		}
		at += copy(text[at:], data[from:to])
	}
	goruntime.KeepAlive(d)
}

// copyShort copies shortText bytes.
func copyShort(dst, src []byte) {
	dst, src = dst[:shortText], src[:shortText]
	order := binary.NativeEndian
	a, b, c, d := order.Uint64(src), order.Uint64(src[8:]), order.Uint64(src[16:]),
		order.Uint64(src[24:])
	order.PutUint64(dst, a)
	order.PutUint64(dst[8:], b)
	order.PutUint64(dst[16:], c)
	order.PutUint64(dst[24:], d)
}
