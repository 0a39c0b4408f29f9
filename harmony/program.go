package harmony

import (
	"iter"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Program is a kernel graph.
type Program struct {
	Relations []*Relation
	Indexes   []*Index
	Groups    []*Groups
	Blocks    []*Block // Blocks[0] is the entry
}

// Commands yields all commands in the order of the text, with their blocks.
func (p *Program) Commands() iter.Seq2[*Block, Command] { return cfg.Commands(p.Blocks) }

// Column is a named and typed column, OrderKey a column of an ordering, and
// Version a part of a derived relation. The types are those of plans.
type (
	Column   = queryplan.Column
	OrderKey = queryplan.OrderKey
	Version  = queryplan.Version
)

// The versions of a derived relation, as in plans.
const (
	Full  = queryplan.Full
	Delta = queryplan.Delta
	Old   = queryplan.Old
	Last  = queryplan.Last
)

// Managed is a managed variable: *Relation, *Index or *Groups. Its name is
// unique in the program.
type Managed interface {
	// ManagedName returns the name in the text.
	ManagedName() string
}

// ManagedName returns the name of the relation.
func (r *Relation) ManagedName() string { return r.Name }

// ManagedName returns the name of the index.
func (x *Index) ManagedName() string { return x.Name }

// ManagedName returns the name of the groups.
func (g *Groups) ManagedName() string { return g.Name }

// Relation holds tuples.
type Relation struct {
	Name string
	// Kind is as in plans. Input and Table relations are never written, Derived
	// ones are sets that Insert and Merge fill, and Temp ones are bags that
	// Store fills.
	Kind queryplan.VarKind
	Cols []Column
	// Keys is the number of leading columns that determine the rest: len(Cols)
	// for a plain relation. See queryplan.Var for when this is proven.
	Keys            int
	Unique, Checked bool // as in queryplan.Var
	// Source is the relation of the database that an Input holds, or the
	// table's name for a Table, whose column i is stored column Stored[i].
	Source string
	Stored []int
	// Output means that the contents are wanted at the end. They are sorted by
	// OrderBy and then by all columns, and cut to Limit tuples (-1: all).
	Output  bool
	OrderBy []OrderKey
	Limit   int64
	Span    source.Span // where the user declares it or first writes it
}

// Position returns the column number that stands for the positions of rows. It
// follows those of the columns. Rows of a derived relation are numbered from 0
// in the order of insertion, over all of its versions, and keep their numbers
// until it is cleared. Other relations have no positions.
func (r *Relation) Position() int { return len(r.Cols) }

// IndexKind is what probes of an index can find.
type IndexKind uint8

// The kinds of index.
const (
	// Unique gives at most one row of a key. If several rows have one key, it
	// keeps the last one if it is over last. Otherwise it keeps any: the plan
	// has proven that no probed key has several rows.
	Unique IndexKind = iota
	// Multi gives all rows of a key.
	Multi
	// Exists only tells whether a key has a row.
	Exists
)

// String returns "unique", "multi" or "exists".
func (k IndexKind) String() string { return indexKinds[k] }

var indexKinds = [...]string{"unique", "multi", "exists"}

// Index finds rows of a version of a relation. It has the contents of the last
// Build, and cannot be probed after that version has changed. It has keys and
// row numbers; other columns are gathered from the relation.
type Index struct {
	Name    string
	Kind    IndexKind
	Of      *Relation
	Version Version
	Key     []int // columns of Of, each once; without columns, all rows have one key
	// Busy means that an index of kind Exists is probed far more often than it
	// has rows, so that faster probes are worth a larger table.
	Busy bool
	Span source.Span
}

// ByPosition reports whether the key is the position of a row. Such an index is
// unique or exists, over full or old, and needs no table.
func (x *Index) ByPosition() bool { return len(x.Key) == 1 && x.Key[0] == x.Of.Position() }

// Groups is a group-by table: it has accumulators for each key. Without key
// columns it has one group, or none if there was no row.
type Groups struct {
	Name string
	Keys []Column
	Accs []Acc
	Span source.Span
}

// Acc is an accumulator. Its result is read after the last row. A result that
// does not fit its type fails the run, as in plans.
type Acc struct {
	Out Column
	Fn  queryplan.AggFn
	In  scalar.Type // of the operand; none for Count
	// Shares is 1 + the index of the accumulator whose cells this one reads,
	// because both add up the same operand. It is 0 if this one has its own
	// cells.
	Shares int
}

// Owner returns the index of the accumulator that has the cells of accumulator
// i. It is i unless i shares cells.
func (g *Groups) Owner(i int) int {
	if s := g.Accs[i].Shares; s > 0 {
		return s - 1
	}
	return i
}

// ShareCells makes accumulators share cells if their results follow from the
// sum of the same operand. The first mean, if there is one, has the cells,
// because it also has the number of rows. same reports whether two accumulators
// have the same operand in every sink.
func (g *Groups) ShareCells(same func(i, k int) bool) {
	for i, a := range g.Accs {
		if !a.Fn.IsTotal() {
			continue
		}
		owner := -1
		for k, b := range g.Accs {
			if b.Fn.IsTotal() && same(i, k) &&
				(owner < 0 || b.Fn == queryplan.Avg && g.Accs[owner].Fn != queryplan.Avg) {
				owner = k
			}
		}
		if owner != i {
			g.Accs[i].Shares = 1 + owner
		}
	}
}

// Columns returns the columns that a kernel over the groups loads: the keys and
// then the results.
func (g *Groups) Columns() []Column {
	out := append([]Column(nil), g.Keys...)
	for _, a := range g.Accs {
		out = append(out, a.Out)
	}
	return out
}

// The control-flow graph of a program. A branch tests deltas of derived
// relations.
type (
	Block      = cfg.Block[Command, *Relation]
	Terminator = cfg.Terminator[Command, *Relation]
	Jump       = cfg.Jump[Command, *Relation]
	Branch     = cfg.Branch[Command, *Relation]
	Halt       = cfg.Halt[Command, *Relation]
)

// Command is *Run, *Build, *Number, *TopK, *Merge, *Clear, *Check or *CheckKey.
// Only Runs can be fused: each other command needs all rows of what it reads.
type Command interface{ command() }

// Run runs a kernel.
type Run struct{ Kernel *Kernel }

// Build builds an index over the current rows of its relation. Before is for an
// index over full: it builds the index over the old rows, and a later build of
// the round adds the others.
type Build struct {
	Index  *Index
	Before bool
}

// Version returns the version of the relation that the build indexes.
func (b *Build) Version() Version {
	if b.Before {
		return Old
	}
	return b.Index.Version
}

// Number appends the tuples of From's full part to To, and numbers them. Tuples
// with equal Group columns are numbered from 0 in the order of Order. Ties are
// broken by the other columns of Cols, ascending, in the sequence of From's
// columns.
//
// To is a temp or, if the tuples are known to be new, a derived relation, to
// which they are added as by Insert. Cols has, for each column of To, the
// column of From, or Numbered for the number, an int.
type Number struct {
	To, From *Relation
	Cols     []int
	Group    []int
	Order    []OrderKey
	Span     source.Span
}

// Numbered stands for the number in Number.Cols.
const Numbered = -1

// Whole returns the Cols that take all columns in order, followed by Numbered
// if numbered is set.
func Whole(cols []Column, numbered bool) []int {
	var out []int
	for i := range cols {
		out = append(out, i)
	}
	if numbered {
		out = append(out, Numbered)
	}
	return out
}

// MaxRows bounds the tuples of a relation: row numbers have 32 bits, and
// indexes store them plus 1.
const MaxRows = math.MaxUint32 - 1

// TopK appends the first Limit tuples of From's full part, in the order of By,
// to To. If there are Group columns, it takes the first Limit tuples of each
// group. Ties are broken as in Number. To and Cols are as in Number, except
// that there is no number.
type TopK struct {
	To, From *Relation
	Cols     []int
	Limit    int64
	Group    []int
	By       []OrderKey
	Span     source.Span
}

// Keys returns the order of the tuples of a group, by all columns that To takes
// among others.
func (n *Number) Keys() []OrderKey { return orderOf(n.From, n.Cols, n.Group, n.Order) }

// Keys returns the order of the tuples of a group, by all columns that To takes
// among others.
func (k *TopK) Keys() []OrderKey { return orderOf(k.From, k.Cols, k.Group, k.By) }

func orderOf(from *Relation, taken, group []int, by []OrderKey) []OrderKey {
	keys := slices.Clone(by)
	for at, c := range from.Cols {
		ordered := slices.ContainsFunc(keys, func(by OrderKey) bool { return by.Col == c.Name })
		if slices.Contains(taken, at) && !slices.Contains(group, at) && !ordered {
			keys = append(keys, OrderKey{Col: c.Name})
		}
	}
	return keys
}

// ColumnIndex returns the index of a column, or -1 if there is none of that
// name.
func ColumnIndex(cols []Column, name string) int {
	return slices.IndexFunc(cols, func(c Column) bool { return c.Name == name })
}

// Distinct returns a function that reports whether a relation, in a graph that
// was lowered from p, gets no tuple twice, so that every inserted tuple is new.
func Distinct(p *queryplan.Plan) func(r *Relation) bool {
	distinct := map[string]bool{}
	flow := queryplan.NewFlow(p)
	for _, v := range p.Vars {
		distinct[v.Name] = v.Kind == queryplan.Derived && !flow.NeedsSet(v)
	}
	return func(r *Relation) bool { return r.Kind == queryplan.Derived && distinct[r.Name] }
}

// Merge ends a round: old := full, delta := new, full := full + new, new := {}.
type Merge struct{ Rel *Relation }

// Clear empties a temp, a Groups, or a derived relation that is not an output.
type Clear struct{ Var Managed }

// Check reports the tuples of a temp as violations of a constraint, or as
// groups whose result does not fit its type.
type Check struct {
	Rel  *Relation
	Text string // queryplan.Check.About
	Span source.Span
}

// CheckKey tests that the first Keys columns of the relation's full part
// determine the rest, as in plans.
type CheckKey struct {
	Rel  *Relation
	Span source.Span
}

func (*Run) command()      {}
func (*Build) command()    {}
func (*Number) command()   {}
func (*TopK) command()     {}
func (*Merge) command()    {}
func (*Clear) command()    {}
func (*Check) command()    {}
func (*CheckKey) command() {}

// Kernels returns the kernels in the order of the text.
func (p *Program) Kernels() []*Kernel {
	var out []*Kernel
	for _, c := range p.Commands() {
		if run, ok := c.(*Run); ok {
			out = append(out, run.Kernel)
		}
	}
	return out
}
