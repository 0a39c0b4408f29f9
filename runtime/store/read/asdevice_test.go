package read

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/snappy"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

var errByDevice = errors.New("a device reports an error")

// decodeAsDevice decodes the pages of a column as a GPU does, whose kernels
// know no more than what the interface says.
func decodeAsDevice(c *store.Column) ([]uint64, error) {
	v := c.Encoded.Values()
	var out []uint64
	var pages store.EncodedPages
	for i, chunk := range c.Encoded.Chunks() {
		if chunk.Row != len(out) {
			return nil, fmt.Errorf("chunk %d begins at row %d of %d", i, chunk.Row, len(out))
		}
		data := make([]byte, chunk.Bytes)
		if err := c.Encoded.Read(context.Background(), i, data, &pages); err != nil {
			return nil, err
		}
		unpacked, dictionary := 0, pages.Dictionary
		if p := &pages.DictionaryPage; p.Rows > 0 {
			if p.Packed {
				unpacked += p.Unpacked
			}
			var err error
			if dictionary, err = pageAsDevice(p, data[p.From:p.Until], nil, &v); err != nil {
				return nil, err
			}
		}
		for _, p := range pages.Pages {
			if p.Row != len(out) {
				return nil, fmt.Errorf("a page begins at row %d of %d", p.Row, len(out))
			}
			if p.Packed {
				unpacked += p.Unpacked
			}
			if unpacked > chunk.Unpacked {
				return nil, fmt.Errorf("the pages have more than %d bytes", chunk.Unpacked)
			}
			entries, err := pageAsDevice(&p, data[p.From:p.Until], dictionary, &v)
			if err != nil {
				return nil, err
			}
			out = append(out, entries...)
		}
		if len(out) != chunk.Row+chunk.Rows {
			return nil, fmt.Errorf("chunk %d ends at row %d", i, len(out))
		}
	}
	return out, nil
}

func pageAsDevice(p *store.EncodedPage, data []byte, dictionary []uint64,
	v *store.EncodedValues) (out []uint64, err error) {
	if p.Packed {
		if data, err = snappy.Decode(nil, data); err != nil {
			return nil, err
		}
	}
	if len(data) != p.Unpacked {
		return nil, fmt.Errorf("a page has %d bytes, not %d", len(data), p.Unpacked)
	}
	if p.Levels {
		data = data[4+binary.LittleEndian.Uint32(data):]
	}
	if !p.Coded {
		if p.Delta {
			if data = undeltas(data, p.Rows, v.Bytes); data == nil {
				return nil, errByDevice
			}
		}
		if len(data) < p.Rows*v.Bytes || p.Split && len(data) != p.Rows*v.Bytes {
			return nil, errByDevice
		}
		for i := range p.Rows {
			var word [8]byte
			for b := range v.Bytes {
				if word[b] = data[v.Bytes*i+b]; p.Split {
					word[b] = data[b*p.Rows+i]
				}
			}
			entry := entryAsDevice(binary.LittleEndian.Uint64(word[:]), v)
			if entry-v.Least > v.Span {
				return nil, errByDevice
			}
			out = append(out, entry)
		}
		return out, nil
	}
	if len(data) == 0 || data[0] > 32 {
		return nil, errByDevice
	}
	width, at := uint(data[0]), 1
	take := func(place uint64) bool {
		if len(out) < p.Rows {
			if place >= uint64(len(dictionary)) {
				return false
			}
			out = append(out, dictionary[place])
		}
		return true
	}
	for len(out) < p.Rows {
		header, n := binary.Uvarint(data[at:])
		if n <= 0 || header == 0 || header > 1<<32 {
			return nil, errByDevice
		}
		at += n
		if header&1 == 0 {
			size := int(width+7) / 8
			if at+size > len(data) {
				return nil, errByDevice
			}
			place := uint64(0)
			for k := range size {
				place |= uint64(data[at+k]) << (8 * k)
			}
			at += size
			for k := uint64(0); k < header/2 && len(out) < p.Rows; k++ {
				if !take(place) {
					return nil, errByDevice
				}
			}
			continue
		}
		bit := uint(0)
		for k := uint64(0); k < header/2*8 && len(out) < p.Rows; k++ {
			if at+int(bit+width+7)/8 > len(data) {
				return nil, errByDevice
			}
			place := uint64(0)
			for b := range width {
				place |= uint64(data[at+int(bit+b)/8]>>((bit+b)%8)&1) << b
			}
			bit += width
			if !take(place) {
				return nil, errByDevice
			}
		}
		at += int(header/2) * int(width)
	}
	return out, nil
}

// entryAsDevice returns the entry of a value.
func entryAsDevice(value uint64, v *store.EncodedValues) uint64 {
	switch {
	case v.Float:
		f := math.Float64frombits(value)
		if v.Bytes == 4 {
			f = float64(math.Float32frombits(uint32(value)))
		}
		t := scalar.FloatType
		if v.Single {
			t.Bits = 32
		}
		return scalar.OfFloat(t, f).Bits()
	case v.Bytes == 4:
		value = uint64(int32(value))
	}
	return value - uint64(v.Base)
}

// undeltas returns the PLAIN values of a page in DELTA_BINARY_PACKED, or nil if
// it is damaged.
func undeltas(data []byte, rows, size int) (out []byte) {
	at, damaged := 0, false
	number := func() uint64 {
		n, used := binary.Uvarint(data[at:])
		damaged = damaged || used <= 0
		at += max(used, 0)
		return n
	}
	block, parts, count, value := number(), number(), number(), number()
	if damaged || parts == 0 || parts > block || block > 1<<24 || block%(8*parts) != 0 ||
		count != uint64(rows) {
		return nil
	}
	value = value>>1 ^ -(value & 1)
	out = []byte{}
	var widths []byte
	for low, i := uint64(0), uint64(0); ; i++ {
		out = append(out, binary.LittleEndian.AppendUint64(nil, value)[:size]...)
		if len(out) == rows*size {
			return out
		}
		each := block / parts
		if i%block == 0 {
			low = number()
			low = low>>1 ^ -(low & 1)
			if damaged || uint64(len(data)-at) < parts {
				return nil
			}
			widths = data[at:][:parts]
			at += int(parts)
		}
		width := int(widths[i%block/each])
		if i%each == 0 {
			if width > 64 || len(data)-at < int(each)/8*width {
				return nil
			}
			at += int(each) / 8 * width
		}
		packed, d := data[at-int(each)/8*width:], uint64(0)
		for b := range width {
			bit := int(i%each)*width + b
			d |= uint64(packed[bit/8]>>(bit%8)&1) << b
		}
		value += low + d
	}
}
