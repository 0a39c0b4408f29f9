package infer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/graph"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Type inference is unification of predicate columns and rule variables: a
// variable has the type of every column in which it stands, and a column that
// no declaration types has the type of every variable that its rules put there.
// Expressions are typed forward, from their operands to their result. What is
// still open is settled by literals, and last by what the functions accept.
// Classes of a union-find forest hold the types; the edges between nodes are
// kept with their places, so that a clash is explained by the shortest chain of
// clauses from one piece of evidence to the other.

// Types holds the nodes, columns and variables alike.
type Types struct {
	nodes    []typeNode
	sets     graph.Sets // of nodes with one type
	class    []class    // of roots
	edges    []edge
	declared []declaredEvidence
	// families has the entity types by their type.
	families map[scalar.Type]*normal.Family
	// adjacent is built from the edges when the first clash is explained.
	adjacent [][]int32
	indexed  int // edges in adjacent
	steps    int // nodes that searches for evidence met, and uses and columns tried
}

// typeNode is a column of a predicate or a variable of a unit.
type typeNode struct {
	pred   *normal.Pred
	column int
	v      *normal.Var
}

// class is a set of nodes with one type.
type class struct {
	known, poisoned bool
	// guessed is set if the type is that of literals, without other evidence.
	guessed  bool
	typ      scalar.Type
	literals []literalUse
	waiting  []*item
	dependents
}

// evidence says what gives a node a type.
type evidence struct {
	node int
	typ  scalar.Type
	span source.Span
	says string // "{place} is {type}", of the span's text and typ
	// literal is the constant that it is about, or nil. inHead is set if it
	// stands in a head.
	literal *normal.Const
	inHead  bool
	// before is 1 + the number of the evidence that the node had before, or 0.
	before int
}

// text returns the remark of a label.
func (e *evidence) text() string {
	return strings.NewReplacer("{place}", e.span.Text(), "{type}", e.typ.String()).Replace(e.says)
}

// literalUse is a constant that a class must be able to hold.
type literalUse struct {
	node     int
	constant *normal.Const
	inHead   bool
}

// edge is a place in the text that gives two nodes one type.
type edge struct {
	a, b   int
	span   source.Span
	inHead bool // a variable stands in a head
	// fixed is set if the variable must have the type of the column.
	fixed bool
}

func (in *Types) add(n typeNode) int {
	id := len(in.nodes)
	in.nodes = append(in.nodes, n)
	in.sets.Add()
	in.class = append(in.class, class{})
	return id
}

// Column adds a column of a predicate, and returns its node.
func (in *Types) Column(p *normal.Pred, i int) int { return in.add(typeNode{pred: p, column: i}) }

// Variable adds a variable, and returns its node.
func (in *Types) Variable(v *normal.Var) int { return in.add(typeNode{v: v}) }

// Drop removes a variable that no rule has any more.
func (in *Types) Drop(v *normal.Var) { in.nodes[v.Node].v = nil }

func (in *Types) classOf(node int) *class { return &in.class[in.find(node)] }

func (in *Types) find(node int) int { return in.sets.Find(node) }

// Steps returns how much work the search for relaxed types took: nodes met,
// waiting arguments and columns tried.
func (in *Types) Steps() int { return in.steps }

// TypeOf returns the type of a node if it is known.
func (in *Types) TypeOf(node int) (scalar.Type, bool) {
	c := in.classOf(node)
	return c.typ, c.known && !c.poisoned
}

// Declare records a declared type before inference runs. Solve finds clashes
// between declarations.
func (in *Types) Declare(node int, t scalar.Type, span source.Span) {
	in.declared = append(in.declared, declaredEvidence{node, t, span})
}

type declaredEvidence struct {
	node int
	typ  scalar.Type
	span source.Span
}

// item is a literal whose expressions wait for types.
type item struct {
	unit   *normal.Unit
	lit    normal.Literal
	queued bool
	done   bool
	// waitsFor is the node whose type is missing.
	waitsFor int
}

// solver runs the inference over a checked program.
type solver struct {
	*Types
	*diag.Reporter
	preds []*normal.Pred
	queue []*item
	items []*item
	// evidence is everything that gave a node a type, for explanations. latest
	// maps a node to 1 + the number of its last evidence, or 0.
	evidence []evidence
	latest   []int
	// current is the unit being typed. clashed has the variables and columns
	// whose clashes have been reported.
	current *normal.Unit
	clashed map[int]bool
	// clashedLiterals has the places of literals whose clashes have been
	// reported.
	clashedLiterals map[source.Span]bool
	soft            []softHead
	open            []int // nodes that may be roots without a type
	// relaxed has what earlier attempts found. marked is set if this one found
	// more to relax, and again if there has to be another attempt.
	relaxed *relaxed
	marked  bool
	again   bool
	// stepsBefore is the number of steps of earlier attempts.
	stepsBefore int
	// puts has the terms that rules put into the widened columns.
	puts map[int][]normal.Term
	// waiting has the arguments of bodies that wait for the types of widened
	// columns, or of variables with several integer types. columns has the
	// columns in which such variables stand, homes what typed them.
	waiting []waitingUse
	columns map[int][]ownColumn
	homes   map[int]evidence
	agenda  agenda
	// openMixed has the mixed variables that may lack a type.
	openMixed []int
	// firm has the variables to which type atoms of constraints and of inner
	// negations give types.
	firm map[int]bool
	// scope is the negation being entered, or nil.
	scope *normal.Scope
	// literalBodies and literalHeads are the arguments that stand for literals.
	// One in a body is no evidence for the others. One in a head waits for
	// their types.
	literalBodies, literalHeads []literalArgument
}

// literalArgument is an argument that stands for a literal.
type literalArgument struct {
	unit   *normal.Unit
	column int
	r      normal.Ref
}

// softHead is a head argument in a declared or widened column. Its type widens
// to that of the column.
type softHead struct {
	unit   *normal.Unit
	r      normal.Ref
	pred   *normal.Pred
	column int
}

// Solve gives every column and variable a type, or reports what contradicts the
// types of a clause. CheckTyped reports afterwards what is left without a type.
func Solve(
	types *Types, preds []*normal.Pred, clauses []*normal.Clause, report *diag.Reporter,
) *solver {
	relaxed := newRelaxed(clauses)
	for {
		s := &solver{
			Types: types, Reporter: &diag.Reporter{List: &diag.List{}, Levels: report.Levels},
			preds: preds, clashed: map[int]bool{}, relaxed: relaxed, puts: map[int][]normal.Term{},
			columns: map[int][]ownColumn{}, homes: map[int]evidence{}, firm: map[int]bool{},
			stepsBefore: types.steps, agenda: agenda{unknown: map[int]int{}},
			clashedLiterals: map[source.Span]bool{},
		}
		s.attempt(clauses)
		if !s.again {
			for _, d := range s.All() {
				report.Add(d)
			}
			s.Reporter = report
			return s
		}
		types.forget()
		relaxed.restore(clauses)
	}
}

// attempt types the clauses, as far as what is relaxed allows.
func (s *solver) attempt(clauses []*normal.Clause) {
	for _, d := range s.declared {
		s.learn(d.node, d.typ, evidence{span: d.span, says: "declared {type} here"})
	}
	s.learnFloors()
	for _, cl := range clauses {
		for _, u := range cl.Units {
			s.enter(u)
		}
	}
	for i, w := range s.waiting {
		s.awaitUse(w.edge.b, i)
	}
	for _, column := range slices.Sorted(maps.Keys(s.relaxed.widened)) {
		s.awaitPuts(column)
	}
	for _, n := range slices.Sorted(maps.Keys(s.columns)) {
		if s.nodes[n].v.Means == nil {
			s.openMixed = append(s.openMixed, n)
		}
	}
	s.run()
	for _, l := range s.literalHeads {
		s.current = l.unit
		s.unifyHead(l.r.Var.Node, l.column, l.r.Span)
		s.current = nil
	}
	s.settle()
	s.checkLiterals()
	s.checkRelaxed()
	s.checkHeads()
}

// enter adds the equalities of a unit.
func (s *solver) enter(u *normal.Unit) {
	s.current = u
	defer func() { s.current = nil }()
	for _, a := range u.Asserts {
		if u.Clause.Checks || a.Inside {
			s.firm[a.Var.Node] = true
		}
		s.learn(a.Var.Node, a.Type, evidence{span: a.Span, says: "said to be {type} here"})
	}
	s.enterBody(u, u.Body)
	for _, m := range u.Members {
		for _, k := range m.Values {
			s.literal(m.Var.Node, k, false)
		}
	}
	for _, a := range u.Alike {
		s.unify(a.X.Node, a.Y.Node, a.Span)
	}
	for i := range u.Aggs {
		it := &item{unit: u, lit: &u.Aggs[i]}
		s.items = append(s.items, it)
		s.push(it)
	}
	if u.Seq != nil {
		s.learn(u.Seq.Index.Node, scalar.IntType, evidence{span: u.Seq.Span, says: "an index of " +
			"seq<<>> is {type}"})
	}
	for _, h := range slices.Concat(u.Creates, u.Heads) {
		for i, t := range h.Args {
			s.headArgument(u, h, i, t)
		}
	}
}

// headArgument types an argument of a head. A variable in a declared or widened
// column may have a narrower type, unless it is an entity.
func (s *solver) headArgument(u *normal.Unit, h *normal.Atom, i int, t normal.Term) {
	column := h.Pred.Columns[i]
	widened := s.relaxed.widened[column]
	if widened {
		s.puts[column] = append(s.puts[column], t)
	}
	switch t := t.(type) {
	case normal.Ref:
		switch {
		case t.Var.Created:
			s.argument(h, i, t)
		case widened || h.Pred.Declared[i].Kind != scalar.Invalid:
			s.soft = append(s.soft, softHead{u, t, h.Pred, i})
		case normal.BoundLiteral(t) != nil:
			s.literalHeads = append(s.literalHeads, literalArgument{u, column, t})
		case s.relaxed.mixed[t.Var.Node]:
			// The column must not type the variable.
			s.relaxed.widened[column], s.marked = true, true
		default:
			s.unifyHead(t.Var.Node, column, t.Span)
		}
	case *normal.Const:
		if !h.Pred.Constant {
			s.literal(column, t, true)
		}
	}
}

func (s *solver) enterBody(u *normal.Unit, body []normal.Literal) {
	for _, l := range body {
		switch l := l.(type) {
		case *normal.Atom:
			for i, t := range l.Args {
				s.argument(l, i, t)
			}
		case *normal.Binding, *normal.Test:
			it := &item{unit: u, lit: l}
			s.items = append(s.items, it)
			s.push(it)
		case *normal.Negation:
			outer := s.scope
			s.scope = l.Scope
			s.enterBody(u, l.Body)
			s.scope = outer
		}
	}
}

// argument unifies an argument of a body with its column.
func (s *solver) argument(a *normal.Atom, i int, t normal.Term) {
	column := a.Pred.Columns[i]
	switch t := t.(type) {
	case normal.Ref:
		if k := normal.BoundLiteral(t); k != nil {
			s.literal(column, k, false)
			s.literalBodies = append(s.literalBodies, literalArgument{s.current, column, t})
			return
		}
		e := edge{a: t.Var.Node, b: column, span: t.Span, fixed: s.isFixed(a)}
		mixed := s.relaxed.mixed[t.Var.Node] && !e.fixed
		if mixed {
			s.columns[e.a] = append(s.columns[e.a], ownColumn{column, s.owns(t.Var)})
		}
		if mixed || s.relaxed.widened[column] {
			s.waiting = append(s.waiting, waitingUse{unit: s.current, edge: e, mixed: mixed})
			return
		}
		s.join(e)
	case *normal.Const:
		s.literal(column, t, false)
	}
}

func (s *solver) literal(node int, k *normal.Const, inHead bool) {
	c := s.classOf(node)
	c.literals = append(c.literals, literalUse{node, k, inHead})
}

func (s *solver) push(it *item) {
	if !it.queued && !it.done {
		it.queued = true
		s.queue = append(s.queue, it)
	}
}

// unify joins the classes of two nodes. If their types clash, the classes stay
// apart, so that one mistake does not spread.
func (s *solver) unify(a, b int, span source.Span) { s.join(edge{a: a, b: b, span: span}) }

// unifyHead joins the classes of a variable and of the column of a head.
func (s *solver) unifyHead(a, b int, span source.Span) {
	s.join(edge{a: a, b: b, span: span, inHead: true})
}

func (s *solver) join(e edge) {
	a, b := e.a, e.b
	ra, rb := s.find(a), s.find(b)
	if ra == rb {
		s.edges = append(s.edges, e)
		return
	}
	ca, cb := &s.class[ra], &s.class[rb]
	if ca.known && cb.known && ca.typ != cb.typ && !ca.poisoned && !cb.poisoned {
		if s.meansLiteral(a, cb.typ) || s.meansLiteral(b, ca.typ) {
			return
		}
		if !s.relaxEdge(e) {
			s.clash(fact{a, ca.typ}, fact{b, cb.typ}, e.span)
		}
		return
	}
	s.edges = append(s.edges, e)
	// The class with fewer literals and what waits is poured into the other.
	if ca.size() < cb.size() {
		ra, rb, ca, cb = rb, ra, cb, ca
	}
	s.sets.Union(ra, rb)
	wake := ca.known != cb.known
	if !ca.known && cb.known {
		ca.known, ca.typ, ca.guessed = true, cb.typ, cb.guessed
	}
	ca.poisoned = ca.poisoned || cb.poisoned
	ca.literals = append(ca.literals, cb.literals...)
	ca.waiting = append(ca.waiting, cb.waiting...)
	ca.take(&cb.dependents)
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
	s.release(&c.dependents)
}

func (c *class) size() int { return len(c.literals) + len(c.waiting) + c.dependents.size() }

// learn gives a node's class a type.
func (s *solver) learn(node int, t scalar.Type, because evidence) {
	because.node, because.typ = node, t
	c := s.classOf(node)
	if c.known && !c.poisoned && c.typ != t {
		if !s.relaxEvidence(because) {
			s.clashWith(node, because)
		}
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

// step tries to type the expressions of an item. If a class is missing, the
// item waits for it.
func (s *solver) step(it *item) {
	switch l := it.lit.(type) {
	case *normal.Binding:
		switch e := l.Expr.(type) {
		case normal.Ref:
			s.unify(l.Var.Node, e.Var.Node, l.Span)
			it.done = true
		case *normal.Const:
			s.literal(l.Var.Node, e, false)
			it.done = true
		case *normal.Call:
			t, state := s.exprType(e, it)
			if state == pending {
				return
			}
			it.done = true
			if state == broken {
				s.poison(l.Var.Node)
				return
			}
			s.learn(l.Var.Node, t, evidence{span: e.Span, says: "{place} is {type}"})
		}
	case *normal.Test:
		if _, state := s.exprType(l.Expr, it); state != pending {
			it.done = true
		}
	case *normal.Aggregate:
		s.stepAggregate(l, it)
	}
}

// progress is whether an expression has a type.
type progress uint8

const (
	pending progress = iota // a variable in it has no type yet
	broken                  // an error was reported, or a variable is poisoned
	typed
)

// exprType returns the type of an expression. While that is pending, the item
// waits for the missing class.
func (s *solver) exprType(e normal.Expr, it *item) (scalar.Type, progress) {
	switch e := e.(type) {
	case normal.Ref:
		c := s.classOf(e.Var.Node)
		switch {
		case c.poisoned:
			return scalar.Type{}, broken
		case c.known:
			return c.typ, typed
		}
		if it != nil {
			c.waiting = append(c.waiting, it)
			it.waitsFor = e.Var.Node
		}
		return scalar.Type{}, pending
	case *normal.Const:
		return e.Value.Type, typed
	case *normal.Call:
		return s.callType(e, it)
	}
	return scalar.Type{}, broken
}

func (s *solver) callType(e *normal.Call, it *item) (scalar.Type, progress) {
	if e.Failed {
		return scalar.Type{}, broken
	}
	if e.Resolved {
		return e.Sig.Result, typed
	}
	types := make([]scalar.Type, len(e.Args))
	for i, a := range e.Args {
		t, state := s.exprType(a, it)
		if state != typed {
			e.Failed = e.Failed || state == broken
			return scalar.Type{}, state
		}
		types[i] = t
	}
	if inDays(e, types) {
		return s.callType(e, it)
	}
	sig, err := s.resolve(e, types)
	if err != nil {
		e.Failed = true
		if e.Binds != nil {
			e.Binds.NotInteger = nonInteger(types)
		} else if !e.Copy {
			s.wrongTypes(e, types, err)
		}
		return scalar.Type{}, broken
	}
	if e.Binds != nil && sig.Result.Kind != scalar.Boolean && !normal.IsInteger(sig.Result) &&
		!(e.Exact && isExact(sig.Result)) {
		e.Failed, e.Binds.NotInteger = true, sig.Result
		return scalar.Type{}, broken
	}
	e.Resolved, e.Sig = true, sig
	return sig.Result, typed
}

// isExact reports whether sums of a type have an inverse.
func isExact(t scalar.Type) bool { return t.Kind == scalar.Decimal || t.Kind == scalar.Datetime }

// nonInteger returns the first type that is not one of integers.
func nonInteger(types []scalar.Type) scalar.Type {
	for _, t := range types {
		if !normal.IsInteger(t) {
			return t
		}
	}
	return types[0]
}

// Comparisons are the operators between values of one type.
var Comparisons = map[string]bool{"eq": true, "ne": true, "lt": true, "le": true, "gt": true,
	"ge": true}

// wrongTypes reports a call without a fitting overload, with where each
// operand's type comes from.
func (s *solver) wrongTypes(e *normal.Call, types []scalar.Type, err error) {
	if Comparisons[e.Name] {
		d := s.Errorf(diag.TypeClash, e.Span, "%s is %s, but %s is %s",
			e.Args[0].Pos().Text(), types[0], e.Args[1].Pos().Text(), types[1])
		d.At = "only values of one type can be compared"
		for _, a := range e.Args {
			if r, ok := a.(normal.Ref); ok {
				s.explainType(d, r.Var.Node)
			}
		}
		for i, a := range e.Args {
			if k, ok := a.(*normal.Const); ok {
				s.literalHelp(d, k, types[1-i])
				return
			}
		}
		s.clashHelp(d, fact{-1, types[0]}, fact{-1, types[1]})
		return
	}
	if s.wrongDates(e, types) {
		return
	}
	d := s.Errorf(diag.WrongArgumentTypes, e.Span, "%s", err.Error())
	for i, a := range e.Args {
		d.Label(a.Pos(), "%s is %s", a.Pos().Text(), types[i])
		if r, ok := a.(normal.Ref); ok {
			s.explainType(d, r.Var.Node)
		}
	}
	if n, ok := s.grows(e); ok {
		d.Note("%s takes what its rules give, which has more digits in each round of the recursion",
			s.nodeName(n))
		d.Help("declare %s as float", s.nodeName(n))
	} else if at, text, ok := conversionHelp(e, types); ok {
		d.Help("convert it: %s", text)
		d.Replace(at, text)
	}
}

// conversionHelp returns the conversion of one argument that makes a call
// legal. A conversion of a string comes last, because a text may have no value.
func conversionHelp(e *normal.Call, types []scalar.Type) (at source.Span, text string, ok bool) {
	for _, ofStrings := range []bool{false, true} {
		for i, a := range e.Args {
			if _, ok := a.(*normal.Const); ok || ofStrings != (types[i].Kind == scalar.String) {
				continue
			}
			if t, ok := convertible(e, types, i); ok {
				return a.Pos(), fmt.Sprintf("%s[%s]", conversionName(types[i], t), a.Pos().Text()), true
			}
		}
	}
	return at, "", false
}

// convertible returns a type to which an argument of a call can be converted so
// that the call is legal.
func convertible(e *normal.Call, types []scalar.Type, i int) (scalar.Type, bool) {
	for _, t := range candidates {
		if t.Kind == types[i].Kind || !scalar.CanConvert(types[i], t) {
			continue
		}
		try := slices.Clone(types)
		try[i] = t
		if sig, err := scalar.Resolve(e.Name, try); err == nil && sig.Params[i] == t {
			return t, true
		}
	}
	return scalar.Type{}, false
}
