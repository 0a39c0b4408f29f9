package tables

import (
	"context"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// tupleSet is the set of the tuples of a derived relation.
type tupleSet struct {
	lay   *layout.Key
	run   *State
	what  string
	form  abi.Form
	table device.Buffer
	mask  uint64 // for forms Hash and Wide
}

func newTupleSet(r *State, what string, lay *layout.Key) *tupleSet {
	return &tupleSet{lay: lay, run: r, what: what, form: lay.Form}
}

// room returns the number of tuples that the table has room for.
func (s *tupleSet) room() int64 {
	switch {
	case s.form == abi.None:
		return machine.MaxRows
	case s.table.At == 0:
		return 0
	case s.form == abi.Direct:
		return machine.MaxRows
	}
	return machine.RoomOf(s.mask)
}

// makeRoom makes room for need tuples, or for want tuples if memory allows.
func (s *tupleSet) makeRoom(ctx context.Context, r *Relation, need, want int64) error {
	if need <= s.room() {
		return nil
	}
	if s.form == abi.Direct {
		return s.run.Zeroed(&s.table, s.what, int64(s.lay.BitmapBytes()))
	}
	slots := machine.SlotsFor(want)
	if had := s.table; had.At != 0 {
		s.run.Enlarged++
		slots = max(slots, growth(had.Bytes)*int64(s.mask+1))
	}
	for slots > machine.SlotsFor(need) && 8*slots > s.run.Memory.Room()/2 {
		slots /= 2
	}
	old, mask := s.table, s.mask
	s.table = device.Buffer{}
	// The word of the key 0 comes after the slots.
	if err := s.run.Zeroed(&s.table, s.what, 8*(slots+1)); err != nil {
		return err
	}
	s.mask = uint64(slots - 1)
	switch {
	case s.form == abi.Wide && r.Most > 0:
		if err := s.run.RowSet(s.table, s.mask, r.pointers, len(r.Cols), r.Most); err != nil {
			return err
		}
	case s.form == abi.Hash && old.At != 0:
		if err := s.run.Rehash(old, mask, s.table, s.mask, device.Buffer{}); err != nil {
			return err
		}
	}
	return s.run.Drop(&old)
}

// clear empties the set and keeps its memory.
func (s *tupleSet) clear() error {
	if s.table.At == 0 {
		return nil
	}
	return s.run.Zero(s.table)
}

func (s *tupleSet) free() error { return s.run.Drop(&s.table) }
