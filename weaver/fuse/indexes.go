package fuse

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
)

// shareIndexes lets one index serve the kernels that look up old rows of a
// relation and those that look up all rows by the same columns. A round of
// semi-naive evaluation has both if a rule has two recursive atoms.
//
// Rows are appended, so the old ones come first. The index has the old rows
// when a round begins, because they are all rows of the round before. Kernels
// that probe old rows run first. Then a build adds the rows of the delta, and
// the other kernels run. No probe costs more, and there is only one index to
// fill and to keep.
//
// It is not legal if a kernel probes both indexes, if a kernel that needs all
// rows has to run before one that needs the old ones, or if a block that probes
// old rows does not build both indexes first. At the end of the block, the
// index has all rows, as other blocks expect.
func (f *fuser) shareIndexes() {
	orders := map[*harmony.Block]*order{}
	taken := map[*harmony.Index]*harmony.Index{} // from old to full
	for _, old := range f.Indexes {
		if full := f.fullOf(old); full != nil && f.ordered(orders, old, full) {
			taken[old] = full
		}
	}
	if len(taken) == 0 {
		return
	}
	f.Indexes = slices.DeleteFunc(slices.Clone(f.Indexes), func(x *harmony.Index) bool {
		return taken[x] != nil
	})
	for b, o := range orders {
		b.Cmds = o.sorted()
		for i, c := range b.Cmds {
			switch c := c.(type) {
			case *harmony.Build:
				if full := taken[c.Index]; full != nil {
					b.Cmds[i] = &harmony.Build{Index: full, Before: true}
				}
			case *harmony.Run:
				k := c.Kernel
				for _, v := range k.Reads() {
					if old, ok := v.(*harmony.Index); ok && taken[old] != nil {
						k = k.Probing(taken[old], old)
					}
				}
				if k != c.Kernel {
					f.parts[k] = f.parts[c.Kernel]
					b.Cmds[i] = &harmony.Run{Kernel: k}
				}
			}
		}
	}
}

// fullOf returns the index over full that can replace an index over old, or
// nil.
func (f *fuser) fullOf(old *harmony.Index) *harmony.Index {
	if old.Version != harmony.Old || old.ByPosition() {
		return nil
	}
	for _, x := range f.Indexes {
		if x.Version == harmony.Full && x.Of == old.Of && x.Kind == old.Kind &&
			x.Busy == old.Busy && slices.Equal(x.Key, old.Key) {
			return x
		}
	}
	return nil
}

// ordered makes the kernels that probe an index over old run before the one
// over full is built, and reports whether that is possible.
func (f *fuser) ordered(orders map[*harmony.Block]*order, old, full *harmony.Index) bool {
	var sharing []*harmony.Block
	for _, b := range f.Blocks {
		if !slices.ContainsFunc(b.Cmds, func(c harmony.Command) bool { return handles(c, old) }) {
			continue
		}
		if !buildsFirst(b, old) || !buildsFirst(b, full) {
			return false
		}
		sharing = append(sharing, b)
	}
	for i, b := range sharing {
		if orders[b] == nil {
			orders[b] = newOrder(b.Cmds)
		}
		if !orders[b].share(old, full) {
			for _, b := range sharing[:i] {
				orders[b].apart(full)
			}
			return false
		}
	}
	return true
}

// buildsFirst reports whether a block builds an index once, before each probe
// of it.
func buildsFirst(b *harmony.Block, x *harmony.Index) bool {
	built := false
	for _, c := range b.Cmds {
		switch {
		case builds(c, x) && built, !builds(c, x) && handles(c, x) && !built:
			return false
		}
		built = built || builds(c, x)
	}
	return built
}

// builds reports whether a command builds an index.
func builds(c harmony.Command, x *harmony.Index) bool {
	b, ok := c.(*harmony.Build)
	return ok && b.Index == x
}

// handles reports whether a command builds or probes an index.
func handles(c harmony.Command, x *harmony.Index) bool {
	run, ok := c.(*harmony.Run)
	return builds(c, x) || ok && slices.Contains(run.Kernel.Reads(), harmony.Managed(x))
}

// order records which commands of a block have to wait for which others.
type order struct {
	cmds []harmony.Command
	// waits has, for each command, the positions of the earlier ones that it
	// conflicts with, except for those that follow from others.
	waits [][]int
	// shared has, for the position of each build of an index over full, the
	// positions of the commands that use the one over old.
	shared map[int][]int
}

func newOrder(cmds []harmony.Command) *order {
	o := &order{cmds: cmds, waits: make([][]int, len(cmds)), shared: map[int][]int{}}
	// group is successive commands that a part allows to run in any order.
	// before are the commands that all of them wait for.
	type group struct {
		how           access
		group, before []int
	}
	last := map[part]*group{}
	for i, c := range cmds {
		touched := commandAccesses(c)
		switch c.(type) {
		case *harmony.Check, *harmony.CheckKey:
			touched[part{}] = writes // a failed check ends the run
		}
		for p, how := range touched {
			g := last[p]
			switch {
			case g == nil:
				g = &group{how: how}
				last[p] = g
			case g.how != how || how == writes:
				*g = group{how: how, before: g.group}
			}
			g.group = append(g.group, i)
			o.waits[i] = append(o.waits[i], g.before...)
		}
	}
	return o
}

// share makes the build of an index over full wait for the commands that use
// one over old, if an order exists then.
func (o *order) share(old, full *harmony.Index) bool {
	at := slices.IndexFunc(o.cmds, func(c harmony.Command) bool { return builds(c, full) })
	for i, c := range o.cmds {
		if handles(c, old) {
			o.shared[at] = append(o.shared[at], i)
		}
	}
	if o.sorted() == nil {
		delete(o.shared, at)
		return false
	}
	return true
}

// apart undoes share.
func (o *order) apart(full *harmony.Index) {
	for at := range o.shared {
		if builds(o.cmds[at], full) {
			delete(o.shared, at)
		}
	}
}

// sorted returns the commands in an order in which each comes after those that
// it waits for, or nil if there is none. Among the commands that may be next,
// builds of shared indexes come late, so that the device synchronises rarely,
// and merges come last.
func (o *order) sorted() []harmony.Command {
	late := func(i int) int {
		switch o.cmds[i].(type) {
		case *harmony.Merge:
			return 2
		}
		return min(len(o.shared[i]), 1)
	}
	left, behind := make([]int, len(o.cmds)), make([][]int, len(o.cmds))
	var ready [3][]int
	for i := range o.cmds {
		before := slices.Concat(o.waits[i], o.shared[i])
		for _, k := range before {
			behind[k] = append(behind[k], i)
		}
		if left[i] = len(before); left[i] == 0 {
			ready[late(i)] = append(ready[late(i)], i)
		}
	}
	var out []harmony.Command
	for {
		l := slices.IndexFunc(ready[:], func(list []int) bool { return len(list) > 0 })
		if l < 0 {
			break
		}
		next := slices.Min(ready[l])
		ready[l] = slices.DeleteFunc(ready[l], func(i int) bool { return i == next })
		out = append(out, o.cmds[next])
		for _, i := range behind[next] {
			if left[i]--; left[i] == 0 {
				ready[late(i)] = append(ready[late(i)], i)
			}
		}
	}
	if len(out) < len(o.cmds) {
		return nil
	}
	return out
}
