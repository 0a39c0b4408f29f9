package sema

import (
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// string:split[s, d, i] gives i the indexes of all parts of s, if nothing else
// binds it. string:substring[s, i, n] gives i and n all starts and lengths of
// what lies inside of s: 0 <= i, 0 <= n, i + n <= string:length[s]. Both are
// ranges whose ends are computed from s. If the substring itself is known, so
// is its length. string:captures[s, p, i] gives i the parts in parentheses of
// the pattern p, which is a literal; those without a match have no value.

// enumerate makes a range of the first open index or length of a part of a
// string. It reports whether there is one.
func (lo *lowering) enumerate(k *conj) bool {
	for _, l := range k.literals {
		switch l := l.(type) {
		case *normal.Equation:
			if lo.enumerateIn(l.X, l.Y, k) || lo.enumerateIn(l.Y, l.X, k) {
				return true
			}
		case *normal.Test:
			if lo.enumerateIn(l.Expr, nil, k) {
				return true
			}
		}
	}
	return false
}

// enumerateIn looks for a part in an expression that is equal to another one,
// or to nothing that is known.
func (lo *lowering) enumerateIn(e, equal normal.Expr, k *conj) bool {
	call, ok := e.(*normal.Call)
	if !ok {
		return false
	}
	switch {
	case call.Name == "string:split" && lo.enumerateSplit(call, k),
		call.Name == "string:captures" && lo.enumerateCaptures(call, k),
		call.Name == "string:substring" && lo.enumerateSubstring(call, equal, k):
		return true
	}
	for _, a := range call.Args {
		if lo.enumerateIn(a, nil, k) {
			return true
		}
	}
	return false
}

// enumerateSplit gives the index of a part a range. The last index is the
// number of delimiters, which is what the text is shorter by without them.
func (lo *lowering) enumerateSplit(call *normal.Call, k *conj) bool {
	s, d := call.Args[0], call.Args[1]
	if !valued(s) || !valued(d) || isText(d, "") {
		return false
	}
	i, ok := lo.openArgument(call, 2, k)
	if !ok {
		return false
	}
	p := parts{call}
	less := p.call("sub", p.length(s), p.length(p.call("string:replace", s, d, p.text(""))))
	lo.rangeOf(p.upTo(p.call("div", less, p.length(d))), i, k)
	return true
}

// enumerateCaptures gives the number of a part of a pattern a range.
func (lo *lowering) enumerateCaptures(call *normal.Call, k *conj) bool {
	lit := normal.BoundLiteral(call.Args[1])
	if lit == nil || lit.Value.Type.Kind != scalar.String {
		return false
	}
	pattern, err := scalar.CompilePattern(lit.Value.Str())
	i, ok := lo.openArgument(call, 2, k)
	if !ok {
		return false
	}
	last := 0
	if err == nil { // type inference reports the error
		last = pattern.NumSubexp()
	}
	p := parts{call}
	lo.rangeOf(p.upTo(p.number(int64(last))), i, k)
	return true
}

// enumerateSubstring gives the length or the start of a substring its values.
func (lo *lowering) enumerateSubstring(call *normal.Call, equal normal.Expr, k *conj) bool {
	s, start, n := call.Args[0], call.Args[1], call.Args[2]
	if !valued(s) || valued(start) && valued(n) {
		return false
	}
	p := parts{call}
	if equal != nil && valued(equal) && !valued(n) {
		length, ok := lo.openArgument(call, 2, k)
		if !ok {
			return false
		}
		length.Var.Bound = true
		k.add(&normal.Binding{Span: call.Span, Var: length.Var, Expr: p.length(equal)})
		p.inside(s, call.Args[1], length, k)
		return true
	}
	if valued(start) {
		length, ok := lo.openArgument(call, 2, k)
		if !ok {
			return false
		}
		p.test(k, "le", p.number(0), start)
		lo.rangeOf(p.upTo(p.call("sub", p.length(s), start)), length, k)
		return true
	}
	from, ok := lo.openArgument(call, 1, k)
	if !ok {
		return false
	}
	last := p.length(s)
	if valued(n) {
		p.test(k, "le", p.number(0), n)
		last = p.call("sub", last, n)
	}
	lo.rangeOf(p.upTo(last), from, k)
	return true
}

// openArgument returns the variable without a value that an argument is. If the
// argument is a sum or difference, it becomes a variable, which the sum or
// difference may take its value from.
func (lo *lowering) openArgument(call *normal.Call, i int, k *conj) (normal.Ref, bool) {
	switch e := call.Args[i].(type) {
	case normal.Ref:
		return e, isOpen(e, k.scope)
	case *normal.Call:
		v := lo.fresh(e.Span, k.scope)
		if inner, _ := solved(e, v, k.scope); inner == nil {
			return v, false
		}
		call.Args[i] = v
		k.add(&normal.Equation{Span: e.Span, X: v, Y: e})
		return v, true
	}
	return normal.Ref{}, false
}

// parts makes expressions about the arguments of a call.
type parts struct{ of *normal.Call }

func (p parts) call(name string, args ...normal.Expr) normal.Expr {
	return &normal.Call{Span: p.of.Span, Name: name, Args: args, Copy: true}
}

func (p parts) length(s normal.Expr) normal.Expr { return p.call("string:length", s) }

func (p parts) number(n int64) normal.Expr {
	return &normal.Const{Value: scalar.OfInt(scalar.IntType, n), Span: p.of.Span}
}

func (p parts) text(s string) normal.Expr {
	return &normal.Const{Value: scalar.OfString(s), Span: p.of.Span}
}

func (p parts) test(k *conj, name string, args ...normal.Expr) {
	k.add(&normal.Test{Span: p.of.Span, Expr: p.call(name, args...)})
}

// inside adds the tests that a start and a length are inside of a text. A start
// without a value gets only those that are.
func (p parts) inside(s, start, n normal.Expr, k *conj) {
	if valued(start) {
		p.test(k, "le", p.number(0), start)
		p.test(k, "le", start, p.call("sub", p.length(s), n))
	}
}

// upTo is the range from 0 to the value of an expression.
func (p parts) upTo(last normal.Expr) *normal.Range {
	return &normal.Range{Span: p.of.Span, From: p.number(0), To: last, Step: p.number(1)}
}

func isText(e normal.Expr, s string) bool {
	lit := normal.BoundLiteral(e)
	return lit != nil && lit.Value.Type.Kind == scalar.String && lit.Value.Str() == s
}
