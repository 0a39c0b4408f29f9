package queryplan

import (
	"iter"
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Plan is a whole program as relational algebra over a control-flow graph.
type Plan struct {
	Vars   []*Var
	Blocks []*Block // Blocks[0] is the entry
}

// Commands yields all commands in the order of the text, with their blocks.
func (p *Plan) Commands() iter.Seq2[*Block, Command] { return cfg.Commands(p.Blocks) }

// CommandCount returns the number of all commands.
func (p *Plan) CommandCount() int {
	n := 0
	for range p.Commands() {
		n++
	}
	return n
}

// Unbounded reports whether nothing is known to end some loop.
func (p *Plan) Unbounded() bool {
	return slices.ContainsFunc(p.Blocks, func(b *Block) bool {
		loop, ok := b.Term.(*Branch)
		return ok && loop.Unbounded
	})
}

// Column is a named and typed column of a variable or of an operator's result.
type Column struct {
	Name string
	Type scalar.Type
}

// NamesOf returns the names of columns.
func NamesOf(cols []Column) []string {
	return list.Map(cols, func(c Column) string { return c.Name })
}

// VarKind is what fills a variable.
type VarKind uint8

// The kinds of variable.
const (
	// Input holds facts from outside, a set, and is never written.
	Input VarKind = iota
	// Table is a column group: the rows of one stored table of which several
	// Input relations are columns. It is never written; rewrites introduce it.
	Table
	// Derived is a set that Insert and Merge fill.
	Derived
	// Temp is a bag that Assign fills.
	Temp
)

// Var is a variable: a relation with typed columns.
type Var struct {
	Name string // unique in the plan; a predicate's own name where it has one
	Kind VarKind
	Cols []Column
	// Keys is the number of leading columns that determine the rest; len(Cols)
	// for a plain relation. It is a proof only for Input and Table variables
	// (the loader checks them) and for Derived ones where Unique or Checked say
	// so. Of Input and Table variables no two rows agree on the first Keys
	// columns.
	Keys int
	// Unique is set on a Derived variable whose rules are proved to keep the
	// key, so that it needs no CheckKey, and on a Temp of which no two rows
	// agree on the key.
	Unique bool
	// Checked is set on a Derived variable if a CheckKey passes after it is
	// filled and before anything scans it, so that scans may rely on the key.
	// The CheckKey has to stay.
	Checked bool
	// Source is the relation of the database that an Input holds, or the
	// table's name for a Table. For a Table, column i is stored column
	// Stored[i].
	Source string
	Stored []int
	// Output is set if the contents are wanted when the plan halts, sorted by
	// OrderBy and then by all columns, and cut to Limit tuples (-1: all).
	Output  bool
	OrderBy []OrderKey
	Limit   int64
	Span    source.Span
}

// OrderKey is one column of an ordering.
type OrderKey struct {
	Col  string
	Desc bool
}

// Version names a part of a Derived variable. Between two Merges of it, with
// rows kept in the order of insertion, old ++ delta == full, and the tuples
// inserted since the last Merge, new, are in none of them.
type Version uint8

// The versions that can be scanned.
const (
	Full  Version = iota
	Delta         // what the last Merge added
	Old           // full before the last Merge
	// Last is of full, for each value of the variable's key, the tuple that was
	// inserted last.
	Last
)

// String returns "full", "delta", "old" or "last".
func (v Version) String() string { return [...]string{"full", "delta", "old", "last"}[v] }

// The control-flow graph of a plan. A branch tests the deltas of Derived
// variables.
type (
	Block      = cfg.Block[Command, *Var]
	Terminator = cfg.Terminator[Command, *Var]
	Jump       = cfg.Jump[Command, *Var]
	Branch     = cfg.Branch[Command, *Var]
	Halt       = cfg.Halt[Command, *Var]
)

// Command is *Insert, *Assign, *Merge, *Clear, *Check or *CheckKey.
type Command interface{ command() }

// Insert adds to Var's new part the tuples of Node that are neither in it nor
// in Var's full part. Node's columns match Var's by position and type.
type Insert struct {
	Var  *Var
	Node Node
	Span source.Span // of the rule
}

// Assign replaces the contents of a Temp by the bag that Node yields.
type Assign struct {
	Var  *Var
	Node Node
}

// Merge ends a round of Var: old := full, delta := new, full := full + new, new
// := {}.
type Merge struct{ Var *Var }

// Clear ends the use of the contents of Var.
type Clear struct{ Var *Var }

// Check evaluates an integrity constraint: every tuple of Node violates it.
// With Result, it checks an aggregation over decimals of two words, which no
// accumulator can: Node has the groups whose Result does not fit its type, and
// a tuple fails the run like an overflow of an Aggregate. It is needed only if
// the variables that Node reads are.
type Check struct {
	Node   Node
	Text   string // the constraint as written; "" with Result
	Result *Agg
	Span   source.Span
}

// About returns what is checked: the text of the constraint, or that of the
// aggregation.
func (c *Check) About() string {
	if c.Result != nil {
		return aggText(*c.Result)
	}
	return c.Text
}

// CheckKey tests that the first Keys columns of Var's full part determine the
// rest, and fails the run with the two tuples otherwise. In a loop it follows
// each Merge, so that a divergent rule is stopped; as the rounds before have
// passed, only the keys in Var's delta need a look there.
type CheckKey struct {
	Var  *Var
	Span source.Span
}

func (*Insert) command()   {}
func (*Assign) command()   {}
func (*Merge) command()    {}
func (*Clear) command()    {}
func (*Check) command()    {}
func (*CheckKey) command() {}
