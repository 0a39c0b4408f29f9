package byrows

import (
	"strings"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Step is pieces of a plan that run together.
type Step struct {
	Pieces []segments.Piece
	All    bool // they are the whole plan
	Seg    *segments.Segment
	// Rows says how the step is divided by the rows of Table. Both are nil if
	// it is not.
	Rows  *parts.Rows
	Table *store.Table
}

// Steps returns the steps of a plan over facts: a single one if all of the plan
// can be divided, else one for each piece that can be divided and one for each
// run of pieces between them. parts is the number of parts of a divided step.
func Steps(plan *queryplan.Plan, facts *store.Database, parts int) []*Step {
	cuts := segments.Cut(plan)
	steps := cut(cuts, facts, parts)
	for _, s := range steps {
		s.All = len(steps) == 1
	}
	if len(steps) == 1 {
		steps[0].Seg = Whole(plan).Seg
	}
	return steps
}

// Whole returns the plan as one step that is not divided.
func Whole(plan *queryplan.Plan) *Step {
	return &Step{Pieces: segments.Cut(plan).Pieces, All: true, Seg: &segments.Segment{Plan: plan}}
}

func cut(cuts *segments.Cuts, facts *store.Database, parts int) (steps []*Step) {
	step := func(from, until int) *Step {
		return &Step{Pieces: cuts.Pieces[from:until], Seg: cuts.Segment(from, until)}
	}
	all := len(cuts.Pieces)
	if all == 0 {
		return nil
	}
	if s := step(0, all); s.Divide(facts, parts) {
		return []*Step{s}
	}
	whole := -1 // where a step that is not divided begins
	end := func(at int) {
		if whole >= 0 {
			steps, whole = append(steps, step(whole, at)), -1
		}
	}
	for at := range all {
		if s := step(at, at+1); s.Divide(facts, parts) {
			end(at)
			steps = append(steps, s)
		} else if whole < 0 {
			whole = at
		}
	}
	end(all)
	return steps
}

// Divide chooses the table by whose rows a step is divided, into a number of
// parts. It returns false if there is none.
func (s *Step) Divide(facts *store.Database, count int) bool {
	// The parts have variables of their own.
	if s.Rows, _ = parts.ByRows(s.Seg.Plan, count, tables(facts)); s.Rows == nil {
		return false
	}
	if s.Table = TableOf(facts, s.Rows.Of); s.Table == nil || s.Table.Rows < 2 {
		s.Rows, s.Table = nil, nil
	}
	return s.Rows != nil
}

// TableOf returns the table that stores a variable, or nil.
func TableOf(facts *store.Database, v *queryplan.Var) *store.Table {
	return prepare.TableOf(facts, stored(v))
}

func stored(v *queryplan.Var) prepare.Variable {
	return prepare.Variable{Name: v.Name, Kind: v.Kind, Cols: v.Cols, Source: v.Source,
		Stored: v.Stored}
}

// tables maps variables to the tables that store them. A variable that is not
// among the facts has a table for its source.
func tables(facts *store.Database) func(*queryplan.Var) parts.Stored {
	return func(v *queryplan.Var) parts.Stored {
		if t := TableOf(facts, v); t != nil {
			return parts.Stored{Table: t, Rows: t.Rows}
		}
		return parts.Stored{Table: v.Source,
			Derived: strings.HasPrefix(v.Source, segments.Source(""))}
	}
}

// Explain describes, for people, how a plan over facts is divided. Facts may be
// nil if they are not known. What every part computes for itself is said to be
// each.
func Explain(p *queryplan.Plan, facts *store.Database, each string) string {
	return parts.ExplainRows(p, tables(facts), each)
}

// Column is a column of facts that a step reads.
type Column struct {
	*store.Column
	Rows    int
	Divided bool // it is of the table by whose rows the step is divided
}

// Columns lists the columns of facts that a step reads, each once. If the step
// is divided, they are those that a part reads.
func (s *Step) Columns(facts *store.Database) (list []Column, err error) {
	plan := s.Seg.Plan
	if s.Rows != nil {
		plan = s.Rows.Part
	}
	seen := map[*store.Column]bool{}
	for _, c := range plan.Commands() {
		for _, scan := range queryplan.Scans(queryplan.CommandNode(c)) {
			v := scan.Var
			if v.Kind != queryplan.Input && v.Kind != queryplan.Table {
				continue
			}
			cols, rows, err := prepare.Stored(facts, stored(v))
			if err != nil {
				return nil, err
			}
			divided := s.Rows != nil && TableOf(facts, v) == s.Table
			for i, c := range cols {
				if scan.Names[i] != "" && c != nil && !seen[c] && c.Width > 0 {
					seen[c] = true
					list = append(list, Column{c, rows, divided})
				}
			}
		}
	}
	return list, nil
}

// Slice returns a table of some of the rows of another one.
func Slice(t *store.Table, from, until int) *store.Table {
	out := &store.Table{Name: t.Name, Names: t.Names, Rows: until - from}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, c.Slice(from, until))
	}
	return out
}

// With returns facts in which a table stands in the place of another one.
func With(facts *store.Database, table, place *store.Table) *store.Database {
	db := store.NewDatabase()
	for _, rel := range facts.Relations() {
		if rel.Table == place {
			other := *rel
			other.Table = table
			rel = &other
		}
		db.Put(rel)
	}
	return db
}

func copied(facts *store.Database) *store.Database {
	db := store.NewDatabase()
	for _, rel := range facts.Relations() {
		db.Put(rel)
	}
	return db
}

// Facts returns the facts of a step: base, and the relations of earlier steps
// that it needs.
func (s *Step) Facts(base *store.Database, derived map[string]*store.Relation) *store.Database {
	if len(s.Seg.Needs) == 0 {
		return base
	}
	db := copied(base)
	for _, name := range s.Seg.Needs {
		rel := *derived[name]
		rel.Name = segments.Source(name)
		db.Put(&rel)
	}
	return db
}

// Partial returns the facts of a step's merge: those of the step, and the
// outputs of its parts, in order. rows is the number of tuples of the latter.
func Partial(facts *store.Database, outputs []map[string]*store.Relation) (
	db *store.Database, rows int) {
	db = copied(facts)
	for i, of := range outputs {
		for name, rel := range of {
			part := *rel
			rows += rel.Rows()
			part.Name = parts.PartSource(i, name)
			db.Put(&part)
		}
	}
	return db, rows
}
