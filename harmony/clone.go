package harmony

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// Clone returns a deep copy, which a transformation can change in place. The
// copy shares functions, constants, texts of operators and spans with p.
func Clone(p *Program) *Program {
	c := cloner{map[Managed]Managed{}}
	out := &Program{}
	for _, r := range p.Relations {
		n := *r
		c.vars[r] = &n
		out.Relations = append(out.Relations, &n)
	}
	for _, x := range p.Indexes {
		n := *x
		n.Of = rename(c, x.Of)
		c.vars[x] = &n
		out.Indexes = append(out.Indexes, &n)
	}
	for _, g := range p.Groups {
		n := *g
		c.vars[g] = &n
		out.Groups = append(out.Groups, &n)
	}
	commands := func(from, to *Block) error {
		for _, cmd := range from.Cmds {
			to.Cmds = append(to.Cmds, c.command(cmd))
		}
		return nil
	}
	out.Blocks, _ = cfg.Map(p.Blocks, commands, func(r *Relation) *Relation { return rename(c, r) })
	return out
}

// cloner maps variables to their copies. A variable without a copy is kept.
type cloner struct {
	vars map[Managed]Managed
}

func rename[T Managed](c cloner, v T) T {
	if n, ok := c.vars[v].(T); ok {
		return n
	}
	return v
}

func (c cloner) command(cmd Command) Command {
	switch cmd := cmd.(type) {
	case *Run:
		return &Run{c.kernel(cmd.Kernel)}
	case *Build:
		return &Build{rename(c, cmd.Index), cmd.Before}
	case *Number:
		n := *cmd
		n.To, n.From = rename(c, n.To), rename(c, n.From)
		return &n
	case *TopK:
		n := *cmd
		n.To, n.From = rename(c, n.To), rename(c, n.From)
		return &n
	case *Merge:
		return &Merge{rename(c, cmd.Rel)}
	case *Clear:
		return &Clear{rename(c, cmd.Var)}
	case *Check:
		n := *cmd
		n.Rel = rename(c, n.Rel)
		return &n
	case *CheckKey:
		n := *cmd
		n.Rel = rename(c, n.Rel)
		return &n
	}
	return cmd
}

// Probing returns a copy of a kernel that probes one index in place of another.
func (k *Kernel) Probing(index, inPlaceOf *Index) *Kernel {
	return cloner{map[Managed]Managed{inPlaceOf: index}}.kernel(k)
}

func (c cloner) kernel(k *Kernel) *Kernel {
	out := &Kernel{Name: k.Name, Host: k.Host, Ops: k.Ops, Makes: k.Makes, Span: k.Span}
	switch s := k.Source.(type) {
	case *Rows:
		out.Source = &Rows{rename(c, s.Rel), s.Version}
	case *GroupRows:
		out.Source = &GroupRows{rename(c, s.Groups)}
	case *Values:
		n := *s
		out.Source = &n
	}
	copies := map[*Reg]*Reg{}
	define := func(r *Reg) *Reg {
		if r == nil {
			return nil
		}
		n := *r
		if n.Row != nil {
			n.Row = rename(c, n.Row)
		}
		copies[r] = &n
		return &n
	}
	operand := func(o Operand) Operand {
		if o.Reg != nil {
			o.Reg = copies[o.Reg]
		}
		return o
	}
	operands := func(list []Operand) []Operand {
		list = slices.Clone(list)
		for i, o := range list {
			list[i] = operand(o)
		}
		return list
	}
	for _, s := range k.Stages {
		switch s := s.(type) {
		case *Load:
			out.Stages = append(out.Stages, &Load{define(s.Out), s.Col})
		case *Map:
			args := operands(s.Args)
			out.Stages = append(out.Stages, &Map{define(s.Out), s.Func, args})
		case *Filter:
			out.Stages = append(out.Stages, &Filter{operand(s.Cond)})
		case *Need:
			out.Stages = append(out.Stages, &Need{copies[s.Reg]})
		case *Probe:
			key := operands(s.Key)
			out.Stages = append(out.Stages, &Probe{s.Kind, rename(c, s.Index), key, define(s.Out)})
		case *Gather:
			row := copies[s.Row]
			out.Stages = append(out.Stages, &Gather{define(s.Out), row, s.Col})
		}
	}
	for _, s := range k.Sinks {
		switch s := s.(type) {
		case *Store:
			out.Sinks = append(out.Sinks, &Store{rename(c, s.To), operands(s.Vals)})
		case *Insert:
			out.Sinks = append(out.Sinks, &Insert{rename(c, s.To), operands(s.Vals)})
		case *Group:
			out.Sinks = append(out.Sinks,
				&Group{rename(c, s.To), operands(s.Key), operands(s.Vals)})
		}
	}
	out.rules = k.rules
	if k.places == nil {
		return out
	}
	for i, s := range k.Stages {
		out.inherit(out.Stages[i], k, s)
	}
	for i, s := range k.Sinks {
		out.inherit(out.Sinks[i], k, s)
	}
	return out
}
