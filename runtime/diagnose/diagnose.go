package diagnose

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// Program is what diagnostics need of the program that ran.
type Program struct {
	Plan *queryplan.Plan
	// About returns the clauses with a predicate as their head, and the family
	// of each column if the predicate has entities that constructors make.
	About func(pred string) (clauses []source.Span, families []string)
}

// Failure returns the diagnostic of a run that the program or its data made
// fail; nil for other errors.
func (p Program) Failure(err error) *diag.Diagnostic {
	var doubled *runtime.KeyError
	var total *runtime.OverflowError
	var rounds *runtime.RoundsError
	switch {
	case errors.As(err, &rounds):
		return endless(rounds)
	case errors.As(err, &doubled):
		return p.key(doubled)
	case errors.As(err, &total):
		return overflow(total)
	}
	return nil
}

// key points at the clauses that derive the predicate. Which of them gave the
// values is not recorded.
func (p Program) key(e *runtime.KeyError) *diag.Diagnostic {
	// An iteration checks the values of its rounds in a variable of its own.
	name, _, _ := strings.Cut(e.Var.Name, "$")
	clauses, families := p.About(name)
	first, second := texts(e.First, families, "some "), texts(e.Second, families, "another ")
	keys := len(scalar.JoinedRow(e.First[:e.Var.Keys]))
	d := &diag.Diagnostic{
		Severity: diag.Error,
		Code:     diag.KeyConflict,
		Span:     e.Var.Span,
		Message: fmt.Sprintf("%s[%s] has both %s and %s", name, strings.Join(first[:keys], ", "),
			strings.Join(first[keys:], ", "), strings.Join(second[keys:], ", ")),
		Notes: []string{fmt.Sprintf("%s is a functional predicate: each key has one value", name)},
		Helps: []string{"derive one value a key, for example with agg<<v = min(x)>>, " +
			"or declare a relation with parentheses"},
	}
	if len(clauses) > 0 && strings.HasPrefix(clauses[0].Text(), "+") {
		d.Helps[0] = fmt.Sprintf("to replace the value that a key has, write ^%s[...] = ... "+
			"in place of +%s[...] = ...", name, name)
	} else if p.recursive(name) {
		d.Helps = append(d.Helps, fmt.Sprintf("to keep the least value of each key while more are "+
			"derived, add lang:recursiveMin(`%s).; there are recursiveMax and recursiveAny, too", name))
	}
	for i, span := range clauses {
		switch {
		case i == 0:
			d.Span, d.At = firstLine(span), "derived here"
		case i < maxClauses:
			d.Labels = append(d.Labels, diag.Label{Span: firstLine(span), Message: "and here"})
		}
	}
	if more := len(clauses) - maxClauses; more > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%d more clauses derive it", more))
	}
	for _, v := range p.Plan.Vars {
		if v.Kind == queryplan.Input && v.Source == name {
			d.Notes = append(d.Notes,
				fmt.Sprintf("%s also has facts from outside the program", name))
		}
	}
	return d
}

// recursive reports whether a predicate is filled in a loop that reads it.
func (p Program) recursive(pred string) bool {
	flow := queryplan.NewFlow(p.Plan)
	return slices.ContainsFunc(p.Plan.Vars, func(v *queryplan.Var) bool {
		return v.Name == pred && slices.ContainsFunc(p.Plan.Blocks,
			func(b *queryplan.Block) bool { return flow.InLoop(b) && flow.GrowsAround(v, b) })
	})
}

// endless points at what grows in a recursion.
func endless(e *runtime.RoundsError) *diag.Diagnostic {
	again := int64(math.MaxInt64)
	if e.Rounds < again/10 {
		again = 10 * e.Rounds
	}
	d := &diag.Diagnostic{
		Severity: diag.Error,
		Code:     diag.EndlessRecursion,
		Span:     e.Loop.Span,
		Message: fmt.Sprintf("the recursion of %s still derives new tuples after %s",
			fills(e.Loop), counted(e.Rounds, "round")),
		At: "this grows from round to round",
		Helps: []string{"add a bound to the body of the rule",
			fmt.Sprintf("if the recursion ends later, allow it more rounds, "+
				"for example with --max-rounds %d, or any number with --max-rounds none", again)},
	}
	if strings.HasPrefix(e.Loop.Span.Text(), "lang:") { // it iterates
		d.Message = fmt.Sprintf("%s still moves after %s", fills(e.Loop), counted(e.Rounds, "round"))
		d.At = "the rounds end when nothing moves by more than this"
		d.Helps[0] = fmt.Sprintf("bound the rounds by lang:iterate[`%s] = 100., or let values "+
			"move by more", fills(e.Loop))
		d.Helps[1] = strings.Replace(d.Helps[1], "the recursion ends", "the rounds end", 1)
		return d
	}
	if slices.ContainsFunc(e.Loop.Vars, func(v *queryplan.Var) bool {
		return strings.Contains(v.Name, "$steps")
	}) {
		// Most bounds would be refused: a better value may not fail where a
		// worse one passes.
		d.At = "this gets better from round to round"
		d.Helps[0] = fmt.Sprintf("no way round a cycle may make the value of %s better: look for "+
			"what is subtracted or has the wrong sign, or derive values of a fixed number of steps",
			fills(e.Loop))
	}
	if e.Tuples > 0 {
		d.Notes = []string{fmt.Sprintf("it has derived %s so far", counted(e.Tuples, "tuple"))}
	}
	return d
}

// fills names the predicates that a loop derives.
func fills(loop *queryplan.Branch) string {
	var names []string
	for _, v := range loop.Vars {
		if name, _, _ := strings.Cut(v.Name, "$"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// counted writes a number of things, with commas.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text + " " + thing + "s"
}

// maxClauses bounds how many clauses a diagnostic points at.
const maxClauses = 4

// overflow names the group whose total or average does not fit.
func overflow(e *runtime.OverflowError) *diag.Diagnostic {
	group := "the total"
	if e.Fn == queryplan.Avg {
		group = "the average"
	}
	if len(e.By) > 0 {
		var parts []string
		for i, c := range queryplan.JoinedColumns(e.By) {
			parts = append(parts, c.Name+" = "+scalar.Literal(scalar.JoinedRow(e.Group)[i]))
		}
		group += " for " + strings.Join(parts, ", ")
	}
	return &diag.Diagnostic{
		Severity: diag.Error,
		Code:     diag.TotalOverflow,
		Span:     e.Span,
		Message:  fmt.Sprintf("%s does not fit %s", group, e.Out.Type.Joined()),
		Helps:    []string{overflowHelp(e)},
	}
}

// overflowHelp names a type that has room for a total or an average: 38 digits,
// if it does not have them yet.
func overflowHelp(e *runtime.OverflowError) string {
	const finer = "convert the values before adding them, for example with int:float:convert, " +
		"or group them more finely"
	t := e.Out.Type
	if e.Fn == queryplan.Avg && t.Kind == scalar.Decimal {
		if t.IsWide() {
			return "convert the values before averaging them, " +
				"for example with decimal:float:convert"
		}
		return "convert the values before averaging them, " +
			"for example with int:decimal128:convert or decimal:decimal128:convert"
	}
	if e.Fn != queryplan.Total || t.Kind == scalar.Float || t.Word != scalar.Whole || t.IsWide() {
		return finer
	}
	return fmt.Sprintf("declare the value of the predicate %s, "+
		"and the sum is taken in 38 digits; or %s", scalar.WideDecimalOf(t.Scale), finer)
}

// Violations words the constraints that do not hold, each with its first
// violating bindings. A result that does not fit replaces them, as it does
// where an accumulator finds it: constraints may be about what is then missing.
func Violations(violations []runtime.Violation) []*diag.Diagnostic {
	var out []*diag.Diagnostic
	for _, v := range violations {
		if result := v.Check.Result; result != nil {
			err := &runtime.OverflowError{Fn: result.Fn, Out: result.Out, By: v.Cols,
				Group: v.Tuples[0], Span: v.Check.Span}
			return []*diag.Diagnostic{overflow(err)}
		}
		bindings := "one binding violates"
		if v.Count > 1 {
			bindings = fmt.Sprintf("%d bindings violate", v.Count)
		}
		d := &diag.Diagnostic{
			Severity: diag.Error,
			Code:     diag.ConstraintViolated,
			Span:     firstLine(v.Check.Span),
			Message:  bindings + " this constraint",
		}
		for _, t := range v.Tuples {
			if text := bindingText(v.Cols, t); text != "" {
				d.Notes = append(d.Notes, text)
			}
		}
		if more := v.Count - int64(len(v.Tuples)); more > 0 && len(d.Notes) > 0 {
			d.Notes = append(d.Notes, fmt.Sprintf("and %d more", more))
		}
		out = append(out, d)
	}
	return out
}

// Incomplete reports whether answers are missing: some result does not fit.
func Incomplete(violations []runtime.Violation) bool {
	return slices.ContainsFunc(violations,
		func(v runtime.Violation) bool { return v.Check.Result != nil })
}

// firstLine cuts a span at its first line break, so that a long clause is not
// repeated in full.
func firstLine(s source.Span) source.Span {
	if i := strings.IndexByte(s.Text(), '\n'); i >= 0 {
		s.End = s.Start + i
	}
	return s
}

func bindingText(cols []queryplan.Column, tuple []scalar.Value) string {
	var parts []string
	tuple = scalar.JoinedRow(tuple)
	for i, c := range queryplan.JoinedColumns(cols) {
		name := c.Name
		if strings.HasPrefix(name, wildcard) {
			name = "_"
		}
		parts = append(parts, name+" = "+scalar.Literal(tuple[i]))
	}
	return strings.Join(parts, ", ")
}

// wildcard begins the names of variables that stand for wildcards. They keep
// the order that they have in the constraint.
const wildcard = "_$"

// texts returns the values of a tuple as messages show them. An entity that a
// constructor made has no value: the number that stands for it depends on the
// run, so that the article says which one it is.
func texts(tuple []scalar.Value, families []string, article string) []string {
	var out []string
	for i, v := range scalar.JoinedRow(tuple) {
		text := scalar.Literal(v)
		if families != nil && families[i] != "" {
			text = article + families[i]
		}
		out = append(out, text)
	}
	return out
}
