package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// maxPage bounds what a page header may make the library allocate; writers keep
// pages far smaller.
const maxPage = 256 << 20

// streamBytes is how much is read at a time of a column chunk whose memory is bounded.
const streamBytes = 256 << 10

// parquetFile is a Parquet file open for reading.
type parquetFile struct {
	*file.Reader
	size int64
}

// openParquet opens the source's file, or its reader, which is read as a whole
// unless it can be read at any place. The ledger reserves the memory of pages, and has a
// column chunk read piece by piece.
func (s *Source) openParquet(ledger *ledger) (_ *parquetFile, err error) {
	defer recoverDamage(&err)
	var r parquet.ReaderAtSeeker
	switch at := s.Reader.(type) {
	case nil:
		f, _, err := s.openFile()
		if err != nil {
			return nil, err
		}
		r = f
	case parquet.ReaderAtSeeker:
		r = at
	default:
		data, err := io.ReadAll(at)
		if err != nil {
			return nil, err
		}
		r = bytes.NewReader(data)
		s.Reader = r.(io.Reader)
	}
	closeFile := func() {
		if c, ok := r.(io.Closer); ok && s.Reader == nil {
			c.Close()
		}
	}
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		closeFile()
		return nil, err
	}
	// A damaged footer makes the library panic at times.
	opened := false
	defer func() {
		if !opened {
			closeFile()
		}
	}()
	props := parquet.NewReaderProperties(nil)
	if ledger.bounded() {
		props = parquet.NewReaderProperties(pageMemory{ledger, "a page of " + s.Path})
		props.BufferedStreamEnabled, props.BufferSize = true, streamBytes
	}
	props.MaxCompressedPageSize, props.MaxUncompressedPageSize = maxPage, maxPage
	reader, err := file.NewParquetReader(readOnlyAt{r}, file.WithReadProps(props), file.WithMetadata(s.footer))
	if err != nil {
		return nil, fmt.Errorf("this is not a whole Parquet file: %w", err)
	}
	opened = true
	return &parquetFile{Reader: reader, size: size}, nil
}

// readOnlyAt keeps the library from closing a reader that is the caller's.
type readOnlyAt struct{ parquet.ReaderAtSeeker }

// recoverDamage turns a panic of the Parquet library, which damaged files cause,
// into an error.
func recoverDamage(err *error) {
	switch r := recover().(type) {
	case nil:
	case outOfMemory:
		*err = r.err
	case goruntime.Error:
		*err = errNonsense
	default:
		*err = fmt.Errorf("the Parquet file is damaged: %v", r)
	}
}

// errNonsense is what makes the library index beyond a slice or follow a nil pointer.
var errNonsense = errors.New("the Parquet file is damaged: its headers contradict one another")

// parquetColumns reads the footer and returns the names of a file's columns; those of nested ones
// have dots.
func (s *Source) parquetColumns() (names []string, err error) {
	defer recoverDamage(&err)
	f, err := s.openParquet(nil)
	if err != nil {
		return nil, err
	}
	defer s.closeParquet(f)
	s.footer = f.MetaData()
	schema := s.footer.Schema
	for i := range schema.NumColumns() {
		names = append(names, schema.Column(i).Path())
	}
	return names, nil
}

// readParquet reads the fields, each column chunk by one goroutine.
func (l *load) readParquet(ctx context.Context) error {
	f, err := l.source.openParquet(l.ledger)
	if err != nil {
		return err
	}
	defer l.source.closeParquet(f)
	l.size, l.byRow = f.size, true
	if f.NumRows() > maxRows {
		return fmt.Errorf("%d rows; a relation can not hold more than %d", f.NumRows(), int64(maxRows))
	}
	decoders := make([]*parquetField, len(l.fields))
	for i := range l.fields {
		if decoders[i], err = newParquetField(f, &l.fields[i]); err != nil {
			if e := new(LoadError); errors.As(err, &e) {
				e.File = l.source.Path
			}
			return err
		}
	}
	groups := f.NumRowGroups()
	starts := make([]int64, groups+1)
	for g := range groups {
		starts[g+1] = starts[g] + f.MetaData().RowGroups[g].GetNumRows()
	}
	if starts[groups] != f.NumRows() {
		return fmt.Errorf("the Parquet file is damaged: its row groups have %d rows, its footer says %d", starts[groups], f.NumRows())
	}
	longest := int64(1)
	for g := range groups {
		longest = max(longest, starts[g+1]-starts[g])
	}
	batch := min(batchRows, longest)
	threads := l.opts.readers(roomBytes * batch)
	if err := l.ledger.take("reading "+l.source.Path, roomBytes*batch*int64(threads)); err != nil {
		return err
	}
	rooms := make([]*readRoom, threads)
	interners := make([][]*interner, threads)
	for t := range interners {
		interners[t] = make([]*interner, len(l.fields))
		for i, fd := range l.fields {
			if fd.typ.Kind == scalar.String {
				interners[t][i] = l.newInterner(i)
			}
		}
	}
	sources := func(i int) (sources []dictSource) {
		for t := range interners {
			interners[t][i].dropTable()
			sources = append(sources, interners[t][i])
			interners[t][i] = nil
		}
		return sources
	}
	// Column by column, so that there are chunks of few columns at a time. Dictionaries
	// take the longest to make, which goes on while other columns are read.
	var order, others []int
	for i, fd := range l.fields {
		if fd.typ.Kind == scalar.String {
			order = append(order, i)
		} else {
			others = append(others, i)
		}
	}
	order = append(order, others...)
	parts := make([][]columnPart, len(l.fields))
	left := make([]int, len(l.fields)) // parts of a field that are not read yet
	for i := range parts {
		parts[i], left[i] = make([]columnPart, groups), groups
	}
	var mu sync.Mutex
	var stopped error
	var values int64
	inParallelBy(threads, groups*len(l.fields), func(t, task int) {
		i, g := order[task/groups], task%groups
		mu.Lock()
		if stopped == nil && ctx.Err() != nil {
			stopped = context.Cause(ctx)
		}
		stop := stopped != nil
		mu.Unlock()
		if stop {
			return
		}
		part := &parts[i][g]
		part.thread = t
		if rooms[t] == nil {
			rooms[t] = newReadRoom(batch)
			rooms[t].ledger = l.ledger
		}
		part.err = decoders[i].read(ctx, f, g, interners[t][i], rooms[t], part)
		rows := starts[g+1] - starts[g]
		if part.err == nil && int64(part.rows) != rows {
			part.err = fmt.Errorf("the Parquet file is damaged: row group %d has %d rows, column %s %d", g+1, rows, l.fields[i].name, part.rows)
		}
		err := part.err
		if err == nil {
			err = l.ledger.take(l.names[i], part.memory())
		}
		mu.Lock()
		if err != nil {
			stopped = cmp.Or(stopped, err)
			mu.Unlock()
			return
		}
		l.bytes += part.bytes
		values += rows
		l.rows = values / int64(len(l.fields))
		l.progress(false)
		left[i]--
		whole := left[i] == 0
		mu.Unlock()
		if !whole {
			return
		}
		l.gather(i, parts[i], starts)
		if err := l.assembleField(ctx, i, sources); err != nil {
			mu.Lock()
			stopped = cmp.Or(stopped, err)
			mu.Unlock()
		}
	})
	// Tasks start in order, so the first one that fails is always among those
	// that ran.
	for _, i := range order {
		for g := range parts[i] {
			if err := parts[i][g].err; err != nil {
				return err
			}
		}
	}
	if stopped != nil {
		return stopped
	}
	l.rows = f.NumRows()
	l.report.Rows, l.report.Bytes = l.rows, l.bytes
	if groups == 0 {
		if err := l.assemble(ctx, sources); err != nil {
			return err
		}
	}
	return l.badRows(parts, starts)
}

// gather takes over the chunks of a field, and which of its values are missing.
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

// closeParquet closes a file that openParquet opened by name.
func (s *Source) closeParquet(f *parquetFile) {
	if s.Reader == nil {
		f.Close()
	}
}

// columnPart is what was read of a column chunk.
type columnPart struct {
	thread int // whose interner numbered the strings
	chunks []chunk
	rows   int
	bytes  int64    // of the file
	nulls  []uint32 // rows, from 0 in the row group
	bad    []badCell
	err    error
}

// badCell is a value that its field can not take.
type badCell struct {
	row    uint32 // from 0 in the row group
	reason string
}

func (p *columnPart) memory() int64 {
	n := 4 * int64(cap(p.nulls))
	for i := range p.chunks {
		n += p.chunks[i].bytes()
	}
	return n
}

// badRows reports the malformed rows of a file: the first one as an error, or,
// when they are skipped, all of them in the report.
func (l *load) badRows(parts [][]columnPart, starts []int64) error {
	for g := range len(starts) - 1 {
		cells := map[uint32]*LoadError{}
		var rows []uint32
		for i, fd := range l.fields {
			part := &parts[i][g]
			bad := part.bad
			if !fd.nullable {
				for _, row := range part.nulls {
					bad = append(bad, badCell{row, "the value is missing (NULL)"})
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
			}
		}
		slices.Sort(rows)
		for _, row := range rows {
			if l.opts.OnError == Stop {
				return cells[row]
			}
			l.report.Skipped++
			if len(l.report.Examples) < maxExamples {
				l.report.Examples = append(l.report.Examples, cells[row])
			}
			l.bad = append(l.bad, uint32(starts[g])+row)
		}
	}
	return nil
}
