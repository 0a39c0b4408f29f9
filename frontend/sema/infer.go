package sema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Type inference is unification of predicate columns and rule variables: a
// variable has the type of every column in which it stands, and a column that no
// declaration types has the type of every variable that its rules put there.
// Expressions are typed forward, from their operands to their result. What is
// still open then is settled by literals, and last by what the functions accept.
// Classes of a union-find forest hold the types; the edges between nodes are kept
// with their places, so that a clash is explained by the shortest chain of
// clauses from one piece of evidence to the other.

// inference holds the nodes, columns and variables alike.
type inference struct {
	nodes    []typeNode
	parent   []int32
	class    []class // of roots
	edges    []edge
	declared []declaredEvidence
	// adjacent is built from the edges when the first clash is explained.
	adjacent [][]int32
	indexed  int // edges in adjacent
}

// typeNode is a column of a predicate or a variable of a unit.
type typeNode struct {
	pred   *pred
	column int
	v      *variable
}

// class is a set of nodes with one type.
type class struct {
	known, poisoned bool
	// guessed says that the type is that of literals, for want of other evidence.
	guessed  bool
	typ      scalar.Type
	literals []literalUse
	waiting  []*item
}

// evidence says what gives a node a type.
type evidence struct {
	node int
	typ  scalar.Type
	span source.Span
	says string // "{place} is {type}", of the span's text and typ
	// literal is the constant that it is about, or nil.
	literal *constant
	// before is 1 + the number of what was known of the node before, or 0.
	before int
}

// text is what a label says.
func (e *evidence) text() string {
	return strings.NewReplacer("{place}", e.span.Text(), "{type}", e.typ.String()).Replace(e.says)
}

// literalUse is a constant that a class must be able to hold.
type literalUse struct {
	node     int
	constant *constant
}

// edge says that two nodes have one type because of what is written at span.
type edge struct {
	a, b int
	span source.Span
}

func (in *inference) add(n typeNode) int {
	id := len(in.nodes)
	in.nodes = append(in.nodes, n)
	in.parent = append(in.parent, int32(id))
	in.class = append(in.class, class{})
	return id
}

func (in *inference) column(p *pred, i int) int { return in.add(typeNode{pred: p, column: i}) }
func (in *inference) variable(v *variable) int  { return in.add(typeNode{v: v}) }
func (in *inference) classOf(node int) *class   { return &in.class[in.find(node)] }

func (in *inference) find(node int) int {
	n := int32(node)
	for in.parent[n] != n {
		in.parent[n] = in.parent[in.parent[n]]
		n = in.parent[n]
	}
	return int(n)
}

// typeOf returns the type of a node if it is known.
func (in *inference) typeOf(node int) (scalar.Type, bool) {
	c := in.classOf(node)
	return c.typ, c.known && !c.poisoned
}

// declare records a declared type before inference runs; clashes between
// declarations are found when the evidence is entered by infer.
func (in *inference) declare(node int, t scalar.Type, span source.Span) {
	in.declared = append(in.declared, declaredEvidence{node, t, span})
}

type declaredEvidence struct {
	node int
	typ  scalar.Type
	span source.Span
}

// item is a literal whose expressions wait for types.
type item struct {
	unit   *unit
	lit    literal
	queued bool
	done   bool
	// waitsFor is the node whose type is missing.
	waitsFor int
}

// solver runs the inference over a checked program.
type solver struct {
	*inference
	c     *checker
	queue []*item
	items []*item
	// evidence has all that is known of nodes, for explanations. Latest is, by node,
	// 1 + the number of what was learned last, or 0.
	evidence []evidence
	latest   []int
	// current is the unit being typed; clashed has the variables and columns for
	// which it had a clash already.
	current *unit
	clashed map[int]bool
	soft    []softHead
	open    []int // nodes that may be roots without a type
	// literalBodies and literalHeads are the arguments that stand for literals. One in
	// a body says nothing of the others; one in a head waits for what they say.
	literalBodies, literalHeads []literalArgument
}

// literalArgument is an argument that stands for a literal.
type literalArgument struct {
	unit   *unit
	column int
	r      ref
}

// softHead is a head argument in a declared column: its type widens to the
// declared one.
type softHead struct {
	unit   *unit
	r      ref
	pred   *pred
	column int
}

// infer gives every column and variable a type, or reports why it has none.
func (c *checker) infer() {
	s := &solver{inference: &c.types, c: c, clashed: map[int]bool{}}
	for _, d := range c.types.declared {
		s.learn(d.node, d.typ, evidence{span: d.span, says: "declared {type} here"})
	}
	for _, cl := range c.clauses {
		for _, u := range cl.units {
			s.enter(u)
		}
	}
	s.run()
	for _, l := range s.literalHeads {
		s.current = l.unit
		s.unify(l.r.v.node, l.column, l.r.span)
		s.current = nil
	}
	s.settle()
	s.checkLiterals()
	s.checkHeads()
	c.explainUnbound()
	s.checkTyped()
}

// enter adds the equalities of a unit.
func (s *solver) enter(u *unit) {
	s.current = u
	defer func() { s.current = nil }()
	for _, a := range u.asserts {
		s.learn(a.v.node, a.typ, evidence{span: a.span, says: "said to be {type} here"})
	}
	s.enterBody(u, u.body)
	for i := range u.agg {
		it := &item{unit: u, lit: &u.agg[i]}
		s.items = append(s.items, it)
		s.push(it)
	}
	if u.seq != nil {
		s.learn(u.seq.index.node, scalar.IntType, evidence{span: u.seq.span, says: "an index of seq<<>> is {type}"})
	}
	for _, h := range u.heads {
		for i, t := range h.args {
			if h.pred.declared[i].Kind == scalar.Invalid {
				s.argument(h, i, t)
				continue
			}
			switch t := t.(type) {
			case ref:
				s.soft = append(s.soft, softHead{u, t, h.pred, i})
			case *constant:
				s.literal(h.pred.columns[i], t)
			}
		}
	}
}

func (s *solver) enterBody(u *unit, body []literal) {
	for _, l := range body {
		switch l := l.(type) {
		case *atom:
			for i, t := range l.args {
				s.argument(l, i, t)
			}
		case *binding, *test:
			it := &item{unit: u, lit: l}
			s.items = append(s.items, it)
			s.push(it)
		case *negation:
			s.enterBody(u, l.body)
		}
	}
}

// argument unifies an argument with its column.
func (s *solver) argument(a *atom, i int, t term) {
	switch t := t.(type) {
	case ref:
		if k := boundLiteral(t); k != nil {
			use := literalArgument{s.current, a.pred.columns[i], t}
			if slices.Contains(s.current.heads, a) {
				s.literalHeads = append(s.literalHeads, use)
			} else {
				s.literal(use.column, k)
				s.literalBodies = append(s.literalBodies, use)
			}
			return
		}
		s.unify(t.v.node, a.pred.columns[i], t.span)
	case *constant:
		s.literal(a.pred.columns[i], t)
	}
}

func (s *solver) literal(node int, k *constant) {
	c := s.classOf(node)
	c.literals = append(c.literals, literalUse{node, k})
}

func (s *solver) push(it *item) {
	if !it.queued && !it.done {
		it.queued = true
		s.queue = append(s.queue, it)
	}
}

// unify joins the classes of two nodes. Where their types clash they stay
// apart, so that one mistake does not spread.
func (s *solver) unify(a, b int, span source.Span) {
	ra, rb := s.find(a), s.find(b)
	if ra == rb {
		s.edges = append(s.edges, edge{a, b, span})
		return
	}
	ca, cb := &s.class[ra], &s.class[rb]
	if ca.known && cb.known && ca.typ != cb.typ && !ca.poisoned && !cb.poisoned {
		if s.meansLiteral(a, cb.typ) || s.meansLiteral(b, ca.typ) {
			return
		}
		s.clash(fact{a, ca.typ}, fact{b, cb.typ}, span)
		return
	}
	s.edges = append(s.edges, edge{a, b, span})
	// The smaller class, by its literals and waiting items, is poured into the
	// other.
	if len(ca.literals)+len(ca.waiting) < len(cb.literals)+len(cb.waiting) {
		ra, rb, ca, cb = rb, ra, cb, ca
	}
	s.parent[rb] = int32(ra)
	wake := ca.known != cb.known
	if !ca.known && cb.known {
		ca.known, ca.typ, ca.guessed = true, cb.typ, cb.guessed
	}
	ca.poisoned = ca.poisoned || cb.poisoned
	ca.literals = append(ca.literals, cb.literals...)
	ca.waiting = append(ca.waiting, cb.waiting...)
	*cb = class{}
	if wake || ca.poisoned {
		s.wake(ca)
	}
}

func (s *solver) wake(c *class) {
	for _, it := range c.waiting {
		s.push(it)
	}
	c.waiting = nil
}

// learn gives a node's class a type.
func (s *solver) learn(node int, t scalar.Type, because evidence) {
	because.node, because.typ = node, t
	c := s.classOf(node)
	if c.known && !c.poisoned && c.typ != t {
		s.clashWith(node, because)
		return
	}
	if missing := len(s.nodes) - len(s.latest); missing > 0 {
		s.latest = append(s.latest, make([]int, missing)...)
	}
	because.before = s.latest[node]
	s.evidence = append(s.evidence, because)
	s.latest[node] = len(s.evidence)
	if !c.known && !c.poisoned {
		c.known, c.typ = true, t
		s.wake(c)
	}
}

func (s *solver) poison(node int) {
	c := s.classOf(node)
	c.poisoned = true
	s.wake(c)
}

// run types expressions until nothing changes.
func (s *solver) run() {
	for len(s.queue) > 0 {
		it := s.queue[0]
		s.queue = s.queue[1:]
		it.queued = false
		if !it.done {
			s.current = it.unit
			s.step(it)
			s.current = nil
		}
	}
}

// step tries to type the expressions of an item. If a class is missing, the item
// waits for it.
func (s *solver) step(it *item) {
	switch l := it.lit.(type) {
	case *binding:
		switch e := l.e.(type) {
		case ref:
			s.unify(l.v.node, e.v.node, l.span)
			it.done = true
		case *constant:
			s.literal(l.v.node, e)
			it.done = true
		case *call:
			t, state := s.exprType(e, it)
			if state == pending {
				return
			}
			it.done = true
			if state == broken {
				s.poison(l.v.node)
				return
			}
			s.learn(l.v.node, t, evidence{span: e.span, says: "{place} is {type}"})
		}
	case *test:
		if _, state := s.exprType(l.e, it); state != pending {
			it.done = true
		}
	case *aggregate:
		s.stepAggregate(l, it)
	}
}

// progress tells whether an expression has a type.
type progress uint8

const (
	pending progress = iota // a variable in it has no type yet
	broken                  // an error was reported, or a variable is poisoned
	typed
)

// exprType returns the type of an expression. While it is pending the item
// waits for the class that is missing.
func (s *solver) exprType(e expr, it *item) (scalar.Type, progress) {
	switch e := e.(type) {
	case ref:
		c := s.classOf(e.v.node)
		switch {
		case c.poisoned:
			return scalar.Type{}, broken
		case c.known:
			return c.typ, typed
		}
		if it != nil {
			c.waiting = append(c.waiting, it)
			it.waitsFor = e.v.node
		}
		return scalar.Type{}, pending
	case *constant:
		return e.value.Type, typed
	case *call:
		return s.callType(e, it)
	}
	return scalar.Type{}, broken
}

func (s *solver) callType(e *call, it *item) (scalar.Type, progress) {
	if e.failed {
		return scalar.Type{}, broken
	}
	if e.resolved {
		return e.sig.Result, typed
	}
	types := make([]scalar.Type, len(e.args))
	for i, a := range e.args {
		t, state := s.exprType(a, it)
		if state != typed {
			e.failed = e.failed || state == broken
			return scalar.Type{}, state
		}
		types[i] = t
	}
	sig, err := s.resolve(e, types)
	if err != nil {
		e.failed = true
		s.wrongTypes(e, types, err)
		return scalar.Type{}, broken
	}
	e.resolved, e.sig = true, sig
	return sig.Result, typed
}

// comparisons are the operators between values of one type.
var comparisons = map[string]bool{"eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true}

// wrongTypes reports a call without a fitting overload, with where each
// operand's type comes from.
func (s *solver) wrongTypes(e *call, types []scalar.Type, err error) {
	if comparisons[e.name] {
		d := s.c.Errorf(diag.TypeClash, e.span, "%s is %s, but %s is %s",
			e.args[0].pos().Text(), types[0], e.args[1].pos().Text(), types[1])
		d.At = "only values of one type can be compared"
		for _, a := range e.args {
			if r, ok := a.(ref); ok {
				s.explainType(d, r.v.node)
			}
		}
		for i, a := range e.args {
			if k, ok := a.(*constant); ok {
				literalHelp(d, k, types[1-i])
				return
			}
		}
		s.clashHelp(d, fact{-1, types[0]}, fact{-1, types[1]})
		return
	}
	d := s.c.Errorf(diag.WrongArgumentTypes, e.span, "%s", err.Error())
	for i, a := range e.args {
		d.Label(a.pos(), "%s is %s", a.pos().Text(), types[i])
		if r, ok := a.(ref); ok {
			s.explainType(d, r.v.node)
		}
	}
	if text, ok := conversionHelp(e, types); ok {
		d.Help("convert it: %s", text)
	}
}

// conversionHelp returns the conversion of one argument that makes a call legal.
func conversionHelp(e *call, types []scalar.Type) (string, bool) {
	for i, a := range e.args {
		if _, ok := a.(*constant); ok {
			continue
		}
		for _, t := range candidates {
			if t.Kind == types[i].Kind || !scalar.CanConvert(types[i], t) {
				continue
			}
			try := slices.Clone(types)
			try[i] = t
			if sig, err := scalar.Resolve(e.name, try); err == nil && sig.Params[i] == t {
				return fmt.Sprintf("%s[%s]", conversionName(types[i], t), a.pos().Text()), true
			}
		}
	}
	return "", false
}
