package starprog

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Column is a column of a table. Columns of one domain have values in common,
// so that joins and comparisons between them find something.
type Column struct {
	Name   string
	Type   scalar.Type
	Domain int
	Key    bool
	// Missing says that some values may be missing. Keys never are.
	Missing bool
}

// Cell is one value of a table, or none.
type Cell struct {
	Value   scalar.Value
	Missing bool
}

// Storage is how a table is handed over.
type Storage uint8

// A table is one Parquet file, one CSV file with a header, or a CSV file for
// each of its predicates.
const (
	Parquet Storage = iota
	CSV
	CSVPerPredicate
)

// Table is a dimension or a fact table. Its key columns come first, and no two
// rows have the same key.
type Table struct {
	Name    string
	Columns []Column
	Rows    [][]Cell
	Storage Storage
	// RowGroup is how many rows a row group of the Parquet file has.
	RowGroup int
}

// Keys returns the number of key columns.
func (t *Table) Keys() int {
	n := slices.IndexFunc(t.Columns, func(c Column) bool { return !c.Key })
	if n < 0 {
		return len(t.Columns)
	}
	return n
}

// column returns the index of a column, or -1.
func (t *Table) column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// Data is a set of tables.
type Data struct{ Tables []*Table }

// Table returns the table of a name, or nil.
func (d *Data) Table(name string) *Table {
	i := slices.IndexFunc(d.Tables, func(t *Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return d.Tables[i]
}

// Tuples returns what the files hand to a stored predicate: a tuple for each
// row in which no column of the predicate is missing. Tuples of predicates
// without the table's keys may repeat.
func (d *Data) Tuples(p *Pred) [][]scalar.Value {
	t := d.Table(p.Table)
	if t == nil {
		return nil
	}
	at := make([]int, len(p.Columns))
	for i, name := range p.Columns {
		if at[i] = t.column(name); at[i] < 0 {
			return nil
		}
	}
	var out [][]scalar.Value
	for _, row := range t.Rows {
		tuple := make([]scalar.Value, 0, len(at))
		for _, c := range at {
			if !row[c].Missing {
				tuple = append(tuple, row[c].Value)
			}
		}
		if len(tuple) == len(at) {
			out = append(out, tuple)
		}
	}
	return out
}
