package infer

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// resolve finds the overload of a call. Literals first take the type of the
// other operand, so that x + 1 keeps the type of x, then their own, and then
// any type that holds them and for which there is an overload. An overload that
// takes integers of one type for those of another comes last.
func (s *solver) resolve(e *normal.Call, types []scalar.Type) (scalar.Signature, error) {
	own := slices.Clone(types)
	s.adoptLiterals(e, types)
	first, err := scalar.Resolve(e.Name, types)
	if err == nil && !coerces(first, types) {
		return first, nil
	}
	second, failed := scalar.Resolve(e.Name, own)
	if failed == nil && !coerces(second, own) {
		return second, nil
	}
	if sig, ok := fittingOverload(e, own); ok {
		return sig, nil
	}
	if err != nil && failed == nil {
		return second, nil
	}
	return first, err
}

// coerces reports whether an overload takes an integer for one of another type
// that does not hold all its values.
func coerces(sig scalar.Signature, types []scalar.Type) bool {
	for i, t := range types {
		p := sig.Params[i]
		if normal.IsInteger(t) && (!scalar.CanWiden(t, p) ||
			!slices.Contains(types, p) && p == scalar.WideDecimalOf(0)) {
			return true
		}
	}
	return false
}

// adoptLiterals gives integer literals the integer type of the other operand
// where they fit it. In a comparison a literal float takes the other's width,
// and a literal stands for an entity.
func (s *solver) adoptLiterals(e *normal.Call, types []scalar.Type) {
	if len(e.Args) != 2 {
		return
	}
	for i, a := range e.Args {
		k := s.plainLiteral(a)
		if k == nil || s.plainLiteral(e.Args[1-i]) != nil {
			continue
		}
		mine, other := k.Value.Type, types[1-i]
		floats := Comparisons[e.Name] && mine.Kind == scalar.Float && other.Kind == scalar.Float
		entity := (e.Name == "eq" || e.Name == "ne") && other.Kind == scalar.Entity
		if !floats && !entity && !(normal.IsInteger(mine) && normal.IsInteger(other)) {
			continue
		}
		if _, fits := s.literalAs(k.Value, other); fits {
			types[i] = other
		}
	}
}

// plainLiteral returns the literal that an operand is, or the one that binds it
// if nothing else gives the variable a type, or nil.
func (s *solver) plainLiteral(e normal.Expr) *normal.Const {
	if r, ok := e.(normal.Ref); ok && !s.classOf(r.Var.Node).guessed {
		return nil
	}
	return normal.BoundLiteral(e)
}

// literalTypes are the types that a literal is tried with, after its own and
// those of the other operands.
var literalTypes = []scalar.Type{
	scalar.IntType, scalar.UintType, scalar.UintOf(32), scalar.UintOf(16), scalar.UintOf(8),
	scalar.IntOf(32), scalar.IntOf(16), scalar.IntOf(8),
}

// maxFitted bounds the number of literals of a call that are tried with all
// types.
const maxFitted = 3

// fittingOverload searches for types of the literals of a call with which it
// resolves to parameters that hold them. Types earlier in the list, summed over
// the literals, are better.
func fittingOverload(e *normal.Call, types []scalar.Type) (scalar.Signature, bool) {
	var values []*scalar.Value
	var at []int
	var others []scalar.Type
	for i, a := range e.Args {
		v := normal.LiteralOf(a)
		values = append(values, v)
		if v == nil {
			others = append(others, types[i])
		} else {
			at = append(at, i)
		}
	}
	if len(at) == 0 || len(at) > maxFitted {
		return scalar.Signature{}, false
	}
	choices := make([][]scalar.Type, len(at))
	for n, i := range at {
		choices[n] = append([]scalar.Type{types[i], values[i].Type}, others...)
		if normal.IsInteger(values[i].Type) {
			choices[n] = append(choices[n], literalTypes...)
		}
	}
	type attempt struct {
		types []scalar.Type
		rank  int
	}
	attempts := []attempt{{slices.Clone(types), 0}}
	for n, i := range at {
		var more []attempt
		for _, a := range attempts {
			for rank, t := range choices[n] {
				if _, fits := normal.LiteralAs(*values[i], t); fits {
					next := slices.Clone(a.types)
					next[i] = t
					more = append(more, attempt{next, a.rank + rank})
				}
			}
		}
		attempts = more
	}
	slices.SortStableFunc(attempts, func(a, b attempt) int { return cmp.Compare(a.rank, b.rank) })
	for _, a := range attempts {
		sig, err := scalar.Resolve(e.Name, a.types)
		if err == nil && !coerces(sig, a.types) && !slices.ContainsFunc(at, func(i int) bool {
			_, fits := normal.LiteralAs(*values[i], sig.Params[i])
			return !fits
		}) {
			return sig, true
		}
	}
	return scalar.Signature{}, false
}

// meansLiteral reports whether a node is a variable that stands for a literal
// which fits a type.
func (s *solver) meansLiteral(node int, t scalar.Type) bool {
	v := s.nodes[node].v
	if v == nil {
		return false
	}
	k := normal.LiteralOf(normal.Ref{Var: v, Span: v.Span})
	if k == nil {
		return false
	}
	_, ok := s.literalAs(*k, t)
	return ok
}

// literalUses returns, by the root of a class, a type that the uses of its
// literal have: in negated atoms, and in equalities. The choice among several
// types does not depend on the order of the text.
func (s *solver) literalUses() map[int]evidence {
	out := map[int]evidence{}
	offer := func(v *normal.Var, because evidence) {
		root := s.find(v.Node)
		if old, ok := out[root]; !ok || compareTypes(because.typ, old.typ) < 0 {
			out[root] = because
		}
	}
	for _, l := range s.literalBodies {
		if t, ok := s.TypeOf(l.column); ok {
			offer(l.r.Var,
				evidence{typ: t, span: l.r.Span, says: s.nodeName(l.column) + " is {type}"})
		}
	}
	for _, it := range s.items {
		l, ok := it.lit.(*normal.Test)
		if !ok {
			continue
		}
		k, ok := l.Expr.(*normal.Call)
		if !ok || k.Name != "eq" {
			continue
		}
		for i, a := range k.Args {
			r, ok := a.(normal.Ref)
			if !ok || normal.BoundLiteral(r) == nil {
				continue
			}
			t, state := s.exprType(k.Args[1-i], nil)
			if state != typed || !t.IsNumeric() {
				continue
			}
			offer(r.Var, evidence{typ: t, span: k.Span, says: "equal to what is {type}"})
		}
	}
	return out
}

func compareTypes(a, b scalar.Type) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Bits, b.Bits),
		cmp.Compare(a.Scale, b.Scale),
		cmp.Compare(a.String(), b.String()))
}

func (in *Types) fitsAll(literals []literalUse, t scalar.Type) bool {
	for _, l := range literals {
		if _, ok := in.literalAs(l.constant.Value, t); !ok {
			return false
		}
	}
	return true
}

// learnFromLiterals gives a class the least type that holds its literals.
func (s *solver) learnFromLiterals(n int, c *class) {
	widest := c.literals[0]
	t := widest.constant.Value.Type
	for _, l := range c.literals[1:] {
		lt := l.constant.Value.Type
		common, ok := scalar.Common(t, lt)
		if !ok {
			s.learn(widest.node, t, literalEvidence(widest))
			s.clashWith(l.node, literalEvidence(l))
			return
		}
		if common != t {
			t, widest = common, l
		}
	}
	s.learn(widest.node, t, literalEvidence(widest))
	s.classOf(n).guessed = true
}

func literalEvidence(l literalUse) evidence {
	t := l.constant.Value.Type
	return evidence{node: l.node, typ: t, literal: l.constant, inHead: l.inHead,
		span: l.constant.Span, says: "{place} is {type}"}
}
