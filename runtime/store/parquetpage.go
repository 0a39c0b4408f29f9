package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// What most files have is decoded here, from the bytes of pages to words: plain values and
// places in a dictionary. Values of a dictionary are converted once, and where a column
// chunk has few of them, its rows stay places among them until the column is put together.
// The library reads all else.

// errOtherReader says that a column chunk is for the library to decode.
var errOtherReader = errors.New("a column chunk of another encoding")

// decodesPages reports whether readPages knows the encodings of a column chunk.
func (p *parquetField) decodesPages(chunk *metadata.ColumnChunkMetaData) bool {
	switch p.descr.PhysicalType() {
	case parquet.Types.Int32, parquet.Types.Int64, parquet.Types.Float, parquet.Types.Double,
		parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
	default:
		return false
	}
	for _, e := range chunk.Encodings() {
		switch e {
		case parquet.Encodings.Plain, parquet.Encodings.RLE, parquet.Encodings.PlainDict, parquet.Encodings.RLEDict, parquet.Encodings.BitPacked:
		default:
			return false
		}
	}
	return true
}

// pageDictionary is the values of a dictionary page.
type pageDictionary struct {
	words []int64
	texts [][]byte // of strings: the word of one is noCode until a row is found to have it
}

// noCode is the word of a string that is not interned yet: a dictionary page may have
// strings that no row has.
const noCode = -1

// pageValues are those values of a data page that are not read yet.
type pageValues struct {
	coded  bool
	places hybrid // in the dictionary, if coded
	plain  []byte // otherwise
}

// readPages decodes all pages of a column chunk of so many rows. If it can not, it returns
// errOtherReader before anything is kept of the chunk.
func (r *columnReader) readPages(ctx context.Context, pages file.PageReader, rows int64) error {
	for pages.Next() {
		var data []byte
		levels := hybrid{width: bits.Len16(uint16(r.descr.MaxDefinitionLevel()))}
		page := pages.Page()
		switch p := page.(type) {
		case *file.DictionaryPage:
			if err := r.readDictionary(p); err != nil {
				return err
			}
			continue
		case *file.DataPageV1:
			data = p.Data()
			if levels.width > 0 {
				if p.DefinitionLevelEncoding() != parquet.Encodings.RLE {
					return r.unlessBegun(fmt.Errorf("levels in %v", p.DefinitionLevelEncoding()))
				}
				if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
					return errShortPage
				}
				n := 4 + int(binary.LittleEndian.Uint32(data))
				levels.data, data = data[4:n], data[n:]
			}
		case *file.DataPageV2:
			data = p.Data()
			n := int(p.DefinitionLevelByteLen())
			if n < 0 || n > len(data) || p.RepetitionLevelByteLen() != 0 {
				return errShortPage
			}
			levels.data, data = data[:n], data[n:]
		default:
			return r.unlessBegun(fmt.Errorf("a page of %T", page))
		}
		n := int64(page.NumValues())
		if n < 0 || int64(r.part.rows)+n > rows {
			return fmt.Errorf("the Parquet file is damaged: a column chunk has other than the %d rows of its row group", rows)
		}
		v := pageValues{plain: data}
		switch parquet.Encoding(page.Encoding()) {
		case parquet.Encodings.Plain:
		case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
			v.coded = true
			if len(data) > 0 { // a page of nothing but nulls may have no width
				v.places = hybrid{data: data[1:], width: int(data[0])}
			}
			if r.dict == nil || v.places.width > 32 {
				return errShortPage
			}
		default:
			return r.unlessBegun(fmt.Errorf("values in %v", page.Encoding()))
		}
		if err := r.readPage(ctx, &v, &levels, int(n)); err != nil {
			return err
		}
	}
	return pages.Err()
}

// unlessBegun leaves a column chunk to the library, unless rows of it have been read.
func (r *columnReader) unlessBegun(reason error) error {
	if r.part.rows == 0 {
		return errOtherReader
	}
	return fmt.Errorf("column %s has pages that its metadata does not tell of: %w", r.field.name, reason)
}

// readPage decodes n rows. Values of rows without one are those before them.
func (r *columnReader) readPage(ctx context.Context, v *pageValues, levels *hybrid, n int) error {
	present := uint32(r.descr.MaxDefinitionLevel())
	for n > 0 {
		if err := r.stopped(ctx); err != nil {
			return err
		}
		rows := min(n, int(r.batch))
		n -= rows
		var have []uint32
		whole := true
		if present > 0 {
			have = r.room.levels[:rows]
			if err := levels.read(have); err != nil {
				return err
			}
			for _, level := range have {
				whole = whole && level == present
				if level > present {
					return errWideNumber
				}
			}
		}
		var err error
		switch {
		case whole && v.coded && r.fewWords():
			err = r.keep(v, rows)
		case whole:
			r.flushKept()
			dst := r.grow(rows)
			if err = r.decode(dst, v, r.part.rows); err == nil {
				r.last = dst[rows-1]
			}
		default:
			r.flushKept()
			err = readPresent(r, r.grow(rows), have, present, func(dst []int64, row int) error { return r.decode(dst, v, row) })
		}
		if err != nil {
			return err
		}
		r.part.rows += rows
	}
	return nil
}

// decode decodes the values of rows from `row` on.
func (r *columnReader) decode(dst []int64, v *pageValues, row int) error {
	if !v.coded {
		return r.plain(dst, v, r.refuser(row))
	}
	places, err := r.places(v, len(dst))
	if err == nil {
		r.look(dst, places, row)
	}
	return err
}

// places reads places in the dictionary.
func (r *columnReader) places(v *pageValues, n int) ([]uint32, error) {
	places := r.room.places[:n]
	if err := v.places.read(places); err != nil {
		return nil, err
	}
	last := uint32(0)
	for _, p := range places {
		last = max(last, p)
	}
	if int(last) >= len(r.dict.words) {
		return nil, fmt.Errorf("the Parquet file is damaged: column %s has a place beyond its dictionary", r.field.name)
	}
	return places, nil
}

// look sets words to those of places in the dictionary.
func (r *columnReader) look(dst []int64, places []uint32, row int) {
	words := r.dict.words
	for i, p := range places[:len(dst)] {
		w := words[p]
		if w == noCode && r.dict.texts != nil {
			if r.internWord(int(p)) {
				w = words[p]
			} else {
				w = r.refuse(row+i, badText(r.dict.texts[p]))
			}
		}
		dst[i] = w
	}
}

// internWord sets the word of a dictionary's string unless the string is refused.
func (r *columnReader) internWord(p int) bool {
	code, ok := r.strings.codeOfText(r.dict.texts[p])
	if ok {
		r.dict.words[p] = int64(code)
	}
	return ok
}

// plain decodes plain values. What refuse returns takes the place of one that the field
// can not have.
func (r *columnReader) plain(dst []int64, v *pageValues, refuse func(i int, reason string) int64) error {
	data := v.plain
	size := 4
	switch r.descr.PhysicalType() {
	case parquet.Types.Int32:
		if len(data)/4 < len(dst) {
			return errShortPage
		}
		if r.from.unsigned {
			for i := range dst {
				dst[i] = int64(binary.LittleEndian.Uint32(data[4*i:]))
			}
		} else {
			for i := range dst {
				dst[i] = int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
			}
		}
		r.convert(dst, false, refuse)
	case parquet.Types.Int64:
		if size = 8; len(data)/8 < len(dst) {
			return errShortPage
		}
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
		r.convert(dst, r.from.unsigned, refuse)
	case parquet.Types.Float:
		if len(data)/4 < len(dst) {
			return errShortPage
		}
		for i := range dst {
			f := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			dst[i] = int64(scalar.OfFloat(r.field.typ, float64(f)).Bits())
		}
	case parquet.Types.Double:
		if size = 8; len(data)/8 < len(dst) {
			return errShortPage
		}
		for i := range dst {
			f := math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
			dst[i] = int64(scalar.OfFloat(r.field.typ, f).Bits())
		}
	default:
		return r.plainBytes(dst, v, refuse)
	}
	v.plain = data[size*len(dst):]
	return nil
}

// plainBytes is plain for byte strings, which are strings or decimals.
func (r *columnReader) plainBytes(dst []int64, v *pageValues, refuse func(i int, reason string) int64) error {
	var numbers [][]byte
	for i := range dst {
		text, err := r.nextBytes(v)
		if err != nil {
			return err
		}
		if r.from.kind != scalar.String {
			numbers = append(numbers, text)
			continue
		}
		code, ok := r.strings.codeOfText(text)
		if dst[i] = int64(code); !ok {
			dst[i] = refuse(i, badText(text))
		}
	}
	if r.from.kind != scalar.String {
		r.decimals(dst, func(i int) []byte { return numbers[i] }, refuse)
	}
	return nil
}

// nextBytes returns the next plain byte string, which is part of the page.
func (r *columnReader) nextBytes(v *pageValues) ([]byte, error) {
	data := v.plain
	n := uint64(r.descr.TypeLength())
	if r.descr.PhysicalType() == parquet.Types.ByteArray {
		if len(data) < 4 {
			return nil, errShortPage
		}
		n, data = uint64(binary.LittleEndian.Uint32(data)), data[4:]
	}
	if n > uint64(len(data)) {
		return nil, errShortPage
	}
	v.plain = data[n:]
	return data[:n], nil
}

// readDictionary converts the values of a dictionary page.
func (r *columnReader) readDictionary(p *file.DictionaryPage) error {
	if r.dict != nil || r.part.rows > 0 {
		return fmt.Errorf("the Parquet file is damaged: column %s has a second dictionary, or a late one", r.field.name)
	}
	n, data := int(p.NumValues()), p.Data()
	if n < 0 || n > len(data) {
		return errShortPage // no value takes less than a byte
	}
	if err := r.room.reserve("a dictionary page of column "+r.field.name, n, len(data)); err != nil {
		return err
	}
	r.room.dictionary = grown(r.room.dictionary, n)
	d := &pageDictionary{words: r.room.dictionary}
	v := pageValues{plain: data}
	if r.from.kind == scalar.String {
		// The page's memory may be used for the next one.
		r.room.text = append(r.room.text[:0], data...)
		v.plain = r.room.text
		r.room.texts = grown(r.room.texts, n)
		d.texts = r.room.texts
		for i := range n {
			text, err := r.nextBytes(&v)
			if err != nil {
				return err
			}
			d.texts[i], d.words[i] = text, noCode
		}
		r.dict = d
		return nil
	}
	refused := false
	if err := r.plain(d.words, &v, func(int, string) int64 { refused = true; return 0 }); err != nil {
		return err
	}
	if refused {
		return errOtherReader // which refuses the rows that have such a value
	}
	r.dict = d
	return nil
}

// grown returns a slice of the length, in the memory of another one if it has so much.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// maxKept is how many rows at most stay places in one chunk, and rowsAWord how many rows
// there are at least for each word of the dictionary, of which each chunk has a copy.
const (
	maxKept   = 1 << 18
	rowsAWord = 8
)

// fewWords reports whether rows stay places in the dictionary.
func (r *columnReader) fewWords() bool {
	return len(r.dict.words) <= min(r.rows, maxKept)/rowsAWord
}

// keep reads places of rows that all have a value, and keeps them.
func (r *columnReader) keep(v *pageValues, rows int) error {
	r.flushWords()
	if len(r.room.kept)+rows > maxKept {
		r.flushKept()
	}
	places, err := r.places(v, rows)
	for _, p := range places {
		r.room.kept = append(r.room.kept, uint16(p))
	}
	return err
}

// flushKept makes a chunk of the places that were kept, which are of the last rows and
// within the dictionary. If that has words that none of these rows has, or texts that are
// refused, the rows become words.
func (r *columnReader) flushKept() {
	kept := r.room.kept
	if len(kept) == 0 {
		return
	}
	r.room.kept = kept[:0]
	words := r.dict.words
	used := make([]bool, len(words))
	for _, p := range kept {
		used[p] = true
	}
	whole := true
	for p, u := range used {
		if u && words[p] == noCode && r.dict.texts != nil {
			u = r.internWord(p)
		}
		whole = whole && u
	}
	if whole {
		c := placed(r.field.typ.Kind, kept, words)
		r.last = words[kept[len(kept)-1]]
		r.part.chunks = append(r.part.chunks, c)
		return
	}
	row := r.part.rows - len(kept)
	for len(kept) > 0 {
		n := min(len(kept), int(r.batch))
		places := r.room.places[:n]
		for i, p := range kept[:n] {
			places[i] = uint32(p)
		}
		dst := r.room.words[:n] // no words are waiting
		r.look(dst, places, row)
		r.last = dst[n-1]
		r.part.chunks = append(r.part.chunks, narrow(r.field.typ.Kind, dst, 1))
		kept, row = kept[n:], row+n
	}
}
