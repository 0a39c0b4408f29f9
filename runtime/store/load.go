package store

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// load is the reading of one source.
type load struct {
	source  *Source
	opts    *Options
	started time.Time
	shown   time.Time // of the last progress
	report  *FileReport
	byRow   bool  // the facts have rows, not lines
	bytes   int64 // read of the file so far
	size    int64

	fields []field
	args   [][]int // the field of each argument of each use
	data   []fieldData
	rows   int64

	memory  sync.Mutex // for held and garbage
	held    int64      // bytes reserved
	garbage int64      // bytes of what columns were made of, since the last collection
	merging sync.Mutex // held by who makes a dictionary

	// bad are the rows of a Parquet file that are left out, ascending.
	bad []uint32
	// spans say which lines of a text file rows stand in.
	spans []lineSpan
	lines int64 // of the text so far
}

// fieldData is what was read of a field: chunks in the order of the file.
type fieldData struct {
	chunks []chunk
	owner  []int32 // of each String chunk: whose interner numbered the strings
	nulls  []uint32
	column *Column
}

// lineSpan is the rows of one text block.
type lineSpan struct {
	row, line int64 // of the first; lines from 1
	rowLines  []uint32
}

// plan lists the fields to read: each column of the file once for each type it
// is wanted in.
func (l *load) plan() {
	for _, u := range l.source.Uses {
		args := make([]int, len(u.Columns))
		for i, c := range u.Columns {
			typ := u.Schema.Args[i].Type
			nullable := u.Schema.Keys < len(u.Columns) && i >= u.Schema.Keys
			at := slices.IndexFunc(l.fields, func(f field) bool {
				return f.index == c && f.typ == typ
			})
			if at < 0 {
				name := u.Schema.Args[i].Name
				if c >= 0 && c < len(l.source.Columns) {
					name = l.source.Columns[c]
				}
				at = len(l.fields)
				l.fields = append(l.fields, field{index: c, name: name, typ: typ, nullable: nullable})
			}
			l.fields[at].nullable = l.fields[at].nullable && nullable
			args[i] = at
		}
		l.args = append(l.args, args)
	}
	l.data = make([]fieldData, len(l.fields))
}

// maxRows bounds a table: rows are numbered in 32 bits.
const maxRows = 1<<32 - 1

func (l *load) hold(n int64) error {
	l.memory.Lock()
	defer l.memory.Unlock()
	if err := l.opts.reserve(n); err != nil {
		return err
	}
	l.held += n
	return nil
}

// giveBack undoes all reservations of a load that failed.
func (l *load) giveBack() {
	if l.opts.reserve(-l.held) == nil {
		l.held = 0
	}
}

func (l *load) progress(done bool) {
	if l.opts.Progress == nil || !done && time.Since(l.shown) < 100*time.Millisecond {
		return
	}
	l.shown = time.Now()
	l.opts.Progress(Progress{
		File: l.source.Path, Rows: l.rows, Bytes: l.bytes, Size: l.size,
		Elapsed: time.Since(l.started), Done: done,
	})
}

func (l *load) readText(ctx context.Context) error {
	s := l.source
	file, err := s.open()
	if err != nil {
		return err
	}
	defer file.Close()
	l.size = file.size
	l.lines = 1
	format := s.textFormat()
	scanners, err := scanText(ctx, file, format, l.fields, s.Arity, s.Header, l.opts, func(r textRows) error {
		l.bytes = file.read.n.Load()
		return l.takeText(r)
	})
	if err != nil {
		return err
	}
	l.bytes = file.read.n.Load()
	l.report.Bytes = l.bytes
	return l.assemble(ctx, func(i int) (sources []dictSource) {
		for _, sc := range scanners {
			sc.strings[i].dropTable()
			sources = append(sources, sc.strings[i])
			sc.strings[i] = nil
		}
		return sources
	})
}

func (s *Source) textFormat() textFormat {
	return textFormat{delimiter: s.Delimiter, quotes: s.Format == CSV, escapes: s.Format == TSV}
}

func (l *load) takeText(r textRows) error {
	first := l.lines + r.header
	number := func(e *LoadError) *LoadError {
		e.File = l.source.Path
		e.Line += first
		return e
	}
	if r.err != nil {
		return number(r.err)
	}
	l.report.Skipped += r.skipped
	for _, e := range r.examples {
		if len(l.report.Examples) < maxExamples {
			l.report.Examples = append(l.report.Examples, number(e))
		}
	}
	if r.rows > 0 {
		l.spans = append(l.spans, lineSpan{row: l.rows, line: first, rowLines: r.rowLines})
		for i, c := range r.chunks {
			if err := l.hold(c.bytes()); err != nil {
				return err
			}
			d := &l.data[i]
			d.chunks = append(d.chunks, c)
			d.owner = append(d.owner, int32(r.worker))
		}
	}
	l.rows += int64(r.rows)
	if l.rows > maxRows {
		return fmt.Errorf("more than %d rows; a relation can not hold them", int64(maxRows))
	}
	l.report.Rows = l.rows
	l.lines = first + r.lines
	l.progress(false)
	return nil
}

// assemble makes the columns of all fields, few at once, so that the chunks of some are
// garbage when the next ones are made. The strings of a String field are numbered by its
// sources, one for each owner of a chunk.
func (l *load) assemble(ctx context.Context, sources func(field int) []dictSource) error {
	errs := make([]error, len(l.fields))
	inParallel(min(l.opts.threads(), columnsAtOnce), len(l.fields), func(i int) {
		errs[i] = l.assembleField(ctx, i, sources)
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

// columnsAtOnce is how many columns are put together at once: what a column does on one
// thread, such as to get its memory, others make up for.
const columnsAtOnce = 4

// assembleField makes the column of a field, in place of its chunks, and offers it to
// those that wait for columns.
func (l *load) assembleField(ctx context.Context, i int, sources func(field int) []dictSource) error {
	d := &l.data[i]
	var before int64
	for c := range d.chunks {
		before += d.chunks[c].bytes()
	}
	after, left, err := l.joinField(ctx, i, sources)
	if err != nil {
		return err
	}
	if err := l.hold(after - before); err != nil {
		return err
	}
	l.offer(i)
	l.memory.Lock()
	l.garbage += before + left
	collect := l.garbage > collectBytes
	if collect {
		l.garbage = 0
	}
	l.memory.Unlock()
	if collect {
		// Columns have no pointers, so that to collect costs next to nothing.
		goruntime.GC()
	}
	return nil
}

// joinField makes the column of a field, of size bytes with its dictionary, which leaves
// so many bytes of garbage beside the chunks. Dictionaries are made one after the other.
func (l *load) joinField(ctx context.Context, i int, sources func(field int) []dictSource) (size, garbage int64, err error) {
	threads := l.opts.threads()
	d, t := &l.data[i], l.fields[i].typ
	if t.Kind == scalar.String {
		l.merging.Lock()
		dict, remaps, err := mergeSources(ctx, threads, sources(i))
		l.merging.Unlock()
		if err != nil {
			return 0, 0, err
		}
		inParallel(threads, len(d.chunks), func(c int) { d.chunks[c].remap(remaps[d.owner[c]]) })
		d.column = assembleOwn(threads, dict, d.chunks)
		size = dict.Bytes()
		garbage = 2 * size // the strings as they were read, and what sorted them
	} else {
		d.column = assemble(threads, t, nil, d.chunks)
	}
	d.chunks, d.owner = nil, nil
	return size + d.column.Bytes(), garbage, nil
}

// offer hands a column out to who wants it before all of the source is read.
func (l *load) offer(i int) {
	if l.opts.Column == nil || len(l.data[i].nulls) > 0 {
		return
	}
	for u, use := range l.source.Uses {
		for arg, at := range l.args[u] {
			if at == i {
				l.opts.Column(use.Schema.Name, arg, l.data[i].column)
			}
		}
	}
}

// collectBytes is the size of what columns were made of from which it is collected at
// once.
const collectBytes = 256 << 20

// lineOf returns the line of a row, or its number from 1 where there are no lines.
func (l *load) lineOf(row int64) int64 {
	if l.byRow {
		return row + 1
	}
	i, ok := slices.BinarySearchFunc(l.spans, row, func(s lineSpan, row int64) int {
		return int(s.row - row)
	})
	if !ok {
		i--
	}
	s := &l.spans[i]
	if s.rowLines != nil {
		return s.line + int64(s.rowLines[row-s.row])
	}
	return s.line + row - s.row
}
