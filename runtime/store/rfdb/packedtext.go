package rfdb

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/runtime/store"
)

// leastText is the least size in bytes of dictionaries that are packed. Reading
// a few strings is faster than unpacking them.
const leastText = 1 << 14

// packedDict writes a dictionary packed, unless before is equal to it. It
// returns nil if packing does not pay.
func (c *commit) packedDict(d *store.Dict, before *dictEntry) (*dictEntry, error) {
	text, raw, _ := d.Text()
	if !c.packs() || len(text) < leastText || !d.CanPack() {
		return nil, nil
	}
	p := d.PackText(parallel.Threads(c.how.Threads))
	e := &dictEntry{Wide: p.Bytes() > math.MaxUint32,
		Packed: &packedText{Strings: int64(d.Len()), Bytes: int64(len(text))}}
	var ends []byte
	for _, end := range p.Ends {
		if e.Wide {
			ends = binary.LittleEndian.AppendUint64(ends, end)
		} else {
			ends = binary.LittleEndian.AppendUint32(ends, uint32(end))
		}
	}
	all, size := len(text)+len(raw), int(p.Bytes())+len(ends)+len(p.Symbols)
	if size > all-all/savedShare {
		return nil, nil
	}
	blocks := bytes.Join(p.Parts, nil)
	if before != nil && before.Packed != nil && before.Wide == e.Wide &&
		before.Packed.Strings == e.Packed.Strings && before.Text.Size == int64(len(blocks)) &&
		before.Ends.Size == int64(len(ends)) &&
		before.Packed.Symbols.Size == int64(len(p.Symbols)) {
		same, err := c.startsWith(&before.Packed.Symbols, p.Symbols)
		if same && err == nil {
			same, err = c.startsWith(&before.Ends, ends)
		}
		if same && err == nil {
			same, err = c.startsWith(&before.Text, blocks)
		}
		if same || err != nil {
			return before, err
		}
	}
	var err error
	if e.Text, err = c.section(blocks, false); err == nil {
		e.Ends, err = c.section(ends, false)
	}
	if err == nil {
		e.Packed.Symbols, err = c.section(p.Symbols, false)
	}
	return e, err
}
