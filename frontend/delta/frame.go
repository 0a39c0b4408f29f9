package delta

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
)

// functional reports whether some arguments determine the others.
func (p *pred) functional() bool { return p.keys >= 0 && p.keys < p.arity }

// frame makes the rules by which the contents of predicates follow from events.
// A predicate into which rules only insert, whose events and start nothing
// reads, needs none: its delta rules derive it.
func (t *transaction) frame() {
	events, staged := map[string]bool{}, map[string]bool{}
	final := map[string]bool{} // predicates of which something reads what they hold afterwards
	for _, c := range t.clauses {
		if !c.live {
			continue
		}
		isDeclaration := t.givesTypes(c)
		for _, r := range c.reads {
			if r.apply.Delta == "" && !r.before() && !isDeclaration {
				final[r.name()] = true
			}
			if d := r.apply.Delta; d != "" {
				events[d+r.name()] = true
				if t.preds[r.name()].derived {
					t.readAtStart(r.name(), staged)
				}
			} else if r.before() {
				t.readAtStart(r.name(), staged)
			}
		}
	}
	for _, p := range t.order {
		if p.derived && !p.pulse {
			t.derivedEvents(p, events)
			continue
		}
		plus := t.fired["+"+p.name] || events["+"+p.name]
		minus := t.fired["-"+p.name] || events["-"+p.name]
		set := t.fired["^"+p.name] || events["^"+p.name]
		if (events["+"+p.name] || minus || set) && t.ws.Knows(p.name) {
			t.included[p.name] = true
		}
		if t.onlyGrows(p) && !minus && !set && !final[p.name] {
			t.framed[p.name], t.included[p.name] = true, true
			t.grown = append(t.grown, p.name)
			continue
		}
		isPulse := p.pulse && t.included[p.name]
		if !isPulse && !t.changed[p.name] || p.entity || !isPulse &&
			!events["+"+p.name] && !minus && !set && !staged[p.name] {
			continue
		}
		t.framed[p.name] = true
		all, old := variables("x", p.arity, p.span), variables("y", p.arity, p.span)
		plusAtom, minusAtom := apply("+"+p.name, all, p.span), apply("-"+p.name, all, p.span)
		if set && p.functional() {
			t.rule(plusAtom, apply("^"+p.name, all, p.span))
			set := slices.Clone(all)
			for i := range set[p.keys:] {
				set[p.keys+i] = &ast.Wildcard{Span: p.span}
			}
			copy(old, all[:p.keys])
			t.rule(apply("-"+p.name, old, p.span), apply("^"+p.name, set, p.span),
				apply(p.name+core.StartSuffix, old, p.span))
			minus = true
		}
		start := apply(p.name+core.StartSuffix, all, p.span)
		into := apply(p.name, all, p.span)
		into.Delta = "+"
		switch {
		case p.pulse:
			t.rule(plusAtom, start)
		case minus:
			t.rule(into, start, &ast.Not{Span: p.span, X: minusAtom})
		default:
			t.rule(into, start)
		}
		if plus || set || p.pulse {
			t.rule(into, plusAtom)
		}
	}
}

// givesTypes reports whether a clause is a declaration and constrains no value.
func (t *transaction) givesTypes(c *clause) bool {
	if !t.isDeclaration(c) {
		return false
	}
	isVar := func(x ast.Node) bool { _, ok := ast.Unparen(x).(*ast.Var); return ok }
	left, ok := atomOf(c.node.Left)
	if !ok || slices.ContainsFunc(left.args(), func(x ast.Node) bool { return !isVar(x) }) {
		return false
	}
	return !slices.ContainsFunc(items(c.node.Right), func(x ast.Node) bool {
		of, _ := unary(x)
		return of == nil
	})
}

// onlyGrows reports whether a transaction does nothing to a relation but insert
// tuples, so that the tuples which it has need not be computed again. Functions
// and entities have more to check.
func (t *transaction) onlyGrows(p *pred) bool {
	return t.kind == Execution && t.changed[p.name] && t.fired["+"+p.name] &&
		t.ws.holds(p.name) && !p.pulse && !p.entity && !p.functional() && p.arity > 0 &&
		t.ws.Stored(p.name).Keys == p.arity && !t.types[p.name] && len(t.parts[p.name]) == 0 &&
		len(t.columns[p.name]) == 0
}

// readAtStart marks a predicate whose start something reads, and those from
// which it is derived anew for the start.
func (t *transaction) readAtStart(name string, staged map[string]bool) {
	if staged[name] {
		return
	}
	staged[name] = true
	p := t.preds[name]
	if !p.derived || !t.affected[name] || t.ws.stored[name] {
		return
	}
	for _, c := range p.rules {
		for _, r := range c.reads {
			t.readAtStart(r.name(), staged)
		}
	}
}

// derivedEvents makes the rules of the events of a derived predicate that
// rules read: what it holds now and not before, and the other way round.
func (t *transaction) derivedEvents(p *pred, read map[string]bool) {
	if !t.affected[p.name] {
		return
	}
	all := variables("x", p.arity, p.span)
	now := apply(p.name, all, p.span)
	if read["+"+p.name] {
		before := apply(t.start(p.name), all, p.span)
		t.rule(apply("+"+p.name, all, p.span), now, &ast.Not{Span: p.span, X: before})
	}
	if read["-"+p.name] {
		before := apply(t.start(p.name), all, p.span)
		t.rule(apply("-"+p.name, all, p.span), before, &ast.Not{Span: p.span, X: now})
	}
}

// rule adds a rule.
func (t *transaction) rule(head ast.Node, body ...ast.Node) {
	t.made = append(t.made, &ast.Clause{Span: head.Pos(), Arrow: ast.Rule, Left: head,
		Right: conjunction(body), Frame: true})
}

// apply returns an atom of a relation.
func apply(name string, args []ast.Node, at source.Span) *ast.Apply {
	return &ast.Apply{Span: at, Name: &ast.Name{Span: at, Text: name}, Args: args, Split: -1}
}

func variables(name string, n int, at source.Span) []ast.Node {
	out := make([]ast.Node, n)
	for i := range out {
		out[i] = &ast.Var{Span: at, Name: fmt.Sprintf("%s%d", name, i+1)}
	}
	return out
}

func conjunction(list []ast.Node) ast.Node {
	if len(list) == 1 {
		return list[0]
	}
	return &ast.Conj{Span: list[0].Pos().To(list[len(list)-1].Pos()), Items: list}
}
