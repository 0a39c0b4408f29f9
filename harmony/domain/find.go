package domain

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Find returns the domains of a verified program. They are numbered by what the
// text has first: columns of relations, then of groups, then what kernels add.
func Find(p *harmony.Program) *Domains {
	f := &finder{
		columns: map[harmony.Managed][]*node{},
		values:  map[*harmony.Values][]*node{},
		regs:    map[*harmony.Reg]*node{},
		stages:  map[harmony.Stage][]*node{},
		sinks:   map[harmony.Sink][]*node{},
	}
	for _, r := range p.Relations {
		f.columns[r] = f.fresh(r.Cols)
	}
	for _, g := range p.Groups {
		f.columns[g] = f.fresh(g.Columns())
	}
	for _, b := range p.Blocks {
		for _, c := range b.Cmds {
			f.command(c)
		}
	}
	return f.finish(p)
}

// node is an element of the union-find forest: a column, a register or a place for
// constants.
type node struct {
	number int // of creation
	parent *node
}

func (n *node) find() *node {
	for n.parent != nil {
		if n.parent.parent != nil {
			n.parent = n.parent.parent
		}
		n = n.parent
	}
	return n
}

// constant is a string of the program at its place.
type constant struct {
	at   *node
	text string
	// compared says that the constant is only compared with what is there.
	compared bool
}

type finder struct {
	nodes     []*node
	columns   map[harmony.Managed][]*node
	values    map[*harmony.Values][]*node
	regs      map[*harmony.Reg]*node
	stages    map[harmony.Stage][]*node
	sinks     map[harmony.Sink][]*node
	constants []constant
	maps      []*harmony.Map // those that have to do with strings
	calls     *node          // the domain of constants that only hosts see
}

func (f *finder) node() *node {
	n := &node{number: len(f.nodes)}
	f.nodes = append(f.nodes, n)
	return n
}

// fresh returns a node for each column of strings.
func (f *finder) fresh(cols []harmony.Column) []*node {
	out := make([]*node, len(cols))
	for i, c := range cols {
		if c.Type.Kind == scalar.String {
			out[i] = f.node()
		}
	}
	return out
}

// unite makes one of two domains; the older root stays one.
func unite(a, b *node) {
	a, b = a.find(), b.find()
	switch {
	case a.number < b.number:
		b.parent = a
	case b.number < a.number:
		a.parent = b
	}
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

// taken makes the columns of one relation share domains with those of the other that they
// are.
func (f *finder) taken(to, from *harmony.Relation, cols []int) {
	for i, at := range cols {
		if at != harmony.Numbered && f.columns[from][at] != nil {
			unite(f.columns[from][at], f.columns[to][i])
		}
	}
}

func (f *finder) kernel(k *harmony.Kernel) {
	source := f.source(k.Source)
	for _, s := range k.Stages {
		switch s := s.(type) {
		case *harmony.Load:
			f.define(s.Out, source[s.Col])
		case *harmony.Gather:
			f.define(s.Out, f.columns[s.Row.Row][s.Col])
		case *harmony.Probe:
			cols := make([]*node, len(s.Key))
			for i, at := range s.Index.Key {
				cols[i] = f.columns[s.Index.Of][at]
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

func (f *finder) source(s harmony.Source) []*node {
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
func (f *finder) define(r *harmony.Reg, n *node) {
	if n != nil {
		f.regs[r] = n
	}
}

// fill unites operands with the columns that they meet.
func (f *finder) fill(operands []harmony.Operand, cols []*node) []*node {
	for i, o := range operands {
		if cols[i] != nil {
			f.meet(o, cols[i], false)
		}
	}
	return cols
}

// meet brings an operand into a domain.
func (f *finder) meet(o harmony.Operand, n *node, compared bool) {
	if o.Reg != nil {
		unite(f.regs[o.Reg], n)
		return
	}
	f.constants = append(f.constants, constant{n, o.Const.Str(), compared})
}

// call notes what a function does to strings.
func (f *finder) call(m *harmony.Map) {
	concerned := m.Out.Type.Kind == scalar.String
	args := make([]*node, len(m.Args))
	var some *node // of a string register
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
	if some != nil && (meets || isComparison(m.Func)) {
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
	f.regs[m.Out] = f.node()
}
