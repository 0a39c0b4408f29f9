package ranges

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// pipeline follows the rows of a kernel.
type pipeline struct {
	*finder
	values map[*harmony.Reg]value        // where the pipeline is now
	maps   map[*harmony.Reg]*harmony.Map // that define boolean registers
	probes map[*harmony.Reg]*harmony.Probe
}

// kernel bounds the registers of a kernel as they are at its sinks. It notes in
// defined, if there is one, what they are where they are defined.
func (f *finder) kernel(k *harmony.Kernel, defined map[*harmony.Reg]value) *pipeline {
	p := &pipeline{f, map[*harmony.Reg]value{}, map[*harmony.Reg]*harmony.Map{}, map[*harmony.Reg]*harmony.Probe{}}
	source := f.source(k.Source)
	for _, s := range k.Stages {
		p.stage(s, source)
		if r := harmony.Def(s); r != nil && r.Row == nil && defined != nil {
			defined[r] = p.values[r]
		}
	}
	return p
}

func (f *finder) source(s harmony.Source) []interval.Interval {
	switch s := s.(type) {
	case *harmony.Rows:
		return f.columns[s.Rel]
	case *harmony.GroupRows:
		return f.columns[s.Groups]
	}
	values := s.(*harmony.Values)
	out := none(len(values.Cols))
	for i := range values.Cols {
		dom := f.domains.Values(values, i)
		for _, row := range values.Rows {
			out[i] = out[i].Union(f.constant(row[i], dom))
		}
	}
	return out
}

// constant bounds a constant with a code in the domain.
func (f *finder) constant(v scalar.Value, dom *domain.Domain) interval.Interval {
	switch {
	case dom != nil:
		return f.codes(dom)
	case f.opts.UnknownLiterals || v.Type.Kind == scalar.String || !v.FitsWord():
		return interval.OfType(v.Type)
	}
	return interval.Of(int64(v.Bits()))
}

func (p *pipeline) stage(s harmony.Stage, source []interval.Interval) {
	switch s := s.(type) {
	case *harmony.Load:
		p.values[s.Out] = value{source[s.Col], true}
	case *harmony.Gather:
		p.values[s.Out] = value{p.gathered(s), true}
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
		p.values[s.Reg] = value{v.bound, true}
	case *harmony.Probe:
		if s.Kind == harmony.ProbeAbsent {
			return
		}
		for i, o := range s.Key {
			p.narrow(o, p.columns[s.Index.Of][s.Index.Key[i]])
		}
		if s.Out != nil {
			p.probes[s.Out] = s
		}
	}
}

// gathered bounds a column of a row that a probe found: a key column is equal to
// what was looked up.
func (p *pipeline) gathered(s *harmony.Gather) interval.Interval {
	bound := p.columns[s.Row.Row][s.Col]
	probe := p.probes[s.Row]
	if i := slices.Index(probe.Index.Key, s.Col); i >= 0 {
		bound = bound.Intersect(p.operand(probe.Key[i], p.domains.Stage(probe, i)).bound)
	}
	return bound
}

// operand bounds an operand, dom being the domain of a string constant.
func (p *pipeline) operand(o harmony.Operand, dom *domain.Domain) value {
	if o.Reg != nil {
		return p.values[o.Reg]
	}
	return value{p.constant(o.Const, dom), o.Const.FitsWord()}
}

// narrow keeps of an operand's values those within the bound.
func (p *pipeline) narrow(o harmony.Operand, bound interval.Interval) {
	if o.Reg != nil {
		v := p.values[o.Reg]
		p.values[o.Reg] = value{v.bound.Intersect(bound), v.fits}
	}
}

func (p *pipeline) call(m *harmony.Map) value {
	if dom := p.domains.Reg(m.Out); dom != nil {
		return value{p.codes(dom), true}
	}
	if _, i, ok := p.domains.Table(m); ok {
		if p.opts.Table != nil {
			return value{p.opts.Table(i), true}
		}
		return value{interval.OfType(m.Out.Type), true}
	}
	types := make([]scalar.Type, len(m.Args))
	bounds := make([]interval.Interval, len(m.Args))
	fit := true
	for i, a := range m.Args {
		v := p.operand(a, p.domains.Stage(m, i))
		types[i], bounds[i] = a.Type(), v.bound
		fit = fit && v.fits
	}
	if !fit {
		return value{interval.OfType(m.Out.Type), m.Out.Type.Kind != scalar.Decimal}
	}
	if m.Func.Name == "datetime:part" && m.Args[1].Reg == nil {
		if unit, ok := scalar.ParseUnit(m.Args[1].Const.Str()); ok {
			return value{interval.DatetimePart(unit, bounds[0]), true}
		}
	}
	bound, exact := interval.Call(m.Func, m.Out.Type, types, bounds)
	// Integers that wrap around are words of their type again.
	return value{bound, exact || m.Out.Type.Kind != scalar.Decimal}
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
	case "eq", "lt", "le", "gt", "ge":
		x, y, name := m.Args[0], m.Args[1], m.Func.Name
		if x.Reg == nil {
			x, y, name = y, x, interval.Mirrored(name)
		}
		if x.Reg == nil || y.Reg != nil || p.opts.UnknownLiterals || x.Type() != y.Type() || !interval.Orders(x.Type()) || !y.Const.FitsWord() {
			return
		}
		if bound, ok := interval.Comparison(name, int64(y.Const.Bits())); ok {
			p.narrow(x, bound)
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
		out[i] = p.values[o.Reg].bound
	}
	return out
}
