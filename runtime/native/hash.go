package native

import (
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// These are the tables of the primitives as the runtime has to write them, when
// it makes larger ones or merges those of several workers:
// primitives/src/hash.h, set64.h and rowset.h say how they are laid out.

// mix is rf_hash64.
func mix(v uint64) uint64 {
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	v *= 0xc4ceb9fe1a85ec53
	v ^= v >> 33
	return v
}

// hashTuple is rf_hash_words of a row of columns.
func hashTuple(cols [][]int64, row int) uint64 {
	if len(cols) == 0 {
		return 0
	}
	h := mix(uint64(cols[0][row]))
	for _, c := range cols[1:] {
		h = mix(h*0x9e3779b97f4a7c15 + uint64(c[row]))
	}
	return h
}

// keyTable is a set64: mask + 1 slots of keys, and a word for the key 0.
type keyTable struct {
	account.Region
	mask uint64
}

// slotCount returns the number of words of the table: its slots and the word
// for the key 0.
func (t *keyTable) slotCount() int { return int(t.mask) + 2 }

// make allocates slots slots for the empty table.
func (t *keyTable) make(m *account.Memory, what string, slots int) error {
	t.mask = uint64(slots - 1)
	return t.Alloc(m, what, 8*t.slotCount())
}

// slot returns the slot of a key, or the free slot for it.
func (t *keyTable) slot(slots []uint64, key uint64) int {
	if key == 0 {
		return int(t.mask) + 1
	}
	at := mix(key) & t.mask
	for slots[at] != 0 && slots[at] != key {
		at = (at + 1) & t.mask
	}
	return int(at)
}

// put inserts a key and returns its slot.
func (t *keyTable) put(slots []uint64, key uint64) int {
	at := t.slot(slots, key)
	slots[at] = max(key, 1)
	return at
}

// each calls visit for each key and its slot.
func (t *keyTable) each(visit func(slot int, key uint64)) {
	slots := account.Words(&t.Region)
	for i, k := range slots[:t.mask+1] {
		if k != 0 {
			visit(i, k)
		}
	}
	if slots[t.mask+1] != 0 {
		visit(int(t.mask)+1, 0)
	}
}

// resize moves the keys to a larger table. The low bits of a key's new slot are
// those of its old slot, so a scan of the old table writes sequentially to as
// many places as the table grows by. moved, unless it is nil, is called with
// the old and the new slot of each key.
func (t *keyTable) resize(what string, slots int, moved func(from, to int)) error {
	var next keyTable
	if err := next.make(t.Memory, what, slots); err != nil {
		return err
	}
	into := account.Words(&next.Region)
	t.each(func(slot int, key uint64) {
		at := next.put(into, key)
		if moved != nil {
			moved(slot, at)
		}
	})
	t.Move(&next.Region)
	t.mask = next.mask
	return nil
}

// rowTable is a rowset: slots of hash bits above row numbers.
type rowTable struct {
	account.Region
	mask uint64
}

const (
	rowBits  = 40
	rowMask  = 1<<rowBits - 1
	firstRow = 2
)

// build inserts the first rows of columns, which are distinct, into a new table
// of slots slots.
func (t *rowTable) build(m *account.Memory, what string, slots int, cols [][]int64,
	rows int) error {
	var next rowTable
	if err := next.Alloc(m, what, 8*slots); err != nil {
		return err
	}
	next.mask = uint64(slots - 1)
	next.enter(account.Words(&next.Region), cols, rows)
	t.Memory = m
	t.Move(&next.Region)
	t.mask = next.mask
	return nil
}

// enter inserts the first rows of columns, which are distinct, into the empty
// table.
func (t *rowTable) enter(into []uint64, cols [][]int64, rows int) {
	for row := range rows {
		h := hashTuple(cols, row)
		at := h & t.mask
		for into[at] != 0 {
			at = (at + 1) & t.mask
		}
		into[at] = h>>rowBits<<rowBits | uint64(row+firstRow)
	}
}

// find returns the row of a tuple, which is row at of the columns from, or the
// free slot for it.
func (t *rowTable) find(slots []uint64, cols, from [][]int64,
	at int) (row int, slot uint64, hash uint64) {
	hash = hashTuple(from, at)
	slot = hash & t.mask
	for slots[slot] != 0 {
		if slots[slot]>>rowBits == hash>>rowBits {
			row = int(slots[slot]&rowMask) - firstRow
			same := true
			for c := range cols {
				same = same && cols[c][row] == from[c][at]
			}
			if same {
				return row, slot, hash
			}
		}
		slot = (slot + 1) & t.mask
	}
	return -1, slot, hash
}

// Indexes are probed by far more rows than they have keys, most of which may
// not be there. Whether such a key's slot is taken by another one is hard for a
// processor to predict, so that an index has sparseSlots slots for each key as
// long as it stays in the second-level cache.
const (
	sparseSlots = 16
	cachedIndex = 256 << 10
)

// indexSlots returns the number of slots of an index of keys keys, with slots
// of bytes bytes.
func indexSlots(keys, bytes int) int {
	slots := slotsFor(keys)
	for slots < sparseSlots*keys && 2*slots*bytes <= cachedIndex {
		slots *= 2
	}
	return slots
}

// slotsFor is machine.SlotsFor for int.
func slotsFor(keys int) int { return int(machine.SlotsFor(int64(keys))) }
