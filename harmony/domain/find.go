package domain

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/bounds"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Find returns the domains of a verified program. They are numbered by what the
// text has first: columns of relations, then of groups, then what kernels add.
func Find(p *harmony.Program) *Domains {
	f := &finder{
		columns: map[harmony.Managed][]*bounds.Place{},
		values:  map[*harmony.Values][]*bounds.Place{},
		regs:    map[*harmony.Reg]*bounds.Place{},
		stages:  map[harmony.Stage][]*bounds.Place{},
		sinks:   map[harmony.Sink][]*bounds.Place{},
	}
	for _, r := range p.Relations {
		f.columns[r] = f.fresh(r.Cols)
	}
	for _, g := range p.Groups {
		f.columns[g] = f.fresh(g.Columns())
	}
	for _, c := range p.Commands() {
		f.command(c)
	}
	return f.finish(p)
}

// constant is a string of the program at its place.
type constant struct {
	at   *bounds.Place
	text string
	// compared says that the constant is only compared with what is there.
	compared bool
}

type finder struct {
	places    bounds.Strings
	columns   map[harmony.Managed][]*bounds.Place
	values    map[*harmony.Values][]*bounds.Place
	regs      map[*harmony.Reg]*bounds.Place
	stages    map[harmony.Stage][]*bounds.Place
	sinks     map[harmony.Sink][]*bounds.Place
	constants []constant
	maps      []*harmony.Map // those that have to do with strings
	calls     *bounds.Place  // the domain of constants that only hosts see
}

// fresh returns a place for each column of strings.
func (f *finder) fresh(cols []harmony.Column) []*bounds.Place {
	out := make([]*bounds.Place, len(cols))
	for i, c := range cols {
		if c.Type.Kind == scalar.String {
			out[i] = f.places.New()
		}
	}
	return out
}

func (f *finder) command(c harmony.Command) {
	switch c := c.(type) {
	case *harmony.Run:
		f.kernel(c.Kernel)
	case *harmony.Number:
		f.taken(c.To, c.From, c.Cols)
	case *harmony.TopK:
		f.taken(c.To, c.From, c.Cols)
	}
}

// taken makes the columns of one relation share domains with those of the other
// that they are.
func (f *finder) taken(to, from *harmony.Relation, cols []int) {
	for i, at := range cols {
		if at != harmony.Numbered && f.columns[from][at] != nil {
			f.columns[from][at].Meet(f.columns[to][i])
		}
	}
}

func (f *finder) kernel(k *harmony.Kernel) {
	source := f.source(k.Source)
	for _, s := range k.Stages {
		if k.PositionOf(s) != nil {
			continue
		}
		switch s := s.(type) {
		case *harmony.Load:
			f.define(s.Out, source[s.Col])
		case *harmony.Gather:
			f.define(s.Out, f.columns[s.Row.Row][s.Col])
		case *harmony.Probe:
			cols := make([]*bounds.Place, len(s.Key))
			for i, at := range s.Index.Key {
				if !s.Index.ByPosition() {
					cols[i] = f.columns[s.Index.Of][at]
				}
			}
			f.stages[s] = f.fill(s.Key, cols)
		case *harmony.Map:
			f.call(s)
		}
	}
	for _, s := range k.Sinks {
		switch s := s.(type) {
		case *harmony.Store:
			f.sinks[s] = f.fill(s.Vals, f.columns[s.To])
		case *harmony.Insert:
			f.sinks[s] = f.fill(s.Vals, f.columns[s.To])
		case *harmony.Group:
			cols := slices.Clone(f.columns[s.To])
			for i, a := range s.To.Accs {
				if a.Fn != queryplan.Min && a.Fn != queryplan.Max {
					// The column is a number.
					cols[len(s.Key)+i] = nil
				}
			}
			f.sinks[s] = f.fill(slices.Concat(s.Key, s.Vals), cols)
		}
	}
}

func (f *finder) source(s harmony.Source) []*bounds.Place {
	switch s := s.(type) {
	case *harmony.Rows:
		return f.columns[s.Rel]
	case *harmony.GroupRows:
		return f.columns[s.Groups]
	}
	values := s.(*harmony.Values)
	cols := f.fresh(values.Cols)
	f.values[values] = cols
	for i, n := range cols {
		if n == nil {
			continue
		}
		for _, row := range values.Rows {
			f.constants = append(f.constants, constant{at: n, text: row[i].Str()})
		}
	}
	return cols
}

// define notes that a register holds what a column does, nil for one that is no
// string.
func (f *finder) define(r *harmony.Reg, n *bounds.Place) {
	if n != nil {
		f.regs[r] = n
	}
}

// fill unites operands with the columns that they meet.
func (f *finder) fill(operands []harmony.Operand, cols []*bounds.Place) []*bounds.Place {
	for i, o := range operands {
		if cols[i] != nil {
			f.meet(o, cols[i], false)
		}
	}
	return cols
}

// meet brings an operand into a domain.
func (f *finder) meet(o harmony.Operand, n *bounds.Place, compared bool) {
	if o.Reg != nil {
		f.regs[o.Reg].Meet(n)
		return
	}
	f.constants = append(f.constants, constant{n, o.Const.Str(), compared})
}

// call notes what a function does to strings.
func (f *finder) call(m *harmony.Map) {
	concerned := m.Out.Type.Kind == scalar.String
	args := make([]*bounds.Place, len(m.Args))
	var some *bounds.Place // of a string register
	for i, a := range m.Args {
		if a.Type().Kind != scalar.String {
			continue
		}
		concerned = true
		if a.Reg != nil {
			args[i] = f.regs[a.Reg]
			if some == nil {
				some = args[i]
			}
		}
	}
	if !concerned {
		return
	}
	f.maps = append(f.maps, m)
	f.stages[m] = args
	meets := m.Func.Name == "min" || m.Func.Name == "max"
	if some != nil && (meets || bounds.Compares(m.Func)) {
		for i, a := range m.Args {
			f.meet(a, some, !meets)
			args[i] = some
		}
	}
	if m.Out.Type.Kind != scalar.String {
		return
	}
	if meets && some != nil {
		f.regs[m.Out] = some
		return
	}
	f.regs[m.Out] = f.places.New()
}
