package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Names is what the checker finds out about the names in a program, for tools
// that show it.
type Names struct {
	// Program has the predicates and strata, also where the program has errors.
	// The types of some arguments are then missing.
	Program *core.Program
	// Variables has the occurrences of variables whose types are known. An
	// occurrence in a formula with alternatives is there more than once.
	Variables []Variable
}

// Variable is an occurrence of a variable.
type Variable struct {
	Span source.Span
	Type scalar.Type
}

// use is a place where the text names a variable.
type use struct {
	span     source.Span
	variable *normal.Var
}

// recordVariable keeps an occurrence, if Options asks for names.
func (c *checker) recordVariable(n *ast.Var, v *normal.Var) {
	if c.opts.Names == nil {
		return
	}
	if c.variables == nil {
		c.variables = make([]use, 0, 8*len(c.clauses))
	}
	c.variables = append(c.variables, use{n.Span, v})
}

// recordNames fills the Names of Options.
func (c *checker) recordNames(program *core.Program) {
	names := c.opts.Names
	if names == nil {
		return
	}
	names.Program = program
	names.Variables = make([]Variable, 0, len(c.variables))
	for _, o := range c.variables {
		if t, ok := c.types.TypeOf(o.variable.Node); ok {
			names.Variables = append(names.Variables, Variable{o.span, t})
		}
	}
}
