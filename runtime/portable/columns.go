package portable

import (
	"github.com/redfoxdb/redfox/internal/bounds"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// columns are what is known of the columns of a plan's variables, stored columns
// included, before a run reads a row.
type columns struct {
	stored map[*queryplan.Var][]*store.Column // of Input and Table variables
	rows   map[*queryplan.Var]int
	dicts  *dictionaries
	ranges bounds.Columns[*queryplan.Var]
}

// bind finds the stored columns of a plan, the dictionaries and the bounds. A
// relation that is missing is empty.
func bind(mem *memory, p *queryplan.Plan, facts *store.Database) (*columns, error) {
	c := &columns{stored: map[*queryplan.Var][]*store.Column{}, rows: map[*queryplan.Var]int{}}
	for _, v := range p.Vars {
		if v.Kind != queryplan.Input && v.Kind != queryplan.Table {
			continue
		}
		cols, rows, err := prepare.Stored(facts, prepare.Variable{Name: v.Name, Kind: v.Kind, Cols: v.Cols, Source: v.Source, Stored: v.Stored})
		if err != nil {
			return nil, err
		}
		c.stored[v], c.rows[v] = cols, rows
	}
	var err error
	if c.dicts, err = findDictionaries(mem, p, c.stored); err != nil {
		return nil, err
	}
	for v, cols := range c.stored {
		for i, col := range cols {
			d := c.dicts.vars[v][i]
			if col == nil || d == nil {
				continue
			}
			var copied bool
			if cols[i], copied = d.Recode(col); copied {
				if err := mem.Reserve(v.Name, cols[i].Bytes()); err != nil {
					return nil, err
				}
			}
		}
	}
	c.ranges = findRanges(p, c.dicts, c.stored)
	return c, nil
}

// of returns the columns of a variable, which occupy slots in their order.
func (c *columns) of(v *queryplan.Var) []binding {
	out := make([]binding, len(v.Cols))
	for i, col := range v.Cols {
		out[i] = binding{name: col.Name, slot: i, typ: col.Type, dict: c.dicts.vars[v][i], rng: c.ranges[v][i]}
	}
	return out
}
