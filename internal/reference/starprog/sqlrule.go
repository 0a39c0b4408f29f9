package starprog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// ruleSQL is what one head of a rule gets from the rule.
func ruleSQL(r Rule, h Head) (string, error) {
	q, err := bodySQL(r.Body, nil)
	if err != nil {
		return "", err
	}
	switch {
	case r.Seq:
		return sequenceSQL(r, h, q)
	case len(r.Aggs) > 0:
		return aggregateSQL(r, h, q)
	}
	columns, err := headSQL(h, q, nil)
	if err != nil {
		return "", err
	}
	return "select distinct " + strings.Join(columns, ", ") + " " + q.fromWhere(), nil
}

// headSQL writes the arguments of a head, in its types. Those that given has
// are written already.
func headSQL(h Head, q *query, given map[string]string) ([]string, error) {
	out := make([]string, len(h.Args))
	for i, arg := range h.Args {
		sql, ok := given[arg.Name]
		if !ok || arg.Kind != Variable {
			var err error
			if sql, err = q.expr(arg); err != nil {
				return nil, err
			}
		}
		out[i] = fmt.Sprintf("CAST(%s AS %s)", sql, sqlType(h.Pred.Args[i].Type))
	}
	return out, nil
}

// sequenceSQL numbers the distinct tuples of the body by its atom's variables.
func sequenceSQL(r Rule, h Head, q *query) (string, error) {
	if len(r.Body) != 1 || r.Body[0].Kind != Atom {
		return "", fmt.Errorf("a sequence has one atom")
	}
	var columns []string
	for _, a := range r.Body[0].Args {
		sql, err := q.expr(a)
		if err != nil {
			return "", err
		}
		columns = append(columns, sql)
	}
	over := "order by " + strings.Join(columns, ", ")
	if r.Group > 0 && h.Pred.functional() { // a relation is one group
		over = "partition by " + strings.Join(columns[:r.Group], ", ") + " " + over
	}
	index := h.Args[r.Group].Name
	out, err := headSQL(h, q, map[string]string{index: "row_number() over (" + over + ") - 1"})
	if err != nil {
		return "", err
	}
	return "select " + strings.Join(out, ", ") + " " + q.fromWhere(), nil
}

// aggregateSQL aggregates the distinct bindings of all variables of the body.
func aggregateSQL(r Rule, h Head, q *query) (string, error) {
	if len(q.names) == 0 {
		return "", fmt.Errorf("an aggregate has no variables")
	}
	inner := make([]string, len(q.names))
	outer := newQuery(nil)
	for i, sql := range q.names {
		inner[i] = fmt.Sprintf("%s as b%d", sql, i)
	}
	for name, sql := range q.vars {
		outer.vars[name] = fmt.Sprintf("b%d", slices.Index(q.names, sql))
	}
	given := map[string]string{}
	for _, a := range r.Aggs {
		sql, err := aggSQL(a, outer)
		if err != nil {
			return "", err
		}
		given[a.Out] = sql
	}
	out, err := headSQL(h, outer, given)
	if err != nil {
		return "", err
	}
	var keys []string
	for _, arg := range h.Args {
		if _, isOut := given[arg.Name]; !isOut && arg.Kind == Variable {
			sql, err := outer.expr(arg)
			if err != nil {
				return "", err
			}
			keys = append(keys, sql)
		}
	}
	text := fmt.Sprintf("select %s from (select distinct %s %s) as b", strings.Join(out, ", "),
		strings.Join(inner, ", "), q.fromWhere())
	if len(keys) == 0 {
		return text + " having count(*) > 0", nil
	}
	return text + " group by " + strings.Join(keys, ", "), nil
}

func aggSQL(a Agg, q *query) (string, error) {
	if a.Fn == "count" {
		return "count(*)", nil
	}
	in, ok := q.lookup(a.In)
	if !ok {
		return "", fmt.Errorf("nothing binds %s", a.In)
	}
	switch {
	case a.Fn == "count_distinct":
		return "count(distinct " + in + ")", nil
	case a.Fn == "string_join":
		return fmt.Sprintf("string_agg(%s, '-' order by %[1]s)", in), nil
	case a.Fn == "quantile":
		return fmt.Sprintf("quantile_disc(%s, %s)", in, a.At), nil
	case a.Fn == "median":
		// DuckDB's own median of decimals rounds differently.
		sorted := "list_sort(list(" + in + "))"
		lower, upper := sorted+"[(count(*) + 1) // 2]", sorted+"[count(*) // 2 + 1]"
		if a.From.Kind == scalar.Float {
			return fmt.Sprintf("(%s + %s) / 2", lower, upper), nil
		}
		sum := fmt.Sprintf("(%s + %s) * %s", unscaled(lower, a.From), unscaled(upper, a.From),
			powerOfTen(int(a.Type.Scale-a.From.Scale)))
		return rounded(sum, "2", a.Type.Scale), nil
	case a.Fn == "total":
		return "sum(" + in + ")", nil
	case a.Fn == "avg" && a.From.Kind == scalar.Float:
		return "sum(" + in + ") / count(*)", nil
	case a.Fn == "avg":
		sum := fmt.Sprintf("sum(%s) * %s", unscaled(in, a.From),
			powerOfTen(int(a.Type.Scale-a.From.Scale)))
		return rounded(sum, "count(*)", a.Type.Scale), nil
	}
	return a.Fn + "(" + in + ")", nil
}

// AnswerSQL returns the query that lists the tuples of an output as texts, in
// the order that it asks for.
func (p *Program) AnswerSQL(o *Pred) (string, error) {
	with, err := p.common()
	if err != nil {
		return "", err
	}
	columns := make([]string, len(o.Args))
	for i, a := range o.Args {
		columns[i] = textSQL(fmt.Sprintf("c%d", i), a.Type)
	}
	out := fmt.Sprintf("%s select %s from %s", with, strings.Join(columns, ", "), quoted(o.Name))
	if len(o.OrderBy) == 0 && o.Limit == 0 {
		return out, nil
	}
	var keys []string
	for _, k := range o.OrderBy {
		key := fmt.Sprintf("c%d", k.Arg)
		if k.Desc {
			key += " desc"
		}
		keys = append(keys, key)
	}
	for i := range o.Args { // ties go by the columns
		keys = append(keys, fmt.Sprintf("c%d", i))
	}
	out += " order by " + strings.Join(keys, ", ")
	if o.Limit > 0 {
		out += fmt.Sprintf(" limit %d", o.Limit)
	}
	return out, nil
}

// textSQL writes a value as scalar.Format does, but for floats.
func textSQL(column string, t scalar.Type) string {
	if t.Kind == scalar.Datetime {
		const day, second = "'%Y-%m-%d'", "'%Y-%m-%dT%H:%M:%SZ'"
		return fmt.Sprintf("case when %s = %[1]s::DATE "+
			"then strftime(%[1]s, %[2]s) else strftime(%[1]s, %[3]s) end",
			column, day, second)
	}
	return fmt.Sprintf("CAST(%s AS VARCHAR)", column)
}

// ConflictSQL counts the keys of a predicate that have several values.
func (p *Program) ConflictSQL(d *Pred) (string, error) {
	with, err := p.common()
	if err != nil {
		return "", err
	}
	having := "having count(*) > 1"
	if d.Keys > 0 {
		having = "group by " + columnList(d.Keys) + " " + having
	}
	return fmt.Sprintf("%s select count(*) from (select 1 from %s %s)", with, quoted(d.Name),
		having), nil
}

// ViolationSQL counts the bindings that violate a constraint.
func (p *Program) ViolationSQL(c Constraint) (string, error) {
	with, err := p.common()
	if err != nil {
		return "", err
	}
	body := append(slices.Clone(c.Body), Literal{Kind: Not, Body: c.Head})
	q, err := bodySQL(body, nil)
	if err != nil {
		return "", err
	}
	return with + " select count(*) " + q.fromWhere(), nil
}
