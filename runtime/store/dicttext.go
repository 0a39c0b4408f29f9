package store

import (
	"encoding/binary"
	goruntime "runtime"
)

// shortText is how many bytes are copied of a string that has no more.
const shortText = 32

// TextBytes returns how many bytes the strings of codes are together.
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

// AppendTexts writes the strings of codes into text one behind the other, from
// a place on, and puts the place where each begins in place of its code. Most
// strings are short: they are copied as a block of fixed size where neither
// side ends, which takes no call.
func (d *Dict) AppendTexts(codes []uint32, text []byte, at int) {
	ends, data := d.sorted.ends, d.sorted.data
	for i, code := range codes {
		codes[i] = uint32(at)
		if int(code) >= len(ends) { // interned, or in one of the longest dictionaries
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
