package tables

import (
	"context"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// IsBag reports whether the relation keeps what it is given, without a set, and
// has no versions.
func (r *Relation) IsBag() bool {
	return r.Decl.Kind != queryplan.Derived && r.set == nil && !r.IsLoaded()
}

// BeginRounds makes room for what a loop on the device may add, blocks of which
// begin slack rows at a time; the relation has room for expected rows if it has
// to grow. The cursor is known.
func (r *Relation) BeginRounds(ctx context.Context, slack, expected int64) error {
	if err := r.MakeRoom(ctx, slack, machine.MaxRows, expected); err != nil {
		return err
	}
	r.Most, r.Dirty = r.Capacity, true
	return nil
}

// LoopWords returns the words of the relation in the record of a loop. Gauge is
// an address for facts, which have none, and old that of the gauge that gets
// the rows of the round before, or 0. Filled says that a kernel of the loop
// adds tuples.
func (r *Relation) LoopWords(gauge, old int64, filled bool) [abi.LoopRelation]int64 {
	var w [abi.LoopRelation]int64
	w[abi.LoopGauge], w[abi.LoopLimit], w[abi.LoopOldGauge] = gauge, r.Limit, old
	w[abi.LoopFull], w[abi.LoopOld] = r.Full, r.Old
	if r.IsLoaded() {
		w[abi.LoopFull] = r.Most
	} else {
		w[abi.LoopGauge] = int64(r.run.Control.At(r.Gauge))
	}
	w[abi.LoopOf] = -1
	if r.IsBag() {
		w[abi.LoopIsBag] = 1
	}
	if filled {
		w[abi.LoopFilled] = 1
	}
	return w
}

// EndRounds takes over the versions that a loop has left. The cursor is known.
func (r *Relation) EndRounds(old, full int64) {
	r.reach()
	r.Old, r.Full, r.behind = old, full, false
}

// EndBag notes that a loop has filled and emptied a bag.
func (r *Relation) EndBag() {
	r.reach()
	r.Generation++
}
