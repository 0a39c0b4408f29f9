package sema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
)

// This file words the diagnostics of what other languages write differently:
// each shows the LogiQL form of what stands there.

// roundValue reports p(x) where a value is needed.
func (lo *lowering) roundValue(n *ast.Apply) {
	lo.cl.Broken = true
	name := n.Name.Text
	p := lo.c.preds[name]
	isKnown := p != nil && p.exists()
	if help, here := vocabulary.OfForeign(name, argText(n.Args)); help != "" && !isKnown &&
		!isAggregation(name) {
		if p != nil {
			p.Poisoned = true
		}
		d := lo.c.Errorf(diag.UnknownFunction, n.Name.Span, "there is no function %s", name)
		d.Help("%s", help)
		for _, text := range here {
			d.Replace(n.Span, text)
		}
		return
	}
	if isKnown || !isAggregation(name) {
		if p != nil && !isKnown {
			p.Poisoned = true
		}
		d := lo.c.Errorf(diag.NotAnExpression, n.Span, "%s is a formula, not a value",
			n.Span.Text())
		d.Help("a value is written with brackets: %s[%s]", name, argText(n.Args))
		d.Replace(n.Span, fmt.Sprintf("%s[%s]", name, argText(n.Args)))
		return
	}
	if p != nil {
		p.Poisoned = true
	}
	d := lo.c.Errorf(diag.NotAnExpression, n.Span, "%s is an aggregate, not a function", name)
	d.Help("write %s", lo.aggregateRule(n))
}

func isAggregation(name string) bool {
	_, ok := vocabulary.AggregationOf(name)
	return ok
}

// aggregateRule writes a rule whose head has the value of an aggregate, as in
// n[] = count(e), m[] = max(x) <- p(x) or m[] = y <- y = max(x), p(x), with a
// specifier.
func (lo *lowering) aggregateRule(n *ast.Apply) string {
	head, body := "v[]", "p(x)"
	if len(lo.cl.heads) == 1 {
		if a, value := headAtom(lo.cl.heads[0]); a != nil && value != nil {
			head = a.Span.Text()
		}
	}
	spec := specifier(n)
	if rest := conjunctsWithout(lo.cl.body, n); rest != "" {
		body = rest
	} else if len(n.Args) == 1 {
		if v, ok := ast.Unparen(n.Args[0]).(*ast.Var); ok && lo.c.preds[v.Name] != nil {
			body = lo.c.preds[v.Name].Shape()
			if n.Name.Text != "count" {
				p := lo.c.preds[v.Name]
				spec = n.Name.Text + "(" + p.Names()[p.Arity-1] + ")"
			}
		}
	}
	return fmt.Sprintf("%s = v <- agg<<v = %s>> %s.", head, spec, body)
}

// specifier writes a call of an aggregation. Arguments that are missing are
// those of its form.
func specifier(n *ast.Apply) string {
	a, _ := vocabulary.AggregationOf(n.Name.Text)
	_, form, _ := strings.Cut(a.Form, " = ")
	if a.Fn == core.Count || len(n.Args) == 0 {
		return form
	}
	_, rest, more := strings.Cut(form, ", ")
	if more && len(n.Args) == 1 {
		return fmt.Sprintf("%s(%s, %s", a.Name, n.Args[0].Pos().Text(), rest)
	}
	return n.Span.Text()
}

// conjunctsWithout returns the text of a body without the conjuncts that have a
// node.
func conjunctsWithout(body ast.Node, n ast.Node) string {
	if body == nil {
		return ""
	}
	var out []string
	for _, item := range conjuncts(body) {
		has := false
		ast.Inspect(item, func(x ast.Node) bool {
			has = has || x == n
			return !has
		})
		if !has {
			out = append(out, item.Pos().Text())
		}
	}
	return strings.Join(out, ", ")
}

// aggregateExpression reports an expression among the arguments of an
// aggregate's head, other than a value that the results and the keys determine.
func (lo *lowering) aggregateExpression(head, arg ast.Node, outs map[string]*ast.Spec) {
	lo.cl.Broken = true
	d := lo.c.Errorf(diag.ExpressionInAggregateHead, arg.Pos(),
		"the head of an aggregate cannot contain an expression")
	var out *ast.Var
	for name := range outs {
		v := occurrence(arg, name)
		if v != nil && (out == nil || v.Span.Start < out.Span.Start) {
			out = v
		}
	}
	a, value := headAtom(head)
	isValue := ast.Unparen(value) == ast.Unparen(arg)
	switch {
	case out == nil:
		d.Note("the other arguments of the head are the groups, so they are variables of the body")
		d.Help("bind it in the body: add %[1]s = %[2]s after >>, and write %[1]s in the head",
			unusedName(lo.cl.Node), arg.Pos().Text())
	case !isValue:
		d.Note("%s has its value when the aggregate is complete, and the keys are its groups",
			out.Name)
		args := arguments(a)
		i := slices.IndexFunc(args, func(x ast.Node) bool { return ast.Unparen(x) == arg })
		if value == nil && i >= 0 {
			d.Help("make it the value of a function: %s", functionHead(a, args, value, i, outs))
		} else {
			d.Help("compute the key in a second rule")
		}
	default:
		d.Note("%s has its value when the aggregate is complete; from the body, only the keys are left",
			out.Name)
		d.Help("use the keys and results alone: what differs within a group is aggregated as well, " +
			"as in m = max(x)")
	}
}

// unusedName returns a name that no variable of a clause has.
func unusedName(c *ast.Clause) string {
	for n := 0; ; n++ {
		name := normal.ArgName(n)
		if n == 0 {
			name = "g"
		}
		if occurrence(c.Left, name) == nil && occurrence(c.Right, name) == nil {
			return name
		}
	}
}

// roundHead reports p(x) = v in a head.
func roundHead(h *ast.Compare) (help string, ok bool) {
	for i, x := range h.Operands {
		a, isApply := ast.Unparen(x).(*ast.Apply)
		if isApply && !a.Square && len(h.Operands) == 2 && h.Ops[0] == "=" && len(a.Args) > 0 {
			return fmt.Sprintf("the key of a function is in brackets: %s[%s] = %s", a.Name.Text,
				argText(a.Args), h.Operands[1-i].Pos().Text()), true
		}
	}
	return "", false
}

// explainName reports the variables of a fact, which are probably names.
func (c *checker) explainName(cl *clause, v *normal.Var) bool {
	if cl.kind != ruleClause || cl.body != nil || cl.Node.P2P != nil {
		return false
	}
	d := c.Errorf(diag.UnboundVariable, v.Span, "%s is a variable, and a fact has none", v.Base)
	d.Help("a name in quotes is a string: \"%s\"", v.Base)
	d.Replace(v.Span, `"`+v.Base+`"`)
	if question := c.asQuestion(cl); question != "" {
		d.Help("a question is a rule for _: %s", question)
	}
	return true
}

// asQuestion writes a fact with variables as a query, if its predicate has
// other tuples and each name is short or in upper case, as those of variables
// are; "" if not, or if a message has shown it.
func (c *checker) asQuestion(cl *clause) string {
	if len(cl.heads) != 1 || cl.asked {
		return ""
	}
	a, value := headAtom(cl.heads[0])
	if a == nil || value != nil || a.Square {
		return ""
	}
	p := c.preds[a.Name.Text]
	var names []string
	for _, x := range a.Args {
		v, ok := ast.Unparen(x).(*ast.Var)
		if ok && len(v.Name) > 2 && v.Name[0] >= 'a' {
			return ""
		}
		if ok && !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	if p == nil || p.facts+p.Rules < 2 || len(names) == 0 {
		return ""
	}
	cl.asked = true
	return fmt.Sprintf("_(%s) <- %s.", strings.Join(names, ", "), a.Span.Text())
}

// nulls are the words of other languages for a missing value.
var nulls = map[string]bool{"null": true, "nil": true, "none": true}

// nullHelp says how a program asks for a value that may be missing.
const nullHelp = "f[k] = _ holds if f has a value for k, and !f[k] = _ if it has none"

// explainNull reports a variable that is meant as a missing value.
func (c *checker) explainNull(cl *clause, v *normal.Var) bool {
	if !nulls[strings.ToLower(v.Base)] {
		return false
	}
	d := c.Errorf(diag.UnboundVariable, v.Span, "%s is a variable, and there is no missing value",
		v.Base)
	d.Note("a function has a value for a key, or no tuple")
	if cl.kind == ruleClause && cl.body == nil {
		d.Help("make the column a function of the key, and leave its fact out where the value is missing")
		return true
	}
	d.Help("%s", nullHelp)
	return true
}

// denial reports p(x), q(x) -> false.
func (lo *lowering) denial(right ast.Node) bool {
	if lo.cl.kind != constraintClause || ast.Unparen(right) != ast.Unparen(lo.cl.Node.Right) {
		return false
	}
	d := lo.c.Errorf(diag.NotAFormula, right.Pos(), "false is a value, not a formula")
	d.Help("what must not hold is written !(%s).", lo.cl.Node.Left.Pos().Text())
	return true
}
