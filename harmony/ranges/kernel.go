package ranges

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/bounds"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// pipeline follows the rows of a kernel.
type pipeline struct {
	*finder
	columns bounds.Columns[harmony.Managed]
	values  map[*harmony.Reg]bounds.Value // where the pipeline is now
	maps    map[*harmony.Reg]*harmony.Map // that define boolean registers
	probes  map[*harmony.Reg]*harmony.Probe
}

// kernel bounds the registers of a kernel as they are at its sinks, given
// bounds of columns. The values of registers where they are defined go to
// defined, if it is not nil.
func (f *finder) kernel(k *harmony.Kernel, cols bounds.Columns[harmony.Managed],
	defined map[*harmony.Reg]bounds.Value) *pipeline {
	p := &pipeline{f, cols, map[*harmony.Reg]bounds.Value{}, map[*harmony.Reg]*harmony.Map{},
		map[*harmony.Reg]*harmony.Probe{}}
	source := p.source(k.Source)
	for _, s := range k.Stages {
		p.stage(s, source)
		if r := harmony.Def(s); r != nil && r.Row == nil && defined != nil {
			defined[r] = p.values[r]
		}
	}
	return p
}

func (p *pipeline) source(s harmony.Source) []interval.Interval {
	switch s := s.(type) {
	case *harmony.Rows:
		if s.Rel.Kind == queryplan.Derived {
			return append(slices.Clip(p.columns[s.Rel]), positions)
		}
		return p.columns[s.Rel]
	case *harmony.GroupRows:
		return p.columns[s.Groups]
	}
	values := s.(*harmony.Values)
	out := bounds.None(len(values.Cols))
	for i := range values.Cols {
		dom := p.domains.Values(values, i)
		for _, row := range values.Rows {
			out[i] = out[i].Union(p.constant(row[i], dom))
		}
	}
	return out
}

// constant bounds a constant with a code in the domain.
func (f *finder) constant(v scalar.Value, dom *domain.Domain) interval.Interval {
	switch {
	case dom != nil:
		return f.codes(dom)
	case f.opts.UnknownLiterals:
		return interval.OfType(v.Type)
	}
	return bounds.Constant(v).Bound
}

func (p *pipeline) stage(s harmony.Stage, source []interval.Interval) {
	switch s := s.(type) {
	case *harmony.Load:
		p.values[s.Out] = bounds.Value{Bound: source[s.Col], Fits: true}
	case *harmony.Gather:
		p.values[s.Out] = bounds.Value{Bound: p.gathered(s), Fits: true}
	case *harmony.Map:
		p.values[s.Out] = p.call(s)
		if s.Out.Type.Kind == scalar.Boolean {
			p.maps[s.Out] = s
		}
	case *harmony.Filter:
		if s.Cond.Reg != nil {
			p.refine(s.Cond.Reg)
		}
	case *harmony.Need:
		v := p.values[s.Reg]
		p.values[s.Reg] = bounds.Value{Bound: v.Bound, Fits: true}
	case *harmony.Probe:
		if s.Kind == harmony.ProbeAbsent {
			return
		}
		for i, o := range s.Key {
			p.narrow(o, p.column(s.Index.Of, s.Index.Key[i]))
		}
		if s.Out != nil {
			p.probes[s.Out] = s
		}
	}
}

// column bounds a column of a relation, or positions.
func (p *pipeline) column(r *harmony.Relation, at int) interval.Interval {
	if at == r.Position() {
		return positions
	}
	return p.columns[r][at]
}

// gathered bounds a column of a row that a probe found: a key column is equal
// to what was looked up.
func (p *pipeline) gathered(s *harmony.Gather) interval.Interval {
	bound := p.column(s.Row.Row, s.Col)
	probe := p.probes[s.Row]
	if i := slices.Index(probe.Index.Key, s.Col); i >= 0 {
		bound = bound.Intersect(p.operand(probe.Key[i], p.domains.Stage(probe, i)).Bound)
	}
	return bound
}

// operand bounds an operand, dom being the domain of a string constant.
func (p *pipeline) operand(o harmony.Operand, dom *domain.Domain) bounds.Value {
	if o.Reg != nil {
		return p.values[o.Reg]
	}
	return bounds.Value{Bound: p.constant(o.Const, dom), Fits: o.Const.FitsWord()}
}

// narrow keeps of an operand's values those within the bound.
func (p *pipeline) narrow(o harmony.Operand, bound interval.Interval) {
	if o.Reg != nil {
		v := p.values[o.Reg]
		p.values[o.Reg] = bounds.Value{Bound: v.Bound.Intersect(bound), Fits: v.Fits}
	}
}

func (p *pipeline) call(m *harmony.Map) bounds.Value {
	if dom := p.domains.Reg(m.Out); dom != nil {
		return bounds.Value{Bound: p.codes(dom), Fits: true}
	}
	if _, i, ok := p.domains.Table(m); ok {
		if p.opts.Table != nil {
			return bounds.Value{Bound: p.opts.Table(i), Fits: true}
		}
		return bounds.Value{Bound: interval.OfType(m.Out.Type), Fits: true}
	}
	return bounds.Call(m.Func, m.Out.Type, p.arguments(m))
}

// arguments returns the arguments of a function for package bounds.
func (p *pipeline) arguments(m *harmony.Map) []bounds.Operand {
	args := make([]bounds.Operand, len(m.Args))
	for i, a := range m.Args {
		args[i] = bounds.Operand{Value: p.operand(a, p.domains.Stage(m, i)), Type: a.Type()}
		if a.Reg == nil {
			args[i].Const = &a.Const
		}
	}
	return args
}

// refine narrows registers by what holds if a boolean register is true.
func (p *pipeline) refine(cond *harmony.Reg) {
	m := p.maps[cond]
	if m == nil {
		return
	}
	switch m.Func.Name {
	case "and", "holds":
		for _, a := range m.Args {
			if a.Reg != nil {
				p.refine(a.Reg)
			}
		}
	default:
		place, bound, ok := bounds.Implied(m.Func, p.arguments(m))
		if ok && !p.opts.UnknownLiterals {
			p.narrow(m.Args[place], bound)
		}
	}
}

// sink bounds what a sink adds to each column of its variable.
func (p *pipeline) sink(s harmony.Sink) []interval.Interval {
	switch s := s.(type) {
	case *harmony.Store:
		return p.operands(s, s.Vals, 0)
	case *harmony.Insert:
		return p.operands(s, s.Vals, 0)
	case *harmony.Group:
		out := p.operands(s, s.Key, 0)
		for i, a := range s.To.Accs {
			var in interval.Interval
			if a.Fn != queryplan.Count {
				in = p.operands(s, s.Vals[i:i+1], len(s.Key)+i)[0]
			}
			out = append(out, interval.Aggregate(a.Fn.String(), a.Out.Type, in))
		}
		return out
	}
	return nil
}

// operands bounds operands of a sink from the given place on.
func (p *pipeline) operands(s harmony.Sink, list []harmony.Operand, from int) []interval.Interval {
	out := make([]interval.Interval, len(list))
	for i, o := range list {
		if o.Reg == nil {
			out[i] = p.constant(o.Const, p.domains.Sink(s, from+i))
			continue
		}
		out[i] = p.values[o.Reg].Bound
	}
	return out
}
