package sema

import (
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// unit is one alternative of a clause in normal form, before types are known:
// a conjunction whose atoms have variables and constants as arguments. All
// heads of the clause share it.
type unit struct {
	clause  *clause
	picks   []source.Span // the items of the clause's disjunctions that it comes from
	heads   []*atom
	body    []literal
	agg     []aggregate
	seq     *sequence
	asserts []assertion
	vars    []*variable
	made    int            // variables made up so far
	names   map[string]int // of variables, with the last number given to each
	// shown is the number of variables of the left side of a constraint, which
	// come first; typesOnly says that the constraint tests nothing.
	shown     int
	typesOnly bool
}

// variable is a variable of a unit.
type variable struct {
	name  string // unique in the unit
	base  string // as written
	span  source.Span
	index int  // in the unit
	made  bool // by the compiler, for a wildcard or a nested expression
	node  int  // its type
	// scope is the conjunction to which it belongs.
	scope *scope
	bound bool
	// means is the expression that binds the variable, if no atom does; number is
	// its value if it is made of literals, once folded is set.
	means  expr
	folded bool
	number *scalar.Value
	// out says that an aggregate or seq<<>> gives it its value.
	out bool
}

// literal is *atom, *binding, *test or *negation; *equation until the order of
// the body is settled.
type literal any

type atom struct {
	span source.Span
	pred *pred
	args []term
}

// equation is an equality that may bind a variable.
type equation struct {
	span source.Span
	x, y expr
}

type binding struct {
	span source.Span
	v    *variable
	e    expr
}

type test struct {
	span source.Span
	e    expr
}

type negation struct {
	span  source.Span
	of    source.Span   // the formula under the negation, of which body is one alternative
	picks []source.Span // the items of its disjunctions that body comes from
	scope *scope
	body  []literal
}

// assertion is a type atom in a rule or constraint.
type assertion struct {
	span source.Span
	v    *variable
	typ  scalar.Type
}

type aggregate struct {
	span source.Span
	out  *variable
	fn   core.AggFn
	in   *variable
}

type sequence struct {
	span  source.Span
	index *variable
	group []*variable
	order []*variable
}

// expr is ref, *constant or *call.
type expr interface {
	pos() source.Span
}

// term is ref or *constant.
type term = expr

// ref is one occurrence of a variable.
type ref struct {
	v    *variable
	span source.Span
}

type constant struct {
	value scalar.Value
	span  source.Span
}

// call is a function application. Its signature is settled by inference.
type call struct {
	span source.Span
	name string // as scalar.Resolve takes it
	args []expr
	item source.Span // of `holds`: the alternative of a tested disjunction that it is in
	sig  scalar.Signature
	// state of inference
	resolved, failed bool
}

func (r ref) pos() source.Span       { return r.span }
func (k *constant) pos() source.Span { return k.span }
func (k *call) pos() source.Span     { return k.span }

// eachVar calls f for the variable occurrences of an expression.
func eachVar(e expr, f func(ref)) {
	switch e := e.(type) {
	case ref:
		f(e)
	case *call:
		for _, a := range e.args {
			eachVar(a, f)
		}
	}
}

// eachVarOf calls f for the variable occurrences of a literal, also those
// inside negations.
func eachVarOf(l literal, f func(ref)) {
	switch l := l.(type) {
	case *atom:
		for _, a := range l.args {
			eachVar(a, f)
		}
	case *equation:
		eachVar(l.x, f)
		eachVar(l.y, f)
	case *binding:
		f(ref{l.v, l.span})
		eachVar(l.e, f)
	case *test:
		eachVar(l.e, f)
	case *negation:
		for _, x := range l.body {
			eachVarOf(x, f)
		}
	}
}
