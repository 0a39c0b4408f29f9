package layout

import "unsafe"

// View is the offsets of a column in the host's memory. It is an order.Words.
type View struct {
	Column
	Data []byte // aligned to the width
}

// Read widens the words of rows from, from+1, ... into dst.
func (v *View) Read(dst []int64, from int) {
	switch v.Width {
	case 1:
		widen(dst, v, offsets[uint8](v)[from:])
	case 2:
		widen(dst, v, offsets[uint16](v)[from:])
	case 4:
		widen(dst, v, offsets[uint32](v)[from:])
	case 8:
		widen(dst, v, offsets[uint64](v)[from:])
	default:
		for i := range dst {
			dst[i] = v.Base
		}
	}
}

// Gather widens the words of the given rows into dst.
func (v *View) Gather(dst []int64, rows []uint32) {
	switch v.Width {
	case 1:
		gather(dst, v, offsets[uint8](v), rows)
	case 2:
		gather(dst, v, offsets[uint16](v), rows)
	case 4:
		gather(dst, v, offsets[uint32](v), rows)
	case 8:
		gather(dst, v, offsets[uint64](v), rows)
	default:
		for i := range rows {
			dst[i] = v.Base
		}
	}
}

// Write narrows words into rows from, from+1, ...; the step is 1.
func (v *View) Write(src []int64, from int) {
	switch v.Width {
	case 1:
		narrow(offsets[uint8](v)[from:], v, src)
	case 2:
		narrow(offsets[uint16](v)[from:], v, src)
	case 4:
		narrow(offsets[uint32](v)[from:], v, src)
	case 8:
		narrow(offsets[uint64](v)[from:], v, src)
	}
}

// offset is what columns store.
type offset interface {
	uint8 | uint16 | uint32 | uint64
}

func offsets[T offset](v *View) []T {
	if len(v.Data) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&v.Data[0])), len(v.Data)/v.Width)
}

func widen[T offset](dst []int64, v *View, src []T) {
	base, step := v.Base, v.Step
	if step == 1 { // mostly, and twice as fast
		for i, o := range src[:len(dst)] {
			dst[i] = base + int64(o)
		}
		return
	}
	for i, o := range src[:len(dst)] {
		dst[i] = base + step*int64(o)
	}
}

func gather[T offset](dst []int64, v *View, src []T, rows []uint32) {
	base, step := v.Base, v.Step
	dst = dst[:len(rows)]
	if step == 1 {
		for i, r := range rows {
			dst[i] = base + int64(src[r])
		}
		return
	}
	for i, r := range rows {
		dst[i] = base + step*int64(src[r])
	}
}

func narrow[T offset](dst []T, v *View, src []int64) {
	dst, base := dst[:len(src)], v.Base
	for i, w := range src {
		dst[i] = T(w - base)
	}
}
