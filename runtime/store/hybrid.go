package store

import (
	"encoding/binary"
	"errors"
)

// hybrid decodes small numbers in Parquet's hybrid of run lengths and bit packing, which
// levels and places in dictionaries are stored in (Apache Parquet, "Data encodings").
type hybrid struct {
	data  []byte // that follows the current run's header; of a packed run, the run first
	width int    // bits of a number, at most 32
	left  int    // numbers of the current run that are still to come
	// packed says that the run's numbers are packed, the next one at bit at of data;
	// otherwise all are value.
	packed bool
	at     int
	value  uint32
}

var (
	errShortPage  = errors.New("the Parquet file is damaged: a page ends too early")
	errWideNumber = errors.New("the Parquet file is damaged: a page has a number of more bits than its numbers have")
)

// read decodes the next len(dst) numbers.
func (h *hybrid) read(dst []uint32) error {
	for len(dst) > 0 {
		if h.left == 0 {
			if err := h.next(); err != nil {
				return err
			}
		}
		n := min(h.left, len(dst))
		if h.packed {
			h.unpack(dst[:n])
		} else {
			part := dst[:n]
			for i := range part {
				part[i] = h.value
			}
		}
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

// next begins a run that is not empty.
func (h *hybrid) next() error {
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
			// A last group may be cut short; its missing numbers are not asked for.
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

// unpack decodes numbers of a packed run.
func (h *hybrid) unpack(dst []uint32) {
	data, at, width := h.data, h.at, h.width
	mask := uint64(1)<<width - 1
	// As long as eight bytes can be read at once.
	whole := min(len(dst), max(0, ((len(data)-8)*8-at)/width))
	for i := range dst[:whole] {
		dst[i] = uint32(binary.LittleEndian.Uint64(data[at>>3:]) >> (at & 7) & mask)
		at += width
	}
	for i := range dst[whole:] {
		var last [8]byte
		copy(last[:], data[min(at>>3, len(data)):])
		dst[whole+i] = uint32(binary.LittleEndian.Uint64(last[:]) >> (at & 7) & mask)
		at += width
	}
	h.at = at
}
