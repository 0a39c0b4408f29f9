package order

import (
	"context"
	"math"
	"math/bits"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/order"
)

// Sorter orders tuples of a run on the device.
type Sorter struct {
	*tables.State
	Kernels func() (map[string]driver.Function, error) // loads the sorting kernels
	// Ranked is the number of rows up to which rows are ordered by comparing
	// all pairs.
	Ranked int64
	// Sooner reports whether the host orders n rows faster.
	Sooner func(n int64) bool
	// Launched is called before each launch.
	Launched func()
	// Counted waits for the count that a kernel has stored at device.CountWord.
	Counted func(ctx context.Context) error
}

// Number appends the tuples of a relation with their numbers within groups.
func (r *Sorter) Number(c *harmony.Number) (n int64, done bool, err error) {
	from := r.Relations[c.From]
	_, n, err = from.Version(r.Ctx, harmony.Full)
	if err != nil {
		return 0, false, err
	}
	keys := append(GroupKeys(c.Group), Keys(c.From, c.Keys())...)
	if r.Sooner(n) || n >= MostSorted || !r.IsOrdered(from, keys) {
		return 0, false, nil
	}
	o, err := r.NewOrdering(from, n, keys, c.Cols)
	if o == nil || err != nil {
		return 0, false, err
	}
	return n, true, o.Finish(c.To, func() error {
		if err := o.room(r.Relations[c.To], n, len(c.Group) == 0); err != nil {
			return err
		}
		if err := o.Arrange(); err != nil {
			return err
		}
		var places device.Buffer
		if !o.alone {
			if places, err = o.places(c.Group); err != nil {
				return err
			}
		}
		return o.move(n, places)
	})
}

// TopK appends the first tuples of a relation.
func (r *Sorter) TopK(c *harmony.TopK) (kept int64, done bool, err error) {
	from := r.Relations[c.From]
	_, n, err := from.Version(r.Ctx, harmony.Full)
	if err != nil {
		return 0, false, err
	}
	kept = min(c.Limit, n)
	keys := append(GroupKeys(c.Group), Keys(c.From, c.Keys())...)
	few := len(c.Group) == 0 && kept <= r.Ranked/2 // then no sort is needed
	if !few && r.Sooner(n) || n >= MostSorted || !r.IsOrdered(from, keys) {
		return 0, false, nil
	}
	if kept <= 0 {
		return 0, true, nil
	}
	o, err := r.NewOrdering(from, n, keys, c.Cols)
	if o == nil || err != nil {
		return 0, false, err
	}
	err = o.Finish(c.To, func() error {
		known := kept
		if len(c.Group) > 0 {
			known = 0
		}
		if err := o.room(r.Relations[c.To], known, len(c.Group) == 0); err != nil {
			return err
		}
		done := false
		if few {
			if done, err = o.first(kept); err != nil {
				return err
			}
		}
		if !done {
			if err := o.Arrange(); err != nil {
				return err
			}
		}
		if len(c.Group) > 0 {
			if kept, err = o.firstOfGroups(c.Group, c.Limit); err != nil {
				return err
			}
			if err := o.to.MakeRoomFor(r.Ctx, kept); err != nil {
				return err
			}
		}
		return o.move(kept, device.Buffer{})
	})
	return kept, true, err
}

// KeysDiffer reports whether the tuples of a relation have pairwise different
// keys. If done is false, the host has to find out.
func (r *Sorter) KeysDiffer(decl *harmony.Relation) (differ, done bool, err error) {
	rel := r.Relations[decl]
	_, n, err := rel.Version(r.Ctx, harmony.Full)
	if err != nil {
		return false, false, err
	}
	if r.Sooner(n) || n >= MostSorted {
		return false, false, nil
	}
	key := make([]int, decl.Keys)
	for i := range key {
		key[i] = i
	}
	o, err := r.NewOrdering(rel, n, GroupKeys(key), nil)
	if o == nil || err != nil {
		return false, false, err
	}
	groups := int64(0)
	err = o.Finish(decl, func() error {
		if err := o.Arrange(); err != nil {
			return err
		}
		_, groups, err = o.groups(key, true)
		return err
	})
	return groups == n, true, err
}

// MostSorted bounds the rows of a sort, because row numbers have 30 bits.
const MostSorted = 1 << 30

// IsOrdered reports whether the words of the key columns order as their values
// do. Those of strings do if the dictionary is sorted.
func (r *Sorter) IsOrdered(rel *tables.Relation, keys []order.Key) bool {
	for _, k := range keys {
		if rel.Decl.Cols[k.Col].Type.Kind != scalar.String {
			continue
		}
		if d := r.Dict(rel.Decl, k.Col); d == nil || d.Sorted() < d.Len() {
			return false
		}
	}
	return true
}

// GroupKeys returns the keys of an order in which tuples that agree on columns
// are adjacent.
func GroupKeys(cols []int) (keys []order.Key) {
	for _, c := range cols {
		keys = append(keys, order.Key{Col: c})
	}
	return keys
}

// Keys returns the order keys of a relation.
func Keys(of *harmony.Relation, by []harmony.OrderKey) (keys []order.Key) {
	for _, k := range by {
		keys = append(keys, order.Key{Col: harmony.ColumnIndex(of.Cols, k.Col), Desc: k.Desc})
	}
	return keys
}

// ordering is the work of ordering the rows of one relation.
type ordering struct {
	*Sorter
	from *tables.Relation
	n    int64
	bits []orderBits // the parts of a row's key, most significant first
	rest int64       // how many of the last parts follow from the others
	// taken are the columns that go to the destination, if their values can be
	// decoded from the keys. It is empty if only the order is wanted.
	taken []int
	to    *tables.Relation // the destination, which has room for the rows
	most  int64            // how many rows the destination gets
	alone bool             // only the ordered rows are wanted, without numbers
	rows  device.Buffer    // row numbers in order; empty means all rows as they are
	// packed means that a sort has left keys and no row numbers. low and high
	// are the 32-bit words of the keys in order; low has lowBits bits. Without
	// high, low is the whole key. If high.at is Together, low holds words of 64
	// bits.
	packed    bool
	low, high words
	lowBits   int64
	owns      []device.Buffer // freed at the end
	launch    func(service.Launch) error
}

// orderBits is a column's part of a key.
type orderBits struct {
	service.OrderField
	col  int
	bits int64 // the width of the column's number
}

// NewOrdering plans the keys of an ordering of n rows by the given columns. All
// taken columns must be among the keys. It returns nil if the device cannot
// order n rows.
func (r *Sorter) NewOrdering(from *tables.Relation, n int64, keys []order.Key,
	taken []int) (*ordering, error) {
	kernels, err := r.Kernels()
	if err != nil {
		return nil, err
	}
	if n > r.Ranked && !canSort(kernels) {
		return nil, nil
	}
	o := &ordering{Sorter: r, from: from, n: n, taken: taken}
	o.launch = func(l service.Launch) error {
		r.Launched()
		return r.Serve(kernels[l.Kernel], l)
	}
	used, determining := make([]bool, len(from.Cols)), from.Decl.Keys
	add := func(k order.Key) error {
		if used[k.Col] {
			return nil
		}
		used[k.Col] = true
		b, err := o.column(k)
		if err == nil && b.bits > 0 {
			o.bits = append(o.bits, b)
		}
		if determining == 0 {
			o.rest += b.bits
		}
		if k.Col < from.Decl.Keys {
			determining--
		}
		return err
	}
	for _, k := range keys {
		if err := add(k); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// stored describes a column to kernels.
func (o *ordering) stored(col int) (service.OrderField, error) {
	c := o.from.Cols[col]
	f := service.OrderField{Data: c.Data.Word(), Base: c.Base, Step: c.Step, Width: int64(c.Width)}
	if c.Loaded != nil {
		var err error
		if f.Data, err = o.ResidentColumn(o.Ctx, o.from.What, c.Loaded,
			c.PackedBits()); err != nil {
			return f, err
		}
	}
	return f, nil
}

// column returns the mapping from the values of a column to numbers that order
// as the key asks for.
func (o *ordering) column(k order.Key) (b orderBits, err error) {
	if b.OrderField, err = o.stored(k.Col); err != nil {
		return b, err
	}
	b.col, b.Descends = k.Col, k.Desc
	bound := o.Ranges.Column(o.from.Decl, k.Col)
	kind := o.from.Decl.Cols[k.Col].Type.Kind
	if kind == scalar.Float || kind == scalar.Uint && bound.Lo < 0 {
		// The bounds of the values do not hold for the numbers.
		bound.Lo, bound.Hi = math.MinInt64, math.MaxInt64
		b.Kind = service.OrderUnsigned
		if kind == scalar.Float {
			b.Kind = service.OrderFloat
		}
	}
	b.bits = int64(bits.Len64(uint64(bound.Hi) - uint64(bound.Lo)))
	if b.Kind == service.OrderSigned && !k.Desc && b.Base < bound.Lo &&
		int64(bits.Len64(uint64(bound.Hi)-uint64(b.Base))) == b.bits {
		bound.Lo = b.Base // the numbers are the stored offsets
	}
	if b.First = bound.Lo; k.Desc {
		b.First = bound.Hi
	}
	return b, nil
}

// levels cuts the keys into words of at most size bits, most significant first.
// All words but the last are full; last is the number of its bits.
func (o *ordering) levels(size int64) (levels [][]service.OrderField, last int64) {
	room := int64(0)
	for _, b := range o.bits {
		for left := b.bits; left > 0; {
			if room == 0 {
				levels, room = append(levels, nil), size
			}
			n := min(left, room)
			left, room = left-n, room-n
			f := b.OrderField
			f.Drop, f.Bits, f.At = left, n, room
			levels[len(levels)-1] = append(levels[len(levels)-1], f)
		}
	}
	// The bits of the last level are the low ones.
	if len(levels) > 0 {
		for i := range levels[len(levels)-1] {
			levels[len(levels)-1][i].At -= room
		}
	}
	return levels, size - room
}

// memory allocates memory that is freed when the ordering ends.
func (o *ordering) memory(bytes int64) (b device.Buffer, err error) {
	if err = o.Alloc(&b, "the order of "+o.from.What, bytes); err == nil {
		o.owns = append(o.owns, b)
	}
	return b, err
}

// table copies words to the device.
func (o *ordering) table(words []int64) (device.Buffer, error) {
	b, err := o.memory(int64(8 * len(words)))
	if err != nil {
		return b, err
	}
	return b, o.PutFresh(b, words...)
}

// keys computes the keys of rows, of size bytes each.
func (o *ordering) keys(to int64, size int64, level []service.OrderField, rows device.Buffer,
	n int64) error {
	fields, err := o.table(service.AppendOrderFields(nil, level))
	if err != nil {
		return err
	}
	return o.launch(service.OrderKeys(to, size, rows.Word(), fields.Word(), int64(len(level)), n))
}

// Arrange sorts all rows.
func (o *ordering) Arrange() error {
	if o.n <= o.Ranked {
		_, err := o.first(o.n)
		return err
	}
	return o.sort()
}

// first finds the first rows in order without sorting all of them. done is
// false if too many rows agree on the first 64 bits of their keys.
func (o *ordering) first(limit int64) (done bool, err error) {
	levels, _ := o.levels(64)
	if len(levels) == 0 {
		return true, nil
	}
	rows, n := device.Buffer{}, o.n
	if n > o.Ranked {
		if rows, n, err = o.candidates(levels, limit); err != nil || n > o.Ranked {
			return false, err
		}
	}
	keys, err := o.memory(8 * n * int64(len(levels)))
	if err != nil {
		return false, err
	}
	for i, level := range levels {
		if err := o.keys(keys.Word()+8*n*int64(i), 8, level, rows, n); err != nil {
			return false, err
		}
	}
	if o.rows, err = o.memory(4 * limit); err != nil {
		return false, err
	}
	return true,
		o.launch(service.Rank(o.rows.Word(), rows.Word(), keys.Word(), int64(len(levels)), n,
			limit))
}

// candidates finds the rows that may be among the first, judged by the first 64
// bits of their keys, and their number. rows holds at most Ranked of them, and
// n counts all.
func (o *ordering) candidates(levels [][]service.OrderField,
	limit int64) (rows device.Buffer, n int64, err error) {
	width := int64(0)
	for _, f := range levels[0] {
		width += f.Bits
	}
	keys, err := o.memory(8 * o.n)
	if err != nil {
		return rows, 0, err
	}
	if err := o.keys(keys.Word(), 8, levels[0], device.Buffer{}, o.n); err != nil {
		return rows, 0, err
	}
	state, err := o.memory(8 * service.SelectState)
	if err != nil {
		return rows, 0, err
	}
	if err := o.Fresh(state, 0, service.SelectState, 0); err != nil {
		return rows, 0, err
	}
	if err := o.PutFresh(device.Buffer{At: state.At + 8*service.SelectPlace, Bytes: 8},
		limit); err != nil {
		return rows, 0, err
	}
	last := (width - 1) / service.SelectBits * service.SelectBits
	for shift := last; shift >= 0; shift -= service.SelectBits {
		if err := o.launch(service.Select(keys.Word(), o.n, shift, state.Word())); err != nil {
			return rows, 0, err
		}
	}
	if rows, err = o.memory(4 * o.Ranked); err != nil {
		return rows, 0, err
	}
	if err := o.Control.Set(o.Ctx, device.CountWord, 0); err != nil {
		return rows, 0, err
	}
	if err := o.launch(service.SelectUpTo(rows.Word(), o.Ranked, keys.Word(), o.n, state.Word(),
		int64(o.Control.At(device.CountWord)))); err != nil {
		return rows, 0, err
	}
	n, err = o.count()
	return rows, n, err
}

// count waits for a count that a kernel has stored at device.CountWord.
func (o *ordering) count() (int64, error) {
	o.Control.Fresh = false
	err := o.Counted(o.Ctx)
	return o.Control.Mirror[device.CountWord], err
}

// groups numbers the groups of adjacent rows that agree on columns: numbers has
// the group number of each row in order, from 1. If wanted, n is the number of
// groups, for which it waits.
func (o *ordering) groups(cols []int, wanted bool) (numbers device.Buffer, n int64, err error) {
	if numbers, err = o.memory(8 * o.n); err != nil {
		return numbers, 0, err
	}
	var fields []service.OrderField
	for _, c := range cols {
		f, err := o.stored(c)
		if err != nil {
			return numbers, 0, err
		}
		fields = append(fields, f)
	}
	columns, err := o.table(service.AppendOrderFields(nil, fields))
	if err != nil {
		return numbers, 0, err
	}
	if err := o.launch(service.Heads(numbers.Word(), o.rows.Word(), columns.Word(),
		int64(len(fields)), o.n)); err != nil {
		return numbers, 0, err
	}
	if err := o.Scan(numbers, o.n, true); err != nil || !wanted {
		return numbers, 0, err
	}
	n, err = o.countOf(numbers, o.n-1)
	return numbers, n, err
}

// countOf waits for a word of a buffer and returns it.
func (o *ordering) countOf(words device.Buffer, at int64) (int64, error) {
	if err := o.Lane.Stream.Copy(o.Control.At(device.CountWord), words.At+cuda.Pointer(8*at),
		8); err != nil {
		return 0, err
	}
	return o.count()
}

// places numbers the ordered rows within the groups that agree on columns.
func (o *ordering) places(cols []int) (device.Buffer, error) {
	numbers, _, err := o.groups(cols, false)
	if err != nil {
		return numbers, err
	}
	starts, err := o.memory(8 * o.n)
	if err != nil {
		return numbers, err
	}
	if err := o.launch(service.Starts(starts.Word(), numbers.Word(), o.n)); err != nil {
		return numbers, err
	}
	return numbers, o.launch(service.Places(numbers.Word(), starts.Word(), o.n))
}

// firstOfGroups keeps the first limit rows of each group, and returns how many
// rows remain.
func (o *ordering) firstOfGroups(cols []int, limit int64) (int64, error) {
	places, err := o.places(cols)
	if err != nil {
		return 0, err
	}
	sums, err := o.memory(8 * (o.n + 1))
	if err != nil {
		return 0, err
	}
	if err := o.Lane.Stream.Copy(sums.At, places.At, uint64(8*o.n)); err != nil {
		return 0, err
	}
	if err := o.launch(service.Below(sums.Word(), limit, o.n)); err != nil {
		return 0, err
	}
	if err := o.Fill(sums, o.n, o.n+1, 0); err != nil {
		return 0, err
	}
	if err := o.Scan(sums, o.n+1, false); err != nil {
		return 0, err
	}
	kept, err := o.countOf(sums, o.n)
	if err != nil {
		return 0, err
	}
	rows, err := o.memory(4 * o.n)
	if err != nil {
		return 0, err
	}
	err = o.launch(service.Keep(rows.Word(), o.rows.Word(), sums.Word(), o.n))
	o.rows = rows
	return kept, err
}

// Finish executes work, timed as part of a variable's command, and frees what
// the ordering allocated.
func (o *ordering) Finish(of *harmony.Relation, work func() error) error {
	end, err := o.Begin(device.TimedKernel, of.Name)
	if err != nil {
		return err
	}
	if err := work(); err != nil {
		return err // the run frees the memory
	}
	for i := range o.owns {
		if err := o.Drop(&o.owns[i]); err != nil {
			return err
		}
	}
	return end()
}
