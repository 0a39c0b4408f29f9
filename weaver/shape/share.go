package shape

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Shares of rows that a condition leaves if nothing is known of it, after
// Selinger et al., "Access path selection in a relational database management
// system" (1979).
const (
	equalShare  = 0.1
	rangeShare  = 1.0 / 3
	otherShare  = 0.5
	subsetShare = 0.25 // of the keys, in a relation that the program makes
	leastShare  = 1e-4 // the least of all estimates
)

// shares estimates which shares of rows stages leave.
type shares struct {
	graph   *harmony.Program
	bounds  func(r *harmony.Reg) (lo, hi int64, ok bool) // Options.Range
	subsets map[*harmony.Relation]float64                // what subset has answered
}

// of estimates the share of the source's rows that is left before each stage,
// and behind all of them.
func (m *shares) of(stages []harmony.Stage) []float64 {
	defs := map[*harmony.Reg]harmony.Stage{}
	asked := map[*harmony.Reg]float64{} // by the register that was looked up alone
	out := make([]float64, 0, len(stages)+1)
	left := 1.0
	for _, s := range stages {
		left = max(left, leastShare)
		out = append(out, left)
		if r := harmony.Def(s); r != nil {
			defs[r] = s
		}
		switch s := s.(type) {
		case *harmony.Filter:
			left *= m.shareOf(s.Cond, defs)
		case *harmony.Probe:
			share := m.subset(s.Index.Of)
			if s.Kind == harmony.ProbeAbsent {
				if share == 1 {
					share = otherShare
				}
				left *= 1 - share
				continue
			}
			if len(s.Key) == 1 && s.Key[0].Reg != nil {
				// Rows whose key is in one subset are more likely to be in
				// another.
				key := s.Key[0].Reg
				if before, ok := asked[key]; ok {
					share = min(1, share/before)
				}
				asked[key] = m.subset(s.Index.Of)
			}
			left *= share
		}
	}
	return append(out, max(left, leastShare))
}

// subset estimates which share of all keys a relation has: all of them if the
// program does not make it, else the share that its kernels leave.
func (m *shares) subset(r *harmony.Relation) float64 {
	if r.Kind != queryplan.Temp && r.Kind != queryplan.Derived {
		return 1
	}
	if share, ok := m.subsets[r]; ok {
		return share
	}
	m.subsets[r] = subsetShare // for a relation that depends on itself
	sum, known := 0.0, false
	for _, k := range m.graph.Kernels() {
		into := slices.ContainsFunc(k.Sinks, func(s harmony.Sink) bool {
			return harmony.SinkTarget(s) == harmony.Managed(r)
		})
		if !into {
			continue
		}
		rows, ok := k.Source.(*harmony.Rows)
		if !ok || slices.ContainsFunc(k.Stages, IsExpansion) {
			return subsetShare
		}
		shares := m.of(k.Stages)
		sum, known = sum+m.subset(rows.Rel)*shares[len(k.Stages)], true
	}
	if known {
		m.subsets[r] = min(1, sum)
	}
	return m.subsets[r]
}

// shareOf estimates the share of the rows for which a condition holds.
func (m *shares) shareOf(cond harmony.Operand, defs map[*harmony.Reg]harmony.Stage) float64 {
	f, ok := defs[cond.Reg].(*harmony.Map)
	if !ok {
		return otherShare
	}
	switch f.Func.Name {
	case "and":
		return m.shareOfAll(conjuncts(cond, defs), defs)
	case "or":
		a, b := m.shareOf(f.Args[0], defs), m.shareOf(f.Args[1], defs)
		return a + b - a*b
	case "not":
		return 1 - m.shareOf(f.Args[0], defs)
	case "string:like", "string:matches":
		return equalShare
	case "string:notlike":
		return 1 - equalShare
	}
	if len(f.Args) != 2 {
		return otherShare
	}
	op, x, y := f.Func.Name, f.Args[0], f.Args[1]
	if swapped, ok := Mirrored[op]; ok && x.Reg == nil {
		op, x, y = swapped, y, x
	}
	if x.Reg == nil || y.Reg != nil {
		return otherShare
	}
	lo, hi, known := m.rangeOf(x.Reg)
	width := float64(hi) - float64(lo) + 1
	switch op {
	case "eq":
		if known {
			return 1 / width
		}
		return equalShare
	case "ne":
		if known {
			return 1 - 1/width
		}
		return 1 - equalShare
	case "lt", "le", "gt", "ge":
		at, number := wordOf(y.Const)
		if !known || !number {
			return rangeShare
		}
		below := min(max((at-float64(lo))/width, 0), 1)
		if op == "gt" || op == "ge" {
			return 1 - below
		}
		return below
	}
	return otherShare
}

// Mirrored are the comparisons with their operands exchanged.
var Mirrored = map[string]string{
	"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le",
}

// conjuncts splits a conjunction into its conditions.
func conjuncts(cond harmony.Operand, defs map[*harmony.Reg]harmony.Stage) []harmony.Operand {
	if f, ok := defs[cond.Reg].(*harmony.Map); ok && f.Func.Name == "and" {
		return append(conjuncts(f.Args[0], defs), conjuncts(f.Args[1], defs)...)
	}
	return []harmony.Operand{cond}
}

// shareOfAll estimates the share of the rows for which all conditions hold, as
// if they were independent. Of the bounds of one register, each cuts off its
// own share.
func (m *shares) shareOfAll(conds []harmony.Operand, defs map[*harmony.Reg]harmony.Stage) float64 {
	share := 1.0
	cut := map[*harmony.Reg]float64{}
	var bounded []*harmony.Reg
	for _, c := range conds {
		left := m.shareOf(c, defs)
		f, ok := defs[c.Reg].(*harmony.Map)
		if !ok || len(f.Args) != 2 || f.Args[0].Reg == nil || f.Args[1].Reg != nil ||
			!slices.Contains([]string{"lt", "le", "gt", "ge"}, f.Func.Name) {
			share *= left
			continue
		}
		r := f.Args[0].Reg
		if _, seen := cut[r]; !seen {
			bounded = append(bounded, r)
		}
		cut[r] += 1 - left
	}
	for _, r := range bounded {
		share *= max(1-cut[r], leastShare)
	}
	return share
}

// rangeOf returns the bounds of a register's words, if they are known.
func (m *shares) rangeOf(r *harmony.Reg) (lo, hi int64, ok bool) {
	if m.bounds == nil || r.Row != nil {
		return 0, 0, false
	}
	return m.bounds(r)
}

// wordOf returns the word of a constant, if that does not depend on a domain.
func wordOf(v scalar.Value) (float64, bool) {
	switch v.Type.Kind {
	case scalar.Int, scalar.Datetime:
		return float64(v.Int()), true
	case scalar.Uint:
		return float64(v.Bits()), true
	case scalar.Decimal:
		return v.Int128().Float64(), true
	}
	return 0, false
}
