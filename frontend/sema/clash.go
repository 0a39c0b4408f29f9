package sema

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// clash reports that two nodes must have one type and have two. It shows what
// gave each its type, and the shortest chain of clauses between.
func (s *solver) clash(ca, cb *class, a, b int, span source.Span) {
	if s.silenced(ca) || s.silenced(cb) {
		return
	}
	message := fmt.Sprintf("%s is %s, but %s is %s", s.nodeName(a), ca.typ, s.nodeName(b), cb.typ)
	if s.nodeName(a) == s.nodeName(b) {
		message = fmt.Sprintf("%s is both %s and %s", s.nodeName(a), ca.typ, cb.typ)
	}
	d := s.c.errorf(diag.TypeClash, span, "%s", message)
	d.At = "the types meet here"
	s.chain(d, ca.because, cb.because, span)
	s.clashHelp(d, ca, cb, a, b)
}

// silenced reports whether a type comes from a predicate that is in error.
func (s *solver) silenced(c *class) bool {
	p := s.nodes[c.because.node].pred
	return p != nil && p.poisoned && p.declared[s.nodes[c.because.node].column].Kind == scalar.Invalid
}

// chain labels two pieces of evidence and the steps that join them.
func (s *solver) chain(d *diag.Diagnostic, a, b evidence, primary source.Span) {
	seen := map[source.Span]bool{}
	add := func(span source.Span, text string) {
		if span == primary {
			if d.At == "the types meet here" || d.At == "" {
				d.At = text
			}
			return
		}
		if !seen[span] {
			seen[span] = true
			label(d, span, "%s", text)
		}
	}
	add(a.span, a.text)
	if a.node != b.node {
		for _, e := range s.path(a.node, b.node) {
			add(e.span, fmt.Sprintf("%s and %s have one type", s.nodeName(e.a), s.nodeName(e.b)))
		}
	}
	add(b.span, b.text)
}

// explainType labels what gave a node its type.
func (s *solver) explainType(d *diag.Diagnostic, node int) {
	because := s.classOf(node).because
	for _, e := range s.path(node, because.node) {
		if e.span != d.Span {
			label(d, e.span, "%s and %s have one type", s.nodeName(e.a), s.nodeName(e.b))
		}
	}
	if because.span != d.Span {
		label(d, because.span, "%s", because.text)
	}
}

// path returns the edges of a shortest path between two nodes of a class.
func (s *solver) path(from, to int) []edge {
	if from == to {
		return nil
	}
	for len(s.adjacent) < len(s.nodes) {
		s.adjacent = append(s.adjacent, nil)
	}
	for ; s.indexed < len(s.edges); s.indexed++ {
		e := s.edges[s.indexed]
		s.adjacent[e.a] = append(s.adjacent[e.a], int32(s.indexed))
		s.adjacent[e.b] = append(s.adjacent[e.b], int32(s.indexed))
	}
	came := map[int]int32{from: -1}
	queue := []int{from}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if n == to {
			break
		}
		for _, i := range s.adjacent[n] {
			e := s.edges[i]
			next := e.a + e.b - n
			if _, ok := came[next]; !ok {
				came[next] = i
				queue = append(queue, next)
			}
		}
	}
	var out []edge
	if _, ok := came[to]; !ok {
		return nil
	}
	for n := to; n != from; {
		e := s.edges[came[n]]
		out = append(out, e)
		n = e.a + e.b - n
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// clashHelp says how to bring the types together.
func (s *solver) clashHelp(d *diag.Diagnostic, ca, cb *class, a, b int) {
	x, y := ca.typ, cb.typ
	if !x.IsNumeric() || !y.IsNumeric() {
		if x.Kind == scalar.String || y.Kind == scalar.String {
			other := x
			if x.Kind == scalar.String {
				other = y
			}
			help(d, "only values of one type are equal; %s makes a string of a value", conversionName(other, scalar.StringType))
		}
		return
	}
	for _, n := range []int{a, b} {
		p := s.nodes[n].pred
		if p == nil || p.declared[s.nodes[n].column].Kind != scalar.Invalid {
			continue
		}
		wide, ok := scalar.Common(x, y)
		if !ok {
			wide = scalar.IntType
		}
		help(d, "a declared column widens what its rules give: declare %s as %s", columnName(p, s.nodes[n].column), wide)
		return
	}
	if wide, ok := scalar.Common(x, y); ok {
		narrow := x
		if wide == x {
			narrow = y
		}
		if narrow.Kind != wide.Kind {
			help(d, "a comparison widens: bind the two to variables of their own and write u = v, or convert with %s", conversionName(narrow, wide))
			return
		}
		help(d, "a comparison widens: bind the two to variables of their own and write u = v")
	}
}

func conversionName(from, to scalar.Type) string {
	return kindName(from) + ":" + kindName(to) + ":convert"
}

// kindName is the name of a type without its width or scale.
func kindName(t scalar.Type) string {
	for _, name := range sortedKeys(primitiveTypes) {
		if primitiveTypes[name].Kind == t.Kind {
			return name
		}
	}
	return t.String()
}

func (s *solver) nodeName(node int) string {
	n := s.nodes[node]
	if n.pred != nil {
		return columnName(n.pred, n.column)
	}
	return shownName(n.v)
}

// shownName is a variable as the user wrote it, or the text that a made-up one
// stands for.
func shownName(v *variable) string {
	if v.made {
		return v.span.Text()
	}
	return v.base
}

var ordinals = [...]string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"}

// columnName names a column in words: "the second argument of edge".
func columnName(p *pred, i int) string {
	switch {
	case p.keys == p.arity-1 && i == p.keys:
		return "the value of " + p.name
	case p.functional() && i < p.keys && p.keys == 1:
		return "the key of " + p.name
	case p.arity == 1:
		return "the argument of " + p.name
	case i < len(ordinals):
		return "the " + ordinals[i] + " argument of " + p.name
	}
	return fmt.Sprintf("argument %d of %s", i+1, p.name)
}

// checkLiterals finds the constants that do not fit where they stand.
func (s *solver) checkLiterals() {
	for n := range s.nodes {
		if s.find(n) != n {
			continue
		}
		c := s.class[n]
		if !c.known || c.poisoned {
			continue
		}
		for _, l := range c.literals {
			k := l.constant
			if _, ok := literalAs(k.value, c.typ); ok {
				continue
			}
			t := k.value.Type
			if t.IsNumeric() && c.typ.IsNumeric() && (isInteger(t) == isInteger(c.typ)) && t.Kind != scalar.Float {
				d := s.c.errorf(diag.LiteralOutOfRange, k.span, "%s does not fit %s", k.span.Text(), c.typ)
				d.At = fmt.Sprintf("%s is %s", s.nodeName(l.node), c.typ)
				s.explainType(d, l.node)
				continue
			}
			s.clash(c, &class{known: true, typ: t, because: literalEvidence(l)}, l.node, l.node, k.span)
		}
	}
}

// checkHeads finds the head arguments that do not widen to the declared type.
func (s *solver) checkHeads() {
	for _, h := range s.soft {
		c := s.classOf(h.r.v.node)
		want := h.pred.declared[h.column]
		if !c.known || c.poisoned || scalar.CanWiden(c.typ, want.Type) || h.unit.clause.bad {
			continue
		}
		name := shownName(h.r.v)
		if c.typ.IsNumeric() && want.IsNumeric() {
			d := s.c.errorf(diag.Narrowing, h.r.span, "%s is %s, which does not widen to the %s of %s", name, c.typ, want.Type, columnName(h.pred, h.column))
			label(d, want.span, "declared %s here", want.Type)
			s.explainType(d, h.r.v.node)
			if c.typ.Kind != want.Kind {
				help(d, "convert it: %s[%s]", conversionName(c.typ, want.Type), name)
			} else {
				help(d, "declare %s as %s", columnName(h.pred, h.column), c.typ)
			}
			continue
		}
		d := s.c.errorf(diag.TypeClash, h.r.span, "%s is %s, but %s is %s", name, c.typ, columnName(h.pred, h.column), want.Type)
		label(d, want.span, "declared %s here", want.Type)
		s.explainType(d, h.r.v.node)
	}
}

// checkTyped reports the predicates that nothing types, one for each class.
func (s *solver) checkTyped() {
	silent := map[int]bool{}
	for _, p := range s.c.order {
		if p.poisoned {
			for _, n := range p.columns {
				silent[s.find(n)] = true
			}
		}
	}
	for _, p := range s.c.order {
		for i, n := range p.columns {
			root := s.find(n)
			c := s.class[root]
			if c.known || c.poisoned || silent[root] {
				continue
			}
			silent[root] = true
			d := s.c.errorf(diag.NoType, p.span, "%s has no type", columnName(p, i))
			note(d, "no declaration, constant or function says what it is")
			help(d, "declare it, for example %s", p.declarationExample())
			p.poisoned = true
			for j := i + 1; j < len(p.columns); j++ {
				silent[s.find(p.columns[j])] = true
			}
			break
		}
	}
	if s.c.diags.HasErrors() {
		return
	}
	for _, n := range s.nodes {
		if n.v == nil {
			continue
		}
		if c := s.classOf(n.v.node); !c.known {
			d := s.c.errorf(diag.NoType, n.v.span, "%s has no type", shownName(n.v))
			help(d, "add a type atom to the body, for example int(%s)", shownName(n.v))
			return
		}
	}
}
