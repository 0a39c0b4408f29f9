package partition

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/expr"
)

// NeedsHost reports whether a function has no native form and is no table.
func NeedsHost(m *harmony.Map, d *domain.Domains) bool {
	if _, _, ok := d.Table(m); ok {
		return false
	}
	if d.NeedsHost(m) {
		return true
	}
	if OfCodes(m) {
		return false
	}
	types := list.Map(m.Args, harmony.Operand.Type)
	return !expr.Supported(m.Func, m.Out.Type, types)
}

// OfCodes reports whether a function that the host is not needed for works on
// the codes of strings.
func OfCodes(m *harmony.Map) bool {
	switch m.Func.Name {
	case "eq", "ne", "lt", "le", "gt", "ge", "min", "max":
		return m.Args[0].Type().Kind == scalar.String
	}
	return false
}

// Partition returns a program with all that GPUs have no code for in kernels of
// the host. The given one, which is verified, is not changed; it is returned if
// GPUs have code for all of it. An error is a bug.
func Partition(p *harmony.Program) (*harmony.Program, error) {
	return partition(p, NeedsHost, isOfNoOrder)
}

// partition takes the functions and the aggregates that a device lacks out of a
// program.
func partition(p *harmony.Program, function func(*harmony.Map, *domain.Domains) bool,
	aggregate func(g *harmony.Groups, acc int, d *domain.Domains) bool) (*harmony.Program, error) {
	q := newPartitioner(harmony.Clone(p))
	d := domain.Find(q.Program)
	changed := q.extremes(func(g *harmony.Groups, acc int) bool { return aggregate(g, acc, d) })
	for {
		if changed {
			d = domain.Find(q.Program)
		}
		if !q.functions(func(m *harmony.Map) bool { return function(m, d) }) {
			break
		}
		changed = true
	}
	if !changed {
		return p, nil
	}
	if err := harmony.Verify(q.Program); err != nil {
		return nil, fmt.Errorf("the partitioned program is wrong: %w", err)
	}
	return q.Program, nil
}

// partitioner is a program on its way.
type partitioner struct {
	*harmony.Program
	taken   map[string]bool // the names of variables
	kernels map[string]bool // the names of kernels
	// whole has the name of the kernel that a part is of.
	whole map[*harmony.Kernel]string
}

func newPartitioner(p *harmony.Program) *partitioner {
	q := &partitioner{Program: p, taken: map[string]bool{}, kernels: map[string]bool{},
		whole: map[*harmony.Kernel]string{}}
	for _, r := range p.Relations {
		q.taken[r.Name] = true
	}
	for _, x := range p.Indexes {
		q.taken[x.Name] = true
	}
	for _, g := range p.Groups {
		q.taken[g.Name] = true
	}
	for _, k := range p.Kernels() {
		q.kernels[k.Name] = true
	}
	return q
}

// fresh returns the base with the first number that makes it a new name of a
// variable.
func (q *partitioner) fresh(base string) string {
	for n := 0; ; n++ {
		name := base + strconv.Itoa(n)
		if !q.taken[name] {
			q.taken[name] = true
			return name
		}
	}
}

// name names a part of a kernel. The first one has the name of the whole,
// others one with a number that is not taken.
func (q *partitioner) name(part, of *harmony.Kernel, first bool) {
	whole := q.whole[of]
	if whole == "" {
		whole = of.Name
	}
	q.whole[part] = whole
	part.Name = of.Name
	for n := 2; !first; n++ {
		part.Name = fmt.Sprintf("%s_%d", whole, n)
		if !q.kernels[part.Name] {
			q.kernels[part.Name] = true
			break
		}
	}
}

// temp adds a temp that serves what a span is the place of.
func (q *partitioner) temp(cols []harmony.Column, span source.Span) *harmony.Relation {
	r := &harmony.Relation{Name: q.fresh("t"), Kind: queryplan.Temp, Cols: cols, Keys: len(cols),
		Limit: -1, Span: span}
	q.Relations = append(q.Relations, r)
	return r
}

// replace gives every command of the program what replaces it.
func (q *partitioner) replace(with func(b *harmony.Block, c harmony.Command) []harmony.Command) {
	for _, b := range q.Blocks {
		var cmds []harmony.Command
		for _, c := range b.Cmds {
			cmds = append(cmds, with(b, c)...)
		}
		b.Cmds = cmds
	}
}

// columns names and types the columns of a temp that holds registers, after the
// columns that they were read from where there is one.
func columns(regs []*harmony.Reg, k *harmony.Kernel) []harmony.Column {
	from := map[*harmony.Reg]string{}
	for _, s := range k.Stages {
		if k.PositionOf(s) != nil {
			from[harmony.Def(s)] = "position"
			continue
		}
		switch s := s.(type) {
		case *harmony.Load:
			from[s.Out] = k.Source.Columns()[s.Col].Name
		case *harmony.Gather:
			from[s.Out] = s.Row.Row.Cols[s.Col].Name
		case *harmony.Map:
			from[s.Out] = "value"
		}
	}
	out := make([]harmony.Column, len(regs))
	for i, r := range regs {
		base := from[r]
		name := base
		for n := 2; slices.ContainsFunc(out[:i], func(c harmony.Column) bool {
			return c.Name == name
		}); n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		out[i] = harmony.Column{Name: name, Type: r.Type}
	}
	return out
}
