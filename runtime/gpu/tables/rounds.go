package tables

import (
	"context"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// IsBag reports whether the relation keeps duplicates and has no versions.
func (r *Relation) IsBag() bool {
	return r.Decl.Kind != queryplan.Derived && r.set == nil && !r.IsLoaded()
}

// BeginRounds makes room for what a loop on the device may add. slack is the
// number of rows that its blocks may have begun at a time. If the relation has
// to grow, it gets room for expected rows. The cursor must be known.
func (r *Relation) BeginRounds(ctx context.Context, slack, expected int64) error {
	if err := r.MakeRoom(ctx, slack, machine.MaxRows, expected); err != nil {
		return err
	}
	r.Most, r.Dirty = r.Capacity, true
	return nil
}

// LoopWords returns the words of the relation in the record of a loop. gauge is
// the address of a gauge for facts, which have none of their own. old is the
// address of the gauge that receives the rows before the last round, or 0.
// filled means that a kernel of the loop adds tuples.
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

// EndRounds sets the versions to what a loop has left. The cursor must be
// known.
func (r *Relation) EndRounds(old, full int64) {
	r.reach()
	r.Old, r.Full, r.behind = old, full, false
}

// EndBag notes that a loop has filled and emptied a bag.
func (r *Relation) EndBag() {
	r.reach()
	r.Generation++
}
