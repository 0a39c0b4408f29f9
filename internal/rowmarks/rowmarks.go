package rowmarks

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Bytes returns the memory of marks, a byte each: 1 where the row is marked,
// else 0.
func Bytes(list []bool) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list))
}

// Places returns the places of the marked rows, in order, in the memory of dst,
// which has room for all rows.
func Places(dst []uint32, list []bool) []uint32 {
	b := Bytes(list)
	dst = dst[:len(b)]
	n, i := 0, 0
	// No branch depends on a single mark: which rows are marked is not
	// predictable.
	for ; i+8 <= len(b); i += 8 {
		if m := b[i : i+8 : i+8]; binary.LittleEndian.Uint64(m) != 0 {
			for k, mark := range m {
				dst[n] = uint32(i + k)
				n += int(mark)
			}
		}
	}
	for ; i < len(b); i++ {
		dst[n] = uint32(i)
		n += int(b[i])
	}
	return dst[:n]
}

// Count returns how many rows are marked.
func Count(list []bool) int {
	b := Bytes(list)
	n, whole := 0, len(b)&^7
	for i := 0; i < whole; i += 8 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b[i:]))
	}
	for _, m := range b[whole:] {
		n += int(m)
	}
	return n
}

// Compact moves the marked entries of values to the front, and counts them.
func Compact[T any](values []T, list []bool) int {
	b := Bytes(list)
	values = values[:len(b)]
	n, i := 0, 0
	for ; i+8 <= len(b); i += 8 {
		if m := b[i : i+8 : i+8]; binary.LittleEndian.Uint64(m) != 0 {
			for k, mark := range m {
				values[n] = values[i+k]
				n += int(mark)
			}
		}
	}
	for ; i < len(b); i++ {
		values[n] = values[i]
		n += int(b[i])
	}
	return n
}
