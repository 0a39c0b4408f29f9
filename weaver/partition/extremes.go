package partition

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// isOfNoOrder reports whether an accumulator depends on an order that the codes
// of its strings do not have.
func isOfNoOrder(g *harmony.Groups, acc int, d *domain.Domains) bool {
	codes := d.Column(g, len(g.Keys)+acc)
	return isExtreme(g.Accs[acc].Fn) && codes != nil && codes.Grows
}

func isExtreme(fn queryplan.AggFn) bool { return fn == queryplan.Min || fn == queryplan.Max }

// extremes takes the least and greatest that need the host out of all groups,
// and reports whether there are any.
func (q *partitioner) extremes(needsHost func(g *harmony.Groups, acc int) bool) (any bool) {
	for _, g := range slices.Clone(q.Groups) {
		x := &extremes{q: q, groups: g}
		for i := range g.Accs {
			if needsHost(g, i) {
				x.accs = append(x.accs, i)
			}
		}
		if len(x.accs) > 0 {
			x.split()
			any = true
		}
	}
	return any
}

// extremes is a group-by table that is split.
type extremes struct {
	q      *partitioner
	groups *harmony.Groups
	accs   []int // the accumulators that go, by their places

	// rest are the groups without them, nil if none is left; strings a temp of
	// the keys and, for each that goes, its strings.
	rest    *harmony.Groups
	strings *harmony.Relation
	// first has for each that goes the rows of strings with a group's result;
	// find their indexes by the keys.
	first []*harmony.Relation
	find  []*harmony.Index
}

// split replaces the groups by rest, and by the first rows of strings.
func (x *extremes) split() {
	x.declare()
	readers := 0
	for _, k := range x.q.Kernels() {
		if x.reads(k) {
			readers++
		}
	}
	x.q.replace(func(b *harmony.Block, c harmony.Command) []harmony.Command {
		switch c := c.(type) {
		case *harmony.Clear:
			if c.Var != harmony.Managed(x.groups) {
				break
			}
			out := []harmony.Command{&harmony.Clear{Var: x.strings}}
			if x.rest != nil {
				out = append(out, &harmony.Clear{Var: x.rest})
			}
			return out
		case *harmony.Run:
			x.fill(c.Kernel)
			if x.reads(c.Kernel) {
				wanted := x.wanted(c.Kernel)
				x.read(c.Kernel, wanted)
				again := readers > 1 || cfg.OnCycle(b, (*harmony.Block).Successors)
				return append(x.order(wanted, again), c)
			}
		}
		return []harmony.Command{c}
	})
}

// declare makes the variables that take the place of the groups.
func (x *extremes) declare() {
	g := x.groups
	rest := &harmony.Groups{Name: g.Name, Keys: g.Keys, Span: g.Span}
	cols := slices.Clone(g.Keys)
	moved := make([]int, len(g.Accs)) // where accumulators of sums are then
	for i, a := range g.Accs {
		if slices.Contains(x.accs, i) {
			cols = append(cols, a.Out)
		} else {
			moved[i] = len(rest.Accs)
			rest.Accs = append(rest.Accs, a)
		}
	}
	for i, a := range rest.Accs {
		if a.Shares > 0 {
			rest.Accs[i].Shares = 1 + moved[a.Shares-1]
		}
	}
	at := slices.Index(x.q.Groups, g)
	if len(rest.Accs) > 0 {
		x.rest = rest
		x.q.Groups[at] = rest
	} else {
		x.q.Groups = slices.Delete(x.q.Groups, at, at+1)
	}
	x.strings = x.q.temp(cols, g.Span)
	for i := range x.accs {
		first := x.q.temp(cols, g.Span)
		x.first = append(x.first, first)
		var find *harmony.Index
		if x.rest != nil || i > 0 {
			find = &harmony.Index{Name: x.q.fresh("i"), Kind: harmony.Unique, Of: first,
				Key: x.keys(), Span: g.Span}
			x.q.Indexes = append(x.q.Indexes, find)
		}
		x.find = append(x.find, find)
	}
}

// keys are the places of the keys among the columns of groups and temps.
func (x *extremes) keys() []int {
	out := make([]int, len(x.groups.Keys))
	for i := range out {
		out[i] = i
	}
	return out
}

// fill makes a kernel that accumulates into the groups store the strings, too.
func (x *extremes) fill(k *harmony.Kernel) {
	var sinks []harmony.Sink
	for _, s := range k.Sinks {
		group, ok := s.(*harmony.Group)
		if !ok || group.To != x.groups {
			sinks = append(sinks, s)
			continue
		}
		store := &harmony.Store{To: x.strings, Vals: slices.Clone(group.Key)}
		rest := &harmony.Group{To: x.rest, Key: group.Key}
		for i, v := range group.Vals {
			if slices.Contains(x.accs, i) {
				store.Vals = append(store.Vals, v)
			} else {
				rest.Vals = append(rest.Vals, v)
			}
		}
		if x.rest != nil {
			sinks = append(sinks, rest)
		}
		sinks = append(sinks, store)
	}
	k.Sinks = sinks
}

// wanted says for each accumulator that goes whether a kernel over the groups
// reads its first rows.
func (x *extremes) wanted(k *harmony.Kernel) []bool {
	out := make([]bool, len(x.accs))
	for i, acc := range x.accs {
		out[i] = x.find[i] == nil || slices.ContainsFunc(k.Stages, func(s harmony.Stage) bool {
			load, ok := s.(*harmony.Load)
			return ok && load.Col == len(x.groups.Keys)+acc
		})
	}
	return out
}

// order returns the commands that find the first rows that are wanted, again if
// that may have been done before.
func (x *extremes) order(wanted []bool, again bool) (out []harmony.Command) {
	for i, acc := range x.accs {
		if !wanted[i] {
			continue
		}
		if again {
			out = append(out, &harmony.Clear{Var: x.first[i]})
		}
		by := harmony.OrderKey{Col: x.groups.Accs[acc].Out.Name,
			Desc: x.groups.Accs[acc].Fn == queryplan.Max}
		out = append(out,
			&harmony.TopK{To: x.first[i], From: x.strings,
				Cols: harmony.Whole(x.strings.Cols, false), Limit: 1, Group: x.keys(),
				By: []harmony.OrderKey{by}, Span: x.groups.Span})
		if x.find[i] != nil {
			out = append(out, &harmony.Build{Index: x.find[i]})
		}
	}
	return out
}

func (x *extremes) reads(k *harmony.Kernel) bool {
	rows, ok := k.Source.(*harmony.GroupRows)
	return ok && rows.Groups == x.groups
}

// read makes a kernel over the groups read what took their place: the rest of
// them, or the first rows for one aggregate, and for all others the rows that
// it finds there by the keys.
func (x *extremes) read(k *harmony.Kernel, wanted []bool) {
	keys := len(x.groups.Keys)
	k.Source = &harmony.Rows{Rel: x.first[0]}
	if x.rest != nil {
		k.Source = &harmony.GroupRows{Groups: x.rest}
	}
	var stages []harmony.Stage
	var key []harmony.Operand
	found := map[int]*harmony.Reg{} // the row of an accumulator
	for i, find := range x.find {
		if find == nil || !wanted[i] {
			continue
		}
		if key == nil {
			for at, c := range x.groups.Keys {
				load := &harmony.Load{Out: &harmony.Reg{Type: c.Type}, Col: at}
				stages, key = append(stages, load), append(key, harmony.Operand{Reg: load.Out})
			}
		}
		row := &harmony.Reg{Row: x.first[i]}
		stages = append(stages,
			&harmony.Probe{Kind: harmony.ProbeUnique, Index: find, Key: key, Out: row})
		found[x.accs[i]] = row
	}
	for _, s := range k.Stages {
		load, ok := s.(*harmony.Load)
		if !ok || load.Col < keys {
			stages = append(stages, s)
			continue
		}
		acc := load.Col - keys
		at := slices.Index(x.accs, acc)
		switch {
		case at < 0:
			// Those before it that went are not in the rest.
			gone := 0
			for _, a := range x.accs {
				if a < acc {
					gone++
				}
			}
			stages = append(stages, &harmony.Load{Out: load.Out, Col: load.Col - gone})
		case found[acc] != nil:
			stages = append(stages, &harmony.Gather{Out: load.Out, Row: found[acc], Col: keys + at})
		default:
			stages = append(stages, &harmony.Load{Out: load.Out, Col: keys + at})
		}
	}
	k.Stages = stages
}
