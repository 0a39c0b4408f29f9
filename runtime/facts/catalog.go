package facts

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Catalog describes a database to the optimiser.
func Catalog(db *store.Database) *stats.Catalog {
	cat := &stats.Catalog{Relations: map[string]*stats.Relation{},
		Tables: map[string]*stats.Table{}}
	for _, t := range Tables(db) {
		cat.Tables[t.Name] = tableStats(t)
	}
	for _, r := range db.Relations() {
		table := cat.Tables[r.Table.Name]
		if table.Key == nil && r.Keys < len(r.Cols) {
			table.Key = r.Cols[:r.Keys]
		}
		cat.Relations[r.Name] = &stats.Relation{Name: r.Name, Rows: int64(r.Rows()),
			Table: r.Table.Name, Cols: r.Cols}
	}
	return cat
}

func tableStats(t *store.Table) *stats.Table {
	sample := t.Sample()
	out := &stats.Table{Name: t.Name, Rows: int64(t.Rows),
		Sample: &stats.Sample{Rows: sample.Rows, Data: &tableData{table: t, sample: sample}}}
	for i, c := range t.Columns {
		of := sample.Columns[i]
		col := stats.Column{Name: t.Names[i], Min: c.Stats.Min, Max: c.Stats.Max,
			Distinct:  c.Stats.Distinct,
			Ascending: c.Stats.Ascending, Equal: of.Equal, Rising: of.Rising}
		for _, top := range of.Top {
			col.Top = append(col.Top, stats.Frequent{Value: c.ValueOf(top.Word), Share: top.Share})
		}
		out.Columns = append(out.Columns, col)
	}
	return out
}

// tableData gives the optimiser entries of a table.
type tableData struct {
	table  *store.Table
	sample *store.Sample

	mu    sync.Mutex
	words map[entryPlace]int64 // of encoded columns, outside of the sample
}

// entryPlace is a row of a column.
type entryPlace struct{ column, row int }

// Value returns an entry. Entries of the sample do not touch the column, which
// may lie in a file that is not read yet.
func (d *tableData) Value(column, row int) scalar.Value {
	c := d.table.Columns[column]
	if at, ok := slices.BinarySearch(d.sample.Rows, row); ok && !c.Absent {
		return c.ValueOf(d.sample.Columns[column].Words[at])
	}
	if c.IsDecoded() {
		return c.Value(row)
	}
	d.Expect(column, []int{row})
	d.mu.Lock()
	defer d.mu.Unlock()
	return c.ValueOf(d.words[entryPlace{column, row}])
}

// Expect reads rows of an encoded column, which is not decoded for that. If it
// cannot be read, they have its least word: the run will say what is wrong.
func (d *tableData) Expect(column int, rows []int) {
	c := d.table.Columns[column]
	if c.IsDecoded() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var more []uint32
	for _, row := range rows {
		_, isSampled := slices.BinarySearch(d.sample.Rows, row)
		if _, ok := d.words[entryPlace{column, row}]; !ok && !isSampled {
			more = append(more, uint32(row))
		}
	}
	if len(more) == 0 {
		return
	}
	slices.Sort(more)
	more = slices.Compact(more)
	words, err := c.ReadRows(more)
	if d.words == nil {
		d.words = map[entryPlace]int64{}
	}
	for i, row := range more {
		word := c.Stats.Min
		if err == nil {
			word = words[i]
		}
		d.words[entryPlace{column, int(row)}] = word
	}
}

// Find returns which rows have values in a column whose entries ascend; none if
// the column cannot be read, as the run will say what is wrong.
func (d *tableData) Find(column int, values []scalar.Value) []stats.RowRange {
	out := make([]stats.RowRange, len(values))
	found, err := d.table.Columns[column].FindAll(values)
	for i := range found {
		if err == nil {
			out[i] = stats.RowRange(found[i])
		}
	}
	return out
}

// Fingerprint identifies a catalogue for plan caches: catalogues from which
// different plans may follow have different fingerprints. Of the samples, only
// the most frequent words count.
func Fingerprint(cat *stats.Catalog) string {
	h := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(cat.Relations)) {
		fmt.Fprintln(h, *cat.Relations[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cat.Tables)) {
		t := cat.Tables[name]
		fmt.Fprintln(h, t.Name, t.Rows, t.Key, t.Columns)
	}
	return fmt.Sprintf("%x", h.Sum64())
}
