package queryplan

import (
	"slices"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// Node is a relational operator. Its result is a bag of tuples with named
// columns; names are unique within one result and carry the meaning of joins:
// columns of the same name are equal.
type Node interface {
	// Columns returns the result's columns in order.
	Columns() []Column
	// Inputs returns the operators it reads, in order.
	Inputs() []Node
}

// Scan reads a version of a variable. Names has an entry for each column of the
// variable; "" leaves the column out (tuples that become equal stay separate).
// Version is Full for all but Derived variables.
type Scan struct {
	Var     *Var
	Version Version
	Names   []string
	// Position names one more int column behind the others; "" is none. It has
	// the number of the tuple in the variable, from 0, in the order of
	// insertion, so that a delta goes on where old ends. Only a Derived
	// variable has one: it appends, and no tuple moves until it is cleared.
	// Which tuple gets which number differs between runs and engines.
	Position string
}

// Values is a constant bag. With no columns and one row it is the unit of Join.
type Values struct {
	Cols []Column
	Rows [][]scalar.Value
}

// Filter keeps the tuples for which Cond, a boolean, has a value and is true.
type Filter struct {
	Input Node
	Cond  Expr
}

// Map appends columns computed from the input's; a tuple for which an
// expression has no value, or a decimal that does not fit its type, is dropped.
type Map struct {
	Input Node
	Exprs []NamedExpr
}

// NamedExpr is a computed column.
type NamedExpr struct {
	Name string
	Expr Expr
}

// Project chooses and renames columns; it removes no tuples, so repeated ones
// stay.
type Project struct {
	Input Node
	Cols  []Rename
}

// Rename gives an input column a name in the result.
type Rename struct{ From, To string }

// Dedup removes repeated tuples.
type Dedup struct {
	Input Node

	// proved is made on first use. Sets within sets make deep trees, and each
	// join asks for the keys of its right side.
	proved atomic.Pointer[properties]
}

// JoinKind tells the joins apart.
type JoinKind uint8

// The kinds of join.
const (
	Inner JoinKind = iota
	Semi           // left tuples with a match
	Anti           // left tuples without a match
)

// String returns "inner", "semi" or "anti".
func (k JoinKind) String() string { return [...]string{"inner", "semi", "anti"}[k] }

// Join matches tuples that agree on all columns of the same name; without such
// columns an Inner join is the product. The result has the left columns, then,
// for Inner, those of the right that the left has not. By convention the right
// side is the one to build an index on.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	// Unique says that a left tuple is known to match at most one right tuple.
	Unique bool

	// header is made on first use. Trees of joins are deep, and everything asks
	// for their columns.
	header atomic.Pointer[joinHeader]
}

// joinHeader is what follows from the columns of both sides of a join.
type joinHeader struct {
	cols  []Column
	on    []string
	index map[string]int // places in cols, for a join of more than maxListed
}

// head returns the join's header. Concurrent first calls make the same one.
func (n *Join) head() *joinHeader {
	if h := n.header.Load(); h != nil {
		return h
	}
	h := &joinHeader{}
	left, right := columnsOf(n.Left), columnsOf(n.Right)
	shared := make([]bool, len(right)) // with the left side
	at := make(map[string]int, len(right))
	for i, c := range right {
		at[c.Name] = i
	}
	for _, c := range left {
		if i, ok := at[c.Name]; ok {
			h.on = append(h.on, c.Name)
			shared[i] = true
		}
	}
	h.cols = left
	if n.Kind == Inner {
		h.cols = slices.Clip(left)
		for i, c := range right {
			if !shared[i] {
				h.cols = append(h.cols, c)
			}
		}
	}
	if len(h.cols) > maxListed {
		h.index = make(map[string]int, len(h.cols))
		for i, c := range h.cols {
			h.index[c.Name] = i
		}
	}
	n.header.Store(h)
	return h
}

// column returns the result's column of that name.
func (h *joinHeader) column(name string) (Column, bool) {
	if h.index == nil {
		return FindColumn(h.cols, name)
	}
	i, ok := h.index[name]
	if !ok {
		return Column{}, false
	}
	return h.cols[i], true
}

// columnsOf returns an operator's columns as a list that must not be changed.
func columnsOf(n Node) []Column {
	switch n := n.(type) {
	case *Filter:
		return columnsOf(n.Input)
	case *Dedup:
		return columnsOf(n.Input)
	case *Join:
		return n.head().cols
	}
	return n.Columns()
}

// Aggregate groups by the columns By and yields one tuple a group: By, then the
// results. Without By and with an empty input it yields nothing.
type Aggregate struct {
	Input Node
	By    []string
	Aggs  []Agg
}

// AggFn is an aggregation function.
type AggFn uint8

// The aggregation functions. Total accumulates ints and decimals in 128 bits
// and fails the run when the result does not fit; of floats it is independent
// of order. Avg of ints and decimals rounds half away from zero. TotalHigh and
// TotalLow are the words of a total of ints or decimals as a wide decimal,
// which always fits.
const (
	Count AggFn = iota
	Total
	Min
	Max
	Avg
	TotalHigh
	TotalLow
)

// String returns the name of the function.
func (f AggFn) String() string { return aggNames[f] }

var aggNames = [...]string{"count", "total", "min", "max", "avg", "total_high", "total_low"}

// ParseAggFn reads the name of a function.
func ParseAggFn(c *irtext.Cursor) AggFn {
	t := c.Next()
	at := slices.Index(aggNames[:], t.Text)
	if at < 0 || t.Kind != irtext.WordToken {
		c.Unexpected(t, "count, total, min, max or avg")
	}
	return AggFn(at)
}

// IsTotal reports whether the function is, or is made of, the sum of its input.
func (f AggFn) IsTotal() bool { return f == Total || f == Avg || f == TotalHigh || f == TotalLow }

// Agg is one aggregation of the input column In, which Count has not.
type Agg struct {
	Out Column
	Fn  AggFn
	In  string
}

// Union concatenates bags; every input has the columns of the first, by name.
type Union struct{ Nodes []Node }

// Seq appends an int column Index that numbers the tuples of each group from 0
// in the order of Order.
type Seq struct {
	Input Node
	Group []string
	Order []OrderKey
	Index string
}

// TopK keeps the first Limit tuples in the order of By, ties broken by the
// remaining columns, ascending; within each group of equal Group columns if
// there are any.
type TopK struct {
	Input Node
	Group []string
	By    []OrderKey
	Limit int64
}

// Expr is an expression over the columns of one operator's input: *ColRef,
// *Const or *Call.
type Expr interface {
	Type() scalar.Type
}

// ColRef is a column.
type ColRef struct{ Col Column }

// Const is a constant.
type Const struct{ Value scalar.Value }

// Call applies a function of the table in package scalar.
type Call struct {
	Func   *scalar.Func
	Args   []Expr
	Result scalar.Type
}

// Type returns the type of the expression.
func (e *ColRef) Type() scalar.Type { return e.Col.Type }

// Type returns the type of the expression.
func (e *Const) Type() scalar.Type { return e.Value.Type }

// Type returns the type of the expression.
func (e *Call) Type() scalar.Type { return e.Result }

// Columns returns the named columns of the variable, and the position.
func (n *Scan) Columns() []Column { return appendColumns(make([]Column, 0, len(n.Names)+1), n) }

// Columns returns the columns of the constant.
func (n *Values) Columns() []Column { return n.Cols }

// Columns returns the input's columns.
func (n *Filter) Columns() []Column { return n.Input.Columns() }

// Columns returns the input's columns and then the computed ones.
func (n *Map) Columns() []Column { return appendColumns(nil, n) }

// Columns returns the chosen columns under their new names.
func (n *Project) Columns() []Column {
	out := make([]Column, len(n.Cols))
	for i, c := range n.Cols {
		col, _ := ColumnOf(n.Input, c.From)
		out[i] = Column{c.To, col.Type}
	}
	return out
}

// Columns returns the input's columns.
func (n *Dedup) Columns() []Column { return n.Input.Columns() }

// Columns returns the left columns and, for an inner join, the right's others.
func (n *Join) Columns() []Column { return appendColumns(nil, n) }

// appendColumns appends the columns of an operator.
func appendColumns(to []Column, n Node) []Column {
	switch n := n.(type) {
	case *Scan:
		for i, name := range n.Names {
			if name != "" {
				to = append(to, Column{name, n.Var.Cols[i].Type})
			}
		}
		if n.Position != "" {
			to = append(to, Column{n.Position, scalar.IntType})
		}
		return to
	case *Filter:
		return appendColumns(to, n.Input)
	case *Dedup:
		return appendColumns(to, n.Input)
	case *Map:
		to = appendColumns(to, n.Input)
		for _, e := range n.Exprs {
			to = append(to, Column{e.Name, e.Expr.Type()})
		}
		return to
	case *Join:
		return append(to, n.head().cols...)
	}
	return append(to, n.Columns()...)
}

// On returns the names that both sides have, in the left's order.
func (n *Join) On() []string {
	return slices.Clone(n.head().on)
}

// Columns returns the grouping columns and then the results.
func (n *Aggregate) Columns() []Column {
	out := make([]Column, 0, len(n.By)+len(n.Aggs))
	for _, name := range n.By {
		c, _ := ColumnOf(n.Input, name)
		out = append(out, Column{name, c.Type})
	}
	for _, a := range n.Aggs {
		out = append(out, a.Out)
	}
	return out
}

// Columns returns the first input's columns.
func (n *Union) Columns() []Column { return n.Nodes[0].Columns() }

// Columns returns the input's columns and the index.
func (n *Seq) Columns() []Column {
	return append(append([]Column(nil), n.Input.Columns()...), Column{n.Index, scalar.IntType})
}

// Columns returns the input's columns.
func (n *TopK) Columns() []Column { return n.Input.Columns() }

// Inputs returns nothing.
func (n *Scan) Inputs() []Node { return nil }

// Inputs returns nothing.
func (n *Values) Inputs() []Node { return nil }

// Inputs returns the input.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *Map) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *Dedup) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the left and the right side.
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs returns the input.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the united operators.
func (n *Union) Inputs() []Node { return n.Nodes }

// Inputs returns the input.
func (n *Seq) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the input.
func (n *TopK) Inputs() []Node { return []Node{n.Input} }

// AppendInputs appends an operator's inputs to list. Unlike Inputs it makes no
// list of its own, which matters to what goes through whole trees.
func AppendInputs(list []Node, n Node) []Node {
	switch n := n.(type) {
	case *Filter:
		return append(list, n.Input)
	case *Map:
		return append(list, n.Input)
	case *Project:
		return append(list, n.Input)
	case *Dedup:
		return append(list, n.Input)
	case *Join:
		return append(list, n.Left, n.Right)
	case *Aggregate:
		return append(list, n.Input)
	case *Seq:
		return append(list, n.Input)
	case *TopK:
		return append(list, n.Input)
	}
	return append(list, n.Inputs()...)
}

// ColumnOf returns the result's column of that name. It does not make a list of
// all.
func ColumnOf(n Node, name string) (Column, bool) {
	switch n := n.(type) {
	case *Scan:
		for i, own := range n.Names {
			if own == name && own != "" {
				return Column{name, n.Var.Cols[i].Type}, true
			}
		}
		if n.Position == name && name != "" {
			return Column{name, scalar.IntType}, true
		}
		return Column{}, false
	case *Filter:
		return ColumnOf(n.Input, name)
	case *Dedup:
		return ColumnOf(n.Input, name)
	case *TopK:
		return ColumnOf(n.Input, name)
	case *Map:
		if c, ok := ColumnOf(n.Input, name); ok {
			return c, true
		}
		for _, e := range n.Exprs {
			if e.Name == name {
				return Column{name, e.Expr.Type()}, true
			}
		}
		return Column{}, false
	case *Project:
		for _, c := range n.Cols {
			if c.To == name {
				in, _ := ColumnOf(n.Input, c.From)
				return Column{name, in.Type}, true
			}
		}
		return Column{}, false
	case *Join:
		return n.head().column(name)
	case *Aggregate:
		if slices.Contains(n.By, name) {
			in, _ := ColumnOf(n.Input, name)
			return Column{name, in.Type}, true
		}
		for _, a := range n.Aggs {
			if a.Out.Name == name {
				return a.Out, true
			}
		}
		return Column{}, false
	}
	return FindColumn(n.Columns(), name)
}

// FindColumn returns the column of that name.
func FindColumn(cols []Column, name string) (Column, bool) {
	for _, c := range cols {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}
