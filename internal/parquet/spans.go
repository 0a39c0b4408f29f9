package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/snappy"
)

// Pages of a column chunk may be decompressed and decoded elsewhere, as by a
// GPU. Spans finds them in the bytes of the chunk, and checks what is cheap to
// check.

// RawChunk is the bytes of a column chunk in its file.
type RawChunk struct {
	footer        *Footer
	group, column int
	data          []byte
	codec         Codec
	levels        int // bits of a definition level
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
	// has them. Other values are Plain.
	Coded bool
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

// Raw returns the column chunk with the bytes that Span bounds. It reads pages
// without compression and those with Snappy.
func (f *Footer) Raw(data []byte, group, column int) *RawChunk {
	p := Pages{column: &f.Columns[column]}
	return &RawChunk{footer: f, group: group, column: column, data: data,
		codec: f.Groups[group].Chunks[column].Meta.Codec, levels: p.levelBits()}
}

// Spans calls each with the pages of the chunk, in their order. It returns an
// error if a page is not what a Span describes.
func (c *RawChunk) Spans(each func(Span) error) error {
	if c.codec != Uncompressed && c.codec != Snappy {
		return errUnusual
	}
	m := c.footer.Groups[c.group].Chunks[c.column].Meta
	at := 0
	for left := m.Values; left > 0; {
		h := PageHeader{}
		n, err := unmarshal(c.data[at:], &h)
		if err != nil {
			return err
		}
		at += n
		if h.Packed < 0 || int(h.Packed) > len(c.data)-at || h.Bytes < 0 || h.Bytes > maxPage {
			return errShortPage
		}
		s := Span{From: at, Until: at + int(h.Packed), Unpacked: int(h.Bytes),
			Packed: c.codec == Snappy}
		at = s.Until
		switch {
		case h.Kind == dictionaryPage && h.Dictionary != nil:
			s.Dictionary, s.Values = true, int(h.Dictionary.Values)
			if e := h.Dictionary.Encoding; e != Plain && e != PlainDictionary {
				return errUnusual
			}
		case h.Kind == dataPage && h.Data != nil:
			s.Values, s.Levels = int(h.Data.Values), c.levels > 0
			s.Coded, err = isCoded(h.Data.Encoding)
			if s.Levels && h.Data.Definition != RLE {
				return errUnusual
			}
		case h.Kind == dataPageV2 && h.DataV2 != nil:
			s.Values = int(h.DataV2.Values)
			s.Coded, err = isCoded(h.DataV2.Encoding)
			if err == nil {
				err = c.splitV2(&s, h.DataV2)
			}
		default:
			continue // an index, or a kind of page that is newer
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
		if err != nil {
			return err
		}
		if !s.Dictionary {
			left -= int64(s.Values)
		}
		if left < 0 || s.Values < 0 {
			return damaged("column %s has other numbers of values than its metadata say",
				c.footer.Columns[c.column].Name)
		}
	}
	return nil
}

func isCoded(e Encoding) (bool, error) {
	switch e {
	case Plain:
		return false, nil
	case PlainDictionary, RLEDictionary:
		return true, nil
	}
	return false, errUnusual
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
		codec = Snappy
	}
	return room.unpack(codec, c.data[s.From:s.Until], s.Unpacked)
}
