package core

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Program is a checked program.
type Program struct {
	Files  []*source.File
	Preds  []*Pred    // by first appearance in the text
	Strata []*Stratum // in evaluation order
	Checks []*Check   // integrity constraints, tested when all strata are done
	// Combinations are the rules whose variables range over entity types, in
	// the order of the text.
	Combinations []Combination
	// Naming lists the predicates of a transaction that get tuples when facts
	// from outside name entities.
	Naming []string
}

// Combination is the head of a rule some of whose variables range over all
// entities of a type, and the name of the type of each.
type Combination struct {
	Span  source.Span
	Types []string
}

// Pred is a predicate.
type Pred struct {
	Name string // as the user writes it; queries to `_` are "_", then "_2" and so on
	Span source.Span
	// Path is the name with that of its block before it, "" outside of blocks.
	Path string
	Args []Arg
	// Keys is the number of leading arguments that determine the rest. It is
	// len(Args) for a relation and less for a functional predicate.
	Keys    int
	Derived bool // some rule that is not a fact has it as head
	Query   bool // it is the answer predicate `_`
	Hidden  bool // made by the compiler; never shown
	// Numbers is set if the value of the predicate is an entity: each new key
	// gets a number of its own.
	Numbers *Numbering
	// Makes is set if the predicate has all entities of a maker. It is Numbers,
	// or the predicate has numbers from earlier transactions too.
	Makes *Numbering
	// Exported is set if --out writes the predicate: a query, or a derived
	// predicate that the program names and whose name has no underscore at the
	// start.
	Exported bool
	// Keeps is set by lang:recursiveMin, lang:recursiveMax and
	// lang:recursiveAny.
	Keeps Keep
	// Iterates is set by lang:iterate and lang:iterateUntil.
	Iterates *Iteration
	// OrderBy and Limit present the result (lang:output:orderBy and limit).
	OrderBy []OrderKey
	Limit   int64 // -1 when there is none
	// Source is the predicate whose facts it holds, if that is another one.
	Source string
	// File is the file that lang:physical:filePath ties to it, or nil.
	File *FileBinding
}

// Functional reports whether the predicate was declared or used as p[k] = v.
func (p *Pred) Functional() bool { return p.Keys < len(p.Args) }

// KeysHold reports whether the keys are known to determine the rest, because
// numbers are given to keys.
func (p *Pred) KeysHold() bool { return p.Numbers != nil || p.Makes != nil }

// HasNumbers reports whether numbers stand for entities in some column. They
// differ between runs.
func (p *Pred) HasNumbers() bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool { return a.Family != nil })
}

// Family returns the family of the last column with numbered entities; nil if
// there is none.
func (p *Pred) Family() *Family {
	for _, a := range slices.Backward(p.Args) {
		if a.Family != nil {
			return a.Family
		}
	}
	return nil
}

// Arg is one argument of a predicate.
type Arg struct {
	Name string // of the declaration, or made up; unique in the predicate
	Type scalar.Type
	// Entity is the entity type that the program gives it, or "".
	Entity string
	// Family is set if the argument is an entity that a number stands for. Type
	// is then int.
	Family *Family
}

// Family is a hierarchy of entity types whose entities are numbered.
type Family struct {
	Name   string  // of the most general type
	Makers []*Pred // all have Makes
	// Lasting is set if an entity is the same one in later transactions.
	Lasting bool
}

// Numbering says which entities a predicate makes: those with the numbers
// Start, Start + Step and so on, one for each key in an order that is not
// specified. The makers of a family have one Step, the number of makers, and
// differ in Start. Step is 0 if the numbers follow no rule.
type Numbering struct {
	Start, Step int64
	// Name is that of the maker in terms. Refmode is set if the entity shows as
	// its key instead.
	Name    string
	Refmode bool
}

// OrderKey is one column of an ordering.
type OrderKey struct {
	Arg  int
	Desc bool
}

// FileBinding holds the lang:physical directives of a file predicate.
type FileBinding struct {
	Span      source.Span
	Path      string
	Export    bool
	Delimiter string   // one byte; "" is the default for the file's extension
	Header    *bool    // nil without a directive
	Columns   []string // lang:physical:columnNames; nil without a directive
	// Offset is set if the first argument is the byte offset of the record
	// instead of a column of the file (LB4's form `_in(offset; a, b)`).
	Offset bool
}

// Stratum is a set of predicates that depend on one another, with their rules.
type Stratum struct {
	Preds     []*Pred // in the order of a round, if it iterates
	Rules     []*Rule // in text order; facts included
	Recursive bool
	// Unbounded is the place of an expression that can give each round a new
	// value without a bound: no comparison and no other predicate limits it. It
	// is the zero Span if there is none.
	Unbounded source.Span
}

// Rule derives tuples of one head atom. A source rule with several heads or
// with disjunction becomes several rules.
type Rule struct {
	Span source.Span
	Head Atom
	Body []Literal // empty for a fact: every head argument is then a constant
	// At most one of Agg and Seq is set.
	Agg []AggSpec
	Seq *Seq
	// Decl is the number of the source clause it comes from; rules of one
	// clause share it.
	Decl int
}

// AggSpec is one aggregation: the head variable Out gets Fn over the bindings
// of all body variables (after `agg<<...>>`) that share the other head
// arguments.
type AggSpec struct {
	Span source.Span
	Out  *Var
	Fn   AggFn
	In   *Var // nil for count
	// At is the part of a quantile, a decimal from 0 to 1.
	At scalar.Value
	// Separator and By are those of string_join. Texts that are equal in By are
	// in ascending order.
	Separator string
	By        []SeqKey
}

// Inputs returns the variables that the aggregation reads.
func (a *AggSpec) Inputs() []*Var {
	var out []*Var
	if a.In != nil {
		out = append(out, a.In)
	}
	for _, k := range a.By {
		out = append(out, k.Var)
	}
	return out
}

// AggFn is an aggregation function.
type AggFn uint8

// The aggregation functions.
const (
	Count AggFn = iota
	Total
	Min
	Max
	Avg
	CountDistinct
	// Median is the mean of the one or two values in the middle.
	Median
	// Quantile is the least value that is not below the part At of all values.
	Quantile
	// StringJoin concatenates texts in the order By, with Separator between.
	StringJoin
)

var aggNames = [...]string{
	"count", "total", "min", "max", "avg", "count_distinct", "median", "quantile",
	"string_join",
}

// String returns the name of the function in LogiQL.
func (f AggFn) String() string { return aggNames[f] }

// Seq is `seq<<>>`: Index numbers, from 0, the bindings of the body in the
// order of Order within each group of equal Group.
type Seq struct {
	Index *Var
	Group []*Var
	Order []SeqKey
}

// SeqKey is one variable of the order of a Seq.
type SeqKey struct {
	Var  *Var
	Desc bool
}

// Vars returns the variables that the sequence reads.
func (s *Seq) Vars() []*Var {
	out := slices.Clone(s.Group)
	for _, k := range s.Order {
		out = append(out, k.Var)
	}
	return out
}

// Var is a variable of one rule; rules share no variables.
type Var struct {
	Name string // unique in its rule; made-up names contain '$', wildcards are "_$1"
	Type scalar.Type
	Span source.Span // first occurrence
}

// Literal is one conjunct of a body: *Atom, *Let, *Test or *Not. A body is in
// the order of the text, except that Let, Test and Not follow the literals that
// bind the variables which they use.
type Literal interface{ literal() }

// Atom is p(t1, ..., tn). The value of a functional predicate comes last.
type Atom struct {
	Span source.Span
	Pred *Pred
	Args []Term // *Var or Const
}

// Vars returns the variables among the arguments, some of them several times.
func (a *Atom) Vars() []*Var {
	var out []*Var
	for _, t := range a.Args {
		if v, ok := t.(*Var); ok {
			out = append(out, v)
		}
	}
	return out
}

// Let binds Var to the value of Expr, and is false where Expr has no value.
type Let struct {
	Span source.Span
	Var  *Var
	Expr Expr
}

// Test is true where the boolean Expr has a value and it is true.
type Test struct {
	Span source.Span
	Expr Expr
}

// Not is true where its body has no binding. Variables that occur only inside
// are existential.
type Not struct {
	Span source.Span
	Body []Literal
}

func (*Atom) literal() {}
func (*Let) literal()  {}
func (*Test) literal() {}
func (*Not) literal()  {}

// Term is an argument of an atom: *Var, Const or New.
type Term interface{ term() }

// Expr is a typed expression: VarExpr, Const or *Call.
type Expr interface {
	Type() scalar.Type
}

// New is the last argument of the heads of a predicate with Numbers: the entity
// of the key, which is made if there is none.
type New struct{}

// Const is a constant.
type Const struct{ Value scalar.Value }

// Call applies a function to typed arguments. Implicit widening is an explicit
// call of convert.
type Call struct {
	Span   source.Span
	Func   *scalar.Func
	Args   []Expr
	Result scalar.Type
}

// VarExpr is a variable used as an expression.
type VarExpr struct{ Var *Var }

func (*Var) term()  {}
func (Const) term() {}
func (New) term()   {}

// Type returns the type of the expression.
func (e VarExpr) Type() scalar.Type { return e.Var.Type }

// Type returns the type of the expression.
func (c Const) Type() scalar.Type { return c.Value.Type }

// Type returns the type of the expression.
func (c *Call) Type() scalar.Type { return c.Result }

// Check is an integrity constraint, turned round: every binding of its body
// violates it.
type Check struct {
	Span source.Span // of the constraint clause
	Text string      // the constraint as written
	Vars []*Var      // what to show of a violation, in order of appearance
	Body []Literal
}
