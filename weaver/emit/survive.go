package emit

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Shares of rows that conditions leave of which nothing is known, after Selinger et al.,
// "Access path selection in a relational database management system" (1979).
const (
	equalShare  = 0.1
	rangeShare  = 1.0 / 3
	otherShare  = 0.5
	subsetShare = 0.25 // of keys that a relation has which the program makes
	leastShare  = 1e-4 // that an estimate comes to
)

// shares estimates the share of the source's rows that is left before each of the stages,
// and behind all.
func (m *module) shares(stages []harmony.Stage) []float64 {
	defs := map[*harmony.Reg]harmony.Stage{}
	asked := map[*harmony.Reg]float64{} // what is left of rows whose key of one column was found
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
				// Rows whose key is in one subset are more likely to be in another.
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

// subset estimates which share of the keys that there are a relation has: all, if the
// program does not make it, else what the kernels leave that do.
func (m *module) subset(r *harmony.Relation) float64 {
	if r.Kind != queryplan.Temp && r.Kind != queryplan.Derived {
		return 1
	}
	if share, ok := m.subsets[r]; ok {
		return share
	}
	m.subsets[r] = subsetShare // for a relation that depends on itself
	sum, known := 0.0, false
	for _, k := range m.program.Kernels() {
		into := slices.ContainsFunc(k.Sinks, func(s harmony.Sink) bool { return harmony.SinkTarget(s) == harmony.Managed(r) })
		if !into {
			continue
		}
		rows, ok := k.Source.(*harmony.Rows)
		if !ok || slices.ContainsFunc(k.Stages, isExpansion) {
			return subsetShare
		}
		shares := m.shares(k.Stages)
		sum, known = sum+m.subset(rows.Rel)*shares[len(k.Stages)], true
	}
	if known {
		m.subsets[r] = min(1, sum)
	}
	return m.subsets[r]
}

// shareOf estimates the share of the rows for which a condition holds.
func (m *module) shareOf(cond harmony.Operand, defs map[*harmony.Reg]harmony.Stage) float64 {
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
	case "string:like":
		return equalShare
	case "string:notlike":
		return 1 - equalShare
	}
	if len(f.Args) != 2 {
		return otherShare
	}
	op, x, y := f.Func.Name, f.Args[0], f.Args[1]
	if swapped, ok := mirrored[op]; ok && x.Reg == nil {
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

// conjuncts returns the conditions that all have to hold for one to hold.
func conjuncts(cond harmony.Operand, defs map[*harmony.Reg]harmony.Stage) []harmony.Operand {
	if f, ok := defs[cond.Reg].(*harmony.Map); ok && f.Func.Name == "and" {
		return append(conjuncts(f.Args[0], defs), conjuncts(f.Args[1], defs)...)
	}
	return []harmony.Operand{cond}
}

// shareOfAll estimates the share of the rows for which conditions hold, as if they were
// independent: but of the bounds of one register each only cuts off a share.
func (m *module) shareOfAll(conds []harmony.Operand, defs map[*harmony.Reg]harmony.Stage) float64 {
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
func (m *module) rangeOf(r *harmony.Reg) (lo, hi int64, ok bool) {
	if m.opts.Range == nil || r.Row != nil {
		return 0, 0, false
	}
	return m.opts.Range(r)
}

// wordOf returns the word that a constant is among those of a column, if that does not
// depend on a domain.
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
