package parquet

import (
	"encoding/binary"
	"slices"
)

// Hybrid decodes numbers of up to 32 bits from runs of equal numbers and runs
// of bit-packed ones, the form of levels and of places in a dictionary (RLE in
// Apache Parquet, "Data encodings").
type Hybrid struct {
	data  []byte // behind the current run's header; a packed run comes first
	width int    // bits of a number, at most 32
	left  int    // numbers of the current run that are still to come
	// The numbers of a packed run are packed, the next one at bit at of data.
	// All numbers of another run are value.
	packed bool
	at     int
	value  uint32
}

var (
	errShort      = damaged("its metadata end early")
	errShortPage  = damaged("a page ends too early")
	errWideNumber = damaged("a page has a number of more bits than its numbers have")
)

// Number is the type of decoded numbers.
type Number interface{ ~uint8 | ~uint16 | ~uint32 }

// Read decodes the next len(dst) numbers.
func (h *Hybrid) Read(dst []uint32) error { return ReadNumbers(h, dst) }

// Width returns the bits of a number.
func (h *Hybrid) Width() int { return h.width }

// ReadNumbers decodes the next len(dst) numbers, which T has the bits for.
func ReadNumbers[T Number](h *Hybrid, dst []T) error {
	for len(dst) > 0 {
		if h.left == 0 {
			if err := h.next(); err != nil {
				return err
			}
		}
		n := min(h.left, len(dst))
		if h.packed {
			h.at = unpack(dst[:n], h.data, h.at, h.width)
		} else {
			part, value := dst[:n], T(h.value)
			for i := range part {
				part[i] = value
			}
		}
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

// ReadNumbersAt decodes the next len(dst) numbers, and moves those at some
// places, which ascend, to the front of dst. What is behind them is undefined.
func ReadNumbersAt[T Number](h *Hybrid, dst []T, places []uint32) error {
	kept := 0
	for row := 0; row < len(dst); {
		if h.left == 0 {
			if err := h.next(); err != nil {
				return err
			}
		}
		n := min(h.left, len(dst)-row)
		part := places[:before(places, row+n)]
		switch {
		case !h.packed:
			for i := range part {
				dst[kept+i] = T(h.value)
			}
		case len(part)*fewNumbers < n:
			for i, p := range part {
				dst[kept+i] = T(numberAt(h.data, h.at+(int(p)-row)*h.width, h.width))
			}
			h.at += n * h.width
		default:
			h.at = unpack(dst[row:row+n], h.data, h.at, h.width)
			for i, p := range part {
				dst[kept+i] = dst[p]
			}
		}
		h.left -= n
		row += n
		kept += len(part)
		places = places[len(part):]
	}
	return nil
}

// fewNumbers is the share of the numbers of a run up to which they are decoded
// one by one.
const fewNumbers = 6

// before returns how many places are before a row.
func before(places []uint32, row int) int {
	if n := len(places); n == 0 || int(places[n-1]) < row {
		return n
	}
	n, _ := slices.BinarySearch(places, uint32(row))
	return n
}

// next begins a run that is not empty.
func (h *Hybrid) next() error {
	for h.left == 0 {
		if h.packed {
			h.data, h.packed = h.data[(h.at+7)/8:], false
		}
		header, n := binary.Uvarint(h.data)
		if n <= 0 || header>>1 > 1<<31 {
			return errShortPage
		}
		h.data = h.data[n:]
		h.left = int(header >> 1)
		switch {
		case header&1 == 0:
		case h.width == 0:
			h.left *= 8
		default:
			// A last group may be cut short; its missing numbers are not asked
			// for.
			h.left = min(8*h.left, len(h.data)*8/h.width)
			h.packed, h.at = true, 0
			continue
		}
		size := (h.width + 7) / 8
		if len(h.data) < size {
			return errShortPage
		}
		var value [4]byte
		copy(value[:], h.data[:size])
		h.value = binary.LittleEndian.Uint32(value[:])
		if uint64(h.value)>>h.width != 0 {
			return errWideNumber
		}
		h.data = h.data[size:]
	}
	return nil
}

// packed returns n numbers that are packed from the lowest bit of each byte.
func packed(data []byte, width, n int) Hybrid {
	return Hybrid{data: data, width: width, left: n, packed: true}
}

// packedFromTop returns n numbers that are packed from the highest bit of each
// byte, the form of levels in files of old writers.
func packedFromTop(data []byte, width, n int) Hybrid {
	out := make([]byte, len(data)+1)
	for i := range n {
		var number uint32
		for bit := i * width; bit < (i+1)*width; bit++ {
			number = number<<1 | uint32(data[bit>>3]>>(7-bit&7)&1)
		}
		for b := range width {
			bit := i*width + b
			out[bit>>3] |= byte(number>>b&1) << (bit & 7)
		}
	}
	return packed(out, width, n)
}

// appendHybrid appends numbers of the width.
func appendHybrid(dst []byte, numbers []uint32, width int) []byte {
	for len(numbers) > 0 {
		// A run of equal numbers takes two bytes or more, as do eight packed
		// ones.
		if n := equal(numbers); n >= 8 {
			dst = binary.AppendUvarint(dst, uint64(n)<<1)
			for b := 0; b < width; b += 8 {
				dst = append(dst, byte(numbers[0]>>b))
			}
			numbers = numbers[n:]
			continue
		}
		groups := 1
		for groups < 1<<16 && 8*groups < len(numbers) && equal(numbers[8*groups:]) < 8 {
			groups++
		}
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		part := numbers[:min(8*groups, len(numbers))]
		numbers = numbers[len(part):]
		end := len(dst) + groups*width
		dst = appendPacked(dst, part, width)
		for len(dst) < end { // a last group is filled up
			dst = append(dst, 0)
		}
	}
	return dst
}

// equal returns how many numbers are equal to the first one, from there on.
func equal(numbers []uint32) int {
	n := 1
	for n < len(numbers) && numbers[n] == numbers[0] {
		n++
	}
	return n
}

// appendPacked appends numbers packed from the lowest bit of each byte.
func appendPacked(dst []byte, numbers []uint32, width int) []byte {
	var bits uint64
	held := 0 // bits that are not appended yet, fewer than 32
	for _, v := range numbers {
		bits |= uint64(v) << held
		if held += width; held >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(bits))
			bits, held = bits>>32, held-32
		}
	}
	for ; held > 0; held -= 8 {
		dst = append(dst, byte(bits))
		bits >>= 8
	}
	return dst
}
