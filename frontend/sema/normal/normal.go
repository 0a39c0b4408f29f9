package normal

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Clause is a clause with its normal form.
type Clause struct {
	Node   *ast.Clause
	Number int     // in the text
	Broken bool    // an error was reported, consequences are silenced
	Units  []*Unit // one for each alternative of its disjunctive normal form
	Checks bool    // it is a constraint: no binding may satisfy its units
}

// Unit is one alternative of a clause in normal form, before types are known:
// a conjunction whose atoms have variables and constants as arguments. All
// heads of the clause share it.
type Unit struct {
	Clause *Clause
	Picks  []source.Span // the items of the clause's disjunctions that it comes from
	Heads  []*Atom
	Body   []Literal
	// Creates has the atoms of makers among the heads whose entity has no other
	// value. Their keys have values from the body, or from those before them.
	Creates []*Atom
	Aggs    []Aggregate
	Seq     *Sequence
	Asserts []Assertion
	Members []Member
	Vars    []*Var
	// Shown is the number of variables of the left side of a constraint, which
	// come first. TypesOnly is set if the constraint tests nothing.
	Shown     int
	TypesOnly bool
	// Hidden is set if the program does not write the rule: nobody hears that
	// it derives nothing.
	Hidden bool
	Alike  []Alike
}

// Member is a variable whose type holds the constants of a set.
type Member struct {
	Var    *Var
	Values []*Const
}

// Alike is two variables that have one type.
type Alike struct {
	Span source.Span
	X, Y *Var
}

// Var is a variable of a unit.
type Var struct {
	Name  string // unique in the unit
	Base  string // as written
	Span  source.Span
	Index int  // in the unit
	Made  bool // by the compiler, for a wildcard or a nested expression
	Short bool // made by package desugar, for what its span has
	Node  int  // its type
	// Scope is the conjunction to which it belongs.
	Scope *Scope
	Bound bool
	// Means is the expression that binds the variable, if no atom does. Once
	// folded is set, number is its value if it is made of literals.
	Means  Expr
	folded bool
	number *scalar.Value
	// Created is set if the head creates the entity that is the value.
	Created bool
	// NotInteger is the type of a value that a call to bind the variable found
	// instead of an integer.
	NotInteger scalar.Type
	// Out is set if an aggregate or seq<<>> gives it its value.
	Out bool
}

// Shown is the variable as the user wrote it, or the text that a made-up one
// stands for.
func (v *Var) Shown() string {
	if v.Made || v.Short {
		return v.Span.Text()
	}
	return v.Base
}

// IsWildcard reports whether the variable stands for a wildcard.
func (v *Var) IsWildcard() bool { return v.Made && v.Span.Text() == "_" }

// Literal is *Atom, *Binding, *Test or *Negation. It may be *Equation, *Range
// or *In until the order of the body is settled.
type Literal any

// Atom is p(x, y). The value of a function comes last.
type Atom struct {
	Span source.Span
	Pred *Pred
	Args []Term
}

// Equation is an equality that may bind a variable.
type Equation struct {
	Span source.Span
	X, Y Expr
}

// Range is int:range(from, to, step, x), which may bind x. It becomes an atom
// or tests when the order of the body is settled.
type Range struct {
	Span           source.Span
	From, To, Step Expr
	X              Term
}

// In is x in {a, b}, which may bind x. It becomes an atom or a test when the
// order of the body is settled.
type In struct {
	Span   source.Span
	Node   *ast.In
	X      Term
	Values []*Const
}

// Binding gives a variable the value of an expression.
type Binding struct {
	Span source.Span
	Var  *Var
	Expr Expr
}

// Test is a boolean expression that must hold. Solved is set if it is an
// equality from which a Binding of the body has its expression.
type Test struct {
	Span   source.Span
	Expr   Expr
	Solved bool
}

// Negation holds where its body has no binding.
type Negation struct {
	Span  source.Span
	Of    source.Span   // the formula under the negation, of which Body is one alternative
	Picks []source.Span // the items of its disjunctions that Body comes from
	Scope *Scope
	Body  []Literal
}

// Assertion is a type atom in a rule or constraint.
type Assertion struct {
	Span source.Span
	Var  *Var
	Type scalar.Type
	// Inside is set if it stands in a negation inside the variable's
	// conjunction.
	Inside bool
}

// Aggregate is one specifier of agg<<>>.
type Aggregate struct {
	Span source.Span
	Out  *Var
	Fn   core.AggFn
	In   *Var
	At   scalar.Value // of a quantile
	// Separator and By are those of string_join.
	Separator string
	By        []OrderKey
}

// Sequence is seq<<>>: Index numbers the bindings of the body.
type Sequence struct {
	Span  source.Span
	Index *Var
	Group []*Var
	Order []OrderKey
}

// OrderKey is one variable of an order. Tie is set if the program does not name
// it there.
type OrderKey struct {
	Var       *Var
	Desc, Tie bool
}

// Expr is Ref, *Const or *Call.
type Expr interface {
	Pos() source.Span
}

// Term is Ref or *Const.
type Term = Expr

// Ref is one occurrence of a variable.
type Ref struct {
	Var  *Var
	Span source.Span
}

// Const is a constant as it is written.
type Const struct {
	Value scalar.Value
	Span  source.Span
}

// Call is a function application. Its signature is settled by inference.
type Call struct {
	Span source.Span
	Name string // as scalar.Resolve takes it
	Args []Expr
	Item source.Span // of `holds`: the alternative of a tested disjunction that it is in
	Sig  scalar.Signature
	// Binds is set if the program does not write the call: it helps to bind the
	// variable, provided that it computes with integers or, if Exact is set,
	// with decimals or dates.
	Binds *Var
	Exact bool
	// Copy is set if the call is part of another literal as well, so that its
	// errors are reported there.
	Copy bool
	// state of inference
	Resolved, Failed bool
}

// Pos returns the place of the occurrence.
func (r Ref) Pos() source.Span { return r.Span }

// Pos returns the place of the constant.
func (k *Const) Pos() source.Span { return k.Span }

// Pos returns the place of the application.
func (k *Call) Pos() source.Span { return k.Span }

// EachVar calls f for the variable occurrences of an expression.
func EachVar(e Expr, f func(Ref)) {
	switch e := e.(type) {
	case Ref:
		f(e)
	case *Call:
		for _, a := range e.Args {
			EachVar(a, f)
		}
	}
}

// EachVarOf calls f for the variable occurrences of a literal, also those
// inside negations.
func EachVarOf(l Literal, f func(Ref)) {
	switch l := l.(type) {
	case *Atom:
		for _, a := range l.Args {
			EachVar(a, f)
		}
	case *Equation:
		EachVar(l.X, f)
		EachVar(l.Y, f)
	case *Range:
		for _, e := range []Expr{l.From, l.To, l.Step, l.X} {
			EachVar(e, f)
		}
	case *In:
		EachVar(l.X, f)
	case *Binding:
		f(Ref{l.Var, l.Span})
		EachVar(l.Expr, f)
	case *Test:
		EachVar(l.Expr, f)
	case *Negation:
		for _, x := range l.Body {
			EachVarOf(x, f)
		}
	}
}
