package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/graph"
)

// lowerConstraint turns F -> G round: the units of the clause are bodies that
// no binding may satisfy. Conjuncts of G that share no existential variable
// become units of their own, so that each test is a plain lookup.
func (c *checker) lowerConstraint(cl *clause) {
	if cl.entity != nil {
		return // declareEntities has entered the types
	}
	left := cl.heads[0]
	if cl.decl != nil && cl.decl.plain &&
		!slices.ContainsFunc(cl.decl.types, func(t typeAtom) bool {
			return !isTypeAtom(c, cl, t.node)
		}) {
		return // declare has entered the types
	}
	if cl.isDenial() || cl.body == nil && left != nil && cl.decl == nil {
		c.lowerViolation(cl, left, nil)
		return
	}
	if left == nil {
		for _, part := range consequences(cl.body, map[string]bool{}) {
			c.lowerViolation(cl, nil, part)
		}
		return
	}
	outer := map[string]bool{}
	ast.Inspect(left, func(n ast.Node) bool {
		if v, ok := n.(*ast.Var); ok {
			outer[v.Name] = true
		}
		return true
	})
	parts := consequences(cl.body, outer)
	// Type atoms are facts about the left side's variables, not tests.
	var types, tests []ast.Node
	var tested [][]ast.Node
	for _, part := range parts {
		tests = nil
		for _, item := range part {
			if isTypeAtom(c, cl, item) {
				types = append(types, item)
			} else {
				tests = append(tests, item)
			}
		}
		if len(tests) > 0 {
			tested = append(tested, tests)
		}
	}
	if len(tested) == 0 {
		if cl.decl != nil {
			return // declare has entered the types
		}
		c.lowerTyped(cl, left, types)
		return
	}
	for i, part := range tested {
		if i == 0 && cl.decl == nil {
			c.lowerViolation(cl, left, part, types...)
			continue
		}
		c.lowerViolation(cl, left, part)
	}
}

// isTypeAtom reports whether an item on the right side of a constraint is a
// type. An entity type is one in a declaration, and a test elsewhere.
func isTypeAtom(c *checker, cl *clause, n ast.Node) bool {
	a, ok := ast.Unparen(n).(*ast.Apply)
	if !ok || a.Square {
		return false
	}
	if cl.decl != nil && c.entities[a.Name.Text] != nil {
		return slices.ContainsFunc(cl.decl.types, func(t typeAtom) bool { return t.node == a })
	}
	return isTypeName(a.Name.Text) && c.preds[a.Name.Text] == nil
}

// lowerTyped lowers a constraint that has only type atoms on its right side.
// They type its left side, and nothing remains to be tested.
func (c *checker) lowerTyped(cl *clause, left ast.Node, types []ast.Node) {
	c.lowerViolation(cl, left, nil, types...)
	for _, u := range cl.Units {
		u.TypesOnly = true
	}
}

// lowerViolation adds units for the body `left, !(part)`. types are type atoms
// about the variables of left. If part is nil, there is no negation.
func (c *checker) lowerViolation(cl *clause, left ast.Node, part []ast.Node, types ...ast.Node) {
	alts, ok := c.alternatives(left)
	if !ok {
		cl.Broken = true
		return
	}
	report := &unbound{clause: cl}
	for _, alt := range alts {
		lo := c.lowering(cl, alt.picks)
		k := &conj{scope: normal.NewScope(nil)}
		for _, n := range alt.items {
			k.scope.Note(n)
		}
		for _, n := range alt.items {
			lo.formula(n, k)
		}
		for _, n := range types {
			k.scope.Note(n)
			lo.formula(n, k)
		}
		lo.u.Shown = len(lo.u.Vars)
		if part != nil {
			span := part[0].Pos()
			for _, n := range part[1:] {
				span = span.To(n.Pos())
			}
			var inner ast.Node = &ast.Conj{Span: span, Items: part}
			if len(part) == 1 {
				inner = part[0]
			}
			lo.negated(inner, span, k)
		}
		if cl.Broken {
			return
		}
		lo.u.Body = lo.order(k, report)
		lo.checkHeads(report)
		cl.Units = append(cl.Units, lo.u)
	}
	c.reportUnbound(report, len(alts))
}

// consequences splits the right side of a constraint into groups of conjuncts
// that share variables which the left side does not have.
func consequences(right ast.Node, outer map[string]bool) [][]ast.Node {
	items := conjuncts(right)
	groups := graph.NewSets(len(items))
	first := map[string]int{}
	for i, item := range items {
		ast.Inspect(item, func(n ast.Node) bool {
			v, ok := n.(*ast.Var)
			if !ok || outer[v.Name] {
				return true
			}
			if j, seen := first[v.Name]; seen {
				groups.Union(j, i)
			} else {
				first[v.Name] = i
			}
			return true
		})
	}
	var out [][]ast.Node
	for _, members := range groups.All() {
		var group []ast.Node
		for _, i := range members {
			group = append(group, items[i])
		}
		out = append(out, group)
	}
	return out
}
