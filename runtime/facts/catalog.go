package facts

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

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
		Sample: &stats.Sample{Rows: sample.Rows, Data: tableData{t, sample}}}
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
}

// Value returns an entry. Entries of the sample do not touch the column, which
// may lie in a file that is not read yet.
func (d tableData) Value(column, row int) scalar.Value {
	c := d.table.Columns[column]
	if at, ok := slices.BinarySearch(d.sample.Rows, row); ok && !c.Absent {
		return c.ValueOf(d.sample.Columns[column].Words[at])
	}
	return c.Value(row)
}

func (d tableData) Find(column int, v scalar.Value) (from, until int) {
	return d.table.Columns[column].Find(v)
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
