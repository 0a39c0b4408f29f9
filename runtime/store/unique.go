package store

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Dedupe returns the first row of each tuple, ascending, or nil if no tuple
// repeats. If two rows agree in the key columns but not in the others, it
// returns such a pair, a and b, instead: the one whose later row comes first.
func Dedupe(
	ctx context.Context, with Sorting, cols []*Column, rows, keys int,
) (keep []uint32, a, b uint32, err error) {
	s := newRowSorter(with, cols[:keys], nil)
	repeats := s.repeats
	if len(s.groups) == 1 {
		repeats = s.repeatedKeys
	}
	same := rowComparer(cols[keys:])
	drop, err := s.alloc((rows + 63) / 64) // one bit for each row
	if err != nil {
		return nil, 0, 0, err
	}
	defer s.free(drop)
	dropped, clash := 0, false
	err = repeats(ctx, rows, func(first, row uint32) bool {
		if !same(first, row) {
			clash, a, b = true, first, row
			return false
		}
		drop[row/64] |= 1 << (row % 64)
		dropped++
		return true
	})
	if clash || err != nil || dropped == 0 {
		return nil, a, b, err
	}
	if keep, err = s.rowList(rows - dropped); err != nil {
		return nil, 0, 0, err
	}
	keep = keep[:0]
	for row := range uint32(rows) {
		if drop[row/64]>>(row%64)&1 == 0 {
			keep = append(keep, row)
		}
	}
	return keep, 0, 0, nil
}

// repeatedKeys visits, in order, each row whose key an earlier row has, with
// the first row of that key. It stops when visit returns false. The columns are
// one group.
func (s *rowSorter) repeatedKeys(
	ctx context.Context, rows int, visit func(first, row uint32) bool,
) error {
	g := &s.groups[0]
	keys, err := g.sortedKeys(ctx, &s.Sorting, rows)
	if err != nil {
		return err
	}
	defer s.free(keys)
	repeated := keys[:0]
	for i := 1; i < rows; i++ {
		if k := keys[i]; k == keys[i-1] && (len(repeated) == 0 || repeated[len(repeated)-1] != k) {
			// repeated shares memory with keys, but is always shorter than i.
			repeated = append(repeated, k)
		}
	}
	if len(repeated) == 0 {
		return nil
	}
	firsts, err := newRowTable(&s.Sorting, repeated)
	if err != nil {
		return err
	}
	defer firsts.free(&s.Sorting)
	part, scratch := make([]uint64, BlockRows), make([]uint64, BlockRows)
	for from := 0; from < rows; from += BlockRows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		part := part[:min(BlockRows, rows-from)]
		g.read(part, scratch, from)
		for i, k := range part {
			at := firsts.find(k)
			if at < 0 {
				continue
			}
			row := uint32(from + i)
			if first := firsts.rows[at]; first == noRow {
				firsts.rows[at] = uint64(row) + 1
			} else if !visit(uint32(first-1), row) {
				return nil
			}
		}
	}
	return nil
}

// repeats is repeatedKeys for columns of several groups.
func (s *rowSorter) repeats(
	ctx context.Context, rows int, visit func(first, row uint32) bool,
) error {
	selection, err := s.rows(ctx, rows)
	if err != nil {
		return err
	}
	defer selection.Free()
	sorted := selection.Rows
	// The sort is stable, so the first row of a run is the first in the file.
	// The others are visited in the order of the file.
	repeated, err := s.countRepeats(ctx, sorted)
	if repeated == 0 || err != nil {
		return err
	}
	found, err := s.alloc(repeated) // the later row in the low half, the first one in the high half
	if err != nil {
		return err
	}
	defer s.free(found)
	found = found[:0]
	for i := 0; i < rows; {
		first := sorted[i]
		for i++; i < rows && s.equal(first, sorted[i]); i++ {
			found = append(found, uint64(sorted[i])<<32|uint64(first))
		}
	}
	slices.Sort(found)
	for _, p := range found {
		if !visit(uint32(p), uint32(p>>32)) {
			return nil
		}
	}
	return nil
}

// countRepeats counts the rows, in sorted order, whose key the row before has.
func (s *rowSorter) countRepeats(ctx context.Context, sorted []uint32) (int, error) {
	var repeated atomic.Int64
	parallel.Do(parallel.Threads(s.Threads), (len(sorted)+orderRows-1)/orderRows, func(block int) {
		if ctx.Err() != nil {
			return
		}
		n := int64(0)
		for i := max(1, block*orderRows); i < min((block+1)*orderRows, len(sorted)); i++ {
			if s.equal(sorted[i-1], sorted[i]) {
				n++
			}
		}
		repeated.Add(n)
	})
	return int(repeated.Load()), context.Cause(ctx)
}

// equal reports whether two rows have the same keys.
func (s *rowSorter) equal(a, b uint32) bool {
	for i := range s.groups {
		for j := range s.groups[i].parts {
			if c := s.groups[i].parts[j].col; c.Word(int(a)) != c.Word(int(b)) {
				return false
			}
		}
	}
	return true
}

// noRow stands for the row of a key that has not been seen yet.
const noRow = 1 << 32

// rowTable maps some keys to a row: open addressing, at most half full.
type rowTable struct {
	keys  []uint64
	rows  []uint64 // the row of each key plus one; 0 if the slot is free
	shift int
}

// newRowTable returns a table of keys, which the caller frees.
func newRowTable(with *Sorting, keys []uint64) (*rowTable, error) {
	width := bits.Len(uint(2*len(keys))) + 1
	t := &rowTable{shift: 64 - width}
	var err error
	if t.keys, err = with.alloc(1 << width); err != nil {
		return nil, err
	}
	if t.rows, err = with.alloc(1 << width); err != nil {
		with.free(t.keys)
		return nil, err
	}
	for _, k := range keys {
		i := int(scalar.Mix(k) >> t.shift)
		for t.rows[i] != 0 {
			i = (i + 1) & (len(t.keys) - 1)
		}
		t.keys[i], t.rows[i] = k, noRow
	}
	return t, nil
}

func (t *rowTable) free(with *Sorting) {
	with.free(t.keys)
	with.free(t.rows)
}

// find returns the slot of a key, or -1.
func (t *rowTable) find(key uint64) int {
	for i := int(scalar.Mix(key) >> t.shift); t.rows[i] != 0; i = (i + 1) & (len(t.keys) - 1) {
		if t.keys[i] == key {
			return i
		}
	}
	return -1
}

// FirstOfEach returns the first row of each distinct tuple, ascending, or nil
// if no two rows agree in all columns.
func FirstOfEach(ctx context.Context, with Sorting, cols []*Column, rows int) ([]uint32, error) {
	keep, _, _, err := Dedupe(ctx, with, cols, rows, len(cols))
	return keep, err
}

// rowComparer returns a function that reports whether two rows agree in all
// columns.
func rowComparer(cols []*Column) func(a, b uint32) bool {
	return func(a, b uint32) bool {
		for _, c := range cols {
			if c.Word(int(a)) != c.Word(int(b)) {
				return false
			}
		}
		return true
	}
}

// UniqueRows reports whether no two rows agree in all columns. It tries the
// cheap proofs first: one column has a different word in each row, the rows
// ascend, or one column does and equal words of it are few. Then it marks
// packed keys in a bitmap if their range is small for the number of rows.
// Otherwise it sorts.
func UniqueRows(ctx context.Context, with Sorting, cols []*Column, rows int) (bool, error) {
	if rows < 2 {
		return true, nil
	}
	if len(cols) == 0 {
		return false, nil
	}
	if slices.ContainsFunc(cols, func(c *Column) bool {
		return c.Stats.Ascending &&
			c.Stats.Distinct == int64(rows)
	}) {
		return true, nil // the count is exact if the column ascends
	}
	if len(cols) == 2 && pairsAscend(ctx, with, cols[0], cols[1]) {
		return true, context.Cause(ctx)
	}
	s := newRowSorter(with, cols, nil)
	if sorted, strict, err := s.inOrder(ctx, rows); sorted || err != nil {
		return strict, err
	}
	if unique, ok, err := uniqueInRuns(ctx, with, cols, rows); ok || err != nil {
		return unique, err
	}
	if len(s.groups) > 1 {
		selection, err := s.rows(ctx, rows)
		if err != nil {
			return false, err
		}
		defer selection.Free()
		repeats, err := s.countRepeats(ctx, selection.Rows)
		return repeats == 0, err
	}
	g := &s.groups[0]
	if g.bits <= bits.Len(uint(rows))+6 {
		return g.uniqueByBitmap(ctx, &s.Sorting, rows)
	}
	keys, err := g.sortedKeys(ctx, &s.Sorting, rows)
	if err != nil {
		return false, err
	}
	defer s.free(keys)
	for i := 1; i < rows; i++ {
		if keys[i] == keys[i-1] {
			return false, nil
		}
	}
	return true, nil
}

// uniqueByBitmap marks each key in a bitmap, which has at most 16 bytes a row.
func (g *keyGroup) uniqueByBitmap(ctx context.Context, with *Sorting, rows int) (bool, error) {
	seen, err := with.alloc(int(1 + (uint64(1)<<g.bits-1)/64))
	if err != nil {
		return false, err
	}
	defer with.free(seen)
	var repeats atomic.Bool
	parallel.Do(parallel.Threads(with.Threads), (rows+orderRows-1)/orderRows, func(i int) {
		keys, scratch := make([]uint64, BlockRows), make([]uint64, BlockRows)
		from, to := i*orderRows, min((i+1)*orderRows, rows)
		for ; from < to && !repeats.Load() && ctx.Err() == nil; from += BlockRows {
			part := keys[:min(BlockRows, to-from)]
			g.read(part, scratch, from)
			for _, k := range part {
				if bit := uint64(1) << (k % 64); atomic.OrUint64(&seen[k/64], bit)&bit != 0 {
					repeats.Store(true)
					return
				}
			}
		}
	})
	return !repeats.Load(), context.Cause(ctx)
}
