package parquet

import (
	"sync"

	"github.com/redfoxdb/redfox/internal/parallel"
)

// Inflate decompresses the pages of the chunk into dst, at most threads of them
// at a time, and returns the chunk of these, which is not compressed. The
// memory of the decompressors is in rooms, of *Room.
func (c *RawChunk) Inflate(dst []byte, threads int, rooms *sync.Pool) (*RawChunk, error) {
	var packed []pageBody
	out := &RawChunk{footer: c.footer, group: c.group, column: c.column, data: dst,
		codec: Uncompressed, levels: c.levels, inflated: []pageBody{}}
	at := 0
	err := c.bodies(func(b *pageBody) error {
		to := *b
		to.from, to.until, to.Packed = at, at+int(b.Bytes), b.Bytes
		if at = to.until; at > len(dst) {
			return errUnusual // the metadata have a smaller sum
		}
		packed, out.inflated = append(packed, *b), append(out.inflated, to)
		return nil
	})
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(packed))
	parallel.Do(threads, len(packed), func(i int) {
		room := rooms.Get().(*Room)
		defer rooms.Put(room)
		to := &out.inflated[i]
		errs[i] = c.inflate(dst[to.from:to.until:to.until], &packed[i], room)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// inflate decompresses a page. Some have levels before their values that are
// not compressed, or no compression.
func (c *RawChunk) inflate(dst []byte, b *pageBody, room *Room) error {
	body, codec := c.data[b.from:b.until], c.codec
	switch {
	case b.Kind == dictionaryPage && b.Dictionary != nil, b.Kind == dataPage && b.Data != nil:
	case b.Kind == dataPageV2 && b.DataV2 != nil:
		n := int(b.DataV2.DefinitionBytes)
		if n < 0 || n > len(body) || n > len(dst) || b.DataV2.RepetitionBytes != 0 {
			return errShortPage
		}
		copy(dst, body[:n])
		dst, body = dst[n:], body[n:]
		if b.DataV2.Compressed != nil && !*b.DataV2.Compressed || len(body) == 0 {
			codec = Uncompressed
		}
	default:
		return nil // nobody reads it
	}
	if codec == Uncompressed {
		if len(body) != len(dst) {
			return errShortPage
		}
		copy(dst, body)
		return nil
	}
	if len(dst) == 0 {
		return nil
	}
	if err := room.unpackInto(dst, codec, body); err != nil {
		return notPacked(codec, err)
	}
	return nil
}
