package ast

import (
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// File is one parsed source file.
type File struct {
	Source   *source.File
	Clauses  []*Clause
	Comments []*Comment // every comment, in text order
}

// Comment is a `//` or `/* */` comment with its delimiters, or a line marker of
// the C preprocessor, which has no meaning either.
type Comment struct {
	Span source.Span
	Text string
}

// Arrow tells the kinds of clause apart.
type Arrow uint8

// The arrows.
const (
	Fact           Arrow = iota // `Head.`
	Rule                        // `Head <- Body.`
	Constraint                  // `Left -> Right.`
	MetaRule                    // `Head <-- Body.`, only in block(...) {...} <-- .
	MetaConstraint              // `Left --> Right.`
)

// Clause is one sentence of a program, up to and with its full stop.
type Clause struct {
	Span  source.Span
	Arrow Arrow
	Left  Node // head, or left side of a constraint
	P2P   *P2P // `agg<<...>>` and its kin between arrow and body, or nil
	Right Node // body, or right side; nil when empty (`p(1) <- .`, `e(x) -> .`)
	// Update is "+=" for the abbreviated aggregate `total[] += e.`, else "".
	// Left is then the function application and Right the expression.
	Update string
	// PartOf is the clause of the program of which this one has a part of the
	// head, nil if it has all. Warnings about how it is written are about that
	// clause.
	PartOf *Clause
	// Frame is set for a rule by which the contents of a predicate follow from
	// events: the constructor of its head creates nothing.
	Frame bool
}

// P2P is a predicate-to-predicate specifier, such as `agg<<u = total(x)>>`.
type P2P struct {
	Span  source.Span
	Name  string  // agg, seq, list, list_to_seq, series, predict, uid
	Specs []*Spec // of agg and the like; empty for seq<<>>
	Text  string  // the raw text between << and >>
}

// Spec is one specifier `Out = Fn(In, Args)`.
type Spec struct {
	Span source.Span
	Out  *Name
	Fn   *Name
	In   Node // nil for count() and in seq<<>>
	// Args are the arguments after In, all of them in seq<<>>. They apply no
	// predicates: what looks like one is order(x) or partition(x).
	Args []Node
}

// Arguments returns In, if there is one, and Args.
func (s *Spec) Arguments() []Node {
	if s.In == nil {
		return s.Args
	}
	return append([]Node{s.In}, s.Args...)
}

// Node is a formula or an expression; LogiQL's grammar does not tell them apart
// before names are resolved.
type Node interface {
	Pos() source.Span
}

type (
	// Conj is `a, b, c`.
	Conj struct {
		Span  source.Span
		Items []Node
	}
	// Disj is `a ; b ; c`.
	Disj struct {
		Span  source.Span
		Items []Node
	}
	// Not is `!x`.
	Not struct {
		Span source.Span
		X    Node
	}
	// Paren keeps written parentheses.
	Paren struct {
		Span source.Span
		X    Node
	}
	// Compare is a chain `a < b <= c`: len(Ops) == len(Operands)-1. Ops are
	// "=", "!=", "<", "<=", ">", ">=".
	Compare struct {
		Span     source.Span
		Operands []Node
		Ops      []string
		OpSpans  []source.Span
	}
	// In is `x in {1, 2}`.
	In struct {
		Span   source.Span
		X      Node
		OpSpan source.Span
		Items  []Node
	}
	// If is `if c then a else b`, with the places of the words.
	If struct {
		Span             source.Span
		Cond, Then, Else Node
		ThenAt, ElseAt   source.Span
	}
	// Binary is `a + b` and so on; Op is "+", "-", "*", "/" or "^".
	Binary struct {
		Span   source.Span
		Op     string
		OpSpan source.Span
		X, Y   Node
	}
	// Unary is `-x` or `+x`.
	Unary struct {
		Span source.Span
		Op   string
		X    Node
	}
	// Apply is `p(a, b)` or `f[a, b]`, or `f(a; b)` with Split keys.
	Apply struct {
		Span  source.Span
		Delta string // "+", "-", "^" before the name, or ""
		Name  *Name
		Stage string // "prev" of p@prev, or ""
		// type parameter of `int[64](x)` and `decimal[18,2](x)`: "64", "18,2";
		// else ""
		Index  string
		Square bool // written f[...]
		Args   []Node
		Split  int // keys before `;` in f(a, b; c); -1 when there is no `;`
	}
	// Var is a variable.
	Var struct {
		Span source.Span
		Name string
	}
	// Wildcard is `_`.
	Wildcard struct{ Span source.Span }
	// Literal is a constant. Raw is its text as written.
	Literal struct {
		Span  source.Span
		Value scalar.Value
		Raw   string
	}
	// PredRef is a predicate literal such as `p, or `{ ... } with Clauses.
	PredRef struct {
		Span    source.Span
		Name    string
		Clauses []*Clause
	}
	// RefMode is the argument x:v of person:id(x:v).
	RefMode struct {
		Span source.Span
		X, V Node
	}
	// Block is `block(`name) { ... }` or a hierarchical `{ ... }`, which the
	// front end recognises in order to refuse it by name.
	Block struct {
		Span  source.Span
		Head  Node
		Items []Node
	}
)

// Name is an identifier with its place. Predicates may contain colons.
type Name struct {
	Span source.Span
	Text string
}

// Pos returns the span of the node.
func (n *Conj) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Disj) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Not) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Paren) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Compare) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *In) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *If) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Binary) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Unary) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Apply) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Var) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Wildcard) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Literal) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *PredRef) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *RefMode) Pos() source.Span { return n.Span }

// Pos returns the span of the node.
func (n *Block) Pos() source.Span { return n.Span }
