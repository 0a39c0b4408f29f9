package order

import (
	"context"
	"math/bits"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// KeyConflict returns the first two rows, in the order of all columns, that
// agree on the first keys columns, and whether there are such rows.
func (s *Sorter) KeyConflict(
	ctx context.Context, x *Rows, keys int,
) (first, second uint32, found bool, err error) {
	sel, err := s.Sort(ctx, x, nil)
	if err != nil {
		return 0, 0, false, err
	}
	defer sel.Free()
	cols := make([]int, keys)
	for i := range cols {
		cols[i] = i
	}
	x.groups(sel.Rows, cols, func(from, to int) bool {
		if to-from > 1 {
			first, second, found = sel.Rows[from], sel.Rows[from+1], true
		}
		return !found
	})
	return first, second, found, nil
}

// KeySet finds out whether the keys of rows differ, without an order; rows may
// be added at any time, as a relation grows. The words of rows that are in it
// must not change.
type KeySet struct {
	s    *Sorter
	keys int
	// slots is an open-addressing table. A slot is 0 or a hash of 32 bits above
	// 1 + the row; rows stand at or after the place that the leading bits of
	// the hash say, so that the table grows without a look at the rows.
	slots []uint64
	rows  int
}

// NewKeySet returns an empty set for keys of so many leading columns.
func NewKeySet(s *Sorter, keys int) *KeySet { return &KeySet{s: s, keys: keys} }

// Rows returns how many rows were added.
func (k *KeySet) Rows() int { return k.rows }

// Free gives the set's memory back; it is empty afterwards.
func (k *KeySet) Free() {
	k.s.free(k.slots)
	k.slots, k.rows = nil, 0
}

// Add adds the rows from Rows() up to x.N, which start as those that were added
// before, and reports whether no two rows have equal keys. After it has
// reported false the set is of no further use.
func (k *KeySet) Add(ctx context.Context, x *Rows) (differ bool, err error) {
	words := make([][]int64, k.keys)
	for i := range words {
		words[i] = make([]int64, blockRows)
	}
	for k.rows < x.N {
		if err := context.Cause(ctx); err != nil {
			return false, err
		}
		n := min(blockRows, x.N-k.rows)
		if err := k.grow(x, k.rows+n); err != nil {
			return false, err
		}
		for i := range words {
			x.Cols[i].Words.Read(words[i][:n], k.rows)
		}
		for i := range n {
			if !k.enter(x, words, i) {
				return false, nil
			}
		}
		k.rows += n
	}
	return true, nil
}

// enter adds row k.rows+i, whose key words[...][i] is, unless the key is there.
func (k *KeySet) enter(x *Rows, words [][]int64, i int) bool {
	h := uint64(0)
	for _, w := range words {
		h = scalar.Mix(h + uint64(w[i]))
	}
	h >>= 32
	mask := len(k.slots) - 1
	at := int(h) >> (32 - bits.Len(uint(mask)))
	for ; k.slots[at] != 0; at = (at + 1) & mask {
		if slot := k.slots[at]; slot>>32 == h && k.equal(x, uint32(slot)-1, words, i) {
			return false
		}
	}
	k.slots[at] = h<<32 | uint64(k.rows+i+1)
	return true
}

func (k *KeySet) equal(x *Rows, row uint32, words [][]int64, i int) bool {
	for c, w := range words {
		if x.Cols[c].word(row) != w[i] {
			return false
		}
	}
	return true
}

// leastSlots is the size of a table's first form.
const leastSlots = 1 << 10

// grow makes room for so many rows in all.
func (k *KeySet) grow(x *Rows, rows int) error {
	if 3*rows <= 2*len(k.slots) {
		return nil
	}
	// A row's number and the place of its hash have 32 bits each.
	size := max(leastSlots, 1<<bits.Len(uint(2*rows)))
	if size > 1<<32 {
		return &RowsError{x.Name}
	}
	slots, err := k.s.alloc(x.Name, size)
	if err != nil {
		return err
	}
	mask, shift := size-1, 64-bits.Len(uint(size-1))
	for _, slot := range k.slots {
		if slot == 0 {
			continue
		}
		at := int(slot >> shift)
		for ; slots[at] != 0; at = (at + 1) & mask {
		}
		slots[at] = slot
	}
	k.s.free(k.slots)
	k.slots = slots
	return nil
}
