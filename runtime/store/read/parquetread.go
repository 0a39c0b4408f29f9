package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// parquetFile is a Parquet file open for reading.
type parquetFile struct {
	*parquet.Footer
	io.ReaderAt
	size   int64
	closer io.Closer // nil if the reader is the caller's
	extras *extras   // nil if the file is not on a server
}

// Close closes a file that was opened by its name.
func (f *parquetFile) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// openParquet opens the source and reads its footer, unless Bind has done so.
func (s *Source) openParquet(ctx context.Context) (_ *parquetFile, err error) {
	f := &parquetFile{}
	f.ReaderAt, f.closer, f.size, err = s.openWhole(ctx)
	if err != nil {
		return nil, err
	}
	if s.footer == nil {
		if s.footer, err = parquet.ReadFooter(f, f.size); err != nil {
			f.Close()
			return nil, fmt.Errorf("this is not a whole Parquet file: %w", err)
		}
	}
	f.Footer = s.footer
	f.extras = newExtras(f)
	return f, nil
}

// parquetColumns reads the footer and returns the names of a file's columns;
// those of nested ones have dots.
func (s *Source) parquetColumns(ctx context.Context) (names []string, err error) {
	f, err := s.openParquet(ctx)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for i := range f.Columns {
		names = append(names, f.Columns[i].Name)
	}
	return names, nil
}

// parquetLoad reads the fields of a load from a Parquet file, each column chunk
// by one goroutine.
type parquetLoad struct {
	*load
	file      *parquetFile
	decoders  []*parquetField
	order     []int   // the fields in the order in which they are read
	starts    []int64 // the first row of each row group, and the number of rows
	parts     [][]columnPart
	rooms     []*readRoom         // of each thread
	interners [][]*store.Interner // of each thread, for each field

	decoded [][]bool           // of each field: the row groups that were read
	unread  [][]int64          // of each field: bytes of each row group that were never read
	proving bool               // set while keys are read to be proven
	proved  map[int]readColumn // the columns of proven keys, by field

	selected [][]bool         // of each thread: marks the rows that pass the tests
	some     []representative // of fields that are only tested
	pages    [][]*keptPages   // of each thread, for each field; nil if none are kept
	words    [][][]int64      // of each thread: the words of key fields, while keys are proven
	// selectedRows has the number of selected rows of each row group. It is nil
	// before any is tested.
	selectedRows []int64

	fillers []*fieldFiller // of fields that are decoded into their column; nil for others

	late      []*lateStrings // of deferred fields, nil for others; nil if there are none
	kept      [][]int64      // the selected rows of each row group, for late
	open      *lateFile      // the file, for columns that read it later; or nil
	encodable []*encodedPlan // of fields that may stay encoded, nil for others; nil if none may

	mu      sync.Mutex
	left    []int // parts of each field that are not read yet
	values  int64 // read
	stopped error
}

// readParquet reads the fields.
func (l *load) readParquet(ctx context.Context) error {
	f, err := l.source.openParquet(ctx)
	if err != nil {
		return err
	}
	p := &parquetLoad{load: l, file: f}
	defer func() {
		if p.open == nil {
			f.Close()
		}
		goruntime.KeepAlive(p.open)
	}()
	l.size, l.byRow = f.size, true
	if err := p.plan(); err != nil {
		return err
	}
	p.identify()
	l.recall()
	if err := p.prepare(); err != nil {
		return err
	}
	if err := p.proveKeys(ctx); err != nil {
		return err
	}
	if p.selectedRows == nil {
		p.chooseFields()
		if err := p.keepEncoded(ctx); err != nil {
			return err
		}
	}
	p.setAside()
	done, err := p.readSelected(ctx)
	p.unselect()
	if done || err != nil {
		p.drop()
		p.describe()
		l.leaveColumns()
		p.numberRows()
		return err
	}
	p.takeBack()
	if err := p.readFields(ctx); err != nil {
		return err
	}
	l.rows = f.Rows
	p.describe()
	if len(f.Groups) == 0 {
		if err := l.assemble(ctx, p.sources); err != nil {
			return err
		}
	}
	l.leaveColumns()
	p.numberRows()
	return l.badRows(p.parts, p.starts)
}

// chooseFields decides which fields are tested, and which are not read, or
// late.
func (p *parquetLoad) chooseFields() {
	p.leaveUnread()
	p.askFields()
	p.putOff()
	p.order = slices.DeleteFunc(p.order, func(i int) bool {
		return p.absent[i] || p.isLate(i)
	})
}

// describe fills in the report of the file.
func (p *parquetLoad) describe() {
	r := p.report
	r.Rows, r.Size, r.Groups = p.file.Rows, p.file.size, len(p.file.Groups)
	p.bytes = 0
	for g := range p.file.Groups {
		isRead := false
		for i := range p.decoded {
			if p.decoded[i][g] {
				isRead = true
				p.bytes += p.file.Groups[g].Chunks[p.fields[i].index].Meta.Packed -
					p.unread[i][g]
			}
		}
		if !isRead && len(p.order) > 0 {
			r.GroupsLeft++
		}
	}
	for i := range p.fields {
		if c := p.data[i].column; c != nil && c.Encoded != nil {
			p.bytes += p.packedBytes(i)
		}
	}
	r.Bytes = p.bytes
}

// plan compares the columns of the file with the fields, and numbers its rows.
func (p *parquetLoad) plan() error {
	f := p.file
	if f.Rows > maxRows {
		return fmt.Errorf("%d rows; a relation cannot hold more than %d", f.Rows, int64(maxRows))
	}
	for i := range p.fields {
		d, err := newParquetField(f, &p.fields[i])
		if err != nil {
			if e := new(LoadError); errors.As(err, &e) {
				e.File = p.source.Path
			}
			return err
		}
		p.decoders = append(p.decoders, d)
	}
	p.starts = []int64{0}
	for g := range f.Groups {
		p.starts = append(p.starts, p.starts[g]+f.Groups[g].Rows)
	}
	if n := p.starts[len(f.Groups)]; n != f.Rows {
		return fmt.Errorf("the Parquet file is damaged: its row groups have %d rows, its footer says %d",
			n, f.Rows)
	}
	p.planFillers()
	p.planEncoded()
	// Fields are read one after the other, so that chunks of only a few fields
	// exist at a time. Strings come first, because dictionaries take the
	// longest to build and other fields can be read meanwhile.
	for i := range p.fields {
		p.order = append(p.order, i)
	}
	slices.SortStableFunc(p.order, func(a, b int) int {
		return cmp.Compare(p.lateness(a), p.lateness(b))
	})
	return nil
}

// lateness is a sort key: 0 for fields of strings, 1 for others.
func (l *load) lateness(i int) int {
	if l.fields[i].typ.Kind == scalar.String {
		return 0
	}
	return 1
}

// prepare allocates the memory of the threads.
func (p *parquetLoad) prepare() error {
	batch := min(batchRows, max(1, p.longest()))
	threads := p.opts.readers(roomBytes * batch)
	what := "reading " + p.source.Path
	if err := p.ledger.Take(what, roomBytes*batch*int64(threads)); err != nil {
		return err
	}
	for t := range threads {
		p.rooms = append(p.rooms, newReadRoom(batch, p.ledger, "a page of "+p.source.Path))
		p.interners = append(p.interners, make([]*store.Interner, len(p.fields)))
		for i, fd := range p.fields {
			if fd.typ.Kind == scalar.String {
				p.interners[t][i] = p.newInterner(i)
			}
		}
	}
	for range p.fields {
		p.parts = append(p.parts, make([]columnPart, len(p.file.Groups)))
		p.decoded = append(p.decoded, make([]bool, len(p.file.Groups)))
		p.unread = append(p.unread, make([]int64, len(p.file.Groups)))
		p.left = append(p.left, len(p.file.Groups))
	}
	return nil
}

// sources returns the interners that numbered the strings of a field.
func (p *parquetLoad) sources(i int) (sources []*store.Interner) {
	for t := range p.interners {
		p.interners[t][i].DropTable()
		sources = append(sources, p.interners[t][i])
		p.interners[t][i] = nil
	}
	return sources
}

// hasRead records that a column chunk was read, except for the pages that were
// skipped.
func (p *parquetLoad) hasRead(i, g int, part *columnPart) {
	if !p.decoded[i][g] || part.unread < p.unread[i][g] {
		p.unread[i][g] = part.unread
	}
	p.decoded[i][g] = true
}

// task reads the chunk of a field in a row group, and makes the column of the
// field if that was the last one.
func (p *parquetLoad) task(ctx context.Context, t, i, g int) {
	if p.stop(ctx, nil) {
		return
	}
	part := &p.parts[i][g]
	part.thread = t
	rows := p.starts[g+1] - p.starts[g]
	filler, err := p.filler(i)
	if err == nil {
		r := p.decoders[i].reader(p.file, g, p.interners[t][i], p.rooms[t], part)
		r.filler, r.firstRow = filler, int(p.starts[g])
		err = r.run(ctx, p.file, g)
	}
	p.hasRead(i, g, part)
	if err == nil {
		err = p.checkRows(i, g, part)
	}
	part.err = err
	if err == nil {
		err = p.keep(i, part)
	}
	if p.stop(ctx, err) || !p.finished(i, part, rows) {
		return
	}
	p.gather(i, p.parts[i], p.starts)
	if f := p.fillers[i]; f != nil {
		p.data[i].filler, p.data[i].mayAscend = filler, f.mayAscend
	}
	if p.proving {
		_, err = p.joinField(ctx, i, p.sources)
	} else {
		err = p.assembleField(ctx, i, p.sources)
	}
	p.stop(ctx, err)
}

// checkRows compares the rows of a column chunk with those of its row group.
func (p *parquetLoad) checkRows(i, g int, part *columnPart) error {
	if rows := p.file.Groups[g].Rows; int64(part.rows) != rows {
		return fmt.Errorf("the Parquet file is damaged: row group %d has %d rows, column %s %d", g+1,
			rows, p.fields[i].name, part.rows)
	}
	return nil
}

// stop records the error that ends the load, if there is one, and reports
// whether the load has ended.
func (p *parquetLoad) stop(ctx context.Context, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = cmp.Or(p.stopped, err)
	if p.stopped == nil && ctx.Err() != nil {
		p.stopped = context.Cause(ctx)
	}
	return p.stopped != nil
}

// finished counts a chunk that has been read and reports whether it was the
// last one of its field.
func (p *parquetLoad) finished(i int, part *columnPart, rows int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += part.bytes
	p.values += rows
	p.rows = p.values / int64(len(p.order))
	p.progress(false)
	p.left[i]--
	return p.left[i] == 0
}

// gather takes over the chunks and the missing values of a field.
func (l *load) gather(i int, parts []columnPart, starts []int64) {
	d := &l.data[i]
	for g := range parts {
		part := &parts[g]
		for _, c := range part.chunks {
			d.chunks = append(d.chunks, c)
			d.owner = append(d.owner, int32(part.thread))
		}
		if l.fields[i].nullable {
			for _, row := range part.nulls {
				d.nulls = append(d.nulls, uint32(starts[g])+row)
			}
		}
		part.chunks = nil
	}
}

// columnPart is the result of reading a column chunk.
type columnPart struct {
	thread int // whose interner numbered the strings
	chunks []store.Chunk
	rows   int
	bytes  int64    // of the file
	pages  int      // of rows
	unread int64    // bytes of pages that were skipped
	left   int      // those of them that were not unpacked, because none of their rows is wanted
	nulls  []uint32 // rows, from 0 in the row group
	bad    []badCell
	err    error
}

// badCell is a value that its field cannot take.
type badCell struct {
	row     uint32 // from 0 in the row group
	reason  string
	missing bool
}

// keep reserves the memory of a part of a field.
func (l *load) keep(i int, part *columnPart) error {
	if err := l.ledger.Take(l.names[i], 4*int64(cap(part.nulls))); err != nil {
		return err
	}
	for c := range part.chunks {
		if err := l.ledger.Keep(l.names[i], &part.chunks[c]); err != nil {
			return err
		}
	}
	return nil
}

// badRows reports the malformed rows of a file: the first one as an error, or
// all of them in the report if they are skipped.
func (l *load) badRows(parts [][]columnPart, starts []int64) error {
	for g := range len(starts) - 1 {
		cells := map[uint32]*LoadError{}
		var rows []uint32
		for i, fd := range l.fields {
			part := &parts[i][g]
			bad := part.bad
			if !fd.nullable {
				for _, row := range part.nulls {
					bad = append(bad, badCell{row: row, reason: "the value is missing (NULL)",
						missing: true})
				}
			}
			for _, b := range bad {
				if cells[b.row] != nil {
					continue
				}
				rows = append(rows, b.row)
				cells[b.row] = &LoadError{
					File: l.source.Path, Row: starts[g] + int64(b.row) + 1,
					Column: fd.index + 1, Name: fd.name, Reason: b.reason,
				}
				if b.missing {
					cells[b.row].Help = l.missingHelp(i)
				}
			}
		}
		slices.Sort(rows)
		for _, row := range rows {
			if l.opts.OnError == Stop {
				return cells[row]
			}
			l.report.Skipped++
			l.report.AddExample(cells[row])
			l.bad = append(l.bad, uint32(starts[g])+row)
		}
	}
	return nil
}
