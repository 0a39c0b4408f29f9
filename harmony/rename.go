package harmony

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
)

// Renaming maps registers of kernels to operands of a new kernel that takes
// over their stages and sinks. A register that a stage defines is mapped to a
// new one.
type Renaming map[*Reg]Operand

// Operand returns the operand of the new kernel for an operand.
func (ren Renaming) Operand(o Operand) Operand {
	if o.Reg == nil {
		return o
	}
	return ren[o.Reg]
}

// Operands renames each operand.
func (ren Renaming) Operands(of []Operand) []Operand { return list.Map(of, ren.Operand) }

// define returns the new register for one that a stage defines.
func (ren Renaming) define(r *Reg) *Reg {
	if r == nil {
		return nil
	}
	n := &Reg{Type: r.Type, Row: r.Row}
	ren[r] = Operand{Reg: n}
	return n
}

// Stages returns copies of stages, without those that have become trivial.
func (ren Renaming) Stages(list []Stage) []Stage {
	var out []Stage
	for _, s := range list {
		if n := ren.Stage(s); n != nil {
			out = append(out, n)
		}
	}
	return out
}

// Stage returns a copy of a stage, or nil if it has become trivial, as the need
// of a constant.
func (ren Renaming) Stage(s Stage) Stage {
	switch s := s.(type) {
	case *Load:
		return &Load{Out: ren.define(s.Out), Col: s.Col}
	case *Map:
		args := ren.Operands(s.Args)
		return &Map{Out: ren.define(s.Out), Func: s.Func, Args: args}
	case *Filter:
		return &Filter{Cond: ren.Operand(s.Cond)}
	case *Need:
		if o := ren[s.Reg]; o.Reg != nil {
			return &Need{Reg: o.Reg}
		}
		return nil
	case *Probe:
		key := ren.Operands(s.Key)
		return &Probe{Kind: s.Kind, Index: s.Index, Key: key, Out: ren.define(s.Out)}
	case *Gather:
		row := ren[s.Row].Reg
		return &Gather{Out: ren.define(s.Out), Row: row, Col: s.Col}
	}
	return s
}

// Sink returns a copy of a sink.
func (ren Renaming) Sink(s Sink) Sink {
	switch s := s.(type) {
	case *Store:
		return &Store{To: s.To, Vals: ren.Operands(s.Vals)}
	case *Insert:
		return &Insert{To: s.To, Vals: ren.Operands(s.Vals)}
	case *Group:
		vals := make([]Operand, len(s.Vals))
		for i, a := range s.To.Accs {
			if a.Fn != queryplan.Count {
				vals[i] = ren.Operand(s.Vals[i])
			}
		}
		return &Group{To: s.To, Key: ren.Operands(s.Key), Vals: vals}
	}
	return s
}

// ChangesRows reports whether a stage drops rows or makes several of one.
func ChangesRows(s Stage) bool {
	switch s.(type) {
	case *Filter, *Need, *Probe:
		return true
	}
	return false
}

// DropUnused removes the stages of a kernel that only define registers that
// nothing reads.
func DropUnused(k *Kernel) {
	used := map[*Reg]bool{}
	for _, s := range k.Sinks {
		for _, o := range SinkOperands(s) {
			used[o.Reg] = true
		}
	}
	var kept []Stage
	for _, s := range slices.Backward(k.Stages) {
		if r := Def(s); r != nil && !used[r] && !ChangesRows(s) {
			continue
		}
		for _, r := range Uses(s) {
			used[r] = true
		}
		kept = append(kept, s)
	}
	slices.Reverse(kept)
	k.Stages = kept
}
