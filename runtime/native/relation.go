package native

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// gauge is a cursor and a limit, on a cache line of their own.
type gauge struct {
	cursor, limit int64
	_             [6]int64
}

// setLimit moves the limit. A canceller may move it concurrently, so the caller
// checks for cancellation afterwards.
func (g *gauge) setLimit(n int64) { atomic.StoreInt64(&g.limit, n) }

// full reports whether the cursor has passed the limit.
func (g *gauge) full() bool { return g.cursor > atomic.LoadInt64(&g.limit) }

func (g *gauge) address() int64 { return int64(uintptr(unsafe.Pointer(g))) }

// unlimited is the limit of a gauge without a bound.
const unlimited = math.MaxInt64

// column is the data of a column: a loaded one, or a region that the run fills.
type column struct {
	layout.Column
	typ    scalar.Type
	loaded *store.Column
	account.Region
	// unread means that nothing reads further rows, so they are not stored.
	unread bool
}

// data returns the address of the offsets, or 0.
func (c *column) data() int64 {
	if c.loaded == nil {
		return c.Address()
	}
	return int64(uintptr(loadedData(c.loaded)))
}

func loadedData(c *store.Column) unsafe.Pointer {
	switch {
	case c.Len() == 0:
		return nil
	case c.Width == 1:
		return unsafe.Pointer(&c.U8[0])
	case c.Width == 2:
		return unsafe.Pointer(&c.U16[0])
	case c.Width == 4:
		return unsafe.Pointer(&c.U32[0])
	case c.Width == 8:
		return unsafe.Pointer(&c.U64[0])
	}
	return nil
}

// view returns the offsets of a column that the run fills.
func (c *column) view() layout.View {
	return layout.View{Column: c.Column, Data: unsafe.Slice((*byte)(c.Region.Data), c.Bytes)}
}

// Read widens the words of rows from, from+1, ... into dst.
func (c *column) Read(dst []int64, from int) {
	if c.loaded != nil {
		c.loaded.Read(dst, from)
		return
	}
	v := c.view()
	v.Read(dst, from)
}

// Gather widens the words of the given rows into dst.
func (c *column) Gather(dst []int64, rows []uint32) {
	if c.loaded != nil {
		c.loaded.Gather(dst, rows)
		return
	}
	v := c.view()
	v.Gather(dst, rows)
}

// write narrows words into rows from, from+1, ...
func (c *column) write(src []int64, from int) {
	v := c.view()
	v.Write(src, from)
}

// relation is the contents of a relation: the rows up to the cursor.
type relation struct {
	machine.Versions
	mem   *account.Memory
	cols  []*column
	facts []*store.Column // the columns of a loaded relation
	gauge *gauge
	// capacity is the number of rows that the columns have room for.
	capacity int
	minRows  int       // the smallest capacity
	set      *tupleSet // nil unless the relation is derived
	seen     []seen    // by column; nil if no kernel joins by bit rows

	pointers []int64 // the addresses of the columns, for a wide set
}

// version returns the range of rows of a version.
func (r *relation) version(v harmony.Version) (from, until int) {
	first, end := r.Version(v, r.gauge.cursor)
	return int(first), int(end)
}

// rows returns the number of rows, merged or not.
func (r *relation) rows() int { return int(r.gauge.cursor) }

// Clear empties the relation and keeps its memory.
func (r *relation) Clear() error {
	r.gauge.cursor = 0
	r.Forget()
	r.forgetSeen(false)
	if r.set != nil {
		return r.set.clear()
	}
	return nil
}

// Release empties the relation and frees its memory.
func (r *relation) Release() error {
	r.gauge.cursor, r.capacity = 0, 0
	r.Forget()
	for _, c := range r.cols {
		c.Free()
	}
	r.dropSet()
	return nil
}

// dropSet frees the set. No tuple may be inserted afterwards.
func (r *relation) dropSet() {
	r.forgetSeen(true)
	if r.set != nil {
		r.set.free()
	}
}

// makeRoom makes room for slack more rows, and sets the limit so that slack
// rows always fit. A relation that has to grow grows to a multiple of its
// capacity.
func (r *relation) makeRoom(slack int) error {
	need := r.rows() + slack
	if err := r.CheckRows(int64(need)); err != nil {
		return err
	}
	if need > r.capacity {
		if err := r.growColumns(need); err != nil {
			return err
		}
	}
	room := r.capacity
	if r.set != nil {
		if err := r.set.makeRoom(r, need); err != nil {
			return err
		}
		room = min(room, r.set.room())
	}
	r.gauge.setLimit(int64(room - slack))
	return nil
}

// growColumns makes room for at least need rows: twice the capacity, or less if
// memory is short.
func (r *relation) growColumns(need int) error {
	size := r.rowBytes()
	if size == 0 {
		r.capacity = machine.MaxRows
		return nil
	}
	rows := max(need, min(2*r.capacity, machine.MaxRows), r.minRows)
	for rows > need && int64(rows-r.capacity)*int64(size) > r.mem.Room() {
		rows = max(need, r.capacity+(rows-r.capacity)/2)
	}
	for _, c := range r.cols {
		if c.Width == 0 || c.unread {
			continue
		}
		if c.Memory == nil {
			c.Memory = r.mem
		}
		if err := c.Grow(r.What, rows*c.Width); err != nil {
			return err
		}
	}
	r.capacity = rows
	return nil
}

// wideColumns returns the columns of a relation whose set is wide, as words.
func (r *relation) wideColumns() [][]int64 {
	out := make([][]int64, len(r.cols))
	for i, c := range r.cols {
		if c.Region.Data != nil {
			out[i] = unsafe.Slice((*int64)(c.Region.Data), c.Bytes/8)
		}
	}
	return out
}

// columnPointers returns an array of the columns' addresses.
func (r *relation) columnPointers() int64 {
	r.pointers = r.pointers[:0]
	for _, c := range r.cols {
		r.pointers = append(r.pointers, c.Address())
	}
	return addressOf(r.pointers)
}

// addressOf returns the address of a slice, or 0 if it is empty.
func addressOf[T any](s []T) int64 {
	if len(s) == 0 {
		return 0
	}
	return int64(uintptr(unsafe.Pointer(&s[0])))
}

// rowBytes returns the size of a tuple, in bytes.
func (r *relation) rowBytes() int {
	n := 0
	for _, c := range r.cols {
		if !c.unread {
			n += c.Width
		}
	}
	return n
}

// wordsOf returns the memory of a region as signed words.
func wordsOf(r *account.Region) []int64 {
	if r.Data == nil {
		return nil
	}
	return unsafe.Slice((*int64)(r.Data), r.Bytes/8)
}
