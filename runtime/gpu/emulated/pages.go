package emulated

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/snappy"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
)

// pageKernels are the kernels of service.Pages.
var pageKernels = named(service.Pages.Kernels, map[string]serviceKernel{
	"rf_pages_unpack": unpackPages,
	"rf_pages_decode": decodePages,
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
	column, width, size, base := p[3], uint64(p[4]), int(p[5]), uint64(p[6])
	least, span := uint64(p[7]), uint64(p[8])
	return eachPage(m, p[0], p[1], p[9], func(page []uint64) error {
		values, err := m.Bytes(cuda.Pointer(page[2]), page[3])
		if err != nil {
			return err
		}
		rows, entries := page[5], page[7]&(1<<32-1)
		to, err := m.Bytes(cuda.Pointer(uint64(column)+page[4]*width), rows*width)
		if err != nil {
			return err
		}
		if page[7]&pageLevels != 0 {
			if values, err = afterLevels(values, int(rows)); err != nil {
				return err
			}
		}
		if page[7]&pageCoded != 0 {
			dictionary, err := m.Bytes(cuda.Pointer(page[6]), entries*width)
			if err != nil {
				return err
			}
			return eachPlace(values, int(rows), func(row int, place uint32) error {
				if uint64(place) >= entries {
					return errDamaged
				}
				copy(to[uint64(row)*width:][:width], dictionary[uint64(place)*width:])
				return nil
			})
		}
		if len(values) < size*int(rows) {
			return errDamaged
		}
		var entry [8]byte
		for row := range int(rows) {
			v := uint64(int32(binary.LittleEndian.Uint32(values[size*row:])))
			if size == 8 {
				v = binary.LittleEndian.Uint64(values[size*row:])
			}
			if v -= base; v-least > span {
				return errOutside
			}
			binary.LittleEndian.PutUint64(entry[:], v)
			copy(to[uint64(row)*width:][:width], entry[:])
		}
		return nil
	})
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
