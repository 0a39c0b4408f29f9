package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/desugar"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// fact is a node with the type of its class.
type fact struct {
	node int
	typ  scalar.Type
}

// clash reports that two nodes have different types, although they must have
// one because of the text at span. It shows the nearest evidence for each type,
// and the chain of clauses to it.
func (s *solver) clash(a, b fact, span source.Span) {
	if !s.mayReport(a.node) || s.queryClash(a, b) {
		return
	}
	d := s.Errorf(diag.TypeClash, span, "%s is %s, but %s is %s", s.nodeName(a.node), a.typ,
		s.nodeName(b.node), b.typ)
	d.At = fmt.Sprintf("%s and %s must have one type here", s.nodeName(a.node), s.nodeName(b.node))
	s.chain(d, a)
	s.chain(d, b)
	s.clashHelp(d, a, b)
}

// clashWith reports that new evidence contradicts the type that a node has.
func (s *solver) clashWith(node int, because evidence) {
	if !s.mayReport(node) {
		return
	}
	a, b := fact{node, s.classOf(node).typ}, fact{node, because.typ}
	if s.queryClash(a, b) {
		return
	}
	if because.literal != nil {
		if s.clashedLiterals[because.span] {
			return // desugar uses one literal in several rules
		}
		s.clashedLiterals[because.span] = true
		d := s.Errorf(diag.TypeClash, because.span, "%s is %s, but %s is %s", s.nodeName(node),
			a.typ,
			because.span.Text(), b.typ)
		if s.rewritten(node) {
			d.Message = fmt.Sprintf("%s is %s, but must be %s here", because.span.Text(), b.typ,
				a.typ)
		}
		s.chain(d, a)
		s.literalHelp(d, because.literal, a.typ)
		return
	}
	d := s.Errorf(diag.TypeClash, because.span, "%s is both %s and %s", s.nodeName(node), a.typ,
		b.typ)
	d.At = because.text()
	s.chain(d, a)
	s.clashHelp(d, a, b)
}

// queryClash reports a clash as one of the rules of a query, if the chains of
// clauses from two types lead through it. It reports whether they do.
func (s *solver) queryClash(a, b fact) bool {
	left, _ := s.nearest(a)
	right, _ := s.nearest(b)
	column, at := -1, source.Span{}
	var heads []source.Span
	for _, e := range slices.Concat(left, right) {
		for _, n := range []int{e.a, e.b} {
			if p := s.nodes[n].pred; p != nil && p.Query && e.inHead {
				column = n
				heads = append(heads, e.span)
				if !at.IsValid() || e.span.Start > at.Start {
					at = e.span
				}
			}
		}
	}
	if len(heads) < 2 {
		return false
	}
	if s.clashed[column] {
		return true
	}
	s.clashed[column] = true
	name := strings.TrimRight(s.nodeName(column), "0123456789") // _2 is a query like _
	d := s.Errorf(diag.TypeClash, at, "%s is %s in one rule and %s in another", name, a.typ, b.typ)
	for _, span := range heads {
		addLabel(d, span, "the other rule")
	}
	d.Note("all rules of _ with as many arguments are one query")
	d.Help("give one of them a name, and print that")
	return true
}

// literalHelp adds how to write a constant of the wanted type.
func (s *solver) literalHelp(d *diag.Diagnostic, k *normal.Const, want scalar.Type) {
	text := k.Value.Str()
	switch {
	case want.Kind == scalar.Entity:
		s.entityHelp(d, want, k.Value.Type)
		return
	case k.Value.Type.Kind == scalar.String:
		if v, err := scalar.ParseText(want, text); err == nil {
			d.Help("write %s", scalar.Literal(v))
			d.Replace(k.Span, scalar.Literal(v))
			return
		}
	case want.Kind == scalar.String:
		d.Help("write \"%s\"", strings.Trim(k.Span.Text(), "#"))
		d.Replace(k.Span, `"`+strings.Trim(k.Span.Text(), "#")+`"`)
		return
	}
	d.Help("the constant must be %s, as in %s", want, exampleOf[want.Kind])
}

// exampleOf has a literal of each kind.
var exampleOf = map[scalar.Kind]string{
	scalar.Boolean: "true", scalar.Int: "12", scalar.Uint: "12", scalar.Float: "1.5f",
	scalar.Decimal: "1.5", scalar.Datetime: "#2024-01-31#", scalar.String: `"a"`,
}

// mayReport reports whether a clash at a node is news, and marks the clause
// that is being typed as broken.
func (s *solver) mayReport(node int) bool {
	if s.current != nil {
		s.current.Clause.Broken = true
	}
	if s.clashed[node] {
		return false
	}
	if s.nodes[node].v != nil {
		s.clashed[node] = true
	}
	if p := s.nodes[node].pred; p != nil && p.Poisoned &&
		p.Declared[s.nodes[node].column].Kind == scalar.Invalid {
		return false
	}
	return true
}

// chain labels the nearest evidence of a node's type and the steps to it.
func (s *solver) chain(d *diag.Diagnostic, f fact) {
	steps, because := s.nearest(f)
	for _, e := range steps {
		if s.applies(e.a, e.span) || s.applies(e.b, e.span) || s.rewritten(e.a) ||
			s.rewritten(e.b) {
			continue
		}
		addLabel(d, e.span,
			fmt.Sprintf("%s and %s have one type", s.nodeName(e.a), s.nodeName(e.b)))
	}
	if because.span.IsValid() {
		addLabel(d, because.span, because.text())
	}
}

// rewritten reports whether a node belongs to a predicate or a variable that
// the program does not write. No message shows its name.
func (s *solver) rewritten(node int) bool {
	n := s.nodes[node]
	return n.pred != nil && n.pred.Hidden ||
		n.v != nil && desugar.IsVariable(n.v.Base)
}

// applies reports whether a node stands for the function application at span. A
// label need not explain that the two have one type.
func (s *solver) applies(node int, span source.Span) bool {
	v := s.nodes[node].v
	return v != nil && v.Made && v.Span == span
}

// addLabel labels a place once, and not the primary one.
func addLabel(d *diag.Diagnostic, span source.Span, text string) {
	if span == d.Span {
		return
	}
	for _, l := range d.Labels {
		if l.Span == span {
			return
		}
	}
	d.Label(span, "%s", text)
}

// explainType labels what gave a node its type.
func (s *solver) explainType(d *diag.Diagnostic, node int) {
	s.chain(d, fact{node, s.classOf(node).typ})
}

// nearest searches, breadth first, for evidence of a type from a node on, and
// returns it with the edges to it.
func (s *solver) nearest(f fact) ([]edge, evidence) {
	for len(s.adjacent) < len(s.nodes) {
		s.adjacent = append(s.adjacent, nil)
	}
	for ; s.indexed < len(s.edges); s.indexed++ {
		e := s.edges[s.indexed]
		s.adjacent[e.a] = append(s.adjacent[e.a], int32(s.indexed))
		s.adjacent[e.b] = append(s.adjacent[e.b], int32(s.indexed))
	}
	came := map[int]int32{f.node: -1}
	queue := []int{f.node}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		s.steps++
		if because, ok := s.oldest(n, f.typ); ok {
			return s.trace(came, f.node, n), because
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
	return nil, evidence{}
}

// oldest returns what gave a node a type first.
func (s *solver) oldest(node int, t scalar.Type) (first evidence, ok bool) {
	if node >= len(s.latest) {
		return first, false
	}
	for at := s.latest[node]; at > 0; at = s.evidence[at-1].before {
		if s.evidence[at-1].typ == t {
			first, ok = s.evidence[at-1], true
		}
	}
	return first, ok
}

// trace returns the edges by which a search came from one node to another.
func (s *solver) trace(came map[int]int32, from, to int) []edge {
	var out []edge
	for n := to; n != from; {
		e := s.edges[came[n]]
		out = append(out, e)
		n = e.a + e.b - n
	}
	slices.Reverse(out)
	return out
}

// clashHelp adds how to make the types one.
func (s *solver) clashHelp(d *diag.Diagnostic, a, b fact) {
	x, y := a.typ, b.typ
	if x.Kind == scalar.Entity || y.Kind == scalar.Entity {
		s.entityHelp(d, x, y)
		return
	}
	if !x.IsNumeric() || !y.IsNumeric() {
		if x.Kind == scalar.String || y.Kind == scalar.String {
			other := x
			if x.Kind == scalar.String {
				other = y
			}
			d.Help("only values of one type are equal; %s makes a string of a value",
				conversionName(other, scalar.StringType))
		}
		return
	}
	wide, _ := scalar.Common(x, y)
	if n, ok := s.undeclaredNear(a, b); ok {
		d.Help("a declared column widens what its rules give: declare %s as %s", s.nodeName(n),
			wide)
		return
	}
	if a.node < 0 {
		return
	}
	narrow := x
	if wide == x {
		narrow = y
	}
	switch {
	case a.node == b.node && s.nodes[a.node].pred != nil:
		d.Help("keep one of the two declarations")
	case normal.IsInteger(x) && normal.IsInteger(y) && (s.firm[a.node] || s.firm[b.node]):
		d.Help("compare the values here, for example 0 <= x <= 255")
	case normal.IsInteger(x) && normal.IsInteger(y):
		d.Help("derive a helper predicate whose arguments have one type, and use it here")
	case narrow.Kind != wide.Kind:
		d.Help("a comparison widens: bind the two to variables of their own and write u = v, or "+
			"convert with %s", conversionName(narrow, wide))
	default:
		d.Help("a comparison widens: bind the two to variables of their own and write u = v")
	}
}

// undeclaredNear returns a column without declaration on the chains of a clash.
func (s *solver) undeclaredNear(facts ...fact) (int, bool) {
	for _, f := range facts {
		if f.node < 0 {
			continue
		}
		steps, _ := s.nearest(f)
		nodes := []int{f.node}
		for _, e := range steps {
			nodes = append(nodes, e.a, e.b)
		}
		for _, n := range nodes {
			if p := s.nodes[n].pred; p != nil &&
				p.Declared[s.nodes[n].column].Kind == scalar.Invalid {
				return n, true
			}
		}
	}
	return 0, false
}

// conversionName returns the built-in that converts between two types. The name
// of a kind alone takes every width and gives the widest.
func conversionName(from, to scalar.Type) string {
	name := kindName(to)
	if to.Kind != scalar.Decimal && to.Bits != 0 && to.Bits != 64 {
		name += fmt.Sprint(to.Bits)
	}
	return kindName(from) + ":" + name + ":convert"
}

// kindName is the name of a type without its width or scale.
func kindName(t scalar.Type) string {
	name, _, _ := strings.Cut(t.String(), "[")
	return name
}

func (s *solver) nodeName(node int) string {
	n := s.nodes[node]
	switch {
	case n.pred != nil:
		return n.pred.ColumnName(n.column)
	case desugar.IsVariable(n.v.Base):
		return "a value here"
	}
	return n.v.Shown()
}

// checkLiterals finds the constants that do not fit where they stand.
func (s *solver) checkLiterals() {
	for n := range s.nodes {
		if s.find(n) != n {
			continue
		}
		c := &s.class[n]
		if !c.known || c.poisoned {
			continue
		}
		for _, l := range c.literals {
			k := l.constant
			if _, ok := s.literalAs(k.Value, c.typ); ok || s.relaxEvidence(literalEvidence(l)) {
				continue
			}
			t := k.Value.Type
			if t.IsNumeric() && c.typ.IsNumeric() &&
				(normal.IsInteger(t) == normal.IsInteger(c.typ)) &&
				t.Kind != scalar.Float {
				d := s.Errorf(diag.LiteralOutOfRange, k.Span, "%s does not fit %s", k.Span.Text(),
					c.typ)
				d.At = fmt.Sprintf("%s is %s", s.nodeName(l.node), c.typ)
				s.explainType(d, l.node)
				continue
			}
			s.clashWith(l.node, literalEvidence(l))
		}
	}
}

// checkHeads finds the head arguments that do not widen to the declared type.
// Integers of any type stand for one another, except that a total that does not
// fit is an error.
func (s *solver) checkHeads() {
	for _, h := range s.soft {
		c := s.classOf(h.r.Var.Node)
		want := h.pred.Declared[h.column]
		if column := h.pred.Columns[h.column]; s.relaxed.widened[column] {
			s.checkPut(h, column)
			continue
		}
		if !c.known || c.poisoned || scalar.CanWiden(c.typ, want.Type) || h.unit.Clause.Broken {
			continue
		}
		if v := normal.LiteralOf(h.r); v != nil {
			if _, ok := s.literalAs(*v, want.Type); ok {
				continue
			}
		} else if s.isInteger(h.source()) && normal.IsInteger(want.Type) && !h.totals() {
			continue
		}
		name := h.r.Var.Shown()
		if c.typ.IsNumeric() && want.IsNumeric() {
			d := s.Errorf(diag.Narrowing, h.r.Span,
				"%s is %s, which does not widen to the %s of %s", name,
				c.typ, want.Type, h.pred.ColumnName(h.column))
			d.Label(want.Span, "declared %s here", want.Type)
			s.explainType(d, h.r.Var.Node)
			switch {
			case h.r.Var.Out:
				d.Help("declare %s as %s, or derive a helper predicate and convert its value in a rule for %s",
					h.pred.ColumnName(h.column), c.typ, h.pred.Name)
			case c.typ.Kind != want.Kind:
				conversion := conversionName(c.typ, want.Type)
				sig, err := scalar.Resolve(conversion, []scalar.Type{c.typ})
				if err == nil && !scalar.CanWiden(sig.Result, want.Type) {
					d.Help("declare %s as %s, and convert: %s[%s]", h.pred.ColumnName(h.column),
						sig.Result,
						conversion, name)
				} else {
					d.Help("convert it: %s[%s]", conversion, name)
				}
			default:
				d.Help("declare %s as %s", h.pred.ColumnName(h.column), c.typ)
			}
			continue
		}
		d := s.Errorf(diag.TypeClash, h.r.Span, "%s is %s, but %s is %s", name, c.typ,
			h.pred.ColumnName(h.column), want.Type)
		d.Label(want.Span, "declared %s here", want.Type)
		s.explainType(d, h.r.Var.Node)
		s.entityHelp(d, c.typ, want.Type)
	}
}

// checkPut finds an argument of a head that has no type in common with the
// widened column.
func (s *solver) checkPut(h softHead, column int) {
	t, known := s.TypeOf(h.r.Var.Node)
	want, ok := s.TypeOf(column)
	if !known || !ok || scalar.CanWiden(t, want) || h.unit.Clause.Broken {
		return
	}
	if v := normal.LiteralOf(h.r); v != nil {
		if _, ok := s.literalAs(*v, want); ok {
			return
		}
	}
	s.current = h.unit
	s.clash(fact{h.r.Var.Node, t}, fact{column, want}, h.r.Span)
	s.current = nil
}

// CheckTyped reports the predicates that nothing types, one for each class.
func (s *solver) CheckTyped() {
	silent := map[int]bool{}
	for _, p := range s.preds {
		if !p.Poisoned {
			continue
		}
		for _, n := range p.Columns {
			silent[s.find(n)] = true
			if c := s.classOf(n); !c.known && !c.poisoned {
				s.poison(n)
			}
		}
	}
	s.run() // what is computed from these columns has no type for the same reason
	// The predicates that no rule derives come first: they are the cause.
	order := slices.Clone(s.preds)
	slices.SortStableFunc(order, func(a, b *normal.Pred) int {
		return min(a.Rules, 1) - min(b.Rules, 1)
	})
	for _, p := range order {
		if p.Hidden {
			continue // its columns have the types of variables of the program
		}
		open := -1
		for i, n := range p.Columns {
			root := s.find(n)
			if c := &s.class[root]; c.known || c.poisoned || silent[root] {
				continue
			}
			silent[root] = true
			if open < 0 {
				open = i
			}
		}
		if open < 0 {
			continue
		}
		p.Poisoned = true
		d := s.Errorf(diag.NoType, p.Span, "%s has no type", p.ColumnName(open))
		d.Note("no declaration, constant or function says what it is")
		if names := scalar.WithLastName(p.Name); len(names) > 0 && p.Rules == 0 {
			d.Help("did you mean %s? If %s is a predicate of yours, declare it, for example %s",
				strings.Join(names, " or "), p.Name, p.DeclarationExample())
			for _, name := range names {
				d.Replace(p.Span, name)
			}
			continue
		}
		if help, _ := vocabulary.OfForeign(p.Name, "x"); help != "" && p.Rules == 0 {
			d.Help("%s", help)
			d.Help("if %s is a predicate of yours, declare it, for example %s", p.Name,
				p.DeclarationExample())
			continue
		}
		d.Help("declare it, for example %s", p.DeclarationExample())
	}
	if s.HasErrors() {
		return
	}
	for _, n := range s.nodes {
		if n.v == nil {
			continue
		}
		if c := s.classOf(n.v.Node); !c.known {
			d := s.Errorf(diag.NoType, n.v.Span, "%s has no type", n.v.Shown())
			d.Help("add a type atom to the body, for example int(%s)", n.v.Shown())
			return
		}
	}
}
