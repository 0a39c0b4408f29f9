package store

import (
	"context"
	"fmt"
	"slices"
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
	bytes   int64 // read of the file so far
	size    int64

	fields []field
	args   [][]int // the field of each argument of each use
	data   []fieldData
	rows   int64
	held   int64 // bytes reserved

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
	for i, f := range l.fields {
		var sources []dictSource
		if f.typ.Kind == scalar.String {
			for _, sc := range scanners {
				sources = append(sources, sc.strings[i])
				sc.strings[i].dropTable()
			}
		}
		if err := l.assemble(i, sources); err != nil {
			return err
		}
	}
	return nil
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

// assemble makes the column of a field. The strings of a String field are
// numbered by the sources.
func (l *load) assemble(i int, sources []dictSource) error {
	d, t := &l.data[i], l.fields[i].typ
	var dict *Dict
	if t.Kind == scalar.String {
		var remaps [][]uint32
		dict, remaps = mergeSources(sources)
		if err := l.hold(dict.Bytes()); err != nil {
			return err
		}
		inParallel(l.opts.threads(), len(d.chunks), func(c int) {
			d.chunks[c].remap(remaps[d.owner[c]])
		})
	}
	var chunked int64
	for c := range d.chunks {
		chunked += d.chunks[c].bytes()
	}
	// The chunks are given up as the column grows.
	d.column = assemble(t, dict, d.chunks)
	d.chunks, d.owner = nil, nil
	return l.hold(d.column.Bytes() - chunked)
}

// lineOf returns the line of a row, or its number from 1 in a file without lines.
func (l *load) lineOf(row int64) int64 {
	if l.source.Format == Parquet {
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
