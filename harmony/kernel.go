package harmony

import (
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Kernel is one pipeline. It belongs to one Run, and its registers belong to
// it.
type Kernel struct {
	Name   string // unique in the program
	Source Source
	Stages []Stage
	Sinks  []Sink // at least one; each gets the same rows
	// Host means that the runtime evaluates the kernel itself, with the
	// functions of package scalar, so no code is generated for it. Its source
	// is the merged rows of a relation, its stages are loads, maps, filters and
	// needs, and its sinks are stores.
	Host bool
	// Ops are the plan operators that the kernel carries out, in the text of
	// plans. Span is the rule or constraint that it serves. Both are for people
	// and have no meaning for the program.
	Ops  []string
	Span source.Span
	// Makes is the operator whose tuples the sinks get, as long as a kernel
	// carries out one operator. It is nil if they get the tuples of the source.
	// Only estimates use it.
	Makes queryplan.Node
	// A kernel that is made of others serves several rules. rules lists them,
	// and places has the rule of each stage and sink.
	rules  []source.Span
	places map[any]served
}

// Reg is a register: a value of the current row, or a reference to a row that a
// probe has found.
type Reg struct {
	Type scalar.Type // of a value
	Row  *Relation   // the relation of the row; nil for a value
}

// Operand is a register with a value, or a constant.
type Operand struct {
	Reg   *Reg // nil for a constant
	Const scalar.Value
}

// Type returns the type of the operand's value.
func (o Operand) Type() scalar.Type {
	if o.Reg != nil {
		return o.Reg.Type
	}
	return o.Const.Type
}

// Source yields the rows of a kernel. It is *Rows, *GroupRows or *Values.
type Source interface {
	// Columns returns the columns that can be loaded.
	Columns() []Column
}

// Rows yields the tuples of a version of a relation.
type Rows struct {
	Rel     *Relation
	Version Version // Full unless the relation is derived
}

// GroupRows yields a row for each group: keys, then results.
type GroupRows struct{ Groups *Groups }

// Values yields constant rows.
type Values struct {
	Cols []Column
	Rows [][]scalar.Value
}

// Columns returns the relation's columns.
func (s *Rows) Columns() []Column { return s.Rel.Cols }

// Columns returns the keys and then the results.
func (s *GroupRows) Columns() []Column { return s.Groups.Columns() }

// Columns returns the columns of the constants.
func (s *Values) Columns() []Column { return s.Cols }

// Stage is *Load, *Map, *Filter, *Need, *Probe or *Gather.
type Stage interface{ stage() }

// Load defines Out as a column of the source's row, or as its position.
type Load struct {
	Out *Reg
	Col int
}

// Map defines Out as a function's value.
type Map struct {
	Out  *Reg
	Func *scalar.Func
	Args []Operand
}

// Filter drops the row unless Cond is present and true.
type Filter struct{ Cond Operand }

// Need drops the row if Reg is absent or a decimal that does not fit.
type Need struct{ Reg *Reg }

// ProbeKind is what a probe does with matches.
type ProbeKind uint8

// The kinds of probe.
const (
	ProbeUnique ProbeKind = iota // the match of a Unique index
	ProbeMulti                   // every match of a Multi index
	ProbeExists                  // keeps the row if there is a match, in an index of any kind
	ProbeAbsent                  // keeps the row if there is no match
)

// String returns "unique", "multi", "exists" or "absent".
func (k ProbeKind) String() string { return probeKinds[k] }

var probeKinds = [...]string{"unique", "multi", "exists", "absent"}

// Finds reports whether probes of the kind define a register with the row that
// they find.
func (k ProbeKind) Finds() bool { return k == ProbeUnique || k == ProbeMulti }

// Probe looks up Key, an operand for each key column of the index.
type Probe struct {
	Kind  ProbeKind
	Index *Index
	Key   []Operand
	Out   *Reg // the row; nil unless Kind.Finds()
}

// Gather defines Out as a column of the row that Row refers to, or as its
// position.
type Gather struct {
	Out *Reg
	Row *Reg
	Col int // of Row.Row
}

func (*Load) stage()   {}
func (*Map) stage()    {}
func (*Filter) stage() {}
func (*Need) stage()   {}
func (*Probe) stage()  {}
func (*Gather) stage() {}

// Sink is *Store, *Insert or *Group.
type Sink interface{ sink() }

// Store appends a tuple to a temp.
type Store struct {
	To   *Relation
	Vals []Operand // one for each column
}

// Insert adds a tuple to the new part of a derived relation, unless it is there
// or in the full part.
type Insert struct {
	To   *Relation
	Vals []Operand // one for each column
}

// Group updates the accumulators of a key.
type Group struct {
	To   *Groups
	Key  []Operand // one for each key column
	Vals []Operand // one for each accumulator; the zero Operand for Count
}

func (*Store) sink()  {}
func (*Insert) sink() {}
func (*Group) sink()  {}

// PositionOf returns the relation of the row if a stage of the kernel defines a
// register as a row's position, or nil.
func (k *Kernel) PositionOf(s Stage) *Relation {
	switch s := s.(type) {
	case *Load:
		if rows, ok := k.Source.(*Rows); ok && s.Col == rows.Rel.Position() {
			return rows.Rel
		}
	case *Gather:
		if r := s.Row.Row; r != nil && s.Col == r.Position() {
			return r
		}
	}
	return nil
}

// Def returns the register that a stage defines, or nil.
func Def(s Stage) *Reg {
	switch s := s.(type) {
	case *Load:
		return s.Out
	case *Map:
		return s.Out
	case *Probe:
		return s.Out
	case *Gather:
		return s.Out
	}
	return nil
}

// Uses returns the registers that a stage reads, in order.
func Uses(s Stage) []*Reg {
	switch s := s.(type) {
	case *Map:
		return regs(s.Args)
	case *Filter:
		return regs([]Operand{s.Cond})
	case *Need:
		return []*Reg{s.Reg}
	case *Probe:
		return regs(s.Key)
	case *Gather:
		return []*Reg{s.Row}
	}
	return nil
}

// SinkOperands returns the operands that a sink reads, in order. Counts have
// none.
func SinkOperands(s Sink) []Operand {
	switch s := s.(type) {
	case *Store:
		return s.Vals
	case *Insert:
		return s.Vals
	case *Group:
		out := append([]Operand(nil), s.Key...)
		for i, a := range s.To.Accs {
			if a.Fn != queryplan.Count {
				out = append(out, s.Vals[i])
			}
		}
		return out
	}
	return nil
}

// SinkTarget returns the variable that a sink writes.
func SinkTarget(s Sink) Managed {
	switch s := s.(type) {
	case *Store:
		return s.To
	case *Insert:
		return s.To
	case *Group:
		return s.To
	}
	return nil
}

func regs(operands []Operand) []*Reg {
	var out []*Reg
	for _, o := range operands {
		if o.Reg != nil {
			out = append(out, o.Reg)
		}
	}
	return out
}
