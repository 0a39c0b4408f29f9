package desugar

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
)

// A head may compute with the results of aggregates, and with a number:
//
//	mean[g] = s / t <- agg<<s = total(x), t = count()>> p(g, x).
//	place[x] = i + 1 <- seq<<i = number(order(x))>> p(_, x).
//
// The results become functions of the same keys, and a rule over these computes
// the value.

// results returns an aggregate whose heads have results and no expressions of
// them, with the rules that compute the values.
func (g *generator) results(c *ast.Clause) []*ast.Clause {
	if c.P2P == nil || len(c.P2P.Specs) == 0 || c.Right == nil {
		return []*ast.Clause{c}
	}
	var heads []ast.Node
	var rules []*ast.Clause
	for _, h := range conjuncts(c.Left) {
		f, value, ok := function(h)
		if !ok || !computes(c, f, value) {
			heads = append(heads, h)
			continue
		}
		g.places++
		var body []ast.Node
		for i, out := range c.P2P.Specs {
			v := occurrence(value, out.Out.Text)
			if v == nil {
				continue
			}
			of := apply(fmt.Sprintf("%s#%d", f.Name.Text, g.places), f.Args, h.Pos())
			if len(body) > 0 {
				of.Name.Text = fmt.Sprintf("%s_%d", of.Name.Text, i+1)
			}
			of.Square = true
			result := compare(of, "=", v, h.Pos())
			heads, body = append(heads, result), append(body, result)
		}
		rules = append(rules, g.clauseOf(h, body...))
	}
	if len(rules) == 0 {
		return []*ast.Clause{c}
	}
	out := *c
	out.Left = conjunction(heads, c.Left.Pos())
	if out.PartOf == nil {
		out.PartOf = c
	}
	return append([]*ast.Clause{&out}, rules...)
}

// computes reports whether the value of a head is an expression of results, and
// of nothing else that only the body of the aggregate has.
func computes(c *ast.Clause, f *ast.Apply, value ast.Node) bool {
	own, body := vars{}, vars{}
	names(value, own)
	names(c.Right, body)
	for _, x := range f.Args {
		switch x := ast.Unparen(x).(type) {
		case *ast.Var:
			if slices.ContainsFunc(c.P2P.Specs, func(s *ast.Spec) bool {
				return s.Out.Text == x.Name
			}) {
				return false // semantic analysis refuses a result as a key
			}
			delete(body, x.Name)
		case *ast.Literal:
		default:
			return false
		}
	}
	for v := range own {
		if body[v] {
			return false
		}
	}
	_, isVar := ast.Unparen(value).(*ast.Var)
	return !isVar && slices.ContainsFunc(c.P2P.Specs, func(s *ast.Spec) bool {
		return own[s.Out.Text]
	})
}

// occurrence returns the first place where a variable is written, or nil.
func occurrence(n ast.Node, name string) *ast.Var {
	var found *ast.Var
	ast.Inspect(n, func(n ast.Node) bool {
		if v, ok := n.(*ast.Var); ok && v.Name == name && found == nil {
			found = v
		}
		return found == nil
	})
	return found
}
