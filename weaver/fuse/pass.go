package fuse

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan/cfg"
)

// passOn makes the consumers of a temp take its rows directly from the
// producers, if that is possible and pays. It drops the temp if nothing else
// needs it then.
func (f *fuser) passOn(t *harmony.Relation) {
	u := f.uses(t)
	if len(u.producers) == 0 || len(u.consumers) == 0 {
		return
	}
	if why := f.unsettled(u); why != nil {
		for _, c := range u.consumers {
			f.refuseAll(t, u.producers, c, why, "")
		}
		return
	}
	if len(u.consumers) == 1 {
		f.passToOne(t, u.producers, u.consumers[0])
	} else {
		f.passToSeveral(t, u.producers, u.consumers)
	}
}

// unsettled returns the reason why the consumers of a temp may not get exactly
// the rows that its producers have stored in the same run of their block, or
// nil.
func (f *fuser) unsettled(u uses) *Reason {
	b := u.producers[0].block
	for _, s := range slices.Concat(u.producers, u.consumers) {
		if s.block != b {
			return OtherBlock
		}
	}
	first, last := u.producers[0].at, u.consumers[len(u.consumers)-1].at
	if u.producers[len(u.producers)-1].at >= u.consumers[0].at {
		return OtherBlock
	}
	emptied := !cfg.OnCycle(b, (*harmony.Block).Successors)
	for _, c := range u.clears {
		if c.block == b && (c.at < first || c.at > last) {
			emptied = true
		}
		if c.block == b && c.at > first && c.at < last {
			return Accumulates
		}
	}
	if !emptied {
		return Accumulates
	}
	return nil
}

// attempt is the result of trying a pair: the fused kernel of a producer and a
// consumer, or the reason against it.
type attempt struct {
	kernel *harmony.Kernel
	early  bool // it takes the producer's place, not the consumer's
	why    *Reason
	detail string
}

func (f *fuser) tryPair(t *harmony.Relation, w, c site) attempt {
	if why := kernelDependence(w, c); why != nil {
		return attempt{why: why}
	}
	if f.opts.Off || slices.Contains(f.opts.Keep, f.pairOf(w, c, t)) {
		return attempt{why: SwitchedOff}
	}
	producer, consumer := w.kernel(), c.kernel()
	if len(producer.Sinks) > 1 && (!keepsRows(consumer) || len(storesTo(producer, t)) > 1) {
		return attempt{why: OtherSink}
	}
	early := !kernelAccesses(producer).without(t).clearOf(between(w, c))
	if early && !canComeEarly(t, w, c) {
		return attempt{why: Between}
	}
	k := splice(producer, consumer, t, false)
	if over := f.excess(k); over != "" {
		return attempt{why: Budgeted, detail: over}
	}
	if fillsOwnInput(k) {
		return attempt{why: Itself}
	}
	return attempt{kernel: k, early: early}
}

// excess describes how a kernel exceeds the budget, or returns "". Host kernels
// have no budget.
func (f *fuser) excess(k *harmony.Kernel) string {
	if k.Host {
		return ""
	}
	return excess(EstimateOf(k, f.opts.Budget), f.opts.Budget)
}

func between(w, c site) []harmony.Command { return w.block.Cmds[w.at+1 : c.at] }

// canComeEarly reports whether a consumer can run at its producer's place, once
// it does not need t.
func canComeEarly(t *harmony.Relation, w, c site) bool {
	return kernelAccesses(c.kernel()).without(t).clearOf(between(w, c))
}

// passToOne fuses the only consumer of a temp with each of its producers that
// it can be fused with. The temp stays for the rows of the others.
func (f *fuser) passToOne(t *harmony.Relation, producers []site, c site) {
	e := newEdit()
	for _, w := range producers {
		a := f.tryPair(t, w, c)
		if a.why != nil {
			f.refuseTemp(t, w, c, a.why, a.detail)
			continue
		}
		f.fused(t, w, c)
		e.drop[w.command()] = true
		e.add(a, w, c, f.named(a.kernel, w.kernel(), c.kernel()))
	}
	if len(e.drop) == len(producers) {
		e.drop[c.command()] = true
		f.dropTemp(t)
	}
	e.apply(c.block)
}

// passToSeveral fuses consumers of a temp with its producers. Those that keep
// all rows become further sinks of the producers. Each other one needs a copy
// of every producer, which pays only if the temp is not needed any more.
func (f *fuser) passToSeveral(t *harmony.Relation, producers, consumers []site) {
	var sinks, copies []site
	tried := map[site][]attempt{} // by consumer: an attempt for each producer
	stays := false
	sharing := make([]*harmony.Kernel, len(producers)) // the producers with the sinks so far
	for i, w := range producers {
		sharing[i] = w.kernel()
	}
	for _, c := range consumers {
		as := f.tryAll(t, producers, c)
		if as == nil {
			stays = true
			continue
		}
		tried[c] = as
		if !keepsRows(c.kernel()) || slices.ContainsFunc(producers, func(w site) bool {
			return !canComeEarly(t, w, c)
		}) {
			copies = append(copies, c)
			continue
		}
		more := make([]*harmony.Kernel, len(producers))
		over := ""
		for i := range producers {
			more[i] = splice(sharing[i], c.kernel(), t, true)
			over = cmp.Or(over, f.excess(more[i]))
		}
		if over != "" {
			f.refuseAll(t, producers, c, Budgeted, over)
			stays = true
			continue
		}
		sharing, sinks = more, append(sinks, c)
	}
	n := len(copies)
	if len(sinks) > 0 {
		n++
	}
	if len(copies) > 0 {
		why := StaysStored
		if !stays && slices.ContainsFunc(producers, func(w site) bool {
			return !repeatable(w.kernel(), t, n, len(consumers))
		}) {
			why, stays = Recompute, true
		}
		if stays {
			for _, c := range copies {
				f.refuseAll(t, producers, c, why, "")
			}
			copies = nil
		}
	}
	if len(sinks)+len(copies) == 0 {
		return
	}
	e := newEdit()
	for i, w := range producers {
		e.drop[w.command()] = true
		if len(sinks) > 0 {
			k, of := sharing[i], []*harmony.Kernel{w.kernel()}
			for _, c := range sinks {
				f.fused(t, w, c)
				of = append(of, c.kernel())
			}
			if !stays {
				dropStores(k, t)
			}
			e.before[w.command()] = append(e.before[w.command()], f.named(k, of...))
		}
		for _, c := range copies {
			f.fused(t, w, c)
			e.add(tried[c][i], w, c, f.named(tried[c][i].kernel, w.kernel(), c.kernel()))
		}
	}
	for _, c := range slices.Concat(sinks, copies) {
		e.drop[c.command()] = true
	}
	if !stays {
		f.dropTemp(t)
	}
	e.apply(consumers[0].block)
}

// tryAll tries to fuse a consumer with each producer of a temp. If one attempt
// fails, it refuses all and returns nil: the temp, which others need, would
// have rows that the consumer has already got.
func (f *fuser) tryAll(t *harmony.Relation, producers []site, c site) []attempt {
	as := make([]attempt, len(producers))
	refused := false
	for i, w := range producers {
		as[i] = f.tryPair(t, w, c)
		refused = refused || as[i].why != nil
	}
	if !refused {
		return as
	}
	for i, w := range producers {
		f.refuseTemp(t, w, c, cmp.Or(as[i].why, OtherProducer), as[i].detail)
	}
	return nil
}

// fused records a pair that became one kernel.
func (f *fuser) fused(t *harmony.Relation, w, c site) {
	f.report.fuse(Fusion{Pair: f.pairOf(w, c, t), Var: t.Name, Dependence: dependence(w, nil)})
}

// dropTemp removes a temp that nothing reads any more.
func (f *fuser) dropTemp(t *harmony.Relation) {
	f.Relations = slices.DeleteFunc(f.Relations, func(r *harmony.Relation) bool { return r == t })
	for _, b := range f.Blocks {
		b.Cmds = slices.DeleteFunc(b.Cmds, func(c harmony.Command) bool {
			clears, ok := c.(*harmony.Clear)
			return ok && clears.Var == harmony.Managed(t)
		})
	}
	f.report.Dropped = append(f.report.Dropped, t.Name)
}

// edit is a change of a block's commands.
type edit struct {
	drop   map[harmony.Command]bool
	before map[harmony.Command][]*harmony.Kernel // kernels to run before a command
}

func newEdit() *edit {
	return &edit{drop: map[harmony.Command]bool{}, before: map[harmony.Command][]*harmony.Kernel{}}
}

// add adds a kernel at the place that an attempt has chosen.
func (e *edit) add(a attempt, w, c site, k *harmony.Kernel) {
	at := c.command()
	if a.early {
		at = w.command()
	}
	e.before[at] = append(e.before[at], k)
}

// apply changes a block in place, because blocks are long, and an edit changes
// a few commands, most of which are near each other.
func (e *edit) apply(b *harmony.Block) {
	first, last := len(b.Cmds), -1
	touch := func(c harmony.Command) {
		if at := slices.Index(b.Cmds, c); at >= 0 {
			first, last = min(first, at), max(last, at)
		}
	}
	for c := range e.drop {
		touch(c)
	}
	for c := range e.before {
		touch(c)
	}
	if last < 0 {
		return
	}
	var out []harmony.Command
	for _, c := range b.Cmds[first : last+1] {
		for _, k := range e.before[c] {
			out = append(out, &harmony.Run{Kernel: k})
		}
		if !e.drop[c] {
			out = append(out, c)
		}
	}
	b.Cmds = slices.Replace(b.Cmds, first, last+1, out...)
}
