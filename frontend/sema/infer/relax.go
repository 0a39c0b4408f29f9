package infer

import (
	"container/heap"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/graph"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Inference first takes every place in the text for one that unites two types.
// Where two numeric types clash, it searches the chain of clauses between them
// for a column without declaration into which rules put both. Such a column is
// widened: it takes the least type that holds what its rules put into it, and
// their values are converted in the heads. Where two integer types clash and no
// column can be widened, a variable of the chain stands for integers of several
// types (mixed.go). Inference then starts again. The types of widened columns
// only grow from one attempt to the next, so that the last attempt finds the
// least ones, also through recursion.

// relaxed is what the attempts so far have found.
type relaxed struct {
	widened map[int]bool
	mixed   map[int]bool // variables with several integer types
	// floors has the least types that these columns and variables need.
	floors map[int]evidence
	// raised counts how often the type of a column became wider.
	raised   map[int]int
	attempts int
	broken   []bool // by clause, before inference
}

// maxAttempts bounds the attempts. Each but the last makes a type wider, and no
// type can become wider as often.
const maxAttempts = 200

func newRelaxed(clauses []*normal.Clause) *relaxed {
	r := &relaxed{widened: map[int]bool{}, mixed: map[int]bool{},
		floors: map[int]evidence{}, raised: map[int]int{}}
	for _, cl := range clauses {
		r.broken = append(r.broken, cl.Broken)
	}
	return r
}

// restore undoes what an attempt noted in the clauses.
func (r *relaxed) restore(clauses []*normal.Clause) {
	r.attempts++
	for i, cl := range clauses {
		cl.Broken = r.broken[i]
		for _, u := range cl.Units {
			u.Untype()
		}
	}
}

// forget undoes what an attempt found out about the nodes.
func (in *Types) forget() {
	in.sets = graph.NewSets(len(in.nodes))
	in.class = make([]class, len(in.nodes))
	in.edges, in.adjacent, in.indexed = nil, nil, 0
}

// waitingUse is an argument of a body whose variable is mixed, or whose column
// is widened.
type waitingUse struct {
	unit  *normal.Unit
	edge  edge
	mixed bool
	done  bool
}

// learnFloors gives nodes the types that earlier attempts found.
func (s *solver) learnFloors() {
	for _, n := range slices.Sorted(maps.Keys(s.relaxed.floors)) {
		because := s.relaxed.floors[n]
		s.learn(n, because.typ, because)
		if s.nodes[n].v != nil {
			s.homes[n] = because
		}
	}
}

// relaxEdge relaxes what stands between the two clashing types of an edge, and
// reports whether it has.
func (s *solver) relaxEdge(e edge) bool {
	a, b := fact{e.a, s.classOf(e.a).typ}, fact{e.b, s.classOf(e.b).typ}
	if !s.relaxable(a.typ, b.typ) {
		return false
	}
	if s.postponed() {
		return true
	}
	left, first := s.nearest(a)
	right, last := s.nearest(b)
	slices.Reverse(left)
	return s.relax(slices.Concat(left, []edge{e}, right), first, last)
}

// relaxEvidence relaxes what stands between the type of a node and evidence
// that contradicts it.
func (s *solver) relaxEvidence(because evidence) bool {
	a := fact{because.node, s.classOf(because.node).typ}
	if !s.relaxable(a.typ, because.typ) {
		return false
	}
	if s.postponed() {
		return true
	}
	left, first := s.nearest(a)
	slices.Reverse(left)
	return s.relax(left, first, because)
}

// postponed reports whether the searches of this attempt have taken so many
// steps that its other clashes are left to the next one. What is relaxed until
// then often resolves them, and cuts the chains to be searched: in a recursion
// over n predicates, each clash may have a chain of n. The bound doubles from
// attempt to attempt.
func (s *solver) postponed() bool {
	if s.steps-s.stepsBefore <= 4*len(s.nodes)<<min(s.relaxed.attempts, 20) {
		return false
	}
	s.marked = true
	return true
}

// relaxable reports whether a clash of two types may have a remedy.
func (s *solver) relaxable(a, b scalar.Type) bool {
	if !a.IsNumeric() || !b.IsNumeric() || s.relaxed.attempts >= maxAttempts {
		return false
	}
	_, ok := scalar.Common(a, b)
	return ok
}

// relax looks for what to relax on a chain between two pieces of evidence:
// columns into which rules put something from both sides, or else those into
// which a rule puts something and from which a body takes the other type, or
// else variables with several integer types.
func (s *solver) relax(chain []edge, first, last evidence) bool {
	var both, one, mixed []int
	at := first.node
	before := edge{inHead: first.inHead, fixed: true}
	for i := 0; i <= len(chain); i++ {
		after := edge{inHead: last.inHead, fixed: true}
		if i < len(chain) {
			after = chain[i]
		}
		switch {
		case s.undeclared(at) && !s.relaxed.widened[at]:
			switch {
			case before.inHead && after.inHead:
				both = append(both, at)
			case before.inHead || after.inHead:
				one = append(one, at)
			}
		case s.mixable(at, before, after) && isWhole(first.typ) && isWhole(last.typ):
			mixed = append(mixed, at)
		}
		if i < len(chain) {
			at = chain[i].a + chain[i].b - at
			before = after
		}
	}
	for _, found := range []struct {
		nodes []int
		marks map[int]bool
	}{{both, s.relaxed.widened}, {one, s.relaxed.widened}, {mixed, s.relaxed.mixed}} {
		for _, n := range found.nodes {
			found.marks[n] = true
			s.marked = true
		}
		if len(found.nodes) > 0 {
			return true
		}
	}
	return false
}

// undeclared reports whether a node is a column without declaration.
func (s *solver) undeclared(node int) bool {
	p, i := s.nodes[node].pred, s.nodes[node].column
	return p != nil && p.Declared[i].Kind == scalar.Invalid
}

// typeRelaxed types a widened column into which only values of known types are
// put, or a mixed variable whose columns all have types, or else lets the uses
// in bodies go on that have types now. Where there is neither, it types a
// column or a variable by those types that are known.
func (s *solver) typeRelaxed() bool {
	if len(s.relaxed.widened)+len(s.relaxed.mixed) == 0 {
		return false
	}
	return s.typeColumn(true) || s.typeMixed(true) || s.resume(false) || s.typeColumn(false) ||
		s.typeMixed(false)
}

// typeColumn types the widened columns of whose values all types are known, or
// the first of which some are. It reports whether there is one.
func (s *solver) typeColumn(all bool) bool {
	found := false
	try := func(n int) {
		if c := s.classOf(n); c.known || c.poisoned {
			return
		}
		s.steps++
		because, complete := s.needs(n)
		if because.typ.Kind != scalar.Invalid && (complete || !all) {
			s.learn(n, because.typ, because)
			found = true
		}
	}
	if all {
		s.agenda.complete.each(try)
	}
	for last := -1; !all && !found && s.agenda.partial.Len() > 0; {
		n := heap.Pop(&s.agenda.partial).(int)
		if n != last {
			try(n)
		}
		last = n
	}
	return found
}

// typeEach tries to type the nodes of a list, or the first that it can, and
// drops those with types.
func (s *solver) typeEach(nodes *[]int, try func(n int) bool, all bool) bool {
	found := false
	*nodes = slices.DeleteFunc(*nodes, func(n int) bool {
		switch c := s.classOf(n); {
		case c.known || c.poisoned:
			return true
		case found && !all || !try(n):
			return false
		}
		found = true
		return true
	})
	return found
}

// resumeAll resumes the uses of columns that have no types either. Where
// nothing else types what a rule puts into a widened column, the column does.
func (s *solver) resumeAll() bool {
	found := s.resume(true)
	for _, h := range s.soft {
		column := h.pred.Columns[h.column]
		t, ok := s.TypeOf(column)
		c := s.classOf(h.r.Var.Node)
		if s.relaxed.widened[column] && ok && !c.known && !c.poisoned && len(c.literals) == 0 {
			s.learn(h.r.Var.Node, t, evidence{span: h.r.Span,
				says: "put into " + h.pred.ColumnName(h.column) + ", which is {type}"})
			found = true
		}
	}
	return found
}

// resume unifies waiting arguments of bodies with their columns. Unless all is
// set, it takes those whose columns have types. It reports whether there is
// one.
func (s *solver) resume(all bool) bool {
	found := false
	if !all {
		s.agenda.uses.each(func(i int) { found = s.resumeUse(i, all) || found })
		return found
	}
	for i := range s.waiting {
		found = s.resumeUse(i, all) || found
	}
	return found
}

// resumeUse unifies a waiting argument with its column. A mixed variable waits
// for its own type, too, and stays apart from columns of other integer types.
func (s *solver) resumeUse(i int, all bool) bool {
	s.steps++
	w := &s.waiting[i]
	if w.done {
		return false
	}
	v, column := s.classOf(w.edge.a), s.classOf(w.edge.b)
	known := column.known || column.poisoned
	if !known && !all {
		s.awaitUse(w.edge.b, i)
		return false
	}
	if w.mixed && !v.known && !v.poisoned {
		if known {
			s.awaitUse(w.edge.a, i)
		}
		return false
	}
	w.done = true
	if w.mixed && known && v.typ != column.typ && isWhole(v.typ) && isWhole(column.typ) {
		return true
	}
	s.current = w.unit
	s.join(w.edge)
	s.current = nil
	return true
}

// waitingRoots returns the roots of the variables that wait for the types of
// columns.
func (s *solver) waitingRoots() map[int]bool {
	if len(s.waiting) == 0 {
		return nil
	}
	out := map[int]bool{}
	for _, w := range s.waiting {
		if !w.done {
			out[s.find(w.edge.a)] = true
		}
	}
	return out
}

// needs returns the least type that holds the values of known types in a
// widened column, with the place of the last one that made it wider, and
// whether all types are known. Literals count where their value does not fit.
func (s *solver) needs(column int) (because evidence, complete bool) {
	complete = true
	because.node = column
	widen := func(t scalar.Type, span source.Span) {
		wide, ok := t, true
		if because.typ.Kind != scalar.Invalid {
			wide, ok = scalar.Common(because.typ, t)
		}
		if ok && wide != because.typ {
			because.typ, because.span, because.says = wide, span, "{place} is {type}"
			if wide != t {
				because.says = "together with {place}, the column is {type}"
			}
		}
	}
	type literal struct {
		value scalar.Value
		span  source.Span
	}
	var literals []literal
	for _, t := range s.puts[column] {
		if v := normal.LiteralOf(t); v != nil {
			literals = append(literals, literal{*v, t.Pos()})
			continue
		}
		switch t := t.(type) {
		case *normal.Const:
			widen(t.Value.Type, t.Span)
		case normal.Ref:
			c := s.classOf(t.Var.Node)
			if c.known && !c.poisoned {
				widen(c.typ, t.Span)
			}
			complete = complete && (c.known || c.poisoned)
		}
	}
	for _, l := range literals {
		if because.typ.Kind != scalar.Invalid {
			if _, fits := s.literalAs(l.value, because.typ); fits {
				continue
			}
		}
		widen(l.value.Type, l.span)
	}
	return because, complete
}

// checkRelaxed decides whether another attempt is needed: one that relaxes
// more, or one with wider types. Types that follow from a clash count for
// nothing.
func (s *solver) checkRelaxed() {
	if s.marked {
		clear(s.relaxed.floors)
		clear(s.relaxed.raised)
		s.again = true
		return
	}
	s.checkWidened()
	s.checkMixed()
}

// checkWidened finds the widened columns that need a wider type than they have.
func (s *solver) checkWidened() {
	for n := range s.relaxed.widened {
		typ, known := s.TypeOf(n)
		if !known {
			continue
		}
		because, _ := s.needs(n)
		if wide, ok := scalar.Common(typ, because.typ); ok && wide != typ &&
			s.relaxed.attempts < maxAttempts {
			because.typ = wide
			s.relaxed.floors[n] = because
			s.relaxed.raised[n]++
			s.again = true
		}
	}
}

// grows returns a widened column whose type became wider again and again, if an
// operand of a call has its type.
func (s *solver) grows(e *normal.Call) (int, bool) {
	for _, a := range e.Args {
		r, ok := a.(normal.Ref)
		for _, n := range slices.Sorted(maps.Keys(s.relaxed.raised)) {
			if ok && s.relaxed.raised[n] > 1 && s.find(n) == s.find(r.Var.Node) {
				return n, true
			}
		}
	}
	return 0, false
}
