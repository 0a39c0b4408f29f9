package infer

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// A mixed variable stands in columns of several integer types. Its values are
// integers that fit all of them: the emitted rule has a variable for each type,
// and tests that these are equal. The variable itself has the type of the
// expression that binds it or of its type atom. Else it is as wide as the
// widest of the columns in its own conjunction, and signed if one of them is.

// ownColumn is a column in which a mixed variable stands.
type ownColumn struct {
	node int
	own  bool // not in a negation inside the variable's conjunction
}

// isWhole reports whether all values of a type are integers. The last type is
// that of a column with values of int and of uint.
func isWhole(t scalar.Type) bool {
	return normal.IsInteger(t) || t == scalar.WideDecimalOf(0)
}

// isInteger reports whether a node has an integer type, or the type of a column
// with values of int and of uint, unless a declaration says decimal[38,0].
func (s *solver) isInteger(node int) bool {
	t, _ := s.TypeOf(node)
	if t != scalar.WideDecimalOf(0) {
		return normal.IsInteger(t)
	}
	_, because := s.nearest(fact{node, t})
	return s.relaxed.widened[because.node] || s.relaxed.mixed[because.node]
}

// isFixed reports whether the variables of a body atom must have the types of
// their columns: the value of a refmode stands for the entity, and the body of
// seq<<>> is one atom.
func (s *solver) isFixed(a *normal.Atom) bool {
	m := a.Pred.Maker
	return s.current.Seq != nil || m != nil && m.Refmode && m.Family.ByValue()
}

// owns reports whether a variable belongs to the conjunction being entered.
func (s *solver) owns(v *normal.Var) bool {
	return v.Scope == s.scope || s.scope == nil && v.Scope.Parent == nil
}

// mixable reports whether a node on a chain between two integer types is a
// variable that can have both: neither side is a head, and on one side stands a
// column of a body. A type atom of a constraint or a negation is no test of the
// values.
func (s *solver) mixable(node int, before, after edge) bool {
	return s.nodes[node].v != nil && !s.firm[node] && !s.relaxed.mixed[node] &&
		!before.inHead && !after.inHead && !(before.fixed && after.fixed)
}

// home returns the type that the columns with known types give a mixed
// variable, and whether all its columns have one.
func (s *solver) home(v int) (t scalar.Type, complete bool) {
	columns := s.columns[v]
	inside := !slices.ContainsFunc(columns, func(c ownColumn) bool { return c.own })
	complete = true
	for _, c := range columns {
		if !c.own && !inside {
			continue
		}
		ct, known := s.TypeOf(c.node)
		switch {
		case !known:
			complete = complete && s.classOf(c.node).poisoned
		case t.Kind == scalar.Invalid || !isWhole(t):
			t = ct
		case isWhole(ct):
			t = mixedType(t, ct)
		}
	}
	return t, complete
}

// mixedType returns the type of a variable whose values fit two integer types.
func mixedType(a, b scalar.Type) scalar.Type {
	switch {
	case !normal.IsInteger(a):
		return b
	case !normal.IsInteger(b):
		return a
	case a.Kind == scalar.Int || b.Kind == scalar.Int:
		return scalar.IntOf(max(a.Bits, b.Bits))
	}
	return scalar.UintOf(max(a.Bits, b.Bits))
}

// typeMixed types the mixed variables that no expression binds and whose
// columns all have types, or the first of which some have. It reports whether
// there is one.
func (s *solver) typeMixed(all bool) bool {
	return s.typeEach(&s.openMixed, func(n int) bool {
		t, complete := s.home(n)
		if t.Kind == scalar.Invalid || all && !complete {
			return false
		}
		because := evidence{span: s.nodes[n].v.Span, typ: t,
			says: "the columns of {place} make it {type}"}
		s.homes[n] = because
		s.learn(n, t, because)
		return true
	}, all)
}

// checkMixed finds the mixed variables that have not the type of their columns.
func (s *solver) checkMixed() {
	for _, n := range slices.Sorted(maps.Keys(s.homes)) {
		because := s.homes[n]
		t, _ := s.home(n)
		if isWhole(t) && t != because.typ && s.relaxed.attempts < maxAttempts {
			because.typ = t
			s.relaxed.floors[n] = because
			s.again = true
		}
	}
}
