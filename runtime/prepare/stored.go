package prepare

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Variable is a loaded variable of a plan, or relation of a kernel graph. Its
// fields are as in queryplan.Var.
type Variable struct {
	Name   string
	Kind   queryplan.VarKind // Input or Table
	Cols   []queryplan.Column
	Source string
	Stored []int
}

// Stored finds the columns of a variable and the number of its rows. Facts that
// are missing, and facts that are nil, have no rows: then all columns are nil.
// The error says that the facts do not have the variable's columns.
func Stored(facts *store.Database, v Variable) (cols []*store.Column, rows int, err error) {
	cols = make([]*store.Column, len(v.Cols))
	table, stored := find(facts, v)
	if table == nil {
		return cols, 0, nil
	}
	if len(stored) != len(v.Cols) {
		return nil, 0, fmt.Errorf("%s has %d columns in the program and %d in the facts", v.Name,
			len(v.Cols), len(stored))
	}
	for i, s := range stored {
		cols[i] = table.Columns[s]
		if got, want := cols[i].Type, v.Cols[i].Type; got != want {
			return nil, 0, fmt.Errorf("column %s of %s is %s in the program and %s in the facts",
				v.Cols[i].Name, v.Name, want, got)
		}
	}
	return cols, table.Rows, nil
}

// TableOf returns the table that holds a variable, or nil.
func TableOf(facts *store.Database, v Variable) *store.Table {
	table, _ := find(facts, v)
	return table
}

// find returns the table of a variable, nil if there is none, and the places of
// its columns.
func find(facts *store.Database, v Variable) (*store.Table, []int) {
	switch {
	case facts == nil:
	case v.Kind == queryplan.Input:
		if rel := facts.Relation(v.Source); rel != nil {
			return rel.Table, rel.Cols
		}
	default:
		for _, rel := range facts.Relations() {
			if rel.Table.Name == v.Source {
				return rel.Table, v.Stored
			}
		}
	}
	return nil, nil
}

// Bounds bounds the words of a loaded column, which may be nil. Those of a
// String column are the codes that it has now.
func Bounds(c *store.Column) interval.Interval {
	switch {
	case c == nil || c.Len() == 0 && !c.Stats.Bounded:
		return interval.None
	case c.Width == 0:
		return interval.Of(c.Base)
	case c.Type.Kind == scalar.Float:
		return interval.All
	case c.Stats.Min > c.Stats.Max:
		// Uints on both sides of the sign bit.
		return interval.All
	}
	return interval.Interval{Lo: c.Stats.Min, Hi: c.Stats.Max}
}
