package gpu

import (
	"context"
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// maxRows is how many rows a relation can have.
const maxRows = harmony.MaxRows

// column is the data of a column: a loaded one, or memory that the run fills.
type column struct {
	layout.Column
	typ    scalar.Type
	loaded *store.Column
	data   device.Buffer // of the run, unless it is loaded
}

// relation is the contents of a relation: rows up to the gauge's cursor, of which
// those up to full are merged, and those up to old were there a round before.
type relation struct {
	decl  *harmony.Relation
	what  string // the user's name of it, for messages
	run   *state
	cols  []*column
	gauge int // its word in the control block
	// most is the cursor or, while kernels are at work that move it, a bound of it.
	most      int64
	dirty     bool
	full, old int64
	// behind says that full is what the cursor will be, which is not yet known.
	behind bool
	// capacity is how many rows the columns have room for.
	capacity int64
	limit    int64 // as the device has it
	reached  extent
	hint     extent // what an earlier run has reached
	// generation changes whenever rows that can be read change, other than by new
	// ones after them.
	generation int
	set        *tupleSet // of a derived relation

	pointers device.Buffer // to the columns, for a wide set
}

// rows returns how many rows there are, merged or not. It waits for kernels that may
// have added some.
func (r *relation) rows(ctx context.Context) (int64, error) {
	if !r.dirty {
		return r.most, nil
	}
	if err := r.run.numbers(ctx); err != nil {
		return 0, err
	}
	return r.most, nil
}

// settle takes over the cursor from the mirror, which is fresh.
func (r *relation) settle() {
	if r.dirty {
		r.most, r.dirty = r.run.Control.Mirror[r.gauge], false
	}
	if r.behind {
		r.full, r.behind = r.most, false
	}
}

// version returns the rows of a version.
func (r *relation) version(ctx context.Context, v harmony.Version) (from, until int64, err error) {
	if r.decl.Kind != queryplan.Derived {
		until, err = r.rows(ctx)
		return 0, until, err
	}
	if r.behind && v != harmony.Old {
		if _, err := r.rows(ctx); err != nil {
			return 0, 0, err
		}
	}
	switch v {
	case harmony.Delta:
		return r.old, r.full, nil
	case harmony.Old:
		return 0, r.old, nil
	}
	return 0, r.full, nil
}

// merge ends a round.
func (r *relation) merge(ctx context.Context) error {
	if r.behind {
		if _, err := r.rows(ctx); err != nil {
			return err
		}
	}
	r.old = r.full
	r.full, r.behind = r.most, r.dirty
	return nil
}

// Clear empties the relation and keeps its memory.
func (r *relation) Clear() error {
	r.reach()
	r.full, r.old, r.behind = 0, 0, false
	r.generation++
	if r.most > 0 {
		r.most, r.dirty = 0, false
		if err := r.run.Control.Set(r.run.Ctx, r.gauge, 0); err != nil {
			return err
		}
	}
	if r.set != nil {
		return r.set.clear()
	}
	return nil
}

// Release frees the memory of a relation that is not filled again.
func (r *relation) Release() error {
	if r.gauge < 0 {
		return nil
	}
	r.reach()
	r.full, r.old, r.behind, r.capacity = 0, 0, false, 0
	r.most, r.dirty = 0, false
	r.generation++
	for _, c := range r.cols {
		if err := r.run.Drop(&c.data); err != nil {
			return err
		}
	}
	return r.dropSet()
}

// dropSet frees the set. Another tuple must not be inserted.
func (r *relation) dropSet() error {
	if r.set == nil {
		return nil
	}
	return r.set.free()
}

// growth is how many times as large a table becomes that has to grow: small ones grow
// faster, because each time the device is waited for.
func growth(bytes int64) int64 {
	if bytes < 256<<20 {
		return 4
	}
	return 2
}

// makeRoom makes room for so many rows more, for more than that if the relation
// grows, and sets the limit so that the slack, of what blocks may have begun, is
// always left. It wants to have room for the expected rows, and for what an earlier run
// needed in the end: a relation that grows has the device waited for.
//
// A launch that adds at most so many rows needs no limit if there is room for all.
func (r *relation) makeRoom(ctx context.Context, slack, most, expected int64) error {
	r.reached.slack = max(r.reached.slack, slack)
	return r.roomFor(ctx, slack, most, max(expected+slack, r.hint.rows+r.hint.slack))
}

// makeRoomFor makes room for exactly so many rows more, which the caller appends.
func (r *relation) makeRoomFor(ctx context.Context, n int64) error {
	return r.roomFor(ctx, n, n, r.hint.rows)
}

// roomFor makes room for slack rows more, of which launches add most; if the relation has to
// grow, for as many in all as are wanted.
func (r *relation) roomFor(ctx context.Context, slack, most, wanted int64) error {
	room := func() int64 {
		if r.set == nil {
			return r.capacity
		}
		return min(r.capacity, r.set.room())
	}
	if r.most+slack > room() {
		// What is known of the cursor may be far too much.
		if _, err := r.rows(ctx); err != nil {
			return err
		}
		need := r.most + slack
		if need > maxRows {
			return fmt.Errorf("%s has more than 4 billion tuples, which is not supported", r.what)
		}
		want := min(max(need, wanted, r.run.minRows), maxRows)
		if err := r.growColumns(ctx, need, want); err != nil {
			return err
		}
		if r.set != nil {
			if err := r.set.makeRoom(ctx, r, need, want); err != nil {
				return err
			}
		}
	}
	limit := int64(device.Unlimited)
	if n := room(); n < maxRows {
		if r.limit <= n && r.most+most <= r.limit || r.limit == device.Unlimited && r.most+most <= n {
			return nil
		}
		limit = n - slack
	}
	if limit == r.limit {
		return nil
	}
	r.limit = limit
	return r.run.Control.Set(ctx, r.gauge+1, limit)
}

// growColumns makes room for at least need rows; for as many as are wanted, or many
// times as many as before, if memory allows.
func (r *relation) growColumns(ctx context.Context, need, want int64) error {
	if need <= r.capacity {
		return nil
	}
	size := int64(r.rowBytes())
	if size == 0 {
		r.capacity = maxRows
		return nil
	}
	rows := max(want, min(growth(r.capacity*size)*r.capacity, maxRows))
	for rows > need && rows*size > r.run.Memory.Room()/2 {
		rows = max(need, rows/2)
	}
	for _, c := range r.cols {
		if c.Width > 0 {
			if err := r.run.Grow(&c.data, r.what, r.most*int64(c.Width), rows*int64(c.Width)); err != nil {
				return err
			}
		}
	}
	r.capacity = rows
	if r.set == nil || r.set.form != abi.Wide {
		return nil
	}
	return r.run.pointers(&r.pointers, r.what, r.cols)
}

// rowBytes is the size of a tuple.
func (r *relation) rowBytes() int {
	n := 0
	for _, c := range r.cols {
		n += c.Width
	}
	return n
}

// pointers puts the addresses of columns into a buffer.
func (r *state) pointers(b *device.Buffer, what string, cols []*column) error {
	words := make([]int64, len(cols))
	for i, c := range cols {
		words[i] = c.data.Word()
	}
	return r.Addresses(b, what, words)
}

// isLoaded reports whether the relation is facts.
func (r *relation) isLoaded() bool { return r.gauge < 0 }

// Word returns what a function gets for a parameter about the relation.
func (r *relation) Word(p abi.Param) (int64, error) {
	switch p.Kind {
	case abi.ColumnData:
		c := r.cols[p.Index]
		if c.loaded != nil {
			return r.run.residentColumn(r.run.Ctx, r.what, c.loaded)
		}
		return c.data.Word(), nil
	case abi.ColumnBase, abi.ColumnStep, abi.ColumnWidth:
		word, _ := r.cols[p.Index].Word(p)
		return word, nil
	case abi.Gauge:
		return int64(r.run.Control.At(r.gauge)), nil
	case abi.SetColumns:
		return r.pointers.Word(), nil
	case abi.SetShared:
		return 1, nil
	}
	if s := r.set; s != nil {
		if word, ok := machine.KeyWord(p, s.form, s.lay, s.table.Word(), s.size()); ok {
			return word, nil
		}
	}
	return 0, machine.ErrParam(p)
}
