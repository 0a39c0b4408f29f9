package read

import (
	"context"
	"slices"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// parquetField turns the values of one Parquet column into the words of a
// field.
type parquetField struct {
	conversion
	field  *field
	column *parquet.Column
}

// newParquetField returns an error if the column's type does not suit the
// field.
func newParquetField(f *parquetFile, fd *field) (*parquetField, error) {
	p := &parquetField{field: fd}
	mismatch := func(found string) *LoadError {
		return &LoadError{Column: max(0, fd.index+1), Name: fd.name,
			Reason: mismatched(found, fd.typ)}
	}
	if fd.index == offsetColumn {
		return nil, mismatch("no byte offsets")
	}
	p.column = &f.Columns[fd.index]
	if p.column.Repetition > 0 {
		return nil, mismatch("lists")
	}
	var ok bool
	from := parquetOrigin(p.column)
	if p.conversion, ok = newConversion(from, fd.typ); !ok {
		found := p.column.Type.String()
		if p.column.Logical != nil {
			found = p.column.Logical.String()
		}
		err := mismatch(found)
		err.Help = declareHelp(from, fd.typ)
		return nil, err
	}
	return p, nil
}

// parquetOrigin returns the type of a column's values.
func parquetOrigin(c *parquet.Column) origin {
	from := origin{unit: 1, parts: 1}
	l := c.Logical
	switch {
	case l == nil || l.Unknown != nil:
		from.kind = map[parquet.Type]scalar.Kind{
			parquet.Boolean: scalar.Boolean,
			parquet.Int32:   scalar.Int, parquet.Int64: scalar.Int,
			parquet.Int96: scalar.Datetime,
			parquet.Float: scalar.Float, parquet.Double: scalar.Float,
			parquet.ByteArray: scalar.String,
		}[c.Type]
	case l.Decimal != nil:
		from.kind, from.scale = scalar.Decimal, int(l.Decimal.Scale)
	case l.Integer != nil:
		from.kind, from.unsigned = scalar.Int, !l.Integer.Signed
	case l.Date != nil:
		from.kind, from.unit = scalar.Datetime, scalar.MicrosPerDay
	case l.Timestamp != nil:
		from.kind = scalar.Datetime
		switch {
		case l.Timestamp.Unit.Millis != nil:
			from.unit = 1000
		case l.Timestamp.Unit.Nanos != nil:
			from.parts = 1000
		}
	case l.Text != nil, l.Enum != nil, l.JSON != nil:
		from.kind = scalar.String
	}
	return from
}

// batchRows is the number of values that are decoded at a time.
const batchRows int64 = 1 << 14

// columnReader collects the words of a column chunk.
type columnReader struct {
	*parquetField
	part    *columnPart
	strings *store.Interner
	room    *readRoom
	rows    int   // of the row group
	batch   int64 // values to decode at a time
	dict    *pageDictionary
	words   []int64 // of rows that are not narrowed yet
	last    int64   // the word of the row before, or noCode; see standIn

	filler   *store.Filler // of the column that rows are decoded into; nil means chunks
	firstRow int           // of the row group

	all      []int64    // the words of all rows, instead of chunks; no value may be missing
	sink     *entrySink // takes the entries of all rows; no value may be missing
	marks    []bool     // the rows that are wanted; nil means all
	test     *Test      // clears marks; nil decodes the rows
	verdicts []byte     // of the test, for each place in the dictionary
	kept     *keptPages // the unpacked pages that the test keeps for decoding; may be nil
	some     representative
}

// readRoom is the memory that a thread reuses for each column chunk that it
// decodes.
type readRoom struct {
	words          []int64
	places, levels []uint32
	rows           []uint32   // of a batch that are marked
	picked         []byte     // their PLAIN values
	kept           keptPlaces // of rows that are no words yet
	dictionary     []int64
	entries        []uint32 // of its words in a column that is filled
	verdicts       []byte   // of a test, on the dictionary
	text           []byte
	texts          [][]byte

	pages  parquet.Room
	ledger *store.Ledger
	held   int64 // for the dictionary
}

// roomBytes is the memory of a readRoom for each row of a batch.
const roomBytes = 60

// newReadRoom returns a room for batches of rows. The ledger reserves the
// memory of pages under the name what.
func newReadRoom(batch int64, ledger *store.Ledger, what string) *readRoom {
	r := &readRoom{
		words:  hugepage.Advise(make([]int64, 4*batch)),
		places: hugepage.Advise(make([]uint32, batch)), levels: make([]uint32, batch),
		rows: make([]uint32, batch), picked: make([]byte, 8*batch),
		ledger: ledger,
	}
	r.pages.Reserve = func(n int) error { return ledger.Take(what, int64(n)) }
	return r
}

// reserve reserves memory for a dictionary of n values whose texts have the
// given total length.
func (r *readRoom) reserve(what string, n, bytes int) error {
	wanted := dictionaryBytes*int64(n) + int64(bytes)
	if wanted <= r.held {
		return nil
	}
	err := r.ledger.Take(what, wanted-r.held)
	if err == nil {
		r.held = wanted
	}
	return err
}

// dictionaryBytes is the memory of a dictionary's value beside its text,
// including spare capacity.
const dictionaryBytes = 40

// reader returns a reader of a column chunk.
func (p *parquetField) reader(
	f *parquetFile, group int, strings *store.Interner, room *readRoom, part *columnPart,
) *columnReader {
	g := &f.Groups[group]
	part.bytes = g.Chunks[p.field.index].Meta.Packed
	rows := max(1, g.Rows)
	room.kept.clear()
	r := &columnReader{parquetField: p, part: part, strings: strings, room: room, rows: int(rows),
		batch: min(batchRows, rows), words: room.words[:0]}
	if p.field.typ.Kind == scalar.String {
		r.last = noCode
	}
	return r
}

// run decodes the column chunk that the reader is for.
func (r *columnReader) run(ctx context.Context, f *parquetFile, group int) error {
	wanted := func(from, until int64) bool { return slices.Contains(r.marks[from:until], true) }
	var index *parquet.PageIndex
	if r.marks != nil {
		index = f.PageIndex(f.beside(), f.size, group, r.field.index, false)
	}
	if r.test == nil && r.kept.has(group) {
		r.part.unread = r.kept.unread
		if err := r.readPages(ctx, &r.kept.pages, f.Groups[group].Rows); err != nil {
			return err
		}
		return r.finish(ctx)
	}
	at, done, err := f.chunk(group, r.field.index, index, wanted)
	if err != nil {
		return err
	}
	defer done()
	pages := f.Pages(at, f.size, group, r.field.index, &r.room.pages)
	if index != nil {
		pages.Skip(index, wanted)
	}
	keeps := r.test != nil && r.kept != nil
	if keeps {
		pages.Keep(r.kept.begin(), r.from.kind == scalar.String)
	}
	err = r.readPages(ctx, pages, f.Groups[group].Rows)
	r.part.unread = pages.Unread
	if err != nil {
		return err
	}
	if keeps {
		r.kept.group, r.kept.unread = group, pages.Unread
	}
	return r.finish(ctx)
}

// finish makes chunks of the remaining words.
func (r *columnReader) finish(ctx context.Context) error {
	r.flushWords()
	if err := r.flushKept(); err != nil {
		return err
	}
	return r.stopped(ctx)
}

// stopped returns an error once reading has to stop.
func (r *columnReader) stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.strings != nil {
		return r.strings.Err()
	}
	return nil
}

// readPresent reads rows of which some have no value. A row has a value if its
// level equals present. read reads the words of each run of such rows, from
// `row` on.
func (r *columnReader) readPresent(
	dst []int64, levels []uint32, present uint32, read func(dst []int64, row int) error,
) error {
	for i := 0; i < len(dst); {
		j := i
		for j < len(dst) && levels[j] == present {
			j++
		}
		if j > i {
			if err := read(dst[i:j], r.part.rows+i); err != nil {
				return err
			}
			r.last = dst[j-1]
		}
		for i = j; i < len(dst) && levels[i] != present; i++ {
			r.part.nulls = append(r.part.nulls, uint32(r.part.rows+i))
			dst[i] = r.standIn()
		}
	}
	return nil
}

// grow returns room for the words of more rows, at most a batch.
func (r *columnReader) grow(rows int) []int64 {
	if cap(r.words)-len(r.words) < rows {
		r.flushWords()
	}
	from := len(r.words)
	r.words = r.words[:from+rows]
	return r.words[from:]
}

func (r *columnReader) flushWords() {
	if len(r.words) > 0 {
		r.part.chunks = append(r.part.chunks, store.Narrow(r.field.typ.Kind, r.words, 1))
	}
	r.words = r.words[:0]
}

// refuse reports a value that the field cannot have. Its row is left out, or
// the load fails.
func (r *columnReader) refuse(row int, reason string) int64 {
	r.part.bad = append(r.part.bad, badCell{row: uint32(row), reason: reason})
	return r.standIn()
}

// standIn returns the word of a row whose value is missing or refused: the word
// of the row before it, which keeps the column narrow. Words of strings are
// entries of a dictionary, so the first row gets the empty string.
func (r *columnReader) standIn() int64 {
	if r.field.typ.Kind == scalar.String && r.last == noCode {
		r.last = int64(r.strings.Code(""))
	}
	return r.last
}

// refuser is refuse for rows that are counted from row first of the row group.
func (r *columnReader) refuser(first int) func(i int, reason string) int64 {
	return func(i int, reason string) int64 { return r.refuse(first+i, reason) }
}

// decimals converts big-endian numbers to words.
func (r *columnReader) decimals(
	dst []int64, at func(i int) []byte, refuse func(i int, reason string) int64,
) {
	if r.to.Word != scalar.Whole {
		for i := range dst {
			n, ok := bigEndian128(at(i))
			w, why := r.wordOf(n)
			if !ok {
				why = tooLarge(r.to)
			}
			if dst[i] = w; why != "" {
				dst[i] = refuse(i, why)
			}
		}
		return
	}
	var refused []int
	for i := range dst {
		w, ok := bigEndian(at(i))
		if dst[i] = w; !ok {
			refused = append(refused, i)
		}
	}
	r.convert(dst, false, refuse)
	for _, i := range refused {
		dst[i] = refuse(i, tooLarge(r.field.typ))
	}
}

// bigEndian128 is bigEndian for 128 bits.
func bigEndian128(b []byte) (scalar.Int128, bool) {
	cut := max(0, len(b)-8)
	high, ok := bigEndian(b[:cut])
	low, _ := bigEndian(b[cut:])
	if cut == 0 {
		return scalar.Int128Of(low), true
	}
	return scalar.Int128{Hi: high, Lo: uint64(low)}, ok
}

// bigEndian reads a two's complement number of any length.
func bigEndian(b []byte) (int64, bool) {
	var n int64
	if len(b) > 0 {
		n = int64(int8(b[0])) >> 7
	}
	sign := n
	for i, c := range b {
		if len(b)-i > 8 {
			if c != byte(sign) {
				return 0, false
			}
			continue
		}
		n = n<<8 | int64(c)
	}
	return n, n>>63 == sign
}
