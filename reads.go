package redfox

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// FactBytes returns the size of what a run reads of the facts: each column that the plan
// scans, once, as it is stored. It is the least that a run has to bring from memory.
// Dictionaries of strings are not counted.
func (q *Prepared) FactBytes() int64 {
	tables := map[string]*store.Table{}
	for _, t := range tablesOf(q.db.store) {
		tables[t.Name] = t
	}
	seen := map[*store.Column]bool{}
	bytes := int64(0)
	for _, b := range q.plan.Blocks {
		for _, c := range b.Cmds {
			for _, s := range queryplan.Scans(queryplan.CommandNode(c)) {
				for _, column := range storedColumns(q.db.store, tables, s) {
					if !seen[column] {
						seen[column] = true
						bytes += column.Bytes()
					}
				}
			}
		}
	}
	return bytes
}

// storedColumns returns the columns of facts that a scan reads.
func storedColumns(db *store.Database, tables map[string]*store.Table, s *queryplan.Scan) []*store.Column {
	var out []*store.Column
	rel, table := db.Relation(s.Var.Source), tables[s.Var.Source]
	for i, name := range s.Names {
		switch {
		case name == "": // it is left out
		case s.Var.Kind == queryplan.Input && rel != nil:
			out = append(out, rel.Column(i))
		case s.Var.Kind == queryplan.Table && table != nil:
			out = append(out, table.Columns[s.Var.Stored[i]])
		}
	}
	return out
}

// Reads lists the predicates whose facts a run reads that computes all of the program's
// outputs, by name.
func (p *Program) Reads() ([]string, error) {
	needed, _, err := p.needed(nil)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(needed)), nil
}
