package starprog

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Arg is an argument of a predicate.
type Arg struct {
	Name   string
	Type   scalar.Type
	Domain int
}

// Pred is a predicate. It is not changed once it is part of a program.
type Pred struct {
	Name string
	Args []Arg
	Keys int // len(Args) for a relation
	// Table and Columns say where a stored predicate comes from.
	Table   string
	Columns []string
	// Facts are tuples of a stored predicate in the program's text.
	Facts [][]scalar.Value
	// Declared says that a derived predicate has a declaration.
	Declared bool
	// Risky says that keys of a derived predicate may get two values.
	Risky bool
	// OrderBy and Limit are how the query is presented; Limit is 0 for all.
	OrderBy []Order
	Limit   int
}

// Order is one key of a presentation.
type Order struct {
	Arg  int
	Desc bool
}

func (p *Pred) functional() bool { return p.Keys < len(p.Args) }
func (p *Pred) stored() bool     { return p.Table != "" }

// ExprKind tells expressions apart.
type ExprKind uint8

// The kinds of expressions.
const (
	Variable ExprKind = iota
	Constant
	Wildcard
	Call  // of a function of the language
	Apply // of a functional predicate
)

// Expr is a term or an expression. It is not changed once made.
type Expr struct {
	Kind   ExprKind
	Type   scalar.Type
	Name   string // of a variable or a function
	Value  scalar.Value
	Pred   *Pred
	Args   []*Expr
	Domain int
}

// LiteralKind tells literals apart.
type LiteralKind uint8

// The kinds of literals. A comparison by "=" with a variable that nothing else
// binds binds it.
const (
	Atom LiteralKind = iota
	Compare
	Not // of a conjunction
	Or  // of comparisons
)

// Literal is one part of a body.
type Literal struct {
	Kind        LiteralKind
	Pred        *Pred
	Args        []*Expr
	Op          string
	Left, Right *Expr
	Body        []Literal
}

// Head is one head of a rule.
type Head struct {
	Pred *Pred
	Args []*Expr
}

// Agg is an aggregation of a variable, of none for count.
type Agg struct {
	Out, Fn, In string
	From, Type  scalar.Type
	At          string // the second argument: the part of a quantile, a separator
}

// Rule is a rule. Seq says that it numbers the tuples of its one atom: the head
// has the atom's variables and, after the first Group of them, the number.
type Rule struct {
	Heads []Head
	Body  []Literal
	Aggs  []Agg
	Seq   bool
	Group int
}

// Constraint wants of every binding of its body that its head holds.
type Constraint struct{ Body, Head []Literal }

// Program is a query with its data, and the ways to compile and run it.
type Program struct {
	Seed        uint64
	Index       int // among the programs of the seed
	Data        *Data
	Stored      []*Pred
	AllStored   []*Pred // of all programs of the seed, which share its files
	Rules       []Rule
	Constraints []Constraint
	// Outputs are the predicates whose tuples are compared; the query is "_".
	Outputs []*Pred
	// Disable has numbers that choose passes to leave out, NoFuse leaves
	// kernels apart, and Threads is the number of threads to run with.
	Disable []uint64
	NoFuse  bool
	Threads int
	// Shapes counts what the generator meant to make.
	Shapes map[string]bool
}

// Literals returns the number of literals of all rules.
func (p *Program) Literals() int {
	n := 0
	for _, r := range p.Rules {
		n += len(r.Body)
	}
	return n
}

// clone copies what shrinking changes.
func (p *Program) clone() *Program {
	q := *p
	data := Data{Tables: slices.Clone(p.Data.Tables)}
	for i, t := range data.Tables {
		own := *t
		data.Tables[i] = &own
	}
	q.Data = &data
	q.Stored = slices.Clone(p.Stored)
	q.Rules = slices.Clone(p.Rules)
	for i := range q.Rules {
		r := &q.Rules[i]
		r.Heads, r.Body, r.Aggs = slices.Clone(r.Heads), slices.Clone(r.Body), slices.Clone(r.Aggs)
	}
	q.Constraints = slices.Clone(p.Constraints)
	for i := range q.Constraints {
		c := &q.Constraints[i]
		c.Body, c.Head = slices.Clone(c.Body), slices.Clone(c.Head)
	}
	q.Outputs, q.Disable = slices.Clone(p.Outputs), slices.Clone(p.Disable)
	return &q
}
