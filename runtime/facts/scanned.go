package facts

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Scanned returns the columns of facts that a plan reads, each once.
func Scanned(plan *queryplan.Plan, db *store.Database) []*store.Column {
	tables := map[string]*store.Table{}
	for _, t := range Tables(db) {
		tables[t.Name] = t
	}
	var out []*store.Column
	seen := map[*store.Column]bool{}
	for _, b := range plan.Blocks {
		for _, c := range b.Cmds {
			for _, s := range queryplan.Scans(queryplan.CommandNode(c)) {
				for _, column := range storedColumns(db, tables, s) {
					if !seen[column] {
						seen[column] = true
						out = append(out, column)
					}
				}
			}
		}
	}
	return out
}

// storedColumns returns the columns of facts that a scan reads.
func storedColumns(db *store.Database, tables map[string]*store.Table,
	s *queryplan.Scan) []*store.Column {
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
