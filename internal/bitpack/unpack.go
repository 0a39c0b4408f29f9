package bitpack

import (
	"encoding/binary"
	"unsafe"
)

// Unpack fills dst with what Pack has written, plus first, modulo the type of
// the numbers. Src has at least Bytes(len(dst), bits) bytes, and the numbers
// have at most as many bits as their type.
func Unpack[T Unsigned](dst []T, src []byte, bits int, first T) {
	src = src[:Bytes(len(dst), bits)]
	switch {
	case len(dst) == 0:
	case bits == 0:
		for i := range dst {
			dst[i] = first
		}
	case first == 0 && bits == 8*int(unsafe.Sizeof(first)):
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)*bits/8), src)
	case bits <= 8:
		upTo8(dst, src, bits, first)
	default:
		switch dst := any(dst).(type) {
		case []uint16:
			upTo16(dst, src, bits, uint16(first))
		case []uint32:
			upTo32(dst, src, bits, uint32(first))
		case []uint64:
			upTo64(dst, src, bits, uint64(first))
		}
	}
}

// upTo8 and the functions like it have code for each number of bits, for those
// types only whose numbers may have as many.
func upTo8[T Unsigned](dst []T, src []byte, bits int, first T) {
	switch bits {
	case 1:
		groups[T, [1]byte](dst, src, first)
	case 2:
		groups[T, [2]byte](dst, src, first)
	case 3:
		groups[T, [3]byte](dst, src, first)
	case 4:
		groups[T, [4]byte](dst, src, first)
	case 5:
		groups[T, [5]byte](dst, src, first)
	case 6:
		groups[T, [6]byte](dst, src, first)
	case 7:
		groups[T, [7]byte](dst, src, first)
	case 8:
		groups[T, [8]byte](dst, src, first)
	}
}

func upTo16[T uint16 | uint32 | uint64](dst []T, src []byte, bits int, first T) {
	switch bits {
	case 9:
		groups[T, [9]byte](dst, src, first)
	case 10:
		groups[T, [10]byte](dst, src, first)
	case 11:
		groups[T, [11]byte](dst, src, first)
	case 12:
		groups[T, [12]byte](dst, src, first)
	case 13:
		groups[T, [13]byte](dst, src, first)
	case 14:
		groups[T, [14]byte](dst, src, first)
	case 15:
		groups[T, [15]byte](dst, src, first)
	case 16:
		groups[T, [16]byte](dst, src, first)
	}
}

func upTo32[T uint32 | uint64](dst []T, src []byte, bits int, first T) {
	switch {
	case bits <= 16:
		upTo16(dst, src, bits, first)
	case bits <= 24:
		upTo24(dst, src, bits, first)
	}
	switch bits {
	case 25:
		groups[T, [25]byte](dst, src, first)
	case 26:
		groups[T, [26]byte](dst, src, first)
	case 27:
		groups[T, [27]byte](dst, src, first)
	case 28:
		groups[T, [28]byte](dst, src, first)
	case 29:
		groups[T, [29]byte](dst, src, first)
	case 30:
		groups[T, [30]byte](dst, src, first)
	case 31:
		groups[T, [31]byte](dst, src, first)
	case 32:
		groups[T, [32]byte](dst, src, first)
	}
}

func upTo24[T uint32 | uint64](dst []T, src []byte, bits int, first T) {
	switch bits {
	case 17:
		groups[T, [17]byte](dst, src, first)
	case 18:
		groups[T, [18]byte](dst, src, first)
	case 19:
		groups[T, [19]byte](dst, src, first)
	case 20:
		groups[T, [20]byte](dst, src, first)
	case 21:
		groups[T, [21]byte](dst, src, first)
	case 22:
		groups[T, [22]byte](dst, src, first)
	case 23:
		groups[T, [23]byte](dst, src, first)
	case 24:
		groups[T, [24]byte](dst, src, first)
	}
}

func upTo64(dst []uint64, src []byte, bits int, first uint64) {
	if bits <= 32 {
		upTo32(dst, src, bits, first)
		return
	}
	n, at, mask := uint(bits), uint(0), ^uint64(0)>>(64-bits)
	for i := range dst {
		word, shift := at>>6<<3, at&63
		v := binary.LittleEndian.Uint64(src[word:]) >> shift
		if shift+n > 64 {
			v |= binary.LittleEndian.Uint64(src[word+8:]) << (64 - shift)
		}
		dst[i], at = v&mask+first, at+n
	}
}

// width is a number of bits, the length of an array. The compiler makes code
// for each: shifts, masks and places are constants in it.
type width interface {
	[1]byte | [2]byte | [3]byte | [4]byte | [5]byte | [6]byte | [7]byte |
		[8]byte | [9]byte | [10]byte | [11]byte | [12]byte | [13]byte |
		[14]byte | [15]byte | [16]byte | [17]byte | [18]byte | [19]byte |
		[20]byte | [21]byte | [22]byte | [23]byte | [24]byte | [25]byte |
		[26]byte | [27]byte | [28]byte | [29]byte | [30]byte | [31]byte | [32]byte
}

// groups unpacks Rows numbers at a time. The last ones are unpacked from a copy
// with room behind it, because words are read from any byte on.
func groups[T Unsigned, W width](dst []T, src []byte, first T) {
	var w W
	size := Rows / 8 * len(w)
	for ; len(dst) >= Rows && len(src) >= size+8; dst, src = dst[Rows:], src[size:] {
		unpackRows[T, W]((*[Rows]T)(dst), unsafe.Pointer(unsafe.SliceData(src)), first)
	}
	var rows [Rows]T
	var room [Rows/8*32 + 8]byte
	for ; len(dst) > 0; src = src[min(size, len(src)):] {
		clear(room[:])
		copy(room[:size], src)
		unpackRows[T, W](&rows, unsafe.Pointer(&room), first)
		dst = dst[copy(dst, rows[:]):]
	}
}

// bitsAt returns the bits from one on, at most 32.
func bitsAt(p unsafe.Pointer, bit, bits int) uint64 {
	return *(*uint64)(unsafe.Add(p, bit>>3)) >> (bit & 7) & (1<<bits - 1)
}

// unpackRows unpacks Rows numbers. Behind them there are 8 bytes.
func unpackRows[T Unsigned, W width](d *[Rows]T, p unsafe.Pointer, first T) {
	var w W
	b := len(w)
	d[0], d[1] = T(bitsAt(p, 0, b))+first, T(bitsAt(p, 1*b, b))+first
	d[2], d[3] = T(bitsAt(p, 2*b, b))+first, T(bitsAt(p, 3*b, b))+first
	d[4], d[5] = T(bitsAt(p, 4*b, b))+first, T(bitsAt(p, 5*b, b))+first
	d[6], d[7] = T(bitsAt(p, 6*b, b))+first, T(bitsAt(p, 7*b, b))+first
	d[8], d[9] = T(bitsAt(p, 8*b, b))+first, T(bitsAt(p, 9*b, b))+first
	d[10], d[11] = T(bitsAt(p, 10*b, b))+first, T(bitsAt(p, 11*b, b))+first
	d[12], d[13] = T(bitsAt(p, 12*b, b))+first, T(bitsAt(p, 13*b, b))+first
	d[14], d[15] = T(bitsAt(p, 14*b, b))+first, T(bitsAt(p, 15*b, b))+first
	d[16], d[17] = T(bitsAt(p, 16*b, b))+first, T(bitsAt(p, 17*b, b))+first
	d[18], d[19] = T(bitsAt(p, 18*b, b))+first, T(bitsAt(p, 19*b, b))+first
	d[20], d[21] = T(bitsAt(p, 20*b, b))+first, T(bitsAt(p, 21*b, b))+first
	d[22], d[23] = T(bitsAt(p, 22*b, b))+first, T(bitsAt(p, 23*b, b))+first
	d[24], d[25] = T(bitsAt(p, 24*b, b))+first, T(bitsAt(p, 25*b, b))+first
	d[26], d[27] = T(bitsAt(p, 26*b, b))+first, T(bitsAt(p, 27*b, b))+first
	d[28], d[29] = T(bitsAt(p, 28*b, b))+first, T(bitsAt(p, 29*b, b))+first
	d[30], d[31] = T(bitsAt(p, 30*b, b))+first, T(bitsAt(p, 31*b, b))+first
	d[32], d[33] = T(bitsAt(p, 32*b, b))+first, T(bitsAt(p, 33*b, b))+first
	d[34], d[35] = T(bitsAt(p, 34*b, b))+first, T(bitsAt(p, 35*b, b))+first
	d[36], d[37] = T(bitsAt(p, 36*b, b))+first, T(bitsAt(p, 37*b, b))+first
	d[38], d[39] = T(bitsAt(p, 38*b, b))+first, T(bitsAt(p, 39*b, b))+first
	d[40], d[41] = T(bitsAt(p, 40*b, b))+first, T(bitsAt(p, 41*b, b))+first
	d[42], d[43] = T(bitsAt(p, 42*b, b))+first, T(bitsAt(p, 43*b, b))+first
	d[44], d[45] = T(bitsAt(p, 44*b, b))+first, T(bitsAt(p, 45*b, b))+first
	d[46], d[47] = T(bitsAt(p, 46*b, b))+first, T(bitsAt(p, 47*b, b))+first
	d[48], d[49] = T(bitsAt(p, 48*b, b))+first, T(bitsAt(p, 49*b, b))+first
	d[50], d[51] = T(bitsAt(p, 50*b, b))+first, T(bitsAt(p, 51*b, b))+first
	d[52], d[53] = T(bitsAt(p, 52*b, b))+first, T(bitsAt(p, 53*b, b))+first
	d[54], d[55] = T(bitsAt(p, 54*b, b))+first, T(bitsAt(p, 55*b, b))+first
	d[56], d[57] = T(bitsAt(p, 56*b, b))+first, T(bitsAt(p, 57*b, b))+first
	d[58], d[59] = T(bitsAt(p, 58*b, b))+first, T(bitsAt(p, 59*b, b))+first
	d[60], d[61] = T(bitsAt(p, 60*b, b))+first, T(bitsAt(p, 61*b, b))+first
	d[62], d[63] = T(bitsAt(p, 62*b, b))+first, T(bitsAt(p, 63*b, b))+first
}
