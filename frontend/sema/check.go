package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// Options tells the checker what it can not see in the text.
type Options struct {
	// External names the predicates whose facts are bound from outside.
	External map[string]bool
}

// Check turns the files of one program, in order, into a core program. It adds
// what it finds to diags and returns nil when the program has an error, also one
// that was in diags before.
func Check(files []*ast.File, opts Options, diags *diag.List) *core.Program {
	c := &checker{
		Reporter: diag.NewReporter(diags),
		opts:     opts,
		preds:    map[string]*pred{},
	}
	for _, f := range files {
		c.files = append(c.files, f.Source)
		for _, node := range f.Clauses {
			c.clauses = append(c.clauses, &clause{node: node, number: len(c.clauses)})
		}
	}

	for _, cl := range c.clauses {
		c.classify(cl)
	}
	c.readDirectives()
	for _, cl := range c.clauses {
		c.collect(cl)
	}
	c.settleShapes()
	c.resolveNames()
	// From here on every predicate has its name, arity and keys.

	for _, cl := range c.clauses {
		c.lower(cl)
	}
	// From here on rules are in normal form and safe, or marked as broken.

	c.infer()
	c.applyBindings()
	program := c.emit()
	c.stratify(program)
	c.warnUse()
	if c.HasErrors() {
		return nil
	}
	return program
}

type checker struct {
	*diag.Reporter
	opts    Options
	files   []*source.File
	clauses []*clause
	preds   map[string]*pred
	order   []*pred // by first appearance
	queries []*pred // `_`, `_2` and so on, by first appearance
	types   inference
	unbound []*unbound
	// suggested is the number of binding atoms searched for.
	suggested int
	rules     []*core.Rule // in text order
	facts     []*core.Rule // those of functional predicates
	// fates has what became of the alternatives of formulas, fateOrder its keys by
	// first appearance.
	fates     map[fatesKey][]fate
	fateOrder []fatesKey
	// directives in text order, read before anything else.
	directives []*directive
}

// clauseKind tells what a clause is for, once its shape has been looked at.
type clauseKind uint8

const (
	ruleClause clauseKind = iota // also facts and abbreviated rules
	constraintClause
	directiveClause
	refusedClause // it uses something that is not supported; reported
)

// clause is one clause of the program with what has been found out about it.
type clause struct {
	node   *ast.Clause
	number int
	kind   clauseKind
	// heads and body are of a rule; for a constraint they are its left side, in
	// heads[0], and its right side.
	heads []ast.Node
	body  ast.Node
	decl  *declaration // of a constraint that declares
	bad   bool         // an error was reported, consequences are silenced
	units []*unit      // one for each alternative of its disjunctive normal form
}
