package native

import (
	"math/bits"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// extents is the second form of a multi index over a growing relation
// (primitives/src/extents.h). Begins holds an extent for each number of a key,
// with room behind its rows, so that the rows of a round are added in place.
// Passes build the index in its first form. When rows are added, the extents
// are made from that.
type extents struct {
	able bool // kernels can probe extents
	on   bool // Begins are extents
	// taken is the number of places in the array of rows that extents have used
	// so far.
	taken int
	// free holds lists of places that extents have left. free[c] is 1 + the
	// first of at least 1<<c consecutive places, where the next entry of the
	// list is stored in the same way; 0 ends a list.
	free [33]uint32
	keys int // the keys of a hash table
	// threads is the number of workers of a build.
	threads int
	cancel  *canceller
}

// extent is the struct Extent of primitives/src/extents.h.
type extent struct{ begin, end, limit, _ uint32 }

// leastExtent is the capacity of a new extent, in rows.
const leastExtent = 4

// mostSpaced is the number of rows up to which the array has enough places: an
// extent and the places that it has left are less than four times its rows.
const mostSpaced = machine.MaxRows / 4

// spaces reports whether the code can probe extents of an index.
func (c *compiled) spaces(decl *harmony.Index) bool {
	if decl.Kind != harmony.Multi {
		return false
	}
	for _, e := range c.module.Entries {
		for _, p := range e.Params {
			if p.Kind == abi.IndexSpaced && p.Var == decl.Name {
				return true
			}
		}
	}
	return false
}

// addsTo reports whether adding rows to the index is faster than rebuilding it.
// One worker adds rows, in half the time of building an index of them; all
// workers build.
func (x *index) addsTo(until int64) bool {
	e := &x.extents
	if !e.able || x.Form == abi.Wide || until > mostSpaced {
		return false
	}
	n, all := until-x.Until, until-x.From
	if x.Lay.Open && x.Form == abi.Hash && x.Lay.FormFor(x.Decl.Kind, int(all)) == abi.Direct {
		return false
	}
	return n <= 2*(x.Until-x.From) && n*int64(e.threads) <= 2*all
}

// extend adds the rows of the relation before row until.
func (x *index) extend(until int64) error {
	e := &x.extents
	if !e.on {
		if err := x.space(); err != nil {
			return err
		}
	}
	var block, packed [1024]int64
	for x.Until < until {
		n := int(min(until-x.Until, int64(len(block))))
		clear(packed[:n])
		for i, f := range x.Lay.Fields {
			x.rel.cols[x.Decl.Key[i]].Read(block[:n], int(x.Until))
			for k, w := range block[:n] {
				packed[k] |= (w - f.Base) << (f.Shift & 63)
			}
		}
		if x.Form == abi.Hash {
			if err := x.numbers(packed[:n]); err != nil {
				return err
			}
		}
		if err := x.enter(packed[:n]); err != nil {
			return err
		}
		x.Until += int64(n)
		if e.cancel != nil {
			if err := e.cancel.err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// space makes an extent of the rows of each number, without room behind them.
func (x *index) space() error {
	e := &x.extents
	begins, numbers := account.Words(&x.Begins), int(x.Numbers())
	var all account.Region
	if err := all.Alloc(x.mem, x.What, numbers*int(unsafe.Sizeof(extent{}))); err != nil {
		return err
	}
	for i, list := 0, extentsOf(&all); i < numbers; i++ {
		end := uint32(begins[i+1])
		list[i] = extent{begin: uint32(begins[i]), end: end, limit: end}
	}
	x.Begins.Move(&all)
	e.on, e.taken, e.free, e.keys = true, int(x.Until-x.From), [33]uint32{}, 0
	if x.Form == abi.Hash {
		t := keyTable{mask: x.Mask, Region: account.Region{Memory: x.mem}}
		t.Move(&x.Table)
		t.each(func(int, uint64) { e.keys++ })
		x.Table.Move(&t.Region)
	}
	return nil
}

func extentsOf(r *account.Region) []extent {
	return unsafe.Slice((*extent)(r.Data), r.Bytes/int(unsafe.Sizeof(extent{})))
}

// numbers replaces packed keys by their numbers in a hash table. New keys get
// new numbers.
func (x *index) numbers(keys []int64) error {
	e := &x.extents
	t := keyTable{mask: x.Mask, Region: account.Region{Memory: x.mem}}
	t.Move(&x.Table)
	defer func() {
		x.Mask = t.mask
		x.Table.Move(&t.Region)
	}()
	if int64(e.keys+len(keys)) > machine.RoomOf(t.mask) {
		var all account.Region
		slots := int(x.Slots(int64(2 * (e.keys + len(keys)))))
		if err := all.Alloc(x.mem, x.What,
			(slots+1)*int(unsafe.Sizeof(extent{}))); err != nil {
			return err
		}
		from, to := extentsOf(&x.Begins), extentsOf(&all)
		if err := t.resize(x.What, slots, func(i, k int) { to[k] = from[i] }); err != nil {
			return err
		}
		x.Begins.Move(&all)
	}
	slots := account.Words(&t.Region)
	for i, key := range keys {
		at := t.slot(slots, uint64(key))
		if slots[at] == 0 {
			slots[at] = max(uint64(key), 1)
			e.keys++
		}
		keys[i] = int64(at)
	}
	return nil
}

// enter adds the next rows of the relation, whose keys have the given numbers.
func (x *index) enter(numbers []int64) error {
	list, places := extentsOf(&x.Begins), x.places()
	for i, number := range numbers {
		e := &list[number]
		if e.end == e.limit {
			if err := x.move(e); err != nil {
				return err
			}
			places = x.places()
		}
		places[e.end] = uint32(x.Until) + uint32(i)
		e.end++
	}
	return nil
}

// places returns the array of rows.
func (x *index) places() []uint32 {
	return unsafe.Slice((*uint32)(x.Rows.Data), x.Rows.Bytes/4)
}

// move moves the rows of an extent to a place of twice the size.
func (x *index) move(e *extent) error {
	s := &x.extents
	had, room := int(e.end-e.begin), int(e.limit-e.begin)
	class := bits.Len(uint(max(2*had, leastExtent) - 1))
	at := 0
	if s.free[class] != 0 {
		at = int(s.free[class] - 1)
		s.free[class] = x.places()[at]
	} else {
		at = s.taken
		s.taken += 1 << class
		if have := x.Rows.Bytes / 4; s.taken > have {
			if err := x.Rows.Grow(x.What, 4*max(s.taken, have+have/2)); err != nil {
				return err
			}
		}
	}
	places := x.places()
	copy(places[at:at+had], places[e.begin:e.end])
	if room >= leastExtent {
		old := bits.Len(uint(room)) - 1
		places[e.begin], s.free[old] = s.free[old], e.begin+1
	}
	e.begin, e.end, e.limit = uint32(at), uint32(at+had), uint32(at+1<<class)
	return nil
}
