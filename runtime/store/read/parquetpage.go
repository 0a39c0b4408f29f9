package read

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// pageDictionary is the values of a dictionary page.
type pageDictionary struct {
	words   []int64
	texts   [][]byte       // of strings; a word is noCode until a row has it
	refused map[int]string // why the field cannot have a value, by code
}

// noCode is the word of a string that is not interned yet. A string is interned
// when a row has it, because a dictionary page may have strings that no row
// has.
const noCode = -1

var errShortPage = errors.New("the Parquet file is damaged: a page ends too early")

// pageSource yields the pages of a column chunk, from a file or from keptPages.
type pageSource interface {
	Next() (*parquet.Page, error)
	Unpack(*parquet.Page) (parquet.Hybrid, parquet.Values, error)
}

// readPages decodes all pages of a column chunk that has the given rows.
func (r *columnReader) readPages(ctx context.Context, pages pageSource, rows int64) error {
	for {
		page, err := pages.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if page.Dictionary == nil {
			r.part.pages += max(1, page.Skipped)
		}
		if page.Dictionary == nil && r.marks != nil {
			if n := page.Values(); int64(r.part.rows+n) <= rows &&
				!slices.Contains(r.marks[r.part.rows:r.part.rows+n], true) {
				r.part.rows += n
				r.part.left += max(1, page.Skipped)
				continue
			}
		}
		if page.Skipped > 0 {
			return errUnread // the pages are longer than the row group
		}
		if page.Dictionary != nil && r.test == nil && r.kept != nil && r.kept.dictionary != nil &&
			pages == pageSource(&r.kept.pages) {
			r.dict = r.kept.dictionary
			continue
		}
		levels, values, err := pages.Unpack(page)
		if err != nil {
			return err
		}
		if page.Dictionary != nil {
			if err := r.readDictionary(values.Plain, int(page.Dictionary.Values)); err != nil {
				return err
			}
			var err error
			switch {
			case r.test != nil:
				err = r.testDictionary()
			case r.filler != nil:
				err = r.fillDictionary()
			case r.sink != nil:
				err = r.sink.takeDictionary(r.dict)
			}
			if err != nil {
				return err
			}
			continue
		}
		n := page.Values()
		if int64(r.part.rows+n) > rows {
			return fmt.Errorf(
				"the Parquet file is damaged: a column chunk has other than the %d rows of its row group", rows)
		}
		if values.Coded && r.dict == nil {
			return fmt.Errorf("the Parquet file is damaged: column %s has no dictionary",
				r.field.name)
		}
		if err := r.readPage(ctx, &values, &levels, n); err != nil {
			return err
		}
	}
}

// readPage decodes n rows. A row without a value gets the word of the row
// before it.
func (r *columnReader) readPage(
	ctx context.Context, v *parquet.Values, levels *parquet.Hybrid, n int,
) error {
	present := uint32(r.column.Definition)
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
			if err := levels.Read(have); err != nil {
				return err
			}
			for _, level := range have {
				whole = whole && level == present
				if level > present {
					return fmt.Errorf("the Parquet file is damaged: column %s has a level beyond %d", r.field.name,
						present)
				}
			}
		}
		var err error
		switch {
		case r.marks != nil && !whole:
			return errUnread
		case r.filler != nil && !whole:
			return errUnread
		case r.filler != nil:
			err = r.fill(v, rows)
		case r.test != nil:
			err = r.testPage(v, rows)
		case (r.all != nil || r.sink != nil) && !whole:
			return errUnread
		case r.sink != nil:
			err = r.sink.take(r, v, rows)
		case r.all != nil:
			err = r.decode(r.all[r.part.rows:][:rows], v, r.part.rows)
		case r.marks != nil:
			err = r.readMarked(v, rows)
		case whole && v.Coded && r.fewWords(v.Numbers.Width()):
			err = r.keep(v, rows)
		case whole:
			if err = r.flushKept(); err != nil {
				return err
			}
			dst := r.grow(rows)
			if err = r.decode(dst, v, r.part.rows); err == nil {
				r.last = dst[rows-1]
			}
		default:
			if err = r.flushKept(); err != nil {
				return err
			}
			err = r.readPresent(r.grow(rows), have, present,
				func(dst []int64, row int) error { return r.decode(dst, v, row) })
		}
		if err != nil {
			return err
		}
		r.part.rows += rows
	}
	return nil
}

// decode decodes the values of rows from `row` on.
func (r *columnReader) decode(dst []int64, v *parquet.Values, row int) error {
	if !v.Coded {
		return r.plain(dst, v, r.refuser(row))
	}
	places, err := r.places(v, len(dst))
	if err != nil {
		return err
	}
	return r.look(dst, places, row)
}

// places reads n codes of the dictionary, unchecked.
func (r *columnReader) places(v *parquet.Values, n int) ([]uint32, error) {
	places := r.room.places[:n]
	return places, v.Numbers.Read(places)
}

// checkPlaces checks that the dictionary has all codes.
func (r *columnReader) checkPlaces(places []uint32) error {
	last := uint32(0)
	for _, p := range places {
		last = max(last, p)
	}
	if len(places) > 0 && int(last) >= len(r.dict.words) {
		return r.beyondDictionary()
	}
	return nil
}

func (r *columnReader) beyondDictionary() error {
	return fmt.Errorf("the Parquet file is damaged: column %s has a place beyond its dictionary",
		r.field.name)
}

// look sets dst to the words of codes. It returns an error if the dictionary
// does not have one of them.
func (r *columnReader) look(dst []int64, places []uint32, row int) error {
	words := r.dict.words
	places = places[:len(dst)]
	if r.dict.refused == nil && r.dict.texts == nil {
		for i, p := range places {
			if int(p) >= len(words) {
				return r.beyondDictionary()
			}
			dst[i] = words[p]
		}
		return nil
	}
	if err := r.checkPlaces(places); err != nil {
		return err
	}
	if r.dict.refused != nil {
		for i, p := range places {
			dst[i] = words[p]
			if why, ok := r.dict.refused[int(p)]; ok {
				dst[i] = r.refuse(row+i, why)
			}
		}
		return nil
	}
	for i, p := range places {
		w := words[p]
		if w == noCode {
			if r.internWord(int(p)) {
				w = words[p]
			} else {
				w = r.refuse(row+i, badText(r.dict.texts[p]))
			}
		}
		dst[i] = w
	}
	return nil
}

// internWord sets the word of a dictionary's string unless the string is
// refused.
func (r *columnReader) internWord(p int) bool {
	code, ok := r.strings.CodeOfText(r.dict.texts[p])
	if ok {
		r.dict.words[p] = int64(code)
	}
	return ok
}

// plain decodes PLAIN values. A value that the field cannot have is replaced by
// the result of refuse.
func (r *columnReader) plain(
	dst []int64, v *parquet.Values, refuse func(i int, reason string) int64,
) error {
	data := v.Plain
	size := 4
	switch r.column.Type {
	case parquet.Boolean:
		return r.booleans(dst, v)
	case parquet.Int32:
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
	case parquet.Int64:
		if size = 8; len(data)/8 < len(dst) {
			return errShortPage
		}
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
		r.convert(dst, r.from.unsigned, refuse)
	case parquet.Int96:
		if size = 12; len(data)/12 < len(dst) {
			return errShortPage
		}
		for i := range dst {
			var ok bool
			if dst[i], ok = julianMicros(data[12*i:]); !ok {
				dst[i] = refuse(i, "the timestamp does not fit a datetime in microseconds")
			}
		}
	case parquet.Float:
		if len(data)/4 < len(dst) {
			return errShortPage
		}
		for i := range dst {
			f := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			dst[i] = int64(scalar.OfFloat(r.field.typ, float64(f)).Bits())
		}
	case parquet.Double:
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
	v.Plain = data[size*len(dst):]
	return nil
}

// julianMicros converts a timestamp in the form of old writers: nanoseconds of
// the day, then the Julian day.
func julianMicros(b []byte) (int64, bool) {
	const julian1970 = 2_440_588
	nanos := int64(binary.LittleEndian.Uint64(b))
	days := int64(binary.LittleEndian.Uint32(b[8:])) - julian1970
	if days > math.MaxInt64/scalar.MicrosPerDay-1 || nanos%1000 != 0 {
		return 0, false
	}
	return days*scalar.MicrosPerDay + nanos/1000, true
}

func (r *columnReader) booleans(dst []int64, v *parquet.Values) error {
	bits := r.room.places[:len(dst)]
	err := v.Numbers.Read(bits)
	for i, b := range bits {
		dst[i] = int64(b)
	}
	return err
}

// plainBytes is plain for byte strings, which are strings or decimals.
func (r *columnReader) plainBytes(
	dst []int64, v *parquet.Values, refuse func(i int, reason string) int64,
) error {
	if r.from.kind == scalar.String {
		data := v.Plain
		if err := r.spans(dst, v); err != nil {
			return err
		}
		r.strings.CodesOfTexts(data, dst, func(i int) int64 {
			return refuse(i, badText(store.TextOf(data, dst[i])))
		})
		return nil
	}
	var numbers [][]byte
	for range dst {
		number, err := r.nextBytes(v)
		if err != nil {
			return err
		}
		numbers = append(numbers, number)
	}
	r.decimals(dst, func(i int) []byte { return numbers[i] }, refuse)
	return nil
}

// spans sets dst to the spans of the next PLAIN byte strings in v.Plain.
func (r *columnReader) spans(dst []int64, v *parquet.Values) error {
	at := len(v.Plain)
	for i := range dst {
		text, err := r.nextBytes(v)
		if err != nil {
			return err
		}
		dst[i] = store.Span(at-len(v.Plain)-len(text), len(text))
	}
	return nil
}

// nextBytes returns the next PLAIN byte string, which is part of the page.
func (r *columnReader) nextBytes(v *parquet.Values) ([]byte, error) {
	data := v.Plain
	n := uint64(r.column.Length)
	if r.column.Type == parquet.ByteArray {
		if len(data) < 4 {
			return nil, errShortPage
		}
		n, data = uint64(binary.LittleEndian.Uint32(data)), data[4:]
	}
	if n > uint64(len(data)) {
		return nil, errShortPage
	}
	v.Plain = data[n:]
	return data[:n], nil
}

// readDictionary converts the values of a dictionary page.
func (r *columnReader) readDictionary(data []byte, n int) error {
	if r.dict != nil || r.part.rows > 0 {
		return fmt.Errorf("the Parquet file is damaged: column %s has a second dictionary, or a late one",
			r.field.name)
	}
	if n > len(data) {
		return errShortPage // no value takes less than a byte
	}
	if err := r.room.reserve("a dictionary page of column "+r.field.name, n,
		len(data)); err != nil {
		return err
	}
	r.room.dictionary = hugepage.Advise(slices.Grow(r.room.dictionary[:0], n)[:n])
	d := &pageDictionary{words: r.room.dictionary}
	v := parquet.Values{Plain: data}
	if r.from.kind == scalar.String {
		// The memory of the page is reused for the next one, so the text is
		// copied.
		r.room.text = append(hugepage.Advise(slices.Grow(r.room.text[:0], len(data))), data...)
		v.Plain = r.room.text
		r.room.texts = hugepage.Advise(slices.Grow(r.room.texts[:0], n)[:n])
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
	// A row that has such a value is refused later.
	err := r.plain(d.words, &v, func(i int, reason string) int64 {
		if d.refused == nil {
			d.refused = map[int]string{}
		}
		d.refused[i] = reason
		return 0
	})
	r.dict = d
	return err
}
