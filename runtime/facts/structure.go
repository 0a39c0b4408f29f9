package facts

import (
	"fmt"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Structure describes the database that a binding will load, before anything is
// read: which predicates share a table, as its columns. A predicate has a table
// of its own if it comes from several files or if values of it may be missing.
// The only thing that Structure knows of the data is an upper bound on the
// number of rows. It assumes that no key repeats.
func Structure(b *read.Binding) *stats.Catalog {
	cat := &stats.Catalog{Relations: map[string]*stats.Relation{},
		Tables: map[string]*stats.Table{}}
	for _, s := range b.Schemas {
		cols := make([]int, len(s.Args))
		for i := range cols {
			cols[i] = i
		}
		rows := int64(math.MaxUint32)
		if !b.Fills(s.Name) {
			rows = 0
		}
		addStructure(cat, s.Name, rows, []read.Use{{Schema: s, Columns: cols}})
	}
	for i := range b.Sources {
		s := &b.Sources[i]
		rows, ok := s.Rows()
		if !ok || b.IsPart(i) {
			continue
		}
		shared := slices.DeleteFunc(slices.Clone(s.Uses), s.MayMiss)
		addStructure(cat, fmt.Sprintf("source %d: %s", i, s.Path), rows, shared)
	}
	return cat
}

// addStructure adds a table, and the predicates in it, to a catalogue.
func addStructure(cat *stats.Catalog, name string, rows int64, uses []read.Use) {
	table := &stats.Table{Name: name, Rows: rows}
	var stored []stored
	for _, u := range uses {
		rel := &stats.Relation{Name: u.Schema.Name, Rows: rows, Table: name}
		for i, c := range u.Columns {
			rel.Cols = append(rel.Cols, place(table, &stored, u.Schema.Args[i], c))
		}
		if table.Key == nil && u.Schema.Keys < len(rel.Cols) {
			table.Key = rel.Cols[:u.Schema.Keys]
		}
		cat.Relations[rel.Name] = rel
	}
	cat.Tables[name] = table
}

// stored identifies a column of a file, read as one type.
type stored struct {
	column int
	field  store.Field
}

// place returns the column of a table that has a column of a file.
func place(table *stats.Table, have *[]stored, f store.Field, column int) int {
	for i, s := range *have {
		if s.column == column && s.field.Type == f.Type {
			return i
		}
	}
	*have = append(*have, stored{column, f})
	c := stats.Column{Name: f.Name, Min: math.MinInt64, Max: math.MaxInt64}
	switch f.Type.Kind {
	case scalar.Uint:
		c.Min, c.Max = 0, -1 // as unsigned words
	case scalar.Float:
		c.Min = int64(math.Float64bits(-math.MaxFloat64))
		c.Max = int64(math.Float64bits(math.MaxFloat64))
	}
	table.Columns = append(table.Columns, c)
	return len(table.Columns) - 1
}

// Looks reports which arguments of stored predicates the scans of a plan read.
// The plan was made with the catalogue.
func Looks(plan *queryplan.Plan, cat *stats.Catalog) func(pred string, arg int) bool {
	type column struct {
		table string
		at    int
	}
	seen := map[column]bool{}
	for _, b := range plan.Blocks {
		for _, c := range b.Cmds {
			for _, s := range queryplan.Scans(queryplan.CommandNode(c)) {
				table, at := cat.Stored(s.Var)
				for i, name := range s.Names {
					if table != nil && name != "" {
						seen[column{table.Name, at[i]}] = true
					}
				}
			}
		}
	}
	return func(pred string, arg int) bool {
		rel := cat.Relation(pred)
		return rel == nil || seen[column{rel.Table, rel.Cols[arg]}]
	}
}
