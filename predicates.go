package redfox

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/answer"
)

// Predicate describes one predicate of a program.
type Predicate struct {
	Name     string
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
	// families has the family of each column whose numbers stand for entities,
	// "" for the others, and is nil if there are only others. maker is set if
	// the predicate makes entities.
	families []string
	maker    *answer.Maker
}

// addColumn adds a column. Its values are entities of a family, unless that is
// empty. Entities show as strings.
func (q *predicate) addColumn(name string, t Type, family string) {
	if family != "" {
		t = scalar.StringType
		if q.families == nil {
			q.families = make([]string, len(q.Columns))
		}
	}
	if q.Columns = append(q.Columns, Column{name, t}); q.families != nil {
		q.families = append(q.families, family)
	}
}

// makes says that the predicate makes entities of a family.
func (q *predicate) makes(m answer.Maker) {
	m.Pred = q.Name
	m.Keys = make([]string, len(q.Columns)-1)
	copy(m.Keys, q.families)
	q.maker = &m
}

// withMakers adds to outputs the predicates that make the entities in them, as
// far as they are other ones.
func (p *Program) withMakers(names []string) []string {
	families := map[string]bool{"": true}
	for changed := true; changed; {
		changed = false
		for _, q := range p.preds {
			shown := slices.Contains(names, q.Name)
			for _, f := range q.families {
				if shown && !families[f] {
					families[f], changed = true, true
				}
			}
			if q.maker != nil && families[q.maker.Family] && !shown {
				names, changed = append(names, q.Name), true
			}
		}
	}
	return names
}

// present adds the wanted predicates to a result, entities as terms.
func (q *Prepared) present(res *Result) error {
	var makers []answer.Maker
	byName := map[string]*predicate{}
	for i, p := range q.program.preds {
		byName[p.Name] = &q.program.preds[i]
		if p.maker != nil && res.owned[p.Name] != nil {
			makers = append(makers, *p.maker)
		}
	}
	terms, err := answer.NewTerms(makers, res.owned)
	if err != nil {
		return &InternalError{Phase: "presenting the result", Err: err}
	}
	for _, v := range q.program.plan.Vars {
		x, p := res.owned[v.Name], byName[v.Name]
		switch {
		case x == nil || slices.Contains(q.makers, v.Name):
		case p == nil || p.families == nil:
			res.add(v.Name, x, planColumns(v.Cols))
		default:
			res.add(v.Name, terms.Shown(x, p.families), p.Columns)
		}
	}
	return nil
}

// columnNames returns the names of the columns that the program sees.
func columnNames(cols []queryplan.Column) []string {
	var out []string
	for _, c := range queryplan.JoinedColumns(cols) {
		out = append(out, c.Name)
	}
	return out
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
			Predicate: Predicate{Name: q.Name, Keys: q.Keys, Derived: q.Derived, Query: q.Query,
				Exported: q.Exported},
			hidden:  q.Hidden,
			clauses: clauses[q],
		}
		for _, a := range q.Args {
			family := ""
			if a.Family != nil {
				family = a.Family.Name
			}
			pred.addColumn(a.Name, a.Type, family)
		}
		if n := q.Numbers; n != nil {
			pred.makes(answer.Maker{Name: n.Name, Family: q.Args[q.Keys].Family.Name,
				Start: n.Start, Step: n.Step, Refmode: n.Refmode})
		}
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
