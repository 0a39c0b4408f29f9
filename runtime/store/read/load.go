package read

import (
	"cmp"
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// load is the state of loading one source.
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
	// constants are the fields of the source's parts. They are appended to the
	// fields after the rows are read.
	constants []field
	names     []string // the names of the fields in messages
	args      [][]int  // the field of each argument of each use
	data      []fieldData
	rows      int64

	ledger  *store.Ledger
	memory  sync.Mutex // for garbage
	garbage int64      // bytes that became garbage since the last collection
	merging sync.Mutex // held by the goroutine that makes a dictionary

	// bad lists the rows of a Parquet file that are left out, in ascending
	// order.
	bad []uint32
	// identity identifies the contents of a Parquet file; "" if it is unknown.
	// proofs holds the proofs of keys, by their fields.
	identity string
	proofs   map[string][]store.ColumnStats
	assumed  bool    // keys count as proven, because they are about to be
	absent   []bool  // the fields that are not read
	tests    []*Test // of fields, that rows must pass

	// spans maps the rows of a text file to its lines.
	spans []lineSpan
	lines int64 // of the text so far
}

// fieldData holds the chunks of a field, in the order of the file.
type fieldData struct {
	chunks []store.Chunk
	owner  []int32 // of each String chunk: whose interner numbered the strings
	nulls  []uint32
	column *store.Column
	// filler holds all rows; nil if chunks do
	filler    *store.Filler
	mayAscend bool
	sample    store.ColumnSample // of a column that stays encoded
}

// lineSpan is the rows of one text block.
type lineSpan struct {
	row, line int64 // of the first; lines from 1
	rowLines  []uint32
}

// plan lists the fields to read: each column of the file once for each type
// that it is wanted in.
func (l *load) plan() {
	for _, u := range l.source.Uses {
		args := make([]int, len(u.Columns))
		for i, c := range u.Columns {
			typ := u.Schema.Args[i].Type
			nullable := u.Schema.Keys < len(u.Columns) && i >= u.Schema.Keys
			list := &l.fields
			if c >= firstPart {
				list = &l.constants
			}
			at := slices.IndexFunc(*list, func(f field) bool {
				return f.index == c && f.typ == typ
			})
			if at < 0 {
				name := u.Schema.Args[i].Name
				if c >= 0 && c < len(l.source.Columns) {
					name = l.source.Columns[c]
				}
				at = len(*list)
				*list = append(*list, field{index: c, name: name, typ: typ, nullable: nullable})
			}
			(*list)[at].nullable = (*list)[at].nullable && nullable
			if args[i] = at; c >= firstPart {
				args[i] += firstPart
			}
		}
		l.args = append(l.args, args)
	}
	for _, args := range l.args {
		for i, at := range args {
			if at >= firstPart {
				args[i] = at - firstPart + len(l.fields)
			}
		}
	}
	l.data = make([]fieldData, len(l.fields))
	for _, f := range l.fields {
		l.names = append(l.names, fmt.Sprintf("column %s of %s", f.name, l.source.Path))
	}
}

// maxRows bounds a table, because row numbers have 32 bits.
const maxRows = 1<<32 - 1

// newInterner returns the interner of a field of strings.
func (l *load) newInterner(i int) *store.Interner {
	return store.NewInterner(l.ledger, l.names[i])
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

// read reads the fields.
func (l *load) read(ctx context.Context) error {
	switch l.source.Format {
	case Parquet:
		return l.readParquet(ctx)
	case Arrow:
		return l.readArrow(ctx)
	case SQLite:
		return l.readSQLite(ctx)
	}
	return l.readText(ctx)
}

func (l *load) readText(ctx context.Context) error {
	s := l.source
	file, err := s.open(ctx, l.ledger)
	if err != nil {
		return err
	}
	defer file.Close()
	l.size = file.size
	l.lines = 1
	format := s.textFormat()
	format.null = l.opts.Null
	scanners, err := l.scanText(ctx, file, format, func(r textRows) error {
		l.bytes = file.read.n.Load()
		return l.takeText(r)
	})
	l.ledger.Give(file.window)
	if err != nil {
		return err
	}
	l.bytes = file.read.n.Load()
	l.report.Bytes = l.bytes
	return l.assemble(ctx, func(i int) (sources []*store.Interner) {
		for _, sc := range scanners {
			sc.strings[i].DropTable()
			sources = append(sources, sc.strings[i])
			sc.strings[i] = nil
		}
		return sources
	})
}

func (s *Source) textFormat() textFormat {
	return textFormat{delimiter: s.Delimiter, quotes: s.Format == CSV, escapes: s.Format == TSV,
		json: s.Format == JSON}
}

func (l *load) takeText(r textRows) error {
	first, before := l.lines+r.header, l.rows+l.report.Skipped
	number := func(e *LoadError) *LoadError {
		e.File = l.source.Path
		e.at(first, before)
		if e.missing {
			e.Help = l.missingHelp(e.field)
		} else if e.refused != "" {
			e.Help = l.textHelp(e.field, e.refused)
		}
		return e
	}
	if r.failed != nil {
		return r.failed
	}
	if r.err != nil {
		return number(r.err)
	}
	l.report.Skipped += r.skipped
	for _, e := range r.examples {
		l.report.AddExample(number(e))
	}
	if r.rows > 0 {
		if err := l.ledger.Take("the line numbers of "+l.source.Path,
			4*int64(cap(r.rowLines))); err != nil {
			return err
		}
		l.spans = append(l.spans, lineSpan{row: l.rows, line: first, rowLines: r.rowLines})
		for i, c := range r.chunks {
			if err := l.ledger.Keep(l.names[i], &c); err != nil {
				return err
			}
			d := &l.data[i]
			d.chunks = append(d.chunks, c)
			d.owner = append(d.owner, int32(r.worker))
			if err := l.ledger.Take(l.names[i], 4*int64(len(r.nulls[i]))); err != nil {
				return err
			}
			for _, row := range r.nulls[i] {
				d.nulls = append(d.nulls, uint32(l.rows)+row)
			}
		}
	}
	l.rows += int64(r.rows)
	if l.rows > maxRows {
		return fmt.Errorf("more than %d rows; a relation cannot hold them", int64(maxRows))
	}
	l.report.Rows = l.rows
	l.lines = first + r.lines
	l.progress(false)
	return nil
}

// assemble turns the chunks of all fields into columns. It works on few fields
// at a time, so that their chunks are garbage before the next columns are made.
// The strings of a String field are numbered by its sources, one for each owner
// of a chunk.
func (l *load) assemble(ctx context.Context, sources func(field int) []*store.Interner) error {
	errs := make([]error, len(l.fields))
	parallel.Do(min(l.opts.threads(), columnsAtOnce), len(l.fields), func(i int) {
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

// columnsAtOnce is the number of columns that are assembled at the same time.
// Parts of the work on one column are serial, such as getting its memory; other
// columns fill these gaps.
const columnsAtOnce = 4

// assembleField replaces the chunks of a field by its column, and offers the
// column to those that wait for it.
func (l *load) assembleField(
	ctx context.Context, i int, sources func(field int) []*store.Interner,
) error {
	garbage, err := l.joinField(ctx, i, sources)
	if err != nil {
		return err
	}
	l.offer(i)
	l.memory.Lock()
	l.garbage += garbage
	collect := l.garbage > collectBytes
	if collect {
		l.garbage = 0
	}
	l.memory.Unlock()
	if collect {
		// Columns contain no pointers, so a collection is cheap.
		goruntime.GC()
	}
	return nil
}

// joinField joins the chunks of a field into a column and returns how many
// bytes became garbage. Dictionaries are built one at a time.
func (l *load) joinField(
	ctx context.Context, i int, sources func(field int) []*store.Interner,
) (garbage int64, err error) {
	threads, what := l.opts.threads(), l.names[i]
	d, t := &l.data[i], l.fields[i].typ
	if d.filler != nil {
		d.column, d.filler = d.filler.Finish(threads, d.mayAscend, !l.isComputed(i)), nil
		return 0, nil
	}
	var dict *store.Dict
	if t.Kind == scalar.String {
		l.merging.Lock()
		merged, err := store.MergeInterners(ctx, threads, sources(i), l.ledger, what)
		l.merging.Unlock()
		if err != nil {
			return 0, err
		}
		dict = merged.Dict
		err = l.remap(threads, what, d, merged.Remaps)
		merged.Release()
		if err != nil {
			return 0, err
		}
		garbage = 2 * dict.Bytes() // the strings as read, and the memory that sorted them
	}
	before := chunkBytes(d.chunks)
	if d.column, err = store.Join(threads, t, dict, d.chunks, l.ledger, what); err != nil {
		return 0, err
	}
	l.ledger.Give(before)
	d.chunks, d.owner = nil, nil
	return garbage + before, nil
}

// remap replaces the codes in chunks of strings by those of the dictionary.
func (l *load) remap(
	threads int, what string, d *fieldData, remaps [][]uint32,
) error {
	errs := make([]error, len(d.chunks))
	parallel.Do(threads, len(d.chunks), func(i int) {
		c := &d.chunks[i]
		before := c.Bytes()
		c.Remap(remaps[d.owner[i]])
		if errs[i] = l.ledger.Keep(what, c); errs[i] == nil {
			l.ledger.Give(before)
		}
	})
	return cmp.Or(errs...)
}

func chunkBytes(chunks []store.Chunk) (n int64) {
	for i := range chunks {
		n += chunks[i].Bytes()
	}
	return n
}

// offer passes a column on to those that use it before the whole source is
// read.
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

// collectBytes is the amount of garbage that starts a collection.
const collectBytes = 256 << 20

// lineOf returns the line of a row. Without lines, it returns the number of the
// row, from 1.
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
