package sema

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
)

// classify tells declarations, constraints, directives and rules apart.
func (c *checker) classify(cl *clause) {
	node := cl.Node
	if node.Left == nil && node.Right == nil {
		cl.kind, cl.Broken = refusedClause, true
		return
	}
	if isDirective(node.Left) {
		cl.kind = directiveClause
		for _, item := range conjuncts(node.Left) {
			c.readDirective(cl, item)
		}
		return
	}
	if c.refuseClause(cl) {
		cl.kind, cl.Broken = refusedClause, true
		return
	}
	switch node.Arrow {
	case ast.Constraint:
		c.classifyConstraint(cl)
	default:
		if not, ok := ast.Unparen(node.Left).(*ast.Not); ok && node.Arrow == ast.Fact {
			// `!(p(x, x)).` denies its formula.
			cl.kind = constraintClause
			cl.heads = []ast.Node{not.X}
			return
		}
		cl.heads = conjuncts(node.Left)
		cl.body = node.Right
	}
}

func (c *checker) classifyConstraint(cl *clause) {
	node := cl.Node
	cl.kind = constraintClause
	cl.heads = []ast.Node{node.Left}
	cl.body = node.Right
	if node.Left == nil {
		return
	}
	cl.decl = declarationOf(node.Left, node.Right, isTypeName)
	if cl.decl != nil || node.Right != nil {
		return
	}
	if a, _ := headAtom(node.Left); a != nil {
		if e, _ := unary(node.Left); e != nil {
			return // readEntities reads it
		}
		d := c.Errorf(diag.BadEntity, node.Left.Pos(), "%s has nothing on the right of ->",
			node.Left.Pos().Text())
		d.Help("an entity type has one variable, as in thing(x) -> . ; other predicates have " +
			"their types there")
		cl.kind, cl.Broken = refusedClause, true
	}
}

// isDirective reports whether a clause begins with a `lang:` directive.
func isDirective(left ast.Node) bool {
	items := conjuncts(left)
	if len(items) == 0 {
		return false
	}
	a, _ := headAtom(items[0])
	return a != nil && strings.HasPrefix(a.Name.Text, "lang:")
}

// isDenial reports whether the constraint is of the form `!(F).`
func (cl *clause) isDenial() bool { return cl.Node.Arrow == ast.Fact }
