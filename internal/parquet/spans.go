package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/snappy"
)

// Pages of a column chunk may be decompressed and decoded elsewhere, as by a
// GPU. Spans finds them in the bytes of the chunk, and checks what is cheap to
// check. Inflate decompresses them here, in place of what Spans cannot read.

// RawChunk is the bytes of a column chunk in its file, or what Inflate makes of
// them.
type RawChunk struct {
	footer        *Footer
	group, column int
	data          []byte
	codec         Codec
	inflated      []pageBody // nil if the pages are as in the file
	levels        int        // bits of a definition level
	levelsRoom    [maxLevels]byte
	numbers       [levelsAtOnce]uint32
}

// Span is a data page all of whose values are there, or a dictionary page.
type Span struct {
	Dictionary bool
	Values     int
	// From and Until bound what holds the values in the bytes of the chunk.
	From, Until int
	// Unpacked is the size of that once it is decompressed; Packed says that it
	// is compressed.
	Unpacked int
	Packed   bool
	// Levels says that definition levels, with their size in four bytes before
	// them, come before the values.
	Levels bool
	// Coded says that the values are places in the dictionary, as RLEDictionary
	// has them. Delta says that they are in DeltaBinaryPacked, and Split that
	// they are in ByteStreamSplit. Other values are Plain.
	Coded, Delta, Split bool
}

const (
	// maxLevels bounds the bytes of definition levels that Spans looks at.
	// Those of a page without missing values are one run of a few bytes, if the
	// writer uses runs.
	maxLevels    = 1 << 12
	levelsAtOnce = 1 << 8
)

// errUnusual says that the pages of a chunk are encoded in another way than
// those that Spans lists, or have missing values.
var errUnusual = errors.New("a column chunk has pages of another kind")

// Raw returns the column chunk with the bytes that Span bounds.
func (f *Footer) Raw(data []byte, group, column int) *RawChunk {
	p := Pages{column: &f.Columns[column]}
	return &RawChunk{footer: f, group: group, column: column, data: data,
		codec: f.Groups[group].Chunks[column].Meta.Codec, levels: p.levelBits()}
}

// IsRaw reports whether Spans reads pages of a codec as they are in the file.
func IsRaw(c Codec) bool { return c == Uncompressed || c == Snappy }

// pageBody is a page and where its body is in the bytes of the chunk.
type pageBody struct {
	PageHeader
	from, until int
}

// bodies calls each with the pages of the chunk, in their order.
func (c *RawChunk) bodies(each func(b *pageBody) error) error {
	for i := range c.inflated {
		if err := each(&c.inflated[i]); err != nil {
			return err
		}
	}
	if c.inflated != nil {
		return nil
	}
	at := 0
	for left := c.footer.Groups[c.group].Chunks[c.column].Meta.Values; left > 0; {
		b := pageBody{}
		n, err := unmarshal(c.data[at:], &b.PageHeader)
		if err != nil {
			return err
		}
		at += n
		if b.Packed < 0 || int(b.Packed) > len(c.data)-at || b.Bytes < 0 || b.Bytes > maxPage {
			return errShortPage
		}
		b.from, b.until = at, at+int(b.Packed)
		at = b.until
		if err := each(&b); err != nil {
			return err
		}
		values := int32(0)
		switch {
		case b.Kind == dictionaryPage && b.Dictionary != nil && b.Dictionary.Values < 0:
			values = -1
		case b.Kind == dataPage && b.Data != nil:
			values = b.Data.Values
		case b.Kind == dataPageV2 && b.DataV2 != nil:
			values = b.DataV2.Values
		}
		if left -= int64(values); left < 0 || values < 0 {
			return damaged("column %s has other numbers of values than its metadata say",
				c.footer.Columns[c.column].Name)
		}
	}
	return nil
}

// Spans calls each with the pages of the chunk, in their order. It returns an
// error if a page is not what a Span describes.
func (c *RawChunk) Spans(each func(Span) error) error {
	if !IsRaw(c.codec) {
		return errUnusual
	}
	return c.spans(each)
}

// spans is Spans for any codec, of which each does not want data pages.
func (c *RawChunk) spans(each func(Span) error) error {
	return c.bodies(func(b *pageBody) (err error) {
		s := Span{From: b.from, Until: b.until, Unpacked: int(b.Bytes),
			Packed: c.codec != Uncompressed}
		switch {
		case b.Kind == dictionaryPage && b.Dictionary != nil:
			s.Dictionary, s.Values = true, int(b.Dictionary.Values)
			if e := b.Dictionary.Encoding; e != Plain && e != PlainDictionary {
				return errUnusual
			}
		case b.Kind == dataPage && b.Data != nil:
			s.Values, s.Levels = int(b.Data.Values), c.levels > 0
			err = c.encoded(&s, b.Data.Encoding)
			if s.Levels && b.Data.Definition != RLE {
				return errUnusual
			}
		case b.Kind == dataPageV2 && b.DataV2 != nil:
			s.Values = int(b.DataV2.Values)
			err = c.encoded(&s, b.DataV2.Encoding)
			if err == nil {
				err = c.splitV2(&s, b.DataV2)
			}
		default:
			return nil // an index, or a kind of page that is newer
		}
		if err == nil {
			err = c.check(&s)
		}
		if err == nil && s.Levels {
			err = c.checkLevels(&s)
		}
		if err == nil {
			err = each(s)
		}
		return err
	})
}

// encoded sets how the values of a data page are encoded.
func (c *RawChunk) encoded(s *Span, e Encoding) error {
	t := c.footer.Columns[c.column].Type
	switch {
	case e == Plain:
	case e == PlainDictionary || e == RLEDictionary:
		s.Coded = true
	case e == DeltaBinaryPacked && (t == Int32 || t == Int64):
		s.Delta = true
	case e == ByteStreamSplit && (t == Int32 || t == Int64 || t == Float || t == Double):
		s.Split = true
	default:
		return errUnusual
	}
	return nil
}

// splitV2 takes the levels off a page that has them before its values, not
// compressed.
func (c *RawChunk) splitV2(s *Span, h *DataHeaderV2) error {
	n := int(h.DefinitionBytes)
	if n < 0 || n > s.Until-s.From || n > s.Unpacked || h.RepetitionBytes != 0 || h.Nulls != 0 {
		return errUnusual
	}
	levels := c.data[s.From : s.From+n]
	s.From, s.Unpacked = s.From+n, s.Unpacked-n
	s.Packed = s.Packed && (h.Compressed == nil || *h.Compressed) && s.From < s.Until
	if c.levels == 0 {
		return nil
	}
	return c.allThere(levels, s.Values)
}

// check compares the sizes of a page.
func (c *RawChunk) check(s *Span) error {
	if !s.Packed {
		if s.Until-s.From != s.Unpacked {
			return errShortPage
		}
		return nil
	}
	if c.codec != Snappy {
		return nil
	}
	n, err := snappy.DecodedLen(c.data[s.From:s.Until])
	if err != nil || n != s.Unpacked {
		return damaged("a page is not %v", c.codec)
	}
	return nil
}

// checkLevels looks at the definition levels that are the beginning of a page.
func (c *RawChunk) checkLevels(s *Span) error {
	data := c.data[s.From:s.Until]
	size := func(head []byte) int { return int(binary.LittleEndian.Uint32(head)) }
	room := c.levelsRoom[:]
	if !s.Packed {
		if len(data) < 4 || size(data) > len(data)-4 {
			return errShortPage
		}
		return c.allThere(data[4:4+size(data)], s.Values)
	}
	if !snappyHead(room[:4], data) {
		return errShortPage
	}
	n := 4 + size(room)
	if n > len(room) || n > s.Unpacked {
		return errUnusual
	}
	if !snappyHead(room[:n], data) {
		return errShortPage
	}
	return c.allThere(room[4:n], s.Values)
}

// allThere reads the levels of n values, and returns an error unless all of
// them are there.
func (c *RawChunk) allThere(levels []byte, n int) error {
	h := Hybrid{data: levels, width: c.levels}
	want := uint32(c.footer.Columns[c.column].Definition)
	for n > 0 {
		if h.left == 0 {
			if err := h.next(); err != nil {
				return err
			}
		}
		if !h.packed { // a run may be long
			if h.value != want {
				return errUnusual
			}
			n -= h.left
			h.left = 0
			continue
		}
		part := c.numbers[:min(n, h.left, len(c.numbers))]
		if err := h.Read(part); err != nil {
			return err
		}
		for _, level := range part {
			if level != want {
				return errUnusual
			}
		}
		n -= len(part)
	}
	return nil
}

// snappyHead fills dst with the first bytes of a block of Snappy, and reports
// whether the block has that many.
func snappyHead(dst, block []byte) bool {
	at := 0
	for at < len(block) && block[at] >= 0x80 { // the length of all
		at++
	}
	at++
	for n := 0; n < len(dst); {
		if at >= len(block) {
			return false
		}
		tag := int(block[at])
		at++
		extra := func(bytes int) (number int, ok bool) {
			if bytes > len(block)-at {
				return 0, false
			}
			for i := range bytes {
				number |= int(block[at+i]) << (8 * i)
			}
			at += bytes
			return number, true
		}
		ok, length, offset := true, 0, 0
		switch tag & 3 {
		case 0:
			if length = tag >> 2; length >= 60 {
				length, ok = extra(length - 59)
			}
			length++
			if !ok || length <= 0 || length > len(block)-at {
				return false
			}
			n += copy(dst[n:], block[at:at+length])
			at += length
			continue
		case 1:
			length = 4 + tag>>2&7
			offset, ok = extra(1)
			offset |= tag >> 5 << 8
		case 2:
			length = 1 + tag>>2
			offset, ok = extra(2)
		case 3:
			length = 1 + tag>>2
			offset, ok = extra(4)
		}
		if !ok || offset <= 0 || offset > n {
			return false
		}
		for ; length > 0 && n < len(dst); length-- {
			dst[n] = dst[n-offset]
			n++
		}
	}
	return true
}

// Unpack decompresses a page that Spans has listed. The result is overwritten
// by the next one of the room.
func (c *RawChunk) Unpack(room *Room, s Span) ([]byte, error) {
	codec := Uncompressed
	if s.Packed {
		codec = c.codec
	}
	return room.unpack(codec, c.data[s.From:s.Until], s.Unpacked)
}

// Places returns the places in the dictionary that a page has. They are
// overwritten by the next page of the room.
func (c *RawChunk) Places(room *Room, s Span) (Hybrid, error) {
	data, err := c.Unpack(room, s)
	if err != nil {
		return Hybrid{}, err
	}
	if s.Levels { // which are whole, as Spans has seen
		data = data[4+binary.LittleEndian.Uint32(data):]
	}
	if !s.Coded || len(data) == 0 || data[0] > 32 {
		return Hybrid{}, errUnusual
	}
	return Hybrid{data: data[1:], width: int(data[0])}, nil
}

// DictionarySpan returns where the dictionary page of a column in a row group
// is, with its header. It returns false if the chunk has none, or if something
// else may be there.
func (f *Footer) DictionarySpan(group, column int) (from, until int64, ok bool) {
	m := f.Groups[group].Chunks[column].Meta
	if m.Dictionary == nil || *m.Dictionary != m.start() || m.Data-m.start() > m.Packed {
		return 0, 0, false
	}
	return m.start(), m.Data, true
}

// Dictionary calls each with the dictionary page of a chunk, of which only that
// page is there.
func (c *RawChunk) Dictionary(each func(Span) error) error {
	err := c.spans(func(s Span) error {
		if !s.Dictionary {
			return errUnusual
		}
		if err := each(s); err != nil {
			return err
		}
		return errLastPage
	})
	if err == errLastPage {
		return nil
	}
	return err
}

// errLastPage ends a walk through pages.
var errLastPage = errors.New("no more pages are wanted")
