package sema

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// A literal is a number before it is a value of a type: where its value fits, it
// takes the type that its surroundings need. A variable that an equality binds to
// a literal is that literal in all its uses, so x = 5, f[y] = x means f[y] = 5.

// resolve finds the overload of a call. Literals take the type of the other
// operand first, so that x + 1 keeps the type of x; then their own; and then any
// type with which the call has a meaning and that holds them.
func (s *solver) resolve(e *call, types []scalar.Type) (scalar.Signature, error) {
	own := slices.Clone(types)
	s.adoptLiterals(e, types)
	sig, err := scalar.Resolve(e.name, types)
	if err == nil {
		return sig, nil
	}
	if sig, err := scalar.Resolve(e.name, own); err == nil {
		return sig, nil
	}
	if sig, ok := fittingOverload(e, own); ok {
		return sig, nil
	}
	return sig, err
}

// adoptLiterals gives integer literals the integer type of the other operand
// where they fit it. In a comparison a literal float takes the other's width.
func (s *solver) adoptLiterals(e *call, types []scalar.Type) {
	if len(e.args) != 2 {
		return
	}
	for i, a := range e.args {
		k := s.plainLiteral(a)
		if k == nil || s.plainLiteral(e.args[1-i]) != nil {
			continue
		}
		mine, other := k.value.Type, types[1-i]
		floats := comparisons[e.name] && mine.Kind == scalar.Float && other.Kind == scalar.Float
		if !floats && !(isInteger(mine) && isInteger(other)) {
			continue
		}
		if _, fits := literalAs(k.value, other); fits {
			types[i] = other
		}
	}
}

// plainLiteral returns the literal that an operand is, or that binds it if nothing
// else gives the variable a type; nil if there is none.
func (s *solver) plainLiteral(e expr) *constant {
	if r, ok := e.(ref); ok && !s.classOf(r.v.node).guessed {
		return nil
	}
	return boundLiteral(e)
}

// boundLiteral returns the literal that an operand is or that equalities bind it
// to, nil if there is none.
func boundLiteral(e expr) *constant {
	for {
		switch x := e.(type) {
		case *constant:
			return x
		case ref:
			e = x.v.means
		default:
			return nil
		}
	}
}

// literalTypes are the types that a literal is tried with, after its own and
// those of the other operands.
var literalTypes = []scalar.Type{
	scalar.IntType, scalar.UintType, scalar.UintOf(32), scalar.UintOf(16), scalar.UintOf(8),
	scalar.IntOf(32), scalar.IntOf(16), scalar.IntOf(8),
}

// maxFitted bounds the number of literals of a call that are tried with all types.
const maxFitted = 3

// fittingOverload searches for types of the literals of a call with which it
// resolves to parameters that hold them. Types earlier in the list, summed over
// the literals, are better.
func fittingOverload(e *call, types []scalar.Type) (scalar.Signature, bool) {
	var values []*scalar.Value
	var at []int
	var others []scalar.Type
	for i, a := range e.args {
		v := literalOf(a)
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
		if isInteger(values[i].Type) {
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
				if _, fits := literalAs(*values[i], t); fits {
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
		sig, err := scalar.Resolve(e.name, a.types)
		if err == nil && !slices.ContainsFunc(at, func(i int) bool {
			_, fits := literalAs(*values[i], sig.Params[i])
			return !fits
		}) {
			return sig, true
		}
	}
	return scalar.Signature{}, false
}

// literalOf returns the number that an expression of literals is, nil if it is
// none or has no value.
func literalOf(e expr) *scalar.Value {
	switch e := e.(type) {
	case *constant:
		if e.value.Type.IsNumeric() {
			return &e.value
		}
	case ref:
		k, isCall := e.v.means.(*call)
		switch {
		case !isCall:
			return literalOf(e.v.means)
		case k.resolved && !e.v.folded:
			e.v.folded, e.v.number = true, literalOf(k)
		}
		return e.v.number
	case *call:
		if !e.resolved || e.sig.Func.Volatile || !e.sig.Result.IsNumeric() {
			return nil
		}
		args := make([]scalar.Value, len(e.args))
		for i, a := range e.args {
			v := literalOf(a)
			if v == nil {
				return nil
			}
			w, ok := literalAs(*v, e.sig.Params[i])
			if !ok {
				return nil
			}
			args[i] = w
		}
		if v, ok := e.sig.Func.Eval(e.sig.Result, args); ok && v.Fits() {
			return &v
		}
	}
	return nil
}

// meansLiteral reports whether a node is a variable that stands for a literal which
// fits a type.
func (s *solver) meansLiteral(node int, t scalar.Type) bool {
	v := s.nodes[node].v
	if v == nil {
		return false
	}
	k := literalOf(ref{v, v.span})
	if k == nil {
		return false
	}
	_, ok := literalAs(*k, t)
	return ok
}

// literalUses returns, by the root of a class, a type that the uses of its literal
// have: in negated atoms, and in equalities. Of several the choice does not depend
// on the order of the text.
func (s *solver) literalUses() map[int]evidence {
	out := map[int]evidence{}
	offer := func(v *variable, because evidence) {
		root := s.find(v.node)
		if old, ok := out[root]; !ok || compareTypes(because.typ, old.typ) < 0 {
			out[root] = because
		}
	}
	for _, l := range s.literalBodies {
		if t, ok := s.typeOf(l.column); ok {
			offer(l.r.v, evidence{typ: t, span: l.r.span, says: s.nodeName(l.column) + " is {type}"})
		}
	}
	for _, it := range s.items {
		l, ok := it.lit.(*test)
		if !ok {
			continue
		}
		k, ok := l.e.(*call)
		if !ok || k.name != "eq" {
			continue
		}
		for i, a := range k.args {
			r, ok := a.(ref)
			if !ok || boundLiteral(r) == nil {
				continue
			}
			t, state := s.exprType(k.args[1-i], nil)
			if state != typed || !t.IsNumeric() {
				continue
			}
			offer(r.v, evidence{typ: t, span: k.span, says: "equal to what is {type}"})
		}
	}
	return out
}

func compareTypes(a, b scalar.Type) int {
	return cmp.Or(
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Bits, b.Bits),
		cmp.Compare(a.Scale, b.Scale))
}

func isInteger(t scalar.Type) bool { return t.Kind == scalar.Int || t.Kind == scalar.Uint }

func fitsAll(literals []literalUse, t scalar.Type) bool {
	for _, l := range literals {
		if _, ok := literalAs(l.constant.value, t); !ok {
			return false
		}
	}
	return true
}

// learnFromLiterals gives a class the least type that holds its literals.
func (s *solver) learnFromLiterals(n int, c *class) {
	widest := c.literals[0]
	t := widest.constant.value.Type
	for _, l := range c.literals[1:] {
		lt := l.constant.value.Type
		common, ok := scalar.Common(t, lt)
		if !ok {
			s.learn(n, t, literalEvidence(widest))
			s.clashWith(l.node, literalEvidence(l))
			return
		}
		if common != t {
			t, widest = common, l
		}
	}
	s.learn(n, t, literalEvidence(widest))
	s.classOf(n).guessed = true
}

func literalEvidence(l literalUse) evidence {
	t := l.constant.value.Type
	return evidence{node: l.node, typ: t, literal: l.constant, span: l.constant.span, says: "{place} is {type}"}
}

// literalAs returns a literal's value in another type, if it is the same
// number there.
func literalAs(v scalar.Value, t scalar.Type) (scalar.Value, bool) {
	from := v.Type
	if from == t {
		return v, true
	}
	switch {
	case isInteger(from) && isInteger(t):
		negative := from.Kind == scalar.Int && v.Int() < 0
		if t.Kind == scalar.Uint && negative || t.Kind == scalar.Int && from.Kind == scalar.Uint && v.Bits() >= 1<<63 {
			return v, false
		}
		out := scalar.OfInt(t, int64(v.Bits()))
		return out, out.Bits() == v.Bits()
	case from.Kind == scalar.Decimal && t.Kind == scalar.Decimal && (t.Scale < from.Scale || t.Bits < from.Bits):
		n, _ := v.Int128().Rescale(int(from.Scale), int(t.Scale))
		back, ok := n.Rescale(int(t.Scale), int(from.Scale))
		out := scalar.OfInt128(t, n)
		return out, ok && back == v.Int128() && out.Fits()
	case from.Kind == scalar.Float && t.Kind == scalar.Float:
		return scalar.OfFloat(t, v.Float()), true
	case scalar.CanWiden(from, t):
		out, ok := scalar.Lookup("convert").Eval(t, []scalar.Value{v})
		return out, ok && out.Fits()
	}
	return v, false
}
