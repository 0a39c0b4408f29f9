package harmonyref

import (
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// registers has what a row's registers hold; one that is not there is absent.
type registers struct {
	vals map[*harmony.Reg]scalar.Value
	rows map[*harmony.Reg][]scalar.Value
}

func (r registers) clone() registers { return registers{maps.Clone(r.vals), maps.Clone(r.rows)} }

func (r registers) operand(o harmony.Operand) (scalar.Value, bool) {
	if o.Reg == nil {
		return o.Const, true
	}
	v, ok := r.vals[o.Reg]
	return v, ok
}

// tuple returns operands that have to be present and fit.
func (r registers) tuple(list []harmony.Operand) ([]scalar.Value, error) {
	out := make([]scalar.Value, len(list))
	for i, o := range list {
		v, ok := r.operand(o)
		if !ok || !v.FitsWord() {
			return nil,
				fmt.Errorf("harmonyref: operand %d leaves the registers without a value that fits",
					i)
		}
		out[i] = v
	}
	return out, nil
}

// run takes the rows of a kernel's source one by one through its stages. Its
// sinks get them in that order; nothing that they write is read before the end.
func (m *machine) run(k *harmony.Kernel) error {
	source, err := m.source(k.Source)
	if err != nil {
		return err
	}
	source = slices.Clone(source)
	if m.opts.Shuffle != nil {
		m.opts.Shuffle.Shuffle(len(source), func(i, j int) {
			source[i], source[j] = source[j], source[i]
		})
	}
	for _, row := range source {
		regs := registers{map[*harmony.Reg]scalar.Value{}, map[*harmony.Reg][]scalar.Value{}}
		if err := m.stages(k, k.Stages, row, regs); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) source(s harmony.Source) (planref.Rows, error) {
	switch s := s.(type) {
	case *harmony.Rows:
		return m.positioned(s.Rel, s.Version)
	case *harmony.Values:
		return s.Rows, nil
	case *harmony.GroupRows:
		return m.results(s.Groups)
	}
	return nil, fmt.Errorf("harmonyref: no source %T", s)
}

// results returns the keys and results of groups.
func (m *machine) results(g *harmony.Groups) (planref.Rows, error) {
	var out planref.Rows
	for _, k := range m.groups[g].order {
		in := m.groups[g].rows[k]
		row := slices.Clone(in.key)
		for i, a := range g.Accs {
			v, err := planref.AggregateValues(queryplan.Agg{Out: a.Out, Fn: a.Fn}, in.vals[i],
				in.count)
			if err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		out = append(out, row)
	}
	return out, m.readable(g)
}

// stages runs the stages that are left for a row, and then the sinks.
func (m *machine) stages(k *harmony.Kernel, left []harmony.Stage, row []scalar.Value,
	regs registers) error {
	for i, s := range left {
		switch s := s.(type) {
		case *harmony.Load:
			m.define(regs, s.Out, row[s.Col])
		case *harmony.Map:
			if v, ok := m.apply(s, regs); ok {
				m.define(regs, s.Out, v)
			}
		case *harmony.Filter:
			if v, ok := regs.operand(s.Cond); !ok || !v.Bool() {
				return nil
			}
		case *harmony.Need:
			if v, ok := regs.vals[s.Reg]; !ok || !v.FitsWord() {
				return nil
			}
		case *harmony.Gather:
			if err := m.readable(s.Row.Row); err != nil {
				return err
			}
			m.define(regs, s.Out, regs.rows[s.Row][s.Col])
		case *harmony.Probe:
			if err := m.readable(s.Index); err != nil {
				return err
			}
			key, err := regs.tuple(s.Key)
			if err != nil {
				return err
			}
			found := m.indexes[s.Index][planref.Key(key)]
			switch {
			case (len(found) == 0) != (s.Kind == harmony.ProbeAbsent):
				return nil
			case s.Kind == harmony.ProbeUnique && len(found) > 1:
				return fmt.Errorf("harmonyref: a probe of unique index %s finds %d rows",
					s.Index.Name, len(found))
			case s.Kind == harmony.ProbeUnique:
				regs.rows[s.Out] = found[0]
			case s.Kind == harmony.ProbeMulti:
				for _, r := range found {
					each := regs.clone()
					each.rows[s.Out] = r
					if err := m.stages(k, left[i+1:], row, each); err != nil {
						return err
					}
				}
				return nil
			}
		}
	}
	for _, s := range k.Sinks {
		if err := m.sink(s, regs); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) define(regs registers, r *harmony.Reg, v scalar.Value) {
	regs.vals[r] = v
	if m.opts.Observe != nil {
		m.opts.Observe.Register(r, v)
	}
}

func (m *machine) apply(s *harmony.Map, regs registers) (scalar.Value, bool) {
	args := make([]scalar.Value, len(s.Args))
	for i, a := range s.Args {
		v, ok := regs.operand(a)
		if !ok {
			return scalar.OfBool(false), s.Func.Name == "holds"
		}
		args[i] = v
	}
	v, ok := s.Func.Eval(s.Out.Type, args)
	if m.opts.Observe != nil {
		m.opts.Observe.Call(s, args, v, ok)
	}
	return v, ok
}

func (m *machine) sink(s harmony.Sink, regs registers) error {
	switch s := s.(type) {
	case *harmony.Store:
		row, err := regs.tuple(s.Vals)
		if err == nil {
			m.add(s.To, planref.Rows{row})
		}
		return err
	case *harmony.Insert:
		row, err := regs.tuple(s.Vals)
		if err == nil {
			m.insert(s.To, row)
		}
		return err
	case *harmony.Group:
		key, err := regs.tuple(s.Key)
		if err != nil {
			return err
		}
		g, k := m.groups[s.To], planref.Key(key)
		in := g.rows[k]
		if in == nil {
			in = &group{key: key, vals: make([][]scalar.Value, len(s.Vals))}
			g.rows[k] = in
			g.order = append(g.order, k)
		}
		in.count++
		for i, a := range s.To.Accs {
			if a.Fn == queryplan.Count {
				continue
			}
			v, err := regs.tuple(s.Vals[i : i+1])
			if err != nil {
				return err
			}
			in.vals[i] = append(in.vals[i], v[0])
		}
		return nil
	}
	return fmt.Errorf("harmonyref: no sink %T", s)
}
