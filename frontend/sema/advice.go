package sema

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
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
	if _, ok := vocabulary.AggregationOf(name); !ok || p != nil && p.exists() {
		d := lo.c.Errorf(diag.NotAnExpression, n.Span, "%s is a formula, not a value",
			n.Span.Text())
		d.Help("a value is written with brackets: %s[%s]", name, argText(n.Args))
		return
	}
	if p != nil {
		p.Poisoned = true
	}
	d := lo.c.Errorf(diag.NotAnExpression, n.Span, "%s is an aggregate, not a function", name)
	d.Help("write %s", lo.aggregateRule(n))
}

// aggregateRule writes a rule whose head has the value of an aggregate, as in
// n[] = count(e), or m[] = max(x) <- p(x), with a specifier.
func (lo *lowering) aggregateRule(n *ast.Apply) string {
	head, body := "v[]", "p(x)"
	if len(lo.cl.heads) == 1 {
		if a, value := headAtom(lo.cl.heads[0]); a != nil && ast.Unparen(value) == ast.Node(n) {
			head = a.Span.Text()
		}
	}
	spec := n.Name.Text + "(x)"
	if n.Name.Text == "count" {
		spec = "count()"
	} else if len(n.Args) == 1 {
		spec = n.Span.Text()
	}
	if lo.cl.body != nil {
		body = lo.cl.body.Pos().Text()
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

// aggregateExpression reports an expression among the arguments of an
// aggregate's head. One of the aggregate's result needs a second rule.
func (lo *lowering) aggregateExpression(head, arg ast.Node, outs map[string]*ast.Spec) {
	lo.cl.Broken = true
	d := lo.c.Errorf(diag.ExpressionInAggregateHead, arg.Pos(),
		"the head of an aggregate cannot contain an expression")
	var out *ast.Var
	for name := range outs {
		if v := occurrence(arg, name); v != nil {
			out = v
		}
	}
	a, value := headAtom(head)
	if out == nil || ast.Unparen(value) != ast.Unparen(arg) {
		d.Note("the other arguments of the head are the groups, so they are variables of the body")
		d.Help("bind it in the body: add g = %s after >>, and write g in the head",
			arg.Pos().Text())
		return
	}
	d.Note("%s has its value when the aggregate is complete", out.Name)
	keys := argText(a.Args)
	first := a.Name.Text + "_" + out.Name
	d.Help("write two rules: %s[%s] = %s <- %s %s. %s <- %s[%s] = %s.", first, keys, out.Name,
		lo.cl.Node.P2P.Span.Text(), lo.cl.body.Pos().Text(), head.Pos().Text(), first, keys,
		out.Name)
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
	return true
}

// nulls are the words of other languages for a missing value.
var nulls = map[string]bool{"null": true, "nil": true, "none": true}

// explainNull reports a variable that is meant as a missing value.
func (c *checker) explainNull(v *normal.Var) bool {
	if !nulls[strings.ToLower(v.Base)] {
		return false
	}
	d := c.Errorf(diag.UnboundVariable, v.Span, "%s is a variable, and there is no missing value",
		v.Base)
	d.Note("a function has a value for a key, or no tuple")
	d.Help("f[k] = _ holds if f has a value for k, and !f[k] = _ if it has none")
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
