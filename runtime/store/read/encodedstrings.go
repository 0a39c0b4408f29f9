package read

import (
	"context"
	"encoding/binary"
	"fmt"
	goruntime "runtime"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Strings may stay encoded if all of their pages have places in dictionaries,
// and these are short: the dictionary of the column is read at the beginning,
// from those of all column chunks.

const (
	// maxDictionary bounds the dictionary page of a chunk, in the file and
	// unpacked.
	maxDictionary = 1 << 16
	// maxStrings bounds the different strings of a column.
	maxStrings = 1 << 16
)

// planEncodedText is planEncodedField for strings.
func (p *parquetLoad) planEncodedText(d *parquetField) *encodedPlan {
	if d.from.kind != scalar.String || d.column.Type != parquet.ByteArray {
		return nil
	}
	for g := range p.file.Groups {
		if p.file.Groups[g].Rows == 0 {
			continue
		}
		m := p.file.Groups[g].Chunks[d.field.index].Meta
		if !d.staysEncoded(m) {
			return nil
		}
		from, until, ok := p.file.DictionarySpan(g, d.field.index)
		if !ok || until-from > maxDictionary {
			return nil
		}
	}
	return &encodedPlan{mayAscend: true}
}

// readTexts reads the dictionaries of all chunks, and sets the codes of their
// strings. It returns nil without an error if these are too many, too few, or
// no texts.
func (c *encodedColumn) readTexts(ctx context.Context, threads int) (*store.Dict, error) {
	found := make([][]string, len(c.groups))
	errs := make([]error, len(c.groups))
	tooLong := make([]bool, len(c.groups))
	parallel.Do(threads, len(c.groups), func(i int) {
		if ctx.Err() != nil {
			errs[i] = context.Cause(ctx)
			return
		}
		from, until, _ := c.file.DictionarySpan(c.groups[i], c.field.index)
		data := make([]byte, until-from)
		if errs[i] = readAll(c.file, data, from); errs[i] != nil {
			return
		}
		raw := c.file.Raw(data, c.groups[i], c.field.index)
		errs[i] = raw.Dictionary(func(s parquet.Span) (err error) {
			if tooLong[i] = s.Unpacked > maxDictionary; tooLong[i] {
				return nil
			}
			found[i], err = c.texts(raw, s)
			return err
		})
	})
	goruntime.KeepAlive(c.file)
	all := map[string]bool{}
	for i := range found {
		if errs[i] != nil {
			return nil, c.file.failure(ctx, errs[i])
		}
		for _, text := range found[i] {
			all[text] = true
		}
		if len(all) > maxStrings || tooLong[i] {
			return nil, nil
		}
	}
	var texts []string
	for text := range all {
		if !store.IsText(text) {
			return nil, nil // the host says which rows have it
		}
		texts = append(texts, text)
	}
	if len(texts) < 2 {
		return nil, nil
	}
	slices.Sort(texts)
	c.codes = map[string]uint64{}
	for code, text := range texts {
		c.codes[text] = uint64(code)
	}
	c.values = store.EncodedValues{Bytes: 8, Span: uint64(len(texts) - 1)}
	return store.NewDict(texts), nil
}

// texts returns the strings of a dictionary page.
func (c *encodedColumn) texts(raw *parquet.RawChunk, s parquet.Span) ([]string, error) {
	room := c.rooms.Get().(*parquet.Room)
	defer c.rooms.Put(room)
	data, err := raw.Unpack(room, s)
	if err != nil {
		return nil, err
	}
	if s.Values < 0 || s.Values > len(data)/4 {
		return nil, errShortPage
	}
	out := make([]string, s.Values)
	for i := range out {
		if len(data) < 4 {
			return nil, errShortPage
		}
		n := uint64(binary.LittleEndian.Uint32(data))
		if data = data[4:]; n > uint64(len(data)) {
			return nil, errShortPage
		}
		out[i], data = string(data[:n]), data[n:]
	}
	return out, nil
}

// textDictionary is dictionary for strings.
func (c *encodedColumn) textDictionary(raw *parquet.RawChunk, s parquet.Span,
	pages *store.EncodedPages) error {
	texts, err := c.texts(raw, s)
	if err != nil {
		return err
	}
	for _, text := range texts {
		code, ok := c.codes[text]
		if !ok {
			return errUnread // the file has changed
		}
		pages.Dictionary = append(pages.Dictionary, code)
	}
	return nil
}

// decodeTexts is Decode for strings.
func (c *encodedColumn) decodeTexts(ctx context.Context, threads int, dst []byte) error {
	errs := make([]error, len(c.chunks))
	last := c.chunks[len(c.chunks)-1]
	width := len(dst) / (last.Row + last.Rows)
	parallel.Do(threads, len(c.chunks), func(i int) {
		errs[i] = c.decodeTextChunk(ctx, i, dst, width)
	})
	goruntime.KeepAlive(c.file)
	for _, err := range errs {
		if err != nil {
			return c.file.failure(ctx, err)
		}
	}
	return nil
}

func (c *encodedColumn) decodeTextChunk(ctx context.Context, i int, dst []byte, width int) error {
	var pages store.EncodedPages
	data := make([]byte, c.chunks[i].Bytes)
	if err := c.Read(ctx, i, data, &pages); err != nil {
		return err
	}
	room := c.rooms.Get().(*parquet.Room)
	defer c.rooms.Put(room)
	raw := c.file.Raw(data, c.groups[i], c.field.index)
	places := make([]uint32, batchRows)
	for _, p := range pages.Pages {
		numbers, err := raw.Places(room, parquet.Span{From: p.From, Until: p.Until,
			Unpacked: p.Unpacked, Packed: p.Packed, Levels: p.Levels, Coded: p.Coded})
		if err != nil {
			return err
		}
		for row := p.Row; row < p.Row+p.Rows; {
			part := places[:min(len(places), p.Row+p.Rows-row)]
			if err := numbers.Read(part); err != nil {
				return err
			}
			for _, place := range part {
				if int(place) >= len(pages.Dictionary) {
					return fmt.Errorf("column %s has a place beyond its dictionary", c.field.name)
				}
				code := pages.Dictionary[place]
				for k := range width {
					dst[row*width+k] = byte(code >> (8 * k))
				}
				row++
			}
		}
	}
	return nil
}
