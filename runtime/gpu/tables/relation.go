package tables

import (
	"context"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// Column is the data of a column: a loaded one, or memory that the run fills.
type Column struct {
	layout.Column
	Typ    scalar.Type
	Loaded *store.Column
	Data   device.Buffer // memory of the run, empty for a loaded column
}

// Relation is the contents of a relation: the rows up to the cursor.
type Relation struct {
	machine.Versions
	cursor
	Cols []*Column
	// behind means that Full has to become Most once Most is settled.
	behind bool
	// Capacity is the number of rows that the columns have room for.
	Capacity int64
	set      *tupleSet // nil unless the relation is derived

	pointers device.Buffer // the addresses of the columns, for a wide set
}

// MayLack reports whether a launch that fills the relation may have stopped
// before its end.
func (r *Relation) MayLack() bool { return r.Dirty && r.Most > r.Limit }

// Rows returns the number of rows, merged or not. It waits for kernels that may
// add some.
func (r *Relation) Rows(ctx context.Context) (int64, error) { return r.count(ctx) }

// settle reads the cursor from the mirror, which must be fresh.
func (r *Relation) settle() {
	r.cursor.settle()
	if r.behind {
		r.Full, r.behind = r.Most, false
	}
}

// Version returns the range of rows of a version.
func (r *Relation) Version(ctx context.Context, v harmony.Version) (from, until int64, err error) {
	if r.Decl.Kind != queryplan.Derived || r.behind && v != harmony.Old {
		if _, err := r.Rows(ctx); err != nil {
			return 0, 0, err
		}
	}
	from, until = r.Versions.Version(v, r.Most)
	return from, until, nil
}

// Merge ends a round.
func (r *Relation) Merge(ctx context.Context) error {
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	r.Advance(r.Most)
	r.behind = r.Dirty
	return nil
}

// catchUp waits for Full, if need be. That has to happen before tuples of the
// next round are added, which the cursor counts as well.
func (r *Relation) catchUp(ctx context.Context) error {
	if !r.behind {
		return nil
	}
	_, err := r.Rows(ctx)
	return err
}

// Clear empties the relation and keeps its memory.
func (r *Relation) Clear() error {
	r.reach()
	r.Forget()
	r.behind = false
	if r.Most > 0 {
		r.Most, r.Dirty = 0, false
		if err := r.run.Control.Set(r.run.Ctx, r.Gauge, 0); err != nil {
			return err
		}
	}
	if r.set != nil {
		return r.set.clear()
	}
	return nil
}

// Release frees the memory of a relation that will not be filled again.
func (r *Relation) Release() error {
	if r.Gauge < 0 {
		return nil
	}
	r.reach()
	r.Forget()
	r.behind, r.Capacity = false, 0
	r.Most, r.Dirty = 0, false
	for _, c := range r.Cols {
		if err := r.run.Drop(&c.Data); err != nil {
			return err
		}
	}
	return r.DropSet()
}

// DropSet frees the set. No tuple may be inserted afterwards.
func (r *Relation) DropSet() error {
	if r.set == nil {
		return nil
	}
	return r.set.free()
}

const (
	// smallTable is the size, in bytes, up to which tables grow fast.
	smallTable = 256 << 20
	// smallShare is the part of the free memory (one in so many) that columns
	// may take for all the tuples that a set has room for.
	smallShare = 8
)

// growth returns the factor by which a table grows. A small table grows fast,
// because each growth waits for the device and moves all rows. For a large one,
// allocating memory takes longer than moving the rows.
func growth(bytes int64) int64 {
	if 4*bytes <= smallTable {
		return 4
	}
	return 2
}

// MakeRoom makes room for a launch and sets the limit so that the slack rows
// that blocks may have begun always fit. If the relation has to grow, it grows
// to expected rows or to its size in an earlier run, because each growth waits
// for the device.
//
// A launch that adds at most most rows needs no limit if all of them fit.
func (r *Relation) MakeRoom(ctx context.Context, slack, most, expected int64) error {
	r.reached.Slack = max(r.reached.Slack, slack)
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	if r.Dirty && r.Limit != device.Unlimited && r.Limit+slack <= r.room() {
		// The remaining room is unknown. The launch stops if there is none.
		return nil
	}
	return r.roomFor(ctx, slack, most, max(expected+slack, r.earlier.Rows+r.earlier.Slack))
}

// room returns the number of rows for which both the columns and the set have
// room.
func (r *Relation) room() int64 {
	if r.set == nil {
		return r.Capacity
	}
	return min(r.Capacity, r.set.room())
}

// MakeRoomFor makes room for n rows, which the caller appends.
func (r *Relation) MakeRoomFor(ctx context.Context, n int64) error {
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	return r.roomFor(ctx, n, n, r.earlier.Rows)
}

// roomFor makes room for slack more rows, of which launches add at most most.
// If the relation has to grow, it gets room for wanted rows.
func (r *Relation) roomFor(ctx context.Context, slack, most, wanted int64) error {
	if r.Most+slack > r.room() {
		// Most may be far above the cursor.
		if _, err := r.Rows(ctx); err != nil {
			return err
		}
		need := r.Most + slack
		if err := r.CheckRows(need); err != nil {
			return err
		}
		want := min(max(need, wanted, r.run.MinRows), machine.MaxRows)
		if err := r.grow(ctx, need, want); err != nil {
			return err
		}
	}
	return r.setLimit(ctx, r.room(), machine.MaxRows, slack, most)
}

// grow makes room for need rows. If memory allows, it makes room for want rows
// or a multiple of the present capacity. A kernel stops where either the
// columns or the set are full, so grow enlarges both.
func (r *Relation) grow(ctx context.Context, need, want int64) error {
	size := int64(r.RowBytes())
	if r.set != nil {
		if err := r.set.makeRoom(ctx, r, need, want); err != nil {
			return err
		}
	}
	if r.Capacity == 0 {
		return r.growColumns(ctx, need, want)
	}
	// Columns that do not move grow by half: more room would be memory that
	// nothing uses.
	inPlace := r.run.Arena == nil && r.run.Memory.GrowsInPlace(r.Capacity*int64(r.leastWidth()))
	half := min(r.Capacity+r.Capacity/2, machine.MaxRows)
	if r.set == nil || r.set.room() == machine.MaxRows {
		more := half
		if !inPlace {
			more = min(growth(r.Capacity*size)*r.Capacity, machine.MaxRows)
		}
		return r.growColumns(ctx, need, max(want, more))
	}
	room := r.set.room()
	if inPlace {
		return r.growColumns(ctx, need, min(max(want, half), max(room, need)))
	}
	if room*size <= r.run.Memory.Room()/smallShare {
		need = max(need, room)
	}
	return r.growColumns(ctx, need, max(want, room))
}

// growColumns makes room in the columns for need rows, or for want rows if
// memory allows.
func (r *Relation) growColumns(ctx context.Context, need, want int64) error {
	if need <= r.Capacity {
		return nil
	}
	size := int64(r.RowBytes())
	if size == 0 {
		r.Capacity = machine.MaxRows
		return nil
	}
	if r.Capacity > 0 {
		r.run.Enlarged++
	}
	rows := affordable(need, want, r.run.Memory.Room()/size)
	for _, c := range r.Cols {
		if c.Width > 0 {
			if err := r.run.Grow(&c.Data, r.What, r.Most*int64(c.Width),
				rows*int64(c.Width)); err != nil {
				return err
			}
		}
	}
	r.Capacity = rows
	if r.set == nil || r.set.form != abi.Wide {
		return nil
	}
	return r.run.pointers(&r.pointers, r.What, r.Cols)
}

// affordable returns the number of rows to make room for: at least need, at
// most want, while free memory holds most rows. It returns more than need if it
// can, because a table that grew by what one launch needs would grow at each
// launch.
func affordable(need, want, most int64) int64 {
	large := most / 8 * 7
	switch {
	case want <= most/2:
		return want
	case need > large:
		return max(need, min(want, need+(most-need)/2))
	}
	return max(need, min(want, max(most/2, min(need+need/4, large))))
}

// tupleBytes estimates the memory of a tuple, including its part of a set.
func (r *Relation) tupleBytes() int64 {
	n := int64(r.RowBytes())
	if r.set != nil && r.set.form != abi.None && r.set.form != abi.Direct {
		n += 24
	}
	return n
}

// leastWidth returns the width of the narrowest column that has one, in bytes.
func (r *Relation) leastWidth() int {
	least := 0
	for _, c := range r.Cols {
		if c.Width > 0 && (least == 0 || c.Width < least) {
			least = c.Width
		}
	}
	return least
}

// RowBytes returns the size of a tuple in the columns.
func (r *Relation) RowBytes() int {
	n := 0
	for _, c := range r.Cols {
		n += c.Width
	}
	return n
}

// pointers writes the addresses of columns to a buffer.
func (r *State) pointers(b *device.Buffer, what string, cols []*Column) error {
	words := make([]int64, len(cols))
	for i, c := range cols {
		words[i] = c.Data.Word()
	}
	return r.Addresses(b, what, words)
}

// IsLoaded reports whether the relation is facts.
func (r *Relation) IsLoaded() bool { return r.Gauge < 0 }

// Word returns the value of a parameter about the relation.
func (r *Relation) Word(p abi.Param) (int64, error) {
	switch p.Kind {
	case abi.ColumnData:
		c := r.Cols[p.Index]
		if c.Loaded != nil {
			return r.run.ResidentColumn(r.run.Ctx, r.What, c.Loaded, c.PackedBits())
		}
		return c.Data.Word(), nil
	case abi.ColumnBase, abi.ColumnStep, abi.ColumnWidth:
		word, _ := r.Cols[p.Index].Word(p)
		return word, nil
	case abi.Gauge:
		return int64(r.run.Control.At(r.Gauge)), nil
	case abi.SetColumns:
		return r.pointers.Word(), nil
	case abi.SetShared:
		return 1, nil
	case abi.SetSeen:
		return 0, nil
	}
	if s := r.set; s != nil {
		if word, ok := machine.KeyWord(p, s.form, s.lay, s.table.Word(), s.mask); ok {
			return word, nil
		}
	}
	return 0, machine.ErrParam(p)
}
