package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/emit"
	"github.com/redfoxdb/redfox/frontend/sema/infer"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/sema/strata"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Options holds what the checker cannot see in the text.
type Options struct {
	// External names the predicates whose facts are bound from outside.
	External map[string]bool
	// Made is set if the program is one of several transactions. It names the
	// predicates of makers, ending in core.MadeSuffix, whose numbers earlier
	// ones have stored.
	Made map[string]bool
	// Held reports whether a predicate takes no facts from outside, perhaps
	// because earlier transactions have read them.
	Held func(name string) bool
	// Names, if it is not nil, gets what the checker finds out about names.
	Names *Names
}

// Check turns the files of one program, in order, into a core program. It adds
// its findings to diags, and returns nil if diags holds an error then.
func Check(files []*ast.File, opts Options, diags *diag.List) *core.Program {
	c := normalise(files, opts, diags)
	// From here on rules are in normal form and safe, or marked as broken.

	preds, clauses := c.inferred()
	solver := infer.Solve(&c.types, preds, clauses, c.Reporter)
	c.refuseNonIntegers()
	c.checkRanges()
	c.explainUnbound()
	solver.CheckTyped()
	c.checkOrders()
	// From here on everything has a type, or lacks one for a reported reason.

	c.applyBindings()
	for _, p := range c.order {
		c.nameArguments(p)
	}
	program, rules := emit.Program(c.files, preds, clauses, &c.types, opts.Made, c.Reporter)
	// From here on nothing is added but the order of the rules.

	program.Combinations = c.combinations
	strata.Order(program, rules, c.Reporter)
	c.warnUse()
	c.recordNames(program)
	if c.HasErrors() {
		return nil
	}
	return program
}

// NormalForm returns the clauses of a program in normal form, without those
// that have errors.
func NormalForm(files []*ast.File) []*normal.Clause {
	_, clauses := normalise(files, Options{}, &diag.List{}).inferred()
	return clauses
}

// normalise brings the clauses of a program into normal form.
func normalise(files []*ast.File, opts Options, diags *diag.List) *checker {
	c := &checker{
		Reporter: diag.NewReporter(diags),
		opts:     opts,
		preds:    map[string]*pred{},
		sets:     map[*ast.In]*pred{},
	}
	for _, f := range desugar.Rewrite(files) {
		c.files = append(c.files, f.Source)
		for _, node := range f.Clauses {
			c.clauses = append(c.clauses,
				&clause{Clause: normal.Clause{Node: node, Number: len(c.clauses)}})
		}
	}
	for _, cl := range c.clauses {
		c.classify(cl)
	}
	c.readDirectives()
	c.readEntities()
	for _, cl := range c.clauses {
		c.collect(cl)
	}
	c.settleLasting()
	c.settleShapes()
	c.declareEntities()
	c.resolveNames()
	// From here on every predicate has its name, arity and keys.

	for _, cl := range c.clauses {
		c.lower(cl)
	}
	c.widenDemands()
	return c
}

// inferred returns the predicates and clauses for type inference.
func (c *checker) inferred() (preds []*normal.Pred, clauses []*normal.Clause) {
	for _, p := range c.order {
		preds = append(preds, &p.Pred)
	}
	for _, cl := range c.clauses {
		clauses = append(clauses, &cl.Clause)
	}
	for _, cl := range c.hidden {
		clauses = append(clauses, &cl.Clause)
	}
	return preds, clauses
}

type checker struct {
	*diag.Reporter
	opts    Options
	files   []*source.File
	clauses []*clause
	preds   map[string]*pred
	order   []*pred // by first appearance
	queries []*pred // `_`, `_2` and so on, by first appearance
	types   infer.Types
	unbound []*unbound
	// variables are the occurrences of variables, if Options asks for names.
	variables []use
	// integers has the variables that inverted sums and ranges bind, filters
	// the ranges that bind none, and hidden the clauses of ranges.
	integers []*integerVar
	filters  []*rangeFilter
	sets     map[*ast.In]*pred // of constants
	hidden   []*clause
	demands  []*demand // of ranges under negation
	// suggested is the number of binding atoms searched for.
	suggested int
	// directives in text order, read before anything else.
	directives []*directive
	// entities has the entity types, entityOrder in the order of the text, and
	// makers their refmodes and constructors.
	entities            map[string]*pred
	entityOrder, makers []*pred
	// combinations are the rules whose variables range over entity types.
	combinations []core.Combination
}

// clauseKind is what a clause is for, by its shape.
type clauseKind uint8

const (
	ruleClause clauseKind = iota // also facts and abbreviated rules
	constraintClause
	directiveClause
	refusedClause // it uses something that is not supported; reported
)

// clause is one clause of the program and what is known about it.
type clause struct {
	normal.Clause
	kind clauseKind
	// heads and body belong to a rule. For a constraint they are its left side,
	// in heads[0], and its right side.
	heads []ast.Node
	body  ast.Node
	decl  *declaration // of a constraint that declares
	// entity is the type that `E(x) -> .` or a refmode declaration is about,
	// refmode that of the latter, E:id(x:v).
	entity, refmode *ast.Apply
	anonymous       []*anonymous // the entities that the head creates without a maker
	asked           bool         // a message shows the clause as a question
}
