package read

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/rowmarks"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Verdicts of a test on a code of a column chunk's dictionary.
const (
	fails  = 0
	passes = 1
	beyond = 2 // the dictionary does not have the code
)

// mostVerdicts bounds the bits of codes for which there is a table of verdicts.
// The table has every code of that many bits, also those beyond the dictionary.
const mostVerdicts = 16

// If a dictionary has at least fewMarked times as many values as there are
// marked rows, the rows are tested one by one.
const fewMarked = 4

// testDictionary tests the values of a dictionary, unless few rows are marked.
func (r *columnReader) testDictionary() error {
	if r.dict.refused != nil {
		return errUnread
	}
	n := len(r.dict.words)
	if r.verdicts = nil; r.dict.texts == nil && rowmarks.Count(r.marks)*fewMarked < n {
		return r.keepDictionary()
	}
	r.verdicts = slices.Grow(r.room.verdicts[:0], n)[:n]
	r.room.verdicts = r.verdicts
	switch {
	case r.dict.texts != nil:
		for i, text := range r.dict.texts {
			r.verdicts[i] = verdictOf(r.passesBytes(text))
		}
	case r.test.Range && !r.test.Alone:
		r.test.judge(r.dict.words, r.verdicts)
	default:
		for i, w := range r.dict.words {
			r.verdicts[i] = verdictOf(r.passesWord(w))
		}
	}
	return r.keepDictionary()
}

// keepDictionary keeps the dictionary for the rows that pass, unless it has
// strings.
func (r *columnReader) keepDictionary() error {
	if r.kept != nil && r.dict.texts == nil {
		r.room.dictionary = r.kept.takeDictionary(r.dict)
	}
	return nil
}

func verdictOf(ok bool) byte {
	if ok {
		return passes
	}
	return fails
}

// judge sets the verdicts of words for a test of a range and of sets.
func (t *Test) judge(words []int64, verdicts []byte) {
	least, most := t.Least, t.Most
	for i, w := range words {
		verdicts[i] = verdictOf(least <= w && w <= most)
	}
	for _, s := range t.sets {
		for i, w := range words {
			verdicts[i] &= verdictOf(s.has(w))
		}
	}
}

func (r *columnReader) passesBytes(text []byte) bool {
	s := unsafe.String(unsafe.SliceData(text), len(text))
	if !r.test.passesText(s) {
		return false
	}
	if !r.some.known && store.IsText(s) {
		r.some = representative{text: string(text), known: true}
	}
	return true
}

func (r *columnReader) passesWord(w int64) bool {
	if !r.test.passes(r.field.typ, w) {
		return false
	}
	if !r.some.known {
		r.some = representative{word: w, known: true}
	}
	return true
}

// testPage clears the marks of rows that fail the test.
func (r *columnReader) testPage(v *parquet.Values, n int) error {
	marks := r.marks[r.part.rows:][:n]
	switch {
	case v.Coded:
		return r.testPlaces(v, rowmarks.Bytes(marks))
	case r.from.kind == scalar.String:
		for i := range marks {
			text, err := r.nextBytes(v)
			if err != nil {
				return err
			}
			marks[i] = marks[i] && r.passesBytes(text)
		}
		return nil
	}
	words := r.room.words[:n]
	if err := r.plain(words, v, r.refuser(r.part.rows)); err != nil {
		return err
	}
	r.testWords(words, marks)
	return nil
}

// testWords clears the marks of words that fail the test.
func (r *columnReader) testWords(words []int64, marks []bool) {
	if r.test.Range {
		for _, s := range r.test.sets {
			s.keep(words, marks)
		}
		r.testRange(words, rowmarks.Bytes(marks))
		return
	}
	for i, w := range words {
		marks[i] = marks[i] && r.passesWord(w)
	}
}

// testRange is testPage for a test of a range. It has no branch that depends on
// a word.
func (r *columnReader) testRange(words []int64, marks []byte) {
	// A word is in the range if and only if, as an unsigned number, it is at
	// most width above least.
	least, width := uint64(r.test.Least), uint64(r.test.Most)-uint64(r.test.Least)
	if r.test.Most < r.test.Least {
		clear(marks)
		return
	}
	for i, w := range words {
		ok := byte(0)
		if uint64(w)-least <= width {
			ok = 1
		}
		marks[i] &= ok
	}
	if r.some.known {
		return
	}
	for _, w := range words {
		if r.passesWord(w) {
			return
		}
	}
}

// testPlaces is testPage for codes of the dictionary.
func (r *columnReader) testPlaces(v *parquet.Values, marks []byte) error {
	if r.verdicts == nil {
		return r.testMarked(v, marks)
	}
	width := v.Numbers.Width()
	if width > mostVerdicts {
		places, err := r.places(v, len(marks))
		if err == nil {
			err = r.checkPlaces(places)
		}
		if err == nil {
			clearFailing(marks, places, r.verdicts)
		}
		return err
	}
	for len(r.verdicts) < 1<<width {
		r.verdicts = append(r.verdicts, beyond)
	}
	if width <= 8 {
		return testNarrow(r, v, marks, narrow[uint8](r.room, len(marks)))
	}
	return testNarrow(r, v, marks, narrow[uint16](r.room, len(marks)))
}

// testMarked is testPlaces for few marked rows.
func (r *columnReader) testMarked(v *parquet.Values, marks []byte) error {
	rows := r.markedRows(len(marks))
	places, err := r.placesAt(v, len(marks), rows)
	if err != nil {
		return err
	}
	for i, p := range places {
		if int(p) >= len(r.dict.words) {
			return r.beyondDictionary()
		}
		marks[rows[i]] = verdictOf(r.passesWord(r.dict.words[p]))
	}
	return nil
}

// testNarrow is testPlaces for codes of at most mostVerdicts bits.
func testNarrow[T uint8 | uint16](
	r *columnReader, v *parquet.Values, marks []byte, places []T,
) error {
	if err := parquet.ReadNumbers(&v.Numbers, places); err != nil {
		return err
	}
	if clearFailing(marks, places, r.verdicts)&beyond != 0 {
		return r.beyondDictionary()
	}
	return nil
}

// narrow returns a buffer for n codes of 8 or 16 bits.
func narrow[T uint8 | uint16](room *readRoom, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(room.places[:n]))), n)
}

// clearFailing clears the marks of rows whose codes fail, and returns the
// bitwise or of all verdicts.
func clearFailing[T parquet.Number](marks []byte, places []T, verdicts []byte) byte {
	all := byte(0)
	for i, p := range places {
		verdict := verdicts[p]
		all |= verdict
		marks[i] &= verdict
	}
	return all
}

// readMarked decodes the values of n rows, and keeps those of marked rows.
func (r *columnReader) readMarked(v *parquet.Values, n int) error {
	if v.Coded && r.fewWords(v.Numbers.Width()) {
		return r.keep(v, n)
	}
	if err := r.flushKept(); err != nil {
		return err
	}
	marks := r.marks[r.part.rows:][:n]
	switch {
	case v.Coded:
		places, err := r.placesAt(v, n, r.markedRows(n))
		if err != nil {
			return err
		}
		return r.look(r.grow(len(places)), places, r.part.rows)
	case r.from.kind == scalar.String:
		return r.textsMarked(v, marks)
	case r.column.Type == parquet.Int32, r.column.Type == parquet.Int64:
		return r.wordsMarked(v, n)
	}
	dst := r.grow(n)
	err := r.plain(dst, v, r.refuser(r.part.rows))
	r.words = r.words[:len(r.words)-n+rowmarks.Compact(dst, marks)]
	return err
}

// markedRows returns the marked rows among the next n.
func (r *columnReader) markedRows(n int) []uint32 {
	return rowmarks.Places(r.room.rows, r.marks[r.part.rows:][:n])
}

// placesAt reads n codes of the dictionary, and returns those of some rows.
func (r *columnReader) placesAt(v *parquet.Values, n int, rows []uint32) ([]uint32, error) {
	places := r.room.places[:n]
	if err := parquet.ReadNumbersAt(&v.Numbers, places, rows); err != nil {
		return nil, err
	}
	return places[:len(rows)], nil
}

// wordsMarked decodes those of n PLAIN integers whose rows are marked.
func (r *columnReader) wordsMarked(v *parquet.Values, n int) error {
	size := 4
	if r.column.Type == parquet.Int64 {
		size = 8
	}
	if len(v.Plain)/size < n {
		return errShortPage
	}
	rows := r.markedRows(n)
	data, kept := v.Plain, r.room.picked[:size*len(rows)]
	v.Plain = data[size*n:]
	if size == 8 {
		for i, row := range rows {
			binary.LittleEndian.PutUint64(kept[8*i:], binary.LittleEndian.Uint64(data[8*int(row):]))
		}
	} else {
		for i, row := range rows {
			binary.LittleEndian.PutUint32(kept[4*i:], binary.LittleEndian.Uint32(data[4*int(row):]))
		}
	}
	return r.plain(r.grow(len(rows)), &parquet.Values{Plain: kept}, r.refuser(r.part.rows))
}

// textsMarked decodes strings, and interns those of marked rows.
func (r *columnReader) textsMarked(v *parquet.Values, marks []bool) error {
	data := v.Plain
	dst := r.grow(len(marks))
	if err := r.spans(dst, v); err != nil {
		return err
	}
	kept := rowmarks.Compact(dst, marks)
	r.strings.CodesOfTexts(data, dst[:kept], func(i int) int64 {
		r.part.bad = append(r.part.bad, badCell{row: uint32(r.part.rows + marked(marks, i)),
			reason: badText(store.TextOf(data, dst[i]))})
		return 0
	})
	r.words = r.words[:len(r.words)-len(marks)+kept]
	return nil
}

// marked returns the index of the n-th mark.
func marked(marks []bool, n int) int {
	for i, m := range marks {
		if !m {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return len(marks)
}
