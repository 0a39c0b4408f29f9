package fuse

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/list"
)

// Numbering and ranking need all rows, so no kernel is fused with them. But
// kernels that only move rows to them, or from them to another relation, can be
// removed, because the commands can read any columns of a relation and fill any
// columns of another.

// ordering is the common part of Number and TopK.
type ordering struct {
	to, from **harmony.Relation
	cols     *[]int
	// reads makes the ordering read another relation. places has that
	// relation's column for each column of the present one.
	reads func(from *harmony.Relation, places []int)
}

// orderingOf returns a copy of a command that numbers or ranks, and its
// ordering. It returns nil for other commands.
func orderingOf(c harmony.Command) (harmony.Command, *ordering) {
	moved := func(cols []int, places []int) []int {
		out := slices.Clone(cols)
		for i, at := range out {
			if at != harmony.Numbered {
				out[i] = places[at]
			}
		}
		return out
	}
	// Several columns may come from one column of the relation that is read.
	// The first of them decides.
	once := func(cols, places []int) (out []int) {
		for _, at := range moved(cols, places) {
			if !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
		return out
	}
	onceBy := func(by []harmony.OrderKey, of, from *harmony.Relation, places, group []int,
	) (out []harmony.OrderKey) {
		seen := slices.Clone(group)
		for _, b := range by {
			at := places[harmony.ColumnIndex(of.Cols, b.Col)]
			if !slices.Contains(seen, at) {
				seen = append(seen, at)
				out = append(out, harmony.OrderKey{Col: from.Cols[at].Name, Desc: b.Desc})
			}
		}
		return out
	}
	switch c := c.(type) {
	case *harmony.Number:
		n := *c
		// The columns that break ties are made explicit, so that they do not
		// depend on the columns of the relation.
		n.Order = c.Keys()
		return &n, &ordering{&n.To, &n.From, &n.Cols, func(from *harmony.Relation, places []int) {
			n.Cols = moved(n.Cols, places)
			n.Group = once(n.Group, places)
			n.Order = onceBy(n.Order, n.From, from, places, n.Group)
			n.From = from
		}}
	case *harmony.TopK:
		k := *c
		k.By = c.Keys()
		return &k, &ordering{&k.To, &k.From, &k.Cols, func(from *harmony.Relation, places []int) {
			k.Cols = moved(k.Cols, places)
			k.Group = once(k.Group, places)
			k.By = onceBy(k.By, k.From, from, places, k.Group)
			k.From = from
		}}
	}
	return nil, nil
}

// orderInPlace makes commands that number or rank read rows from their
// relation, and write them to the one where they are wanted. That replaces
// kernels that only move rows to a temp before, or out of a temp after.
//
// It is not legal if something else needs the temp, if a command in between
// changes what is read or needs what is written, or if tuples have to be looked
// up before they are added to a derived relation.
func (f *fuser) orderInPlace() {
	for _, t := range f.temps() {
		u := f.uses(t)
		if len(u.producers) != 1 || len(u.consumers) != 1 || f.unsettled(u) != nil {
			continue
		}
		w, c := u.producers[0], u.consumers[0]
		if after, o := orderingOf(c.command()); o != nil {
			if from, places, ok := f.copied(w, t); ok && from != *o.to {
				o.reads(from, places)
				f.takeOver(t, w, c, c, after, commandAccesses(after))
			}
		} else if before, o := orderingOf(w.command()); o != nil {
			if to, places, ok := f.moved(c, t); ok && to != *o.from {
				cols := list.Map(places, func(at int) int { return (*o.cols)[at] })
				*o.to, *o.cols = to, cols
				f.takeOver(t, w, c, w, before, kernelAccesses(c.kernel()))
			}
		}
	}
}

// takeOver replaces a producer and a consumer of a temp, one of which only
// moves rows, by the command by, at site at. It does not if a command in
// between conflicts with what would then happen earlier or later.
func (f *fuser) takeOver(t *harmony.Relation, w, c, at site, by harmony.Command, touched accesses) {
	pair := f.pairOf(w, c, t)
	if f.opts.Off || slices.Contains(f.opts.Keep, pair) ||
		!touched.without(t).clearOf(between(w, c)) {
		return
	}
	f.report.fuse(Fusion{Pair: pair, Var: t.Name, Dependence: Kernel})
	f.report.Refusals = slices.DeleteFunc(f.report.Refusals, func(r Refusal) bool {
		return r.Pair == pair
	})
	replaced, other := at.command(), w.command()
	if at == w {
		other = c.command()
	}
	f.was[by] = f.nameOf(at, nil)
	for _, s := range []site{w, c} {
		parts := f.inPlace[s.command()]
		if parts == nil {
			parts = []string{f.nameOf(s, func(*harmony.Kernel) bool { return true })}
		}
		f.inPlace[by] = append(f.inPlace[by], parts...)
	}
	b := at.block
	b.Cmds = slices.Clone(b.Cmds)
	b.Cmds[slices.Index(b.Cmds, replaced)] = by
	b.Cmds = slices.DeleteFunc(b.Cmds, func(c harmony.Command) bool { return c == other })
	f.dropTemp(t)
}

// copied returns the relation whose rows, of all versions, a kernel copies to a
// temp, and its column for each column of the temp.
func (f *fuser) copied(s site,
	t *harmony.Relation) (from *harmony.Relation, places []int, ok bool) {
	k := s.kernel()
	if k == nil || len(k.Sinks) != 1 {
		return nil, nil, false
	}
	rows, fromRows := k.Source.(*harmony.Rows)
	store, stores := k.Sinks[0].(*harmony.Store)
	if !fromRows || rows.Version != harmony.Full || !stores || store.To != t {
		return nil, nil, false
	}
	places, ok = loadedFrom(k, store.Vals)
	return rows.Rel, places, ok
}

// moved returns the relation that a kernel moves the rows of a temp to, and the
// temp's column for each of its columns. A derived relation must not have the
// tuples before.
func (f *fuser) moved(s site, t *harmony.Relation) (to *harmony.Relation, places []int, ok bool) {
	k := s.kernel()
	if k == nil || len(k.Sinks) != 1 || !readsRows(k, t) {
		return nil, nil, false
	}
	var vals []harmony.Operand
	switch s := k.Sinks[0].(type) {
	case *harmony.Store:
		to, vals = s.To, s.Vals
	case *harmony.Insert:
		if f.opts.Distinct == nil || !f.opts.Distinct(s.To) {
			return nil, nil, false
		}
		to, vals = s.To, s.Vals
	default:
		return nil, nil, false
	}
	places, ok = loadedFrom(k, vals)
	return to, places, ok
}

// loadedFrom returns the columns that operands are loaded from by a kernel that
// does nothing else.
func loadedFrom(k *harmony.Kernel, vals []harmony.Operand) ([]int, bool) {
	loaded := map[*harmony.Reg]int{}
	for _, s := range k.Stages {
		load, ok := s.(*harmony.Load)
		if !ok || k.PositionOf(s) != nil {
			return nil, false
		}
		loaded[load.Out] = load.Col
	}
	places := make([]int, len(vals))
	for i, v := range vals {
		at, ok := loaded[v.Reg]
		if !ok {
			return nil, false
		}
		places[i] = at
	}
	return places, true
}
