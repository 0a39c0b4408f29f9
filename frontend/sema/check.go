package sema

import (
	"fmt"
	"sort"

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
		opts:   opts,
		diags:  diags,
		preds:  map[string]*pred{},
		levels: map[*diag.Code]level{},
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
	if diags.HasErrors() {
		return nil
	}
	return program
}

type checker struct {
	opts    Options
	diags   *diag.List
	files   []*source.File
	clauses []*clause
	preds   map[string]*pred
	order   []*pred // by first appearance
	queries []*pred // `_`, `_2` and so on, by first appearance
	levels  map[*diag.Code]level
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

// level overrides the severity of a warning.
type level uint8

const (
	levelDefault level = iota
	levelOff
	levelWarning
	levelError
)

// errorf reports an error; labels, notes and helps are added to the result.
func (c *checker) errorf(code *diag.Code, span source.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Severity: diag.Error, Code: code, Span: span, Message: fmt.Sprintf(format, args...)}
	c.diags.Add(d)
	return d
}

// warnf reports a warning unless the program switched it off.
func (c *checker) warnf(code *diag.Code, span source.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Severity: diag.Warning, Code: code, Span: span, Message: fmt.Sprintf(format, args...)}
	switch c.levels[code] {
	case levelOff:
		return d
	case levelError:
		d.Severity = diag.Error
	}
	c.diags.Add(d)
	return d
}

func label(d *diag.Diagnostic, span source.Span, format string, args ...any) {
	if span.IsValid() {
		d.Labels = append(d.Labels, diag.Label{Span: span, Message: fmt.Sprintf(format, args...)})
	}
}

func note(d *diag.Diagnostic, format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

func help(d *diag.Diagnostic, format string, args ...any) {
	d.Helps = append(d.Helps, fmt.Sprintf(format, args...))
}

// sortedKeys returns the keys of a set in byte order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
