package facts

import (
	"context"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// LateRead describes a read of strings after a run.
type LateRead struct {
	File, Column string
	Rows         int   // that the answer shows
	Bytes        int64 // of the file
	Elapsed      time.Duration
}

// Show replaces the row numbers of an output by their strings. Tuples that
// become equal are merged.
func (l *LatePlan) Show(ctx context.Context, name string, rel *store.Relation, threads int) (
	*store.Relation, []LateRead, error) {
	strings := l.Outputs[name]
	if strings == nil {
		return rel, nil, nil
	}
	var reads []LateRead
	table := &store.Table{Name: rel.Table.Name, Names: rel.Names(), Rows: rel.Rows()}
	out := &store.Relation{Name: rel.Name, Table: table, Keys: rel.Keys}
	for i, from := range strings {
		c := rel.Column(i)
		if from != nil {
			var read LateRead
			var err error
			if c, read, err = readLate(ctx, c, from, threads); err != nil {
				return nil, nil, err
			}
			reads = append(reads, read)
		}
		table.Columns = append(table.Columns, c)
		out.Cols = append(out.Cols, i)
	}
	with := store.Sorting{Threads: threads, What: "repeated tuples of " + name}
	keep, err := store.FirstOfEach(ctx, with, table.Columns, table.Rows)
	if err != nil || keep == nil {
		return out, reads, err
	}
	for i, c := range table.Columns {
		table.Columns[i] = c.Select(keep)
	}
	table.Rows = len(keep)
	return out, reads, nil
}

// readLate returns the strings for a column of row numbers.
func readLate(ctx context.Context, numbers *store.Column, from store.LateStrings, threads int) (
	*store.Column, LateRead, error) {
	start := time.Now()
	words := make([]int64, numbers.Len())
	numbers.Read(words, 0)
	rows, place := distinctRows(words)
	read := LateRead{File: from.File(), Column: from.Name(), Rows: len(rows)}
	c, bytes, err := from.ReadRows(ctx, threads, rows)
	if err != nil {
		return nil, read, err
	}
	for i, w := range words {
		words[i] = c.Word(place(w))
	}
	read.Bytes, read.Elapsed = bytes, time.Since(start)
	return store.ColumnOf(scalar.StringType, words, c.Dict), read, nil
}

// fewRows bounds the span of row numbers, in multiples of their count, up to
// which a table over the span is faster than sorting.
const fewRows = 16

// distinctRows returns the different row numbers, ascending, and a function
// that gives the place of each.
func distinctRows(numbers []int64) (rows []uint32, place func(number int64) int) {
	if len(numbers) == 0 {
		return nil, nil
	}
	first, last := slices.Min(numbers), slices.Max(numbers)
	if last-first >= fewRows*int64(len(numbers)) {
		for _, n := range numbers {
			rows = append(rows, uint32(n))
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
		return rows, func(n int64) int {
			at, _ := slices.BinarySearch(rows, uint32(n))
			return at
		}
	}
	const there = 1
	places := make([]uint32, last-first+1)
	for _, n := range numbers {
		places[n-first] = there
	}
	for i, p := range places {
		if p == there {
			places[i] = uint32(len(rows))
			rows = append(rows, uint32(first)+uint32(i))
		}
	}
	return rows, func(n int64) int { return int(places[n-first]) }
}

// ReadWhole returns the database with strings in place of row numbers in the
// given columns.
func ReadWhole(ctx context.Context, db *store.Database, columns []*store.Column, threads int) (
	*store.Database, error) {
	tables := map[*store.Table]*store.Table{}
	for _, t := range Tables(db) {
		if !slices.ContainsFunc(t.Columns,
			func(c *store.Column) bool { return slices.Contains(columns, c) }) {
			continue
		}
		whole := &store.Table{Name: t.Name, Names: t.Names, Rows: t.Rows,
			Columns: slices.Clone(t.Columns)}
		for i, c := range whole.Columns {
			if !slices.Contains(columns, c) {
				continue
			}
			strings, _, err := readLate(ctx, c, c.Late, threads)
			if err != nil {
				return nil, err
			}
			whole.Columns[i] = strings
		}
		tables[t] = whole
	}
	out := store.NewDatabase()
	for _, r := range db.Relations() {
		if whole := tables[r.Table]; whole != nil {
			of := *r
			of.Table = whole
			r = &of
		}
		out.Put(r)
	}
	return out, nil
}

// IsLate reports whether columns of a database have row numbers in place of
// strings.
func IsLate(db *store.Database) bool {
	for _, t := range Tables(db) {
		if slices.ContainsFunc(t.Columns, func(c *store.Column) bool { return c.Late != nil }) {
			return true
		}
	}
	return false
}
