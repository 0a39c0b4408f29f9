package columns

import (
	"github.com/redfoxdb/redfox/internal/bounds"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Columns are what is known of the columns of a plan's variables, stored
// columns included, before a run reads a row.
type Columns struct {
	Stored map[*queryplan.Var][]*store.Column // of Input and Table variables
	Rows   map[*queryplan.Var]int
	Dicts  *dictionaries
	Ranges bounds.Columns[*queryplan.Var]
}

// Bind finds the stored columns of a plan, the dictionaries and the bounds. A
// relation that is missing is empty. Threads recode columns of strings.
func Bind(
	mem *work.Memory, p *queryplan.Plan, facts *store.Database, threads int,
) (*Columns, error) {
	c := &Columns{Stored: map[*queryplan.Var][]*store.Column{}, Rows: map[*queryplan.Var]int{}}
	for _, v := range p.Vars {
		if v.Kind != queryplan.Input && v.Kind != queryplan.Table {
			continue
		}
		cols, rows, err := prepare.Stored(facts,
			prepare.Variable{Name: v.Name, Kind: v.Kind, Cols: v.Cols, Source: v.Source,
				Stored: v.Stored})
		if err != nil {
			return nil, err
		}
		c.Stored[v], c.Rows[v] = cols, rows
	}
	var err error
	if c.Dicts, err = findDictionaries(mem, p, c.Stored); err != nil {
		return nil, err
	}
	for v, cols := range c.Stored {
		for i, col := range cols {
			d := c.Dicts.Vars[v][i]
			if col == nil || d == nil {
				continue
			}
			var copied bool
			if cols[i], copied = d.Recode(col, threads); copied {
				if err := mem.Reserve(v.Name, cols[i].Bytes()); err != nil {
					return nil, err
				}
			}
		}
	}
	c.Ranges = findRanges(p, c.Dicts, c.Stored)
	return c, nil
}

// Of returns the columns of a variable, which occupy slots in their order.
func (c *Columns) Of(v *queryplan.Var) []Column {
	out := make([]Column, len(v.Cols))
	for i, col := range v.Cols {
		out[i] = Column{Name: col.Name, Slot: i, Type: col.Type, Dict: c.Dicts.Vars[v][i],
			Bound: c.Ranges[v][i]}
	}
	return out
}
