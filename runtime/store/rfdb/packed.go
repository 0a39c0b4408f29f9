package rfdb

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/bitpack"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/blocks"
)

// packedEntry is the first rows of a column, packed by runtime/store/blocks.
type packedEntry struct {
	Rows    int      `json:"rows"`
	Forms   []string `json:"forms"` // of its blocks
	Headers section  `json:"headers"`
	// At and Size are the position and the size of the concatenated blocks. The
	// headers have their checksums.
	At   int64 `json:"at"`
	Size int64 `json:"size"`
}

// packedRows returns the number of packed rows of a column.
func (e *columnEntry) packedRows() int {
	if e.Packed == nil {
		return 0
	}
	return e.Packed.Rows
}

// blockCount returns the number of blocks.
func (p *packedEntry) blockCount() int { return (p.Rows + blocks.Rows - 1) / blocks.Rows }

// bytes returns the size of the blocks with their headers.
func (p *packedEntry) bytes() int64 { return p.Size + p.Headers.Size }

// check returns an error if a column with the given rows and width, in a file
// of the given size, cannot have the entry.
func (p *packedEntry) check(rows int, width uint8, end int64) error {
	whole := section{At: p.At, Size: p.Size}
	switch {
	case p.Rows < 1 || p.Rows > rows || width == 0:
		return fmt.Errorf("%d packed rows of %d", p.Rows, rows)
	case p.Headers.Size != int64(p.blockCount())*blocks.HeaderBytes:
		return fmt.Errorf("%d bytes of headers of %d blocks", p.Headers.Size, p.blockCount())
	case !whole.isWithin(end):
		return fmt.Errorf("blocks of %d bytes at byte %d of %d", p.Size, p.At, end)
	}
	return p.Headers.check(end, 1)
}

// packedBlock is a block in a file.
type packedBlock struct {
	blocks.Header
	at, from, until int // its offset among the blocks, its rows
}

// blocksOf parses the headers of a packed column. Errors name the impossible
// value.
func (e *columnEntry) blocksOf(headers []byte) ([]packedBlock, error) {
	p := e.Packed
	out := make([]packedBlock, p.blockCount())
	at, most := 0, ^uint64(0)>>(64-8*e.Width)
	for i := range out {
		b := packedBlock{blocks.ReadHeader(headers[i*blocks.HeaderBytes:]), at, i * blocks.Rows,
			min((i+1)*blocks.Rows, p.Rows)}
		if err := b.Check(b.until-b.from, e.Width, most); err != nil {
			return nil, err
		}
		// If words do not ascend with offsets, they are checked when they are
		// unpacked.
		lo, hi, ok := e.layout.Between(b.Least, b.Greatest)
		if ok && !e.layout.Within(lo, hi) {
			return nil, fmt.Errorf("block %d with words from %d to %d", i, lo, hi)
		}
		out[i] = b
		at += int(b.Size)
		if int64(at) > p.Size {
			break
		}
	}
	if int64(at) != p.Size {
		return nil, fmt.Errorf("blocks of other than %d bytes", p.Size)
	}
	return out, nil
}

// errSum means that a block differs from its checksum.
var errSum = errors.New("it differs from its checksum")

// errOutside means that entries contradict the statistics of their column.
var errOutside = errors.New("it has values outside of its bounds")

// unpack fills the rows of a column with a block.
func (b *packedBlock) unpack(d *blocks.Decoder, c *store.Column, data []byte) error {
	data = data[b.at:][:b.Size]
	if checksum(data) != b.Sum {
		return errSum
	}
	switch c.Width {
	case 1:
		return blocks.Unpack(d, c.U8[b.from:b.until], &b.Header, data)
	case 2:
		return blocks.Unpack(d, c.U16[b.from:b.until], &b.Header, data)
	case 4:
		return blocks.Unpack(d, c.U32[b.from:b.until], &b.Header, data)
	}
	return blocks.Unpack(d, c.U64[b.from:b.until], &b.Header, data)
}

// blocksAtOnce is how many blocks a thread packs or unpacks at a time.
const blocksAtOnce = 16

// packing is the packed form of a column.
type packing struct {
	headers []byte
	parts   [][]byte // concatenated blocks
	size    int64
	forms   []string
}

// pack packs the entries of a column.
func pack(threads int, c *store.Column) *packing {
	floats := c.Type.Kind == scalar.Float
	switch c.Width {
	case 1:
		return packEntries(threads, c.U8, floats)
	case 2:
		return packEntries(threads, c.U16, floats)
	case 4:
		return packEntries(threads, c.U32, floats)
	}
	return packEntries(threads, c.U64, floats)
}

func packEntries[T bitpack.Unsigned](threads int, entries []T, floats bool) *packing {
	const rows = blocksAtOnce * blocks.Rows
	n := (len(entries) + rows - 1) / rows
	out := &packing{parts: make([][]byte, n)}
	headers := make([][]byte, n)
	used := make([][8]bool, n) // forms
	encoders := make([]*blocks.Encoder[T], threads)
	parallel.By(threads, n, func(t, part int) {
		if encoders[t] == nil {
			encoders[t] = &blocks.Encoder[T]{Floats: floats}
		}
		of := entries[part*rows : min((part+1)*rows, len(entries))]
		var data []byte
		for ; len(of) > 0; of = of[min(blocks.Rows, len(of)):] {
			at := len(data)
			var h blocks.Header
			h, data = encoders[t].Pack(data, of[:min(blocks.Rows, len(of))])
			h.Sum = checksum(data[at:])
			headers[part] = h.Append(headers[part])
			used[part][h.Form] = true
		}
		out.parts[part] = slices.Clip(data)
	})
	out.headers = slices.Concat(headers...)
	for form := range used[0] {
		if slices.ContainsFunc(used, func(u [8]bool) bool { return u[form] }) {
			out.forms = append(out.forms, blocks.Form(form).String())
		}
	}
	for _, p := range out.parts {
		out.size += int64(len(p))
	}
	return out
}

// A column is packed if it has at least leastPacked bytes and packing saves at
// least 1/savedShare of them. Other columns are used in place.
const (
	leastPacked = pageSize
	savedShare  = 16
)

// packs reports whether the transaction may pack columns and strings.
func (w *Writer) packs() bool { return w.format >= packedFormat && !w.how.Raw }

// packed writes all rows of a column packed. It returns false if that does not
// pay.
func (c *commit) packed(col *store.Column, e *columnEntry) (bool, error) {
	raw := col.Bytes()
	if !c.packs() || raw < leastPacked {
		return false, nil
	}
	p := pack(parallel.Threads(c.how.Threads), col)
	if p.size+int64(len(p.headers)) > raw-raw/savedShare {
		return false, nil
	}
	headers, err := c.section(p.headers, false)
	if err != nil {
		return false, err
	}
	at := aligned(c.end, alignment)
	c.end = at
	for _, part := range p.parts {
		if _, err := c.disk.WriteAt(part, c.end); err != nil {
			return false, err
		}
		c.end += int64(len(part))
	}
	e.Packed = &packedEntry{Rows: col.Len(), Forms: p.forms, Headers: headers, At: at, Size: p.size}
	e.Encoding = packedOffsets
	e.Entries, err = c.section(nil, false)
	return true, err
}

// beginsPacked reports whether a column begins with the packed rows of an
// earlier one of the same layout.
func (c *commit) beginsPacked(col *store.Column, before *columnEntry) (bool, error) {
	p := before.Packed
	headers, data := make([]byte, p.Headers.Size), make([]byte, p.Size)
	if err := readAll(c.disk, headers, p.Headers.At); err != nil {
		return false, err
	}
	if err := readAll(c.disk, data, p.At); err != nil {
		return false, err
	}
	list, err := before.blocksOf(headers)
	if err != nil {
		return false, &DamageError{"column " + before.Name, p.Headers.At, "it has " + err.Error()}
	}
	layout := before.layout
	layout.Rows = blocks.Rows
	room := store.UnreadColumn(layout, nil)
	_ = room.MakeRoom(nil, "") // without a ledger there is no error
	var d blocks.Decoder
	for i := range list {
		b := list[i]
		n := b.until - b.from
		want := col.Entries()[b.from*int(col.Width) : b.until*int(col.Width)]
		b.from, b.until = 0, n
		if err := b.unpack(&d, room, data); err != nil {
			return false, &DamageError{"column " + before.Name, p.At + int64(b.at), err.Error()}
		}
		if !bytes.Equal(room.Entries()[:len(want)], want) {
			return false, nil
		}
	}
	return true, nil
}
