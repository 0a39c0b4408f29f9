package fuse

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/weaver/target"
)

// shareRows merges kernels of a block that read the same rows and keep the same
// ones, so that the rows are read once. It comes last, because a kernel with
// several sinks cannot be fused with a consumer that drops rows.
func (f *fuser) shareRows() {
	f.isLarge = len(f.Kernels())+len(f.Indexes) >=
		cmp.Or(f.opts.Large, target.ManyFunctions)
	for _, b := range f.Blocks {
		read := readers(b)
		for i := 0; i < len(b.Cmds); i++ {
			several := read.several(b.Cmds[i])
			for j := i + 1; j < len(b.Cmds) && several; j++ {
				if f.share(site{b, i}, site{b, j}) {
					// The merged kernel may be elsewhere now, or may suit a
					// kernel that it did not before.
					j, several = i, read.several(b.Cmds[i])
				}
			}
		}
	}
}

// share merges two kernels into one if they have the same rows and that pays,
// and reports whether it did.
func (f *fuser) share(a, b site) bool {
	if f.delays(a, b) != "" {
		return false // checked here because merging takes longer
	}
	k, early, why, _ := f.tryShare(a, b)
	if k == nil || why != nil {
		return false
	}
	first, second := a.kernel(), b.kernel()
	f.report.fuse(Fusion{Pair: f.sharers(first, second), Dependence: Input})
	e := newEdit()
	e.drop[a.command()], e.drop[b.command()] = true, true
	e.add(attempt{early: early}, a, b, f.named(k, first, second))
	e.apply(a.block)
	return true
}

// sharers returns the names of the parts of two kernels that read the rows.
func (f *fuser) sharers(a, b *harmony.Kernel) Pair {
	return Pair{f.parts[a][0].Name, f.parts[b][0].Name}
}

// tryShare returns the merger of two kernels. early means that it takes the
// place of the first one. If it returns neither a kernel nor a reason, the two
// are not a pair to merge.
func (f *fuser) tryShare(a, b site) (k *harmony.Kernel, early bool, why *Reason, detail string) {
	first, second := a.kernel(), b.kernel()
	if first == nil || second == nil || first.Host != second.Host ||
		!sameSource(first.Source, second.Source) {
		return nil, false, nil, ""
	}
	if f.parts[first][0] == f.parts[second][0] {
		return nil, false, nil, "" // copies of a repeated producer
	}
	if f.opts.Off || slices.Contains(f.opts.Keep, f.sharers(first, second)) {
		return nil, false, SwitchedOff, ""
	}
	if k, why = merge(first, second); why != nil {
		return nil, false, why, ""
	}
	early = !kernelAccesses(first).clearOf(between(a, b))
	if early && !kernelAccesses(second).clearOf(between(a, b)) {
		return nil, false, Between, ""
	}
	if fillsOwnInput(k) {
		return nil, false, Itself, ""
	}
	if over := f.delays(a, b); over != "" {
		return nil, false, FirstAnswer, over
	}
	if over := f.excess(k); over != "" {
		return nil, false, Budgeted, over
	}
	return k, early, nil, ""
}

// mostInserts bounds the inserts of a kernel that does not delay the first
// answer. Two inserts have as much code as the lookup and the insert of a join,
// which the smallest kernel of a join has.
const mostInserts = 2

// delays describes the inserts by which a kernel made of two would delay the
// first answer of a large program, or returns "". A loop reads its rows in
// every round, so its kernels share them in any case.
func (f *fuser) delays(a, b site) string {
	if !f.isLarge || cfg.OnCycle(a.block, (*harmony.Block).Successors) {
		return ""
	}
	n := inserts(a.kernel()) + inserts(b.kernel())
	if n <= mostInserts {
		return ""
	}
	return fmt.Sprintf("%d inserts of %d", n, mostInserts)
}

// inserts returns the number of a kernel's sinks that insert, or 0 if k is nil.
func inserts(k *harmony.Kernel) int {
	n := 0
	if k != nil {
		for _, s := range k.Sinks {
			if _, ok := s.(*harmony.Insert); ok {
				n++
			}
		}
	}
	return n
}

// refuseRows records, after all fusions, why each kernel is not merged with the
// next one of its block that reads the same rows.
func (f *fuser) refuseRows() {
	if f.opts.Brief {
		return
	}
	for _, b := range f.Blocks {
		read := readers(b)
		for i := range b.Cmds {
			if !read.several(b.Cmds[i]) {
				continue
			}
			for j := i + 1; j < len(b.Cmds); j++ {
				if _, _, why, detail := f.tryShare(site{b, i}, site{b, j}); why != nil {
					first, second := b.Cmds[i].(*harmony.Run).Kernel,
						b.Cmds[j].(*harmony.Run).Kernel
					f.refuse(Refusal{Pair: f.sharers(first, second), Dependence: Input, Reason: why,
						Detail: detail, Span: second.Span})
					break
				}
			}
		}
	}
}

// sources counts the kernels of a block that read the same rows. Most rows are
// read by one kernel, which then need not be compared with others.
type sources map[any]int

func readers(b *harmony.Block) sources {
	n := sources{}
	for _, c := range b.Cmds {
		if key := sourceOf(c); key != nil {
			n[key]++
		}
	}
	return n
}

// several reports whether other kernels read the rows that a command reads.
func (n sources) several(c harmony.Command) bool {
	key := sourceOf(c)
	return key != nil && n[key] > 1
}

// sourceOf returns a key of the rows that a kernel reads, or nil.
func sourceOf(c harmony.Command) any {
	if run, ok := c.(*harmony.Run); ok {
		switch s := run.Kernel.Source.(type) {
		case *harmony.Rows:
			return *s
		case *harmony.GroupRows:
			return *s
		}
	}
	return nil
}

// sameSource reports whether two sources yield the same rows, if nothing
// changes them in between.
func sameSource(a, b harmony.Source) bool {
	switch a := a.(type) {
	case *harmony.Rows:
		b, ok := b.(*harmony.Rows)
		return ok && *a == *b
	case *harmony.GroupRows:
		b, ok := b.(*harmony.GroupRows)
		return ok && *a == *b
	}
	return false
}

// merge returns a kernel with the sinks of both, or the reason against it. The
// two must keep the same rows: value numbering over the stages has to find each
// filter, need and probe of one in the other.
func merge(a, b *harmony.Kernel) (*harmony.Kernel, *Reason) {
	if rowChanges(a) != rowChanges(b) {
		return nil, DifferentRows // each of one has to be in the other
	}
	ren := harmony.Renaming{}
	k := &harmony.Kernel{
		Name:   a.Name + "_" + b.Name,
		Host:   a.Host,
		Source: a.Source,
		Ops:    slices.Clone(a.Ops),
		Span:   a.Span,
	}
	k.Take(a, a.Stages, ren)
	k.TakeSinks(a, a.Sinks, ren)
	for _, op := range b.Ops {
		if !slices.Contains(k.Ops, op) {
			k.Ops = append(k.Ops, op)
		}
	}
	other := harmony.Renaming{}
	matched := map[harmony.Stage]bool{}
	for _, s := range b.Stages {
		n := other.Stage(s)
		same := slices.IndexFunc(k.Stages, func(have harmony.Stage) bool {
			return !(harmony.ChangesRows(n) && matched[have]) && sameStage(have, n)
		})
		switch {
		case same >= 0:
			matched[k.Stages[same]] = true
			if r := harmony.Def(s); r != nil {
				other[r] = harmony.Operand{Reg: harmony.Def(k.Stages[same])}
			}
		case harmony.ChangesRows(n):
			return nil, DifferentRows
		default:
			k.Stages = append(k.Stages, n)
		}
	}
	for _, s := range k.Stages[:len(a.Stages)] {
		if harmony.ChangesRows(s) && !matched[s] {
			return nil, DifferentRows
		}
	}
	if len(matched) == 0 && len(b.Stages) > 0 {
		return nil, NothingShared
	}
	k.TakeSinks(b, b.Sinks, other)
	return k, nil
}

// rowChanges counts the stages of a kernel that drop rows or make several of
// one.
func rowChanges(k *harmony.Kernel) int {
	n := 0
	for _, s := range k.Stages {
		if harmony.ChangesRows(s) {
			n++
		}
	}
	return n
}

// sameStage reports whether two stages compute, or drop, the same.
func sameStage(a, b harmony.Stage) bool {
	switch a := a.(type) {
	case *harmony.Load:
		b, ok := b.(*harmony.Load)
		return ok && a.Col == b.Col
	case *harmony.Map:
		b, ok := b.(*harmony.Map)
		return ok && a.Func == b.Func && !a.Func.Volatile && a.Out.Type == b.Out.Type &&
			slices.Equal(a.Args, b.Args)
	case *harmony.Filter:
		b, ok := b.(*harmony.Filter)
		return ok && *a == *b
	case *harmony.Need:
		b, ok := b.(*harmony.Need)
		return ok && *a == *b
	case *harmony.Probe:
		b, ok := b.(*harmony.Probe)
		return ok && a.Kind == b.Kind && a.Index == b.Index && slices.Equal(a.Key, b.Key)
	case *harmony.Gather:
		b, ok := b.(*harmony.Gather)
		return ok && a.Row == b.Row && a.Col == b.Col
	}
	return false
}
