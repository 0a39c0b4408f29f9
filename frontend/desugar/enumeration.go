package desugar

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/source"
)

// enumeration is a place that enumerates the numbers that belong to values.
type enumeration struct {
	g    *generator
	at   source.Span
	name string
	// given are the values as the rewritten formula has them, params as the
	// rules of the enumeration have them. Literals are the same in both, and no
	// columns.
	given, params []ast.Node
	seed          []ast.Node // the atom of the demand, if there are columns
}

// enumeration makes a place for the values of some expressions, and names these
// in the formula.
func (c *conj) enumeration(at source.Span, exprs ...ast.Node) *enumeration {
	c.g.places++
	e := &enumeration{g: c.g, at: at, name: fmt.Sprintf("%s%d", each, c.g.places)}
	var args, equations []ast.Node
	for _, x := range exprs {
		if isLiteral(x) {
			e.given, e.params = append(e.given, x), append(e.params, x)
			continue
		}
		v := c.g.fresh(x.Pos())
		e.given, e.params = append(e.given, v), append(e.params, v)
		args = append(args, v)
		equations = append(equations, compare(v, "=", x, x.Pos()))
	}
	if len(args) == 0 {
		return e
	}
	asked := apply(fmt.Sprintf("%s%d", demand, c.g.places), args, at)
	c.g.rule(asked, append(c.sources(exprs), equations...)...)
	e.seed = []ast.Node{asked}
	c.items = append(c.items, equations...)
	return e
}

func isLiteral(n ast.Node) bool {
	switch n := ast.Unparen(n).(type) {
	case *ast.Literal:
		return true
	case *ast.Unary:
		return isLiteral(n.X)
	}
	return false
}

// atom returns the atom that gives a number.
func (e *enumeration) atom(k ast.Node) ast.Node {
	var args []ast.Node
	for _, x := range e.given {
		if !isLiteral(x) {
			args = append(args, x)
		}
	}
	return apply(e.name, append(args, k), e.at)
}

// first adds the rule for the number 0.
func (e *enumeration) first(conditions ...ast.Node) {
	e.g.rule(e.atom(number(0, e.at)), append(e.seed[:len(e.seed):len(e.seed)], conditions...)...)
}

// next adds the rules for the numbers after a number, if they belong.
func (e *enumeration) next(belongs func(k ast.Node) ast.Node) {
	for _, n := range []int64{1, 2} {
		k, j := e.g.fresh(e.at), e.g.fresh(e.at)
		e.g.rule(e.atom(j), e.atom(k), compare(j, "=", binary("+",
			binary("*", number(2, e.at), k, e.at), number(n, e.at), e.at), e.at), belongs(j))
	}
}
