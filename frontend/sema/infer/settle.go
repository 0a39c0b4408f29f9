package infer

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// settle types the classes that declarations and forward typing leave open.
// Evidence goes from strong to weak: literals in a column that no pending rule
// computes; literals in a column that is computed from itself; what the
// functions accept; literals anywhere. After each step forward typing runs, so
// that a weak guess is made only where nothing stronger will come.
func (s *solver) settle() {
	for {
		for s.typeRelaxed() {
			s.run()
		}
		s.compact()
		waiting := s.waitingRoots()
		if s.guess(waiting, func(target, self bool) bool { return !target }, true) ||
			s.guess(waiting, func(target, self bool) bool { return self }, false) ||
			s.resumeAll() ||
			s.fromFunctions() ||
			s.guess(nil, func(target, self bool) bool { return true }, false) {
			s.run()
			continue
		}
		return
	}
}

// compact drops the items that are done.
func (s *solver) compact() {
	kept := s.items[:0]
	for _, it := range s.items {
		if !it.done {
			kept = append(kept, it)
		}
	}
	s.items = kept
	var open []int
	if s.open == nil {
		for i := range s.nodes {
			s.open = append(s.open, i)
		}
	}
	for _, n := range s.open {
		if s.find(n) == n && !s.class[n].known && !s.class[n].poisoned {
			open = append(open, n)
		}
	}
	s.open = open
}

// guess types open classes by the declared columns that they are put into, or
// by their literals. want selects the classes: its arguments are whether a
// pending binding will type the class, and whether that binding waits for the
// class itself. The waiting ones are left out. Unless all is set, guess stops
// at the first.
func (s *solver) guess(
	waiting map[int]bool, want func(target, self bool) bool, all bool,
) bool {
	target, self := map[int]bool{}, map[int]bool{}
	for _, it := range s.items {
		out := -1
		switch l := it.lit.(type) {
		case *normal.Binding:
			out = s.find(l.Var.Node)
		case *normal.Aggregate:
			out = s.find(l.Out.Node)
		}
		if out >= 0 {
			target[out] = true
			if s.find(it.waitsFor) == out {
				self[out] = true
			}
		}
	}
	declared := map[int]softHead{}
	for _, h := range s.soft {
		if h.pred.Declared[h.column].Kind == scalar.Invalid {
			continue
		}
		root := s.find(h.r.Var.Node)
		if in := h.aggregated(); in != nil {
			root = s.find(in.Node)
		}
		if _, ok := declared[root]; !ok {
			declared[root] = h
		}
	}
	uses := s.literalUses()
	found := false
	for _, n := range s.open {
		c := &s.class[n]
		if s.find(n) != n || c.known || c.poisoned || waiting[n] || !want(target[n], self[n]) {
			continue
		}
		if h, ok := declared[n]; ok {
			t := h.pred.Declared[h.column]
			if s.fitsAll(c.literals, t.Type) {
				s.learn(n, t.Type,
					evidence{span: h.r.Span, says: "put into " + h.pred.ColumnName(h.column) +
						", which is {type}"})
				found = true
			}
		}
		if because, ok := uses[n]; ok && !c.known && len(c.literals) > 0 &&
			s.fitsAll(c.literals, because.typ) {
			s.learn(n, because.typ, because)
			found = true
		}
		if !c.known && len(c.literals) > 0 {
			s.learnFromLiterals(n, c)
			found = true
		}
		if found && !all {
			return true
		}
	}
	return found
}

// aggregated returns the literal that an aggregate adds up into the declared
// column, if the aggregate of the literal's own type does not widen to it.
func (h *softHead) aggregated() *normal.Var {
	for _, a := range h.unit.Aggs {
		if a.Out != h.r.Var || a.In == nil {
			continue
		}
		k := normal.BoundLiteral(normal.Ref{Var: a.In})
		want := h.pred.Declared[h.column].Type
		if k != nil && !scalar.CanWiden(aggregateType(a.Fn, k.Value.Type), want) &&
			scalar.CanWiden(aggregateType(a.Fn, want), want) {
			return a.In
		}
	}
	return nil
}

// source returns the node of the argument, or of what it is the least or the
// greatest of.
func (h *softHead) source() int {
	for _, a := range h.unit.Aggs {
		if a.Out == h.r.Var && (a.Fn == core.Min || a.Fn == core.Max) {
			return a.In.Node
		}
	}
	return h.r.Var.Node
}

// totals reports whether the argument is a total.
func (h *softHead) totals() bool {
	return slices.ContainsFunc(h.unit.Aggs, func(a normal.Aggregate) bool {
		return a.Out == h.r.Var && a.Fn == core.Total
	})
}

// fromFunctions types the first variable for which the other operands, or the
// function alone, leave one possibility.
func (s *solver) fromFunctions() bool {
	for _, it := range s.items {
		switch l := it.lit.(type) {
		case *normal.Binding:
			if s.backward(l.Expr) {
				return true
			}
		case *normal.Test:
			if s.backward(l.Expr) {
				return true
			}
		}
	}
	return false
}

// candidates are the types that a function's argument is tried with.
var candidates = []scalar.Type{
	scalar.IntType, scalar.DecimalType, scalar.FloatType, scalar.StringType,
	scalar.DatetimeType, scalar.BooleanType,
}

// backward types a variable that is an argument of a call whose other arguments
// have types.
func (s *solver) backward(e normal.Expr) bool {
	k, ok := e.(*normal.Call)
	if !ok || k.Resolved || k.Failed {
		return false
	}
	types := make([]scalar.Type, len(k.Args))
	var open []int
	for i, a := range k.Args {
		t, state := s.exprType(a, nil)
		switch state {
		case typed:
			types[i] = t
		case broken:
			return false
		default:
			if s.backward(a) {
				return true
			}
			open = append(open, i)
		}
	}
	for _, i := range open {
		r, ok := k.Args[i].(normal.Ref)
		if !ok {
			continue
		}
		if t, ok := s.onlyChoice(k, types, open, i); ok {
			s.learn(r.Var.Node, t, evidence{span: k.Span, says: "{place} needs {type}"})
			return true
		}
	}
	return false
}

// onlyChoice returns the one type that argument i can have. An operand of an
// operator has the type of the other one. A literal stands for the plain type
// of its kind.
func (s *solver) onlyChoice(
	k *normal.Call, types []scalar.Type, open []int, i int,
) (scalar.Type, bool) {
	if isOperator[k.Name] && len(types) == 2 && len(open) == 1 {
		other := types[1-i]
		if _, ok := k.Args[1-i].(*normal.Const); ok && other.Kind == scalar.Decimal &&
			other.Scale < scalar.DecimalType.Scale {
			other = scalar.DecimalType
		}
		return other, true
	}
	var found scalar.Type
	n := 0
	for _, t := range candidates {
		try := append([]scalar.Type(nil), types...)
		for _, j := range open {
			try[j] = t
		}
		if len(open) > 1 {
			// Several open arguments are tried with all types for the others.
			if !s.someChoice(k, types, open, i, t) {
				continue
			}
		} else if sig, err := scalar.Resolve(k.Name, try); err != nil || sig.Params[i] != t {
			continue
		}
		found, n = t, n+1
	}
	return found, n == 1
}

// someChoice reports whether argument i can be t with some types of the other
// open arguments.
func (s *solver) someChoice(
	k *normal.Call, types []scalar.Type, open []int, i int, t scalar.Type,
) bool {
	try := append([]scalar.Type(nil), types...)
	try[i] = t
	var rest []int
	for _, j := range open {
		if j != i {
			rest = append(rest, j)
		}
	}
	var search func(n int) bool
	search = func(n int) bool {
		if n == len(rest) {
			sig, err := scalar.Resolve(k.Name, try)
			return err == nil && sig.Params[i] == t
		}
		for _, c := range candidates {
			try[rest[n]] = c
			if search(n + 1) {
				return true
			}
		}
		return false
	}
	return search(0)
}

var isOperator = map[string]bool{
	"eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true,
	"add": true, "sub": true, "mul": true, "div": true,
}

// stepAggregate types the result of an aggregation by its input.
func (s *solver) stepAggregate(a *normal.Aggregate, it *item) {
	switch a.Fn {
	case core.Count:
		it.done = true
		s.learn(a.Out.Node, scalar.IntType, evidence{span: a.Span, says: "count() is {type}"})
		return
	case core.CountDistinct:
		it.done = true
		s.learn(a.Out.Node, scalar.IntType, evidence{span: a.Span, says: "a count is {type}"})
		return
	}
	t, state := s.exprType(normal.Ref{Var: a.In, Span: a.Span}, it)
	if state == pending {
		return
	}
	it.done = true
	if state == broken {
		s.poison(a.Out.Node)
		return
	}
	if a.Fn == core.StringJoin && t != scalar.StringType {
		d := s.Errorf(diag.WrongArgumentTypes, a.Span, "string_join joins strings, but %s is %s",
			a.In.Shown(), t)
		s.explainType(d, a.In.Node)
		if s.families[t] == nil {
			primitive, _, _ := strings.Cut(t.String(), "[")
			d.Help("bind a string in the body, as in s = %s:string:convert[%s], and join s", primitive,
				a.In.Shown())
		} else {
			d.Help("join a string that belongs to %s", a.In.Shown())
		}
		s.poison(a.Out.Node)
		return
	}
	if addsNumbers(a.Fn) && !t.IsNumeric() {
		verb := "adds"
		if a.Fn == core.Median {
			verb = "needs"
		}
		d := s.Errorf(diag.WrongArgumentTypes, a.Span, "%s %s numbers, but %s is %s", a.Fn, verb,
			a.In.Shown(), t)
		s.explainType(d, a.In.Node)
		if f := s.families[t]; a.Fn == core.Median && (f == nil || f.ByValue()) {
			d.Help("write quantile(%s, 0.5): of two values in the middle it takes the lower one",
				a.In.Shown())
		}
		s.poison(a.Out.Node)
		return
	}
	if f := s.families[t]; f != nil && !f.ByValue() {
		d := s.Errorf(diag.WrongArgumentTypes, a.Span, "%s needs an order, which %s does not have",
			a.Fn, t)
		d.Note("%s is made by constructors; an entity with a refmode has the order of its values", t)
		d.Help("aggregate a value that belongs to %s", a.In.Shown())
		s.poison(a.Out.Node)
		return
	}
	result := aggregateType(a.Fn, t)
	if a.Fn == core.Total {
		result = declaredTotal(a, it.unit, result)
	}
	s.learn(a.Out.Node, result, evidence{span: a.Span, says: a.Fn.String() + " of " + t.String() +
		" is {type}"})
}

// declaredTotal returns the type of a total over values of type t. It is the
// wide decimal type that the heads are declared with, so that the sum is
// computed in it. If there is none, or heads differ, it is t.
func declaredTotal(a *normal.Aggregate, u *normal.Unit, t scalar.Type) scalar.Type {
	wide := t
	for _, h := range u.Heads {
		for i, arg := range h.Args {
			r, ok := arg.(normal.Ref)
			if !ok || r.Var != a.Out || h.Pred.Declared[i].Kind == scalar.Invalid {
				continue
			}
			to := h.Pred.Declared[i].Type
			if !to.IsWide() || !scalar.CanWiden(t, to) || wide.IsWide() && wide != to {
				return t
			}
			wide = to
		}
	}
	return wide
}

// addsNumbers reports whether a function adds up its input.
func addsNumbers(fn core.AggFn) bool {
	return fn == core.Total || fn == core.Avg || fn == core.Median
}

// aggregateType returns the type of an aggregation over values of type t.
func aggregateType(fn core.AggFn, t scalar.Type) scalar.Type {
	switch fn {
	case core.Count, core.CountDistinct:
		return scalar.IntType
	case core.Total:
		switch t.Kind {
		case scalar.Int:
			return scalar.IntType
		case scalar.Uint:
			return scalar.UintType
		case scalar.Float:
			return scalar.FloatType
		}
	case core.Avg, core.Median:
		if t.Kind == scalar.Float {
			return scalar.FloatType
		}
		if t.IsWide() {
			return scalar.WideDecimalOf(max(6, t.Scale))
		}
		return scalar.DecimalOf(max(6, t.Scale))
	}
	return t
}
