package gpu

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// A loop whose deltas are small is one launch of some blocks, which go through
// the rounds by themselves (abi.Loop): a round costs as long as a few waits for
// memory, and the host waits once. Kernels that do not read what the others
// fill run side by side, a block each. The blocks leave when a delta is large,
// a table is full, or the loop has had its rounds; the host goes on there, and
// may come back before a later round.

const (
	// mostRounds bounds the rounds of a launch.
	mostRounds = 1 << 14
	// loopGrowth is the number of tuples of a relation that a kernel adds from
	// which one block is too slow to run it.
	loopGrowth = 1 << 18
	// loopRoom is the initial room for tuples that a loop may add.
	loopRoom = 1 << 20
	// rowsARound is how many rows can be added to spaced indexes in the time
	// that the device saves in a small round, which is about 100 microseconds.
	// Because nobody knows how many rounds follow, the host first leads as many
	// rounds as it takes to save what the indexes cost.
	rowsARound = 1 << 15
)

// Rounds runs up to most rounds of a loop on the device, as long as the rounds
// are small. The zero result means that the host has to lead the next round.
func (r *run) Rounds(b *harmony.Block, most int64) (woven.Rounds, error) {
	l := r.rounds[b]
	if l == nil || most < 1 {
		return woven.Rounds{}, nil
	}
	if ready, err := r.engine.isReady(l.f); err != nil || !ready {
		return woven.Rounds{}, err
	}
	if small, err := r.isSmall(l); err != nil || !small {
		l.led = 0
		return woven.Rounds{}, err
	}
	r.log.Command()
	able, err := r.bindRounds(l)
	if err != nil || !able {
		return woven.Rounds{}, err
	}
	if able, err = r.pays(l); err != nil || !able {
		return woven.Rounds{}, err
	}
	if able, err = r.beginRounds(l); err != nil || !able {
		return woven.Rounds{}, err
	}
	if err := r.putRecord(l, min(most, mostRounds)); err != nil {
		return woven.Rounds{}, err
	}
	if err := r.launchRounds(l); err != nil {
		return woven.Rounds{}, err
	}
	if err := r.sync(r.Ctx); err != nil {
		return woven.Rounds{}, err
	}
	return r.endRounds(l)
}

// isSmall reports whether each kernel of the loop has so few source rows that
// one block can process them, as far as is known before the round.
func (r *run) isSmall(l *rounds) (bool, error) {
	if err := r.sync(r.Ctx); err != nil {
		return false, err
	}
	for _, op := range l.ops {
		if op.kind != abi.LoopRun {
			continue
		}
		n := op.rel.Most
		if !op.rel.IsBag() {
			src := l.block.Cmds[op.command].(*harmony.Run).Kernel.Source.(*harmony.Rows)
			from, until, err := op.rel.Version(r.Ctx, src.Version)
			if err != nil {
				return false, err
			}
			n = until - from
		}
		if n > r.sizes.looped/2 {
			return false, nil
		}
	}
	return true, nil
}

// pays reports whether the device should lead the round. It should when the
// host has led enough small rounds to pay for the spaced indexes that the loop
// needs.
func (r *run) pays(l *rounds) (bool, error) {
	rows := int64(0)
	for _, x := range l.indexes {
		n, able, err := x.Unready(l.builds(x))
		if err != nil || !able {
			return false, err
		}
		rows += n
	}
	if l.led++; rows > l.led*rowsARound {
		return false, nil
	}
	l.led = 0
	return true, nil
}

// beginRounds prepares the relations and indexes of a loop. It returns false if
// an index would be too large.
func (r *run) beginRounds(l *rounds) (able bool, err error) {
	for rel, slack := range l.fills {
		expected := rel.Most + min(loopRoom, r.sizes.expect)
		if err := rel.BeginRounds(r.Ctx, slack, expected); err != nil {
			return false, err
		}
	}
	for _, x := range l.indexes {
		of, added := l.builds(x)
		if n, _, err := x.Unready(of, added); err != nil {
			return false, err
		} else if n == 0 {
			continue
		}
		able, err := x.BeginRounds(of, func(passes []machine.Pass) error {
			return r.runPasses(x.Decl, passes)
		})
		if err != nil || !able {
			return false, err
		}
	}
	return true, nil
}

// launchRounds launches the loop's function.
func (r *run) launchRounds(l *rounds) error {
	entry := l.f.entry
	first := slices.IndexFunc(l.ops, func(op loopOp) bool { return op.kind == abi.LoopRun })
	end, err := r.Begin(device.TimedKernel, l.entries[l.ops[first].entry].entry.Of)
	if err != nil {
		return err
	}
	if r.Control.Image != nil {
		for rel := range l.fills {
			r.Control.Image.Look(rel.Gauge)
		}
		for _, x := range l.indexes {
			r.Control.Image.Look(x.Spaced.Gauge)
		}
	}
	r.Control.Fresh = false
	r.Launches++
	r.log.Launched()
	shape := cuda.Shape{Grid: cuda.Dim{X: uint32(l.blocks)},
		Block: cuda.Dim{X: uint32(entry.Threads)}, Shared: entry.Dynamic,
		Cooperative: l.blocks > 1}
	if err := r.Lane.Stream.Launch(l.f.f, shape, []int64{l.record.Word()}); err != nil {
		return err
	}
	return end()
}

// endRounds reads the state in which the loop has ended, and returns where the
// host continues.
func (r *run) endRounds(l *rounds) (woven.Rounds, error) {
	end := r.Control.Mirror[l.end]
	done := woven.Rounds{Whole: end >> 8, Done: end&255 == abi.LoopFixed}
	r.LoopRounds += done.Whole
	ops := len(l.ops) + 1
	operations := abi.LoopHead + ops // behind the program
	words := make([]int64, operations+ops*abi.OpSize+
		(len(l.list)+len(l.indexes))*abi.LoopRelation)
	inside := end&255 > abi.LoopLarge
	if inside || r.walk.Request.Profile {
		if end&255 > abi.LoopWide {
			// Where a kernel stops depends on the order of rows.
			r.log.Discard()
		}
		if err := r.fetch(r.Ctx, device.HostCopy{To: device.BytesOf(words),
			From: l.record}); err != nil {
			return done, err
		}
	}
	relations := words[operations+ops*abi.OpSize:]
	for i, rel := range l.list {
		at, merged := l.olds[rel]
		_, filled := l.fills[rel]
		switch {
		case merged && inside:
			w := relations[i*abi.LoopRelation:]
			rel.EndRounds(w[abi.LoopOld], w[abi.LoopFull])
		case merged:
			rel.EndRounds(r.Control.Mirror[at], rel.Most)
		case filled && rel.IsBag():
			rel.EndBag()
		}
	}
	at := len(l.ops)
	if inside {
		at = int(words[abi.LoopAt])
	}
	if at < len(l.ops) {
		done.At = l.ops[at].resume
	}
	for _, x := range l.indexes {
		x.Spaced.EndRounds(r.Control.Mirror[x.Spaced.EndGauge], end&255 == abi.LoopFullTable &&
			at < len(l.ops) && l.ops[at].kind == abi.LoopBuild)
	}
	// The host probes the other form of the indexes, so it builds that.
	for i, op := range l.ops {
		if op.kind != abi.LoopBuild || op.command >= done.At ||
			slices.ContainsFunc(l.ops[i+1:], func(later loopOp) bool {
				return later.index == op.index && later.command < done.At
			}) {
			continue
		}
		if err := r.Build(op.index.Decl, l.built(op)); err != nil {
			return done, err
		}
	}
	if r.walk.Request.Profile {
		r.chargeRounds(l, words[operations:])
	}
	return done, nil
}

// chargeRounds adds the work of a loop to its commands.
func (r *run) chargeRounds(l *rounds, ops []int64) {
	for i, op := range l.ops {
		if op.kind != abi.LoopRun {
			continue
		}
		c, w := l.block.Cmds[op.command].(*harmony.Run), ops[i*abi.OpSize:]
		work := woven.Work{Source: w[abi.OpSource], Kept: w[abi.OpKept]}
		work.Bytes = work.Source * int64(r.LoadedBytes(c.Kernel))
		r.walk.Charge(c, w[abi.OpCalls], work, 0)
	}
}
