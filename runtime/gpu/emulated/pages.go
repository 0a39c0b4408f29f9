package emulated

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/klauspost/compress/snappy"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
)

// pageKernels are the kernels of service.Pages.
var pageKernels = named(service.Pages.Kernels, map[string]serviceKernel{
	"rf_pages_unpack": unpackPages,
	"rf_pages_decode": decodePages,
	"rf_pages_deltas": decodeDeltas,
})

// errDamaged means that a page is malformed, and errOutside that a value is out
// of its column's bounds. Both set the status.
var (
	errDamaged = errors.New("the page is damaged")
	errOutside = errors.New("a value is out of bounds")
)

// flags of a page, see service.Page.AppendTo.
const (
	pagePacked = 1 << (32 + iota)
	pageLevels
	pageCoded
	pageDelta
	pageSplit
)

// eachPage calls f with the words of each page, and records errors in the
// status.
func eachPage(m *Memory, pages, n, status int64, f func(page []uint64) error) error {
	words, err := m.Words(pages, n*service.PageWords)
	if err != nil {
		return err
	}
	word, err := m.Words(status, 1)
	if err != nil {
		return err
	}
	for ; len(words) > 0; words = words[service.PageWords:] {
		switch err := f(words[:service.PageWords]); err {
		case nil:
		case errDamaged:
			word[0] |= service.PagesDamaged
		case errOutside:
			word[0] |= service.PagesOutside
		default:
			return err
		}
	}
	return nil
}

func unpackPages(m *Memory, p []int64) error {
	return eachPage(m, p[0], p[1], p[2], func(page []uint64) error {
		if page[7]&pagePacked == 0 {
			return nil
		}
		from, err := m.Bytes(cuda.Pointer(page[0]), page[1])
		if err != nil {
			return err
		}
		to, err := m.Bytes(cuda.Pointer(page[2]), page[3])
		if err != nil {
			return err
		}
		if n, err := snappy.DecodedLen(from); err != nil || n != len(to) {
			return errDamaged
		}
		if _, err := snappy.Decode(to, from); err != nil {
			return errDamaged
		}
		return nil
	})
}

func decodePages(m *Memory, p []int64) error {
	c := service.PageColumn{Column: p[3], Width: p[4], Bytes: p[5], Kind: service.PageKind(p[6]),
		Base: p[7], Least: uint64(p[8]), Span: uint64(p[9])}
	return eachPage(m, p[0], p[1], p[10], func(page []uint64) error {
		if page[7]&pageDelta != 0 {
			return nil
		}
		values, to, err := valuesOf(m, page, &c)
		if err != nil {
			return err
		}
		rows, entries, width, size := int(page[5]), page[7]&(1<<32-1), c.Width, int(c.Bytes)
		if page[7]&pageCoded != 0 {
			dictionary, err := m.Bytes(cuda.Pointer(page[6]), entries*uint64(width))
			if err != nil {
				return err
			}
			return eachPlace(values, rows, func(row int, place uint32) error {
				if uint64(place) >= entries {
					return errDamaged
				}
				copy(to[int64(row)*width:][:width], dictionary[int64(place)*width:])
				return nil
			})
		}
		isSplit := page[7]&pageSplit != 0
		if len(values) < size*rows || isSplit && len(values) != size*rows {
			return errDamaged
		}
		for row := range rows {
			var value [8]byte
			for b := range size {
				if value[b] = values[size*row+b]; isSplit {
					value[b] = values[b*rows+row]
				}
			}
			if err := put(to, row, binary.LittleEndian.Uint64(value[:]), &c); err != nil {
				return err
			}
		}
		return nil
	})
}

// valuesOf returns the decompressed values of a page, and the memory of its
// entries.
func valuesOf(m *Memory, page []uint64, c *service.PageColumn) (values, to []byte, err error) {
	if values, err = m.Bytes(cuda.Pointer(page[2]), page[3]); err != nil {
		return nil, nil, err
	}
	width := uint64(c.Width)
	to, err = m.Bytes(cuda.Pointer(uint64(c.Column)+page[4]*width), page[5]*width)
	if err == nil && page[7]&pageLevels != 0 {
		values, err = afterLevels(values, int(page[5]))
	}
	return values, to, err
}

// put sets the entry of a row to that of a value.
func put(to []byte, row int, value uint64, c *service.PageColumn) error {
	if c.Bytes == 4 {
		value = uint64(int32(value))
	}
	if c.Kind == service.PageNumbers {
		value -= uint64(c.Base)
	} else {
		f := math.Float64frombits(value)
		if c.Bytes == 4 {
			f = float64(math.Float32frombits(uint32(value)))
		}
		if c.Kind == service.PageSingles {
			f = float64(float32(f))
		}
		switch {
		case math.IsNaN(f):
			f = math.NaN()
		case f == 0:
			f = 0 // not the negative one
		}
		value = math.Float64bits(f)
	}
	if value-c.Least > c.Span {
		return errOutside
	}
	var entry [8]byte
	binary.LittleEndian.PutUint64(entry[:], value)
	copy(to[int64(row)*c.Width:][:c.Width], entry[:])
	return nil
}

func decodeDeltas(m *Memory, p []int64) error {
	c := service.PageColumn{Column: p[2], Width: p[3], Bytes: p[4], Base: p[5], Least: uint64(p[6]),
		Span: uint64(p[7])}
	return eachPage(m, p[0], p[1], p[8], func(page []uint64) error {
		if page[7]&pageDelta == 0 {
			return nil
		}
		values, to, err := valuesOf(m, page, &c)
		if err != nil {
			return err
		}
		return eachDelta(values, int(page[5]), func(row int, value uint64) error {
			return put(to, row, value, &c)
		})
	})
}

// eachDelta calls f with the numbers of a page of differences.
func eachDelta(data []byte, rows int, f func(row int, value uint64) error) error {
	ok := true
	number := func() uint64 {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			ok = false
			return 0
		}
		data = data[n:]
		return v
	}
	block, parts, count := number(), number(), number()
	first := number()
	if !ok || parts == 0 || parts > block || block > 1<<24 || block%(8*parts) != 0 ||
		count != uint64(rows) {
		return errDamaged
	}
	value := first>>1 ^ -(first & 1)
	size, low := int(block/parts), uint64(0)
	var widths []byte
	for row := 0; row < rows; {
		if row == 0 {
			if err := f(0, value); err != nil {
				return err
			}
			row++
			continue
		}
		if len(widths) == 0 {
			low = number()
			if low = low>>1 ^ -(low & 1); !ok || uint64(len(data)) < parts {
				return errDamaged
			}
			widths, data = data[:parts], data[parts:]
		}
		width := int(widths[0])
		if width > 64 || len(data) < size/8*width {
			return errDamaged
		}
		for i := 0; i < size && row < rows; i++ {
			difference := uint64(0)
			for b := range width {
				at := i*width + b
				difference |= uint64(data[at/8]>>(at%8)&1) << b
			}
			value += low + difference
			if err := f(row, value); err != nil {
				return err
			}
			row++
		}
		widths, data = widths[1:], data[size/8*width:]
	}
	return nil
}

// afterLevels returns the values that follow the definition levels of a page.
// The levels must all be 1.
func afterLevels(page []byte, rows int) ([]byte, error) {
	if len(page) < 4 {
		return nil, errDamaged
	}
	n := int(binary.LittleEndian.Uint32(page))
	if n > len(page)-4 {
		return nil, errDamaged
	}
	err := eachNumber(page[4:4+n], 1, rows, func(_ int, level uint32) error {
		if level != 1 {
			return errDamaged
		}
		return nil
	})
	return page[4+n:], err
}

// eachPlace calls f with the dictionary code of each row.
func eachPlace(values []byte, rows int, f func(row int, place uint32) error) error {
	if len(values) == 0 || values[0] > 32 {
		return errDamaged
	}
	return eachNumber(values[1:], int(values[0]), rows, f)
}

// eachNumber calls f with the first n numbers of the hybrid of runs and
// bit-packed numbers. Numbers of no bits are 0, and have no runs.
func eachNumber(data []byte, bits, n int, f func(i int, number uint32) error) error {
	for i := 0; i < n; {
		count, size, packed := uint64(n), 0, false // of the run, and the bytes of its numbers
		if bits > 0 {
			header, length := binary.Uvarint(data)
			if length <= 0 {
				return errDamaged
			}
			data = data[length:]
			count, size, packed = header>>1, (bits+7)/8, header&1 == 1
			if packed { // groups of 8, of which the last ones may be cut short
				size = int(min(count, uint64(len(data)))) * bits
				size = min(size, len(data))
				count = 8 * uint64(size) / uint64(bits)
			}
			if count == 0 || size > len(data) {
				return errDamaged
			}
		}
		for j := range int(min(count, uint64(n-i))) {
			at := 0
			if packed {
				at = j * bits
			}
			number := uint32(0)
			for b := range bits {
				number |= uint32(data[(at+b)/8]>>((at+b)%8)&1) << b
			}
			if err := f(i, number); err != nil {
				return err
			}
			i++
		}
		data = data[size:]
	}
	return nil
}
