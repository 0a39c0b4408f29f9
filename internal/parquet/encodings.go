package parquet

import "encoding/binary"

// Files with the encodings of this file are decoded to PLAIN bytes. All
// decoders bound what they make by the number of values that a page can have.

// deltas decodes DELTA_BINARY_PACKED numbers of a size to PLAIN bytes.
func (r *Room) deltas(data []byte, size, n int) ([]byte, error) {
	d, err := newDeltaReader(data, n)
	if err != nil {
		return nil, err
	}
	out, err := r.grow(&r.plain, d.left*size)
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(out); at += size {
		v, err := d.next()
		if err != nil {
			return nil, err
		}
		if size == 4 {
			binary.LittleEndian.PutUint32(out[at:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(out[at:], uint64(v))
		}
	}
	return out, nil
}

// deltaReader reads DELTA_BINARY_PACKED numbers. Each is the one before it plus
// the least difference of its block plus a packed number.
type deltaReader struct {
	data   []byte // behind the current part
	left   int    // numbers to come
	parts  int    // of a block, each with a width of its own
	size   int    // numbers of a part
	value  int64  // the next one, if none has been read
	begun  bool
	low    int64  // difference
	widths []byte // of the block's parts to come
	packed []byte // the current part
	at     int    // of its numbers, the next one
	width  int
}

// newDeltaReader reads the header of at most n numbers.
func newDeltaReader(data []byte, n int) (*deltaReader, error) {
	var header [4]uint64 // numbers of a block, its parts, numbers in all, the first one
	for i := range header {
		v, size := binary.Uvarint(data)
		if size <= 0 {
			return nil, errShortPage
		}
		header[i], data = v, data[size:]
	}
	block, parts := header[0], header[1]
	if parts == 0 || parts > block || block > 1<<24 || block%(8*parts) != 0 {
		return nil, damaged("a page has blocks of %d differences in %d parts", block, parts)
	}
	if header[2] > uint64(n) {
		return nil, damaged("a page has %d values, its header says %d", header[2], n)
	}
	d := &deltaReader{data: data, left: int(header[2]), parts: int(parts), size: int(block / parts)}
	d.at, d.value = d.size, unzigzag(header[3])
	return d, nil
}

func (d *deltaReader) next() (int64, error) {
	if d.left == 0 {
		return 0, errShortPage
	}
	d.left--
	if !d.begun {
		d.begun = true
		return d.value, nil
	}
	if d.at == d.size {
		if err := d.part(); err != nil {
			return 0, err
		}
	}
	d.value += d.low + int64(bitsAt(d.packed, d.at*d.width, d.width))
	d.at++
	return d.value, nil
}

// part begins the next part, and a block if it is the first one.
func (d *deltaReader) part() error {
	if len(d.widths) == 0 {
		low, size := binary.Uvarint(d.data)
		if size <= 0 || len(d.data)-size < d.parts {
			return errShortPage
		}
		d.low, d.widths = unzigzag(low), d.data[size:size+d.parts]
		d.data = d.data[size+d.parts:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	n := d.size / 8 * d.width
	if d.width > 64 || n > len(d.data) {
		return errShortPage
	}
	d.packed, d.data, d.at = d.data[:n], d.data[n:], 0
	return nil
}

// lengths returns the sum of all numbers, which are lengths, and the bytes
// behind them. It reads from a copy.
func (d deltaReader) lengths() (sum int, rest []byte, err error) {
	for d.left > 0 {
		n, err := d.next()
		if err != nil {
			return 0, nil, err
		}
		if n < 0 || n > int64(maxPage-sum) {
			return 0, nil, damaged("a page has strings of more than %d MiB", maxPage>>20)
		}
		sum += int(n)
	}
	return sum, d.data, nil
}

func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// bitsAt returns a number of up to 64 bits, all of which data has.
func bitsAt(data []byte, bit, width int) uint64 {
	if width == 0 {
		return 0
	}
	var word [9]byte
	copy(word[:], data[bit>>3:])
	shift := bit & 7
	v := binary.LittleEndian.Uint64(word[:]) >> shift
	if shift+width > 64 {
		v |= uint64(word[8]) << (64 - shift)
	}
	return v & (1<<width - 1)
}

// lengths decodes DELTA_LENGTH_BYTE_ARRAY to PLAIN bytes.
func (r *Room) lengths(data []byte, n int) ([]byte, error) {
	lengths, err := newDeltaReader(data, n)
	if err != nil {
		return nil, err
	}
	sum, text, err := lengths.lengths()
	if err != nil {
		return nil, err
	}
	if sum > len(text) {
		return nil, errShortPage
	}
	out, err := r.grow(&r.plain, sum+4*lengths.left)
	if err != nil {
		return nil, err
	}
	out = out[:0]
	for lengths.left > 0 {
		n, err := lengths.next()
		if err != nil {
			return nil, err
		}
		out = append(binary.LittleEndian.AppendUint32(out, uint32(n)), text[:n]...)
		text = text[n:]
	}
	return out, nil
}

// prefixes decodes DELTA_BYTE_ARRAY to PLAIN bytes. Each string repeats a
// prefix of the one before it. All have the given length, or their own if that
// is 0.
func (r *Room) prefixes(data []byte, length, n int) ([]byte, error) {
	shared, err := newDeltaReader(data, n)
	if err != nil {
		return nil, err
	}
	repeated, data, err := shared.lengths()
	if err != nil {
		return nil, err
	}
	lengths, err := newDeltaReader(data, n)
	if err != nil {
		return nil, err
	}
	sum, text, err := lengths.lengths()
	if err != nil {
		return nil, err
	}
	if sum > len(text) || lengths.left != shared.left {
		return nil, errShortPage
	}
	out, err := r.grow(&r.plain, repeated+sum+4*lengths.left)
	if err != nil {
		return nil, err
	}
	out = out[:0]
	var before []byte
	for lengths.left > 0 {
		keep, err := shared.next()
		if err != nil {
			return nil, err
		}
		n, err := lengths.next()
		if err != nil {
			return nil, err
		}
		if keep > int64(len(before)) || length > 0 && keep+n != int64(length) {
			return nil, errShortPage
		}
		if length == 0 {
			out = binary.LittleEndian.AppendUint32(out, uint32(keep+n))
		}
		at := len(out)
		out = append(append(out, before[:keep]...), text[:n]...)
		before, text = out[at:], text[n:]
	}
	return out, nil
}

// streams decodes BYTE_STREAM_SPLIT to PLAIN bytes: the first bytes of all
// values come first, then their second bytes, and so on.
func (r *Room) streams(data []byte, size int) ([]byte, error) {
	if len(data)%size != 0 {
		return nil, errShortPage
	}
	out, err := r.grow(&r.plain, len(data))
	if err != nil {
		return nil, err
	}
	n := len(data) / size
	for b := range size {
		stream := data[b*n : (b+1)*n]
		for i, v := range stream {
			out[i*size+b] = v
		}
	}
	return out, nil
}
