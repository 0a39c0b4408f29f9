package driver

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/answer"
)

// Predicate describes one predicate of a program.
type Predicate struct {
	Name     string
	Path     string // the name with its block before it, "" outside of blocks
	Columns  []Column
	Keys     int  // leading columns that determine the rest
	Derived  bool // has rules
	Query    bool // an answer predicate, `_`
	Exported bool
}

// Column is a named and typed argument.
type Column struct {
	Name string
	Type Type
}

// predicate is what is kept of a predicate once there is a plan.
type predicate struct {
	Predicate
	hidden  bool          // made by the compiler
	clauses []source.Span // that derive it, of a functional predicate
	binding *fileBinding  // or nil
	answer.Shape
}

// setColumns sets the columns, and the families whose entities are in them.
// Entities show as strings.
func (q *predicate) setColumns(cols []Column, families []string, makes *answer.Maker) {
	for i, f := range families {
		if f != "" {
			cols[i].Type = scalar.StringType
		}
	}
	q.Columns, q.Shape = cols, answer.NewShape(q.Name, families, makes)
}

// shapes says where the predicates have entities.
func (p *Program) shapes() []answer.Shape {
	return list.Map(p.preds, func(q predicate) answer.Shape { return q.Shape })
}

// fileBinding is the file that directives tie to a predicate.
type fileBinding struct {
	core.FileBinding
	program string // the file that relative paths are beside
}

// Predicates lists the predicates of the program by first appearance. For a
// program read from plan text these are its inputs and outputs.
func (p *Program) Predicates() []Predicate {
	var out []Predicate
	for _, q := range p.preds {
		if !q.hidden {
			out = append(out, q.Predicate)
		}
	}
	return out
}

// checkedPredicates are those of a checked program.
func checkedPredicates(p *core.Program) []predicate {
	clauses := map[*core.Pred][]source.Span{}
	for _, s := range p.Strata {
		for _, r := range s.Rules {
			// A clause with alternatives is several rules in a row.
			q := r.Head.Pred
			list := clauses[q]
			if q.Functional() && (len(list) == 0 || list[len(list)-1] != r.Span) {
				clauses[q] = append(list, r.Span)
			}
		}
	}
	var out []predicate
	for _, q := range p.Preds {
		pred := predicate{
			Predicate: Predicate{Name: q.Name, Path: q.Path, Keys: q.Keys, Derived: q.Derived,
				Query: q.Query, Exported: q.Exported},
			hidden:  q.Hidden,
			clauses: clauses[q],
		}
		var cols []Column
		var families []string
		for _, a := range q.Args {
			family := ""
			if a.Family != nil {
				family = a.Family.Name
			}
			cols, families = append(cols, Column{a.Name, a.Type}), append(families, family)
		}
		var makes *answer.Maker
		if n := q.Makes; n != nil {
			makes = &answer.Maker{Name: n.Name, Family: families[q.Keys], Start: n.Start,
				Step: n.Step, Refmode: n.Refmode}
		}
		pred.setColumns(cols, families, makes)
		if q.File != nil {
			pred.binding = &fileBinding{*q.File, q.File.Span.File.Name}
		}
		out = append(out, pred)
	}
	return out
}

// plannedPredicates are those that a plan alone tells of.
func plannedPredicates(plan *queryplan.Plan) []predicate {
	var out []predicate
	for _, v := range plan.Vars {
		if v.Kind == queryplan.Input || v.Output {
			out = append(out, predicate{Predicate: Predicate{
				Name: v.Name, Columns: planColumns(v.Cols), Keys: len(planColumns(v.Cols[:v.Keys])),
				Derived: v.Kind != queryplan.Input, Query: isQuery(v.Name), Exported: v.Output}})
		}
	}
	return out
}

// isQuery reports whether a variable is an answer predicate: "_", "_2", ...
func isQuery(name string) bool {
	rest, ok := strings.CutPrefix(name, "_")
	return ok && strings.Trim(rest, "0123456789") == ""
}

// planColumns returns the columns of a plan's variable as the program has them.
func planColumns(cols []queryplan.Column) []Column {
	var out []Column
	for _, c := range queryplan.JoinedColumns(cols) {
		out = append(out, Column{c.Name, c.Type})
	}
	return out
}
