package starprog

import (
	"fmt"
	"slices"
	"strings"
)

// query is the body of a rule as SQL.
type query struct {
	from, where []string
	vars        map[string]string // SQL of the variables that are bound
	names       []string          // those, in order, and columns for _
	outer       *query            // what a negation stands in
	applied     map[*Expr]string
	aliases     *int
}

func newQuery(outer *query) *query {
	q := &query{vars: map[string]string{}, outer: outer, applied: map[*Expr]string{}}
	if outer != nil {
		q.aliases = outer.aliases
	} else {
		q.aliases = new(int)
	}
	return q
}

func (q *query) lookup(name string) (string, bool) {
	for ; q != nil; q = q.outer {
		if sql, ok := q.vars[name]; ok {
			return sql, true
		}
	}
	return "", false
}

func (q *query) bind(name, sql string) {
	q.vars[name] = sql
	q.names = append(q.names, sql)
}

// pendingTerm is an argument that is compared with a column once all variables
// are bound.
type pendingTerm struct {
	column string
	term   *Expr
}

// bodySQL makes a query of a conjunction: atoms and applications are tables,
// then what "=" binds, and the rest are conditions.
func bodySQL(body []Literal, outer *query) (*query, error) {
	q := newQuery(outer)
	var pending []pendingTerm
	for _, l := range body {
		switch l.Kind {
		case Atom:
			_, more := q.atom(l.Pred, l.Args)
			pending = append(pending, more...)
		case Compare:
			pending = append(pending, q.applications(l.Left)...)
			pending = append(pending, q.applications(l.Right)...)
		}
	}
	rest, err := q.lets(body)
	if err != nil {
		return nil, err
	}
	for _, p := range pending {
		sql, err := q.expr(p.term)
		if err != nil {
			return nil, err
		}
		q.where = append(q.where, p.column+" = "+sql)
	}
	for _, l := range rest {
		condition, err := q.condition(l)
		if err != nil {
			return nil, err
		}
		q.where = append(q.where, condition)
	}
	return q, nil
}

// atom adds a table, whose columns bind variables that are not bound yet.
func (q *query) atom(p *Pred, args []*Expr) (alias string, pending []pendingTerm) {
	*q.aliases++
	alias = fmt.Sprintf("a%d", *q.aliases)
	q.from = append(q.from, quoted(p.Name)+" as "+alias)
	for i := range p.Args {
		column := fmt.Sprintf("%s.c%d", alias, i)
		if i >= len(args) { // the value of an application
			q.names = append(q.names, column)
			continue
		}
		switch arg := args[i]; arg.Kind {
		case Wildcard:
			q.names = append(q.names, column)
		case Variable:
			if _, ok := q.lookup(arg.Name); !ok {
				q.bind(arg.Name, column)
				continue
			}
			pending = append(pending, pendingTerm{column, arg})
		default:
			pending = append(pending, q.applications(arg)...)
			pending = append(pending, pendingTerm{column, arg})
		}
	}
	return alias, pending
}

// applications adds a table for each application in an expression.
func (q *query) applications(e *Expr) (pending []pendingTerm) {
	if e.Kind == Call {
		for _, a := range e.Args {
			pending = append(pending, q.applications(a)...)
		}
	}
	if e.Kind != Apply {
		return pending
	}
	alias, more := q.atom(e.Pred, e.Args)
	q.applied[e] = fmt.Sprintf("%s.c%d", alias, e.Pred.Keys)
	return append(pending, more...)
}

// lets binds variables that "=" gives a value, until nothing more can be, and
// returns the literals that are conditions.
func (q *query) lets(body []Literal) ([]Literal, error) {
	var rest, waiting []Literal
	for _, l := range body {
		switch {
		case l.Kind == Atom:
		case l.Kind == Compare && l.Op == "=" && l.Left.Kind == Variable:
			waiting = append(waiting, l)
		default:
			rest = append(rest, l)
		}
	}
	for progress := true; progress && len(waiting) > 0; {
		progress = false
		for i, l := range waiting {
			if _, bound := q.lookup(l.Left.Name); bound {
				rest = append(rest, l)
			} else if sql, err := q.expr(l.Right); err == nil {
				// A decimal that does not fit has no value.
				sql = fmt.Sprintf("TRY_CAST(%s AS %s)", sql, sqlType(l.Left.Type))
				q.where = append(q.where, sql+" is not null")
				q.bind(l.Left.Name, sql)
			} else {
				continue
			}
			waiting = slices.Delete(slices.Clone(waiting), i, i+1)
			progress = true
			break
		}
	}
	if len(waiting) > 0 {
		return nil, fmt.Errorf("nothing binds %s", waiting[0].Left.Name)
	}
	return rest, nil
}

// condition is a literal that binds nothing.
func (q *query) condition(l Literal) (string, error) {
	switch l.Kind {
	case Compare:
		left, err := q.expr(l.Left)
		if err != nil {
			return "", err
		}
		right, err := q.expr(l.Right)
		if err != nil {
			return "", err
		}
		if l.Op == "like" {
			return fmt.Sprintf("%s like %s", left, right), nil
		}
		return fmt.Sprintf("%s %s %s", left, l.Op, right), nil
	case Or:
		parts := make([]string, len(l.Body))
		for i, x := range l.Body {
			var err error
			if parts[i], err = q.condition(x); err != nil {
				return "", err
			}
		}
		return "(" + strings.Join(parts, " or ") + ")", nil
	case Not:
		inner, err := bodySQL(l.Body, q)
		if err != nil {
			return "", err
		}
		if len(inner.from) == 0 {
			return "not coalesce(" + strings.Join(inner.where, " and ") + ", false)", nil
		}
		return "not exists (select 1 " + inner.fromWhere() + ")", nil
	}
	return "", fmt.Errorf("an atom is no condition")
}

func (q *query) fromWhere() string {
	out := ""
	if len(q.from) > 0 {
		out = "from " + strings.Join(q.from, ", ")
	}
	if len(q.where) > 0 {
		out += " where " + strings.Join(q.where, " and ")
	}
	return out
}

// expr is an expression over bound variables.
func (q *query) expr(e *Expr) (string, error) {
	switch e.Kind {
	case Variable:
		if sql, ok := q.lookup(e.Name); ok {
			return sql, nil
		}
		return "", fmt.Errorf("nothing binds %s", e.Name)
	case Constant:
		return sqlLiteral(e.Value), nil
	case Apply:
		for at := q; at != nil; at = at.outer {
			if sql, ok := at.applied[e]; ok {
				return sql, nil
			}
		}
		return "", fmt.Errorf("%s is applied where SQL has no table for it", e.Pred.Name)
	case Wildcard:
		return "", fmt.Errorf("a wildcard is no expression")
	}
	args := make([]string, len(e.Args))
	for i, a := range e.Args {
		var err error
		if args[i], err = q.expr(a); err != nil {
			return "", err
		}
	}
	return functions[e.Name].sql(e, args), nil
}
