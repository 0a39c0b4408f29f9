package read

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/rowmarks"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Rows of a Parquet file are selected one row group at a time. The tested
// columns come first, and the others are decoded for the rows that pass. A page
// without such a row is not unpacked.

// mostSelected is the largest share of selected rows for which selecting pays,
// because these rows are copied once more. Tests change it.
var mostSelected = 0.5

// longText is a threshold: if a column of strings has at least this many bytes
// a row, building its dictionary costs more than testing the strings.
const longText = 16

// mostMarked bounds the rows of a row group for selecting. Writers make far
// shorter row groups.
const mostMarked = 1 << 26

// representative is the value that stands for all rows of a column that is only
// tested.
type representative struct {
	word  int64
	text  string
	known bool
}

// readSelected reads the rows that pass the tests, unless that was done while
// keys were proven. It does nothing and returns false if there are no tests, or
// if most rows would pass.
func (p *parquetLoad) readSelected(ctx context.Context) (bool, error) {
	if p.selectedRows == nil {
		if pays, err := p.selects(ctx); !pays || err != nil {
			return false, err
		}
		p.selectedRows = make([]int64, len(p.file.Groups))
		parallel.By(len(p.rooms), len(p.file.Groups), func(t, g int) {
			if !p.stop(ctx, nil) {
				p.stop(ctx, p.readGroup(ctx, t, g))
			}
		})
	}
	if p.stopped != nil {
		return true, p.stopped
	}
	p.load.rows = 0
	for _, n := range p.selectedRows {
		p.load.rows += n
	}
	p.report.Selected, p.report.Kept = true, p.load.rows
	return true, p.assembleSelected(ctx)
}

// selects allocates the memory for selecting rows, and reports whether
// selecting pays.
func (p *parquetLoad) selects(ctx context.Context) (bool, error) {
	longest := p.longest()
	if len(p.file.Groups) == 0 || longest > mostMarked ||
		!slices.ContainsFunc(p.tests, func(t *Test) bool { return t != nil }) || p.keepsEncoded() {
		return false, nil
	}
	if p.selected == nil {
		if err := p.ledger.Take("selecting rows of "+p.source.Path,
			longest*int64(len(p.rooms))); err != nil {
			return false, err
		}
		p.selected = make([][]bool, len(p.rooms))
		for t := range p.selected {
			p.selected[t] = make([]bool, longest)
		}
	}
	p.some = make([]representative, len(p.fields))
	if !p.ledger.Bounded() {
		p.keepPages()
	}
	return p.pays(ctx, len(p.file.Groups)/2)
}

// unselect frees the memory that selects has allocated.
func (p *parquetLoad) unselect() {
	if p.selected != nil {
		p.ledger.Give(p.longest() * int64(len(p.rooms)))
		p.selected = nil
	}
	p.pages = nil
}

// longest returns the number of rows of the longest row group.
func (p *parquetLoad) longest() (rows int64) {
	for i := range p.file.Groups {
		rows = max(rows, p.file.Groups[i].Rows)
	}
	return rows
}

// pays tests one row group, and reports whether few rows pass, or whether
// selecting saves a dictionary of long strings.
func (p *parquetLoad) pays(ctx context.Context, g int) (bool, error) {
	n, err := p.testGroup(ctx, 0, g)
	if err != nil {
		return false, err
	}
	rows := p.file.Groups[g].Rows
	for i, t := range p.tests {
		if t != nil && t.Alone && p.fields[i].typ.Kind == scalar.String &&
			p.file.Groups[g].Chunks[p.fields[i].index].Meta.Bytes > longText*rows {
			return true, nil
		}
	}
	return p.opts.SelectAlways || float64(n) <= mostSelected*float64(rows), nil
}

// testGroup marks the rows of a row group that pass all tests, and counts them.
func (p *parquetLoad) testGroup(ctx context.Context, t, g int) (int, error) {
	marks := p.selected[t][:p.file.Groups[g].Rows]
	for i := range marks {
		marks[i] = true
	}
	for _, i := range p.order {
		if p.excludes(i, g) || p.filtersOut(i, g) {
			clear(marks)
			return 0, nil
		}
	}
	for _, i := range p.order {
		p.excludePages(i, g, marks)
	}
	for _, i := range p.testOrder(g) {
		if !slices.Contains(marks, true) {
			break
		}
		part := &columnPart{}
		r := p.decoders[i].reader(p.file, g, nil, p.rooms[t], part)
		r.test, r.marks, r.kept = p.tests[i], marks, p.keptOf(t, i, g)
		var err error
		if words := p.wordsOf(t, i, g); words != nil {
			r.testWords(words, marks)
			part.bytes = 0 // they have been counted
		} else {
			err = p.readWhole(ctx, r, i, g, part)
		}
		if err != nil {
			return 0, err
		}
		p.mu.Lock()
		p.bytes += part.bytes
		if !p.some[i].known {
			p.some[i] = r.some
		}
		p.mu.Unlock()
	}
	return rowmarks.Count(marks), nil
}

// testOrder returns the fields that are tested in a row group, those with the
// shortest pages first. Each further field is tested only for the rows that
// have passed.
func (p *parquetLoad) testOrder(g int) []int {
	var fields []int
	for _, i := range p.order {
		if p.tests[i] != nil {
			fields = append(fields, i)
		}
	}
	bytes := func(i int) int64 {
		if p.words != nil && p.words[0][i] != nil {
			return 0 // its words are decoded already
		}
		return p.file.Groups[g].Chunks[p.fields[i].index].Meta.Bytes
	}
	slices.SortStableFunc(fields, func(a, b int) int { return cmp.Compare(bytes(a), bytes(b)) })
	return fields
}

// excludes reports whether the statistics of a row group show that no value of
// a field passes its test. Missing values do not pass either.
func (p *parquetLoad) excludes(i, g int) bool {
	s := p.file.Groups[g].Chunks[p.fields[i].index].Meta.Statistics
	return s != nil && p.comparable(i) && p.outside(i, s.Min, s.Max)
}

// filtersOut reports whether the Bloom filter of a row group shows that it has
// none of the values of a field that pass its test.
func (p *parquetLoad) filtersOut(i, g int) bool {
	column := p.fields[i].index
	if p.tests[i] == nil || p.tests[i].Equal == nil ||
		p.file.Groups[g].Chunks[column].Meta.Bloom == nil {
		return false
	}
	filter := p.file.BloomFilter(p.file.beside(), p.file.size, g, column)
	if filter == nil {
		return false
	}
	for _, v := range p.tests[i].Equal {
		data := p.decoders[i].encode(v)
		if data == nil || !filter.Excludes(data) {
			return false
		}
	}
	return true
}

// encode returns a value as the PLAIN bytes of the column, without a length. It
// returns nil if the column may have the value in several forms, or in none.
func (d *parquetField) encode(v scalar.Value) []byte {
	if v.Type.Kind == scalar.String && d.column.Type == parquet.ByteArray {
		return []byte(v.Str())
	}
	word, data := int64(v.Bits()), []byte(nil)
	n := word
	switch {
	case d.up > 1:
		n /= d.up
	case d.down != 1:
		n *= d.down
	}
	switch d.column.Type {
	case parquet.Int32:
		data = binary.LittleEndian.AppendUint32(nil, uint32(n))
	case parquet.Int64:
		data = binary.LittleEndian.AppendUint64(nil, uint64(n))
	}
	if back, _, ok := d.bounds(data, data); !ok || back != word {
		return nil
	}
	return data
}

// excludePages clears the marks of pages of a row group if the page index shows
// that no value of a field in them passes its test.
func (p *parquetLoad) excludePages(i, g int, marks []bool) {
	column := p.fields[i].index
	if !p.comparable(i) || p.file.Groups[g].Chunks[column].Bounds == nil {
		return
	}
	x := p.file.PageIndex(p.file.beside(), p.file.size, g, column, true)
	if x == nil || x.Min == nil {
		return
	}
	for page := range x.Pages {
		if p.outside(i, x.Min[page], x.Max[page]) {
			from, until := x.Rows(page)
			clear(marks[from:until])
		}
	}
}

// comparable reports whether bounds of a field's values can be compared with
// its test.
func (p *parquetLoad) comparable(i int) bool {
	t := p.decoders[i].column.Type
	return p.tests[i] != nil && p.tests[i].Range && (t == parquet.Int32 || t == parquet.Int64)
}

// outside reports whether no value within the bounds passes the test of a
// field.
func (p *parquetLoad) outside(i int, least, most []byte) bool {
	lo, hi, ok := p.decoders[i].bounds(least, most)
	return ok && (hi < p.tests[i].Least || lo > p.tests[i].Most)
}

// whole checks that all rows of a column chunk were read and have a value that
// the field can have. Otherwise the load starts again and reads all rows, to
// report what is wrong.
func (p *parquetLoad) whole(i, g int, part *columnPart) error {
	if len(part.bad) > 0 || len(part.nulls) > 0 {
		return errUnread
	}
	return p.checkRows(i, g, part)
}

// readWhole reads the chunk of a field in a row group into a part. It returns
// errUnread if a row has no value that the field can have.
func (p *parquetLoad) readWhole(ctx context.Context, r *columnReader, i, g int,
	part *columnPart) error {
	err := r.run(ctx, p.file, g)
	p.hasRead(i, g, part)
	if err == nil {
		err = p.whole(i, g, part)
	}
	return err
}

// readGroup reads the rows of a row group that pass the tests.
func (p *parquetLoad) readGroup(ctx context.Context, t, g int) error {
	n, err := p.testGroup(ctx, t, g)
	if err != nil {
		return err
	}
	marks := p.selected[t][:p.file.Groups[g].Rows]
	p.selectedRows[g] = int64(n)
	p.keepRows(g, n, marks)
	for _, i := range p.order {
		if n == 0 || p.tests[i] != nil && p.tests[i].Alone {
			continue
		}
		part := &p.parts[i][g]
		if words := p.wordsOf(t, i, g); words != nil {
			part.chunks = p.pick(i, words, n, marks)
			if err := p.keep(i, part); err != nil {
				return err
			}
			continue
		}
		part.thread = t
		r := p.decoders[i].reader(p.file, g, p.interners[t][i], p.rooms[t], part)
		if n < len(marks) {
			r.marks = marks
		}
		r.kept = p.keptOf(t, i, g)
		if err := p.readWhole(ctx, r, i, g, part); err != nil {
			return err
		}
		if err := p.keep(i, part); err != nil {
			return err
		}
		p.mu.Lock()
		if p.tests[i] == nil {
			p.bytes += part.bytes
		}
		p.report.Pages += part.pages
		p.report.PagesLeft += part.left
		p.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load.rows += int64(len(marks))
	p.progress(false)
	return nil
}

// assembleSelected makes the columns of the selected rows.
func (p *parquetLoad) assembleSelected(ctx context.Context) error {
	errs := make([]error, len(p.order))
	parallel.Do(min(p.opts.threads(), columnsAtOnce), len(p.order), func(at int) {
		i := p.order[at]
		if t := p.tests[i]; t != nil && t.Alone && p.load.rows > 0 {
			if !p.some[i].known {
				errs[at] = errUnread // only refused texts have passed
				return
			}
			p.data[i].column = p.some[i].column(p.fields[i].typ, int(p.load.rows))
			p.offer(i)
			return
		}
		p.gather(i, p.parts[i], p.starts)
		errs[at] = p.assembleField(ctx, i, p.sources)
	})
	if err := context.Cause(ctx); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// column returns a column of rows that all have the value.
func (s representative) column(t scalar.Type, rows int) *store.Column {
	if t.Kind == scalar.String {
		return store.ConstantColumn(t, store.NewDict([]string{s.text}), 0, rows)
	}
	return store.ConstantColumn(t, nil, s.word, rows)
}
