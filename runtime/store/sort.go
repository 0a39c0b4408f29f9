package store

import (
	"cmp"
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/runtime/order"
)

// Order is a column to order by.
type Order struct {
	Col  int
	Desc bool
}

// Arrangement gives access to rows in order.
type Arrangement struct {
	N int
	// Read sets dst to the words of a column, from position from of the order
	// on. It is safe for concurrent use.
	Read func(col int, dst []int64, from int)
	Free func() // frees memory; Read must not be called afterwards
}

// InPlace returns the first n rows of columns in the order in which they are
// stored.
func InPlace(cols []*Column, n int) *Arrangement {
	return &Arrangement{N: n, Read: func(c int, dst []int64, from int) { cols[c].Read(dst, from) },
		Free: func() {}}
}

// Each calls yield with blocks of the rows in order. A block has a slice of
// words for each column; the slices are reused for the next block.
func (a *Arrangement) Each(ctx context.Context, cols int, yield func(block [][]int64) error) error {
	block := make([][]int64, cols)
	room := make([]int64, cols*min(BlockRows, a.N))
	for from := 0; from < a.N; from += BlockRows {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		n := min(BlockRows, a.N-from)
		for c := range block {
			block[c] = room[c*n:][:n:n]
			a.Read(c, block[c], from)
		}
		if err := yield(block); err != nil {
			return err
		}
	}
	return nil
}

// Arrange orders rows, or the first limit of them. Ties are broken by the
// columns that by leaves out, ascending, from first to last, so that the order
// of a relation's tuples is total. Strings are ordered by bytes.
//
// If the packed columns fit 64 bits, it takes 8 bytes a row: the keys are
// scattered by their leading bits, sorted a bucket at a time in cache, and
// unpacked, so that no row is looked up. Otherwise it takes 20 bytes a row. If
// the rows are in order already, or the limit is small, it takes hardly any
// memory.
func Arrange(
	ctx context.Context, with Sorting, cols []*Column, by []Order, rows, limit int,
) (*Arrangement, error) {
	s := newRowSorter(with, cols, by)
	a := &Arrangement{N: min(limit, rows), Free: func() {}}
	sorted, _, err := s.inOrder(ctx, rows)
	switch {
	case err != nil:
		return nil, err
	case sorted:
		return InPlace(s.cols, a.N), nil
	case len(s.groups) == 1 && limit > rows/fewRows:
		g := &s.groups[0]
		keys, err := g.sortedKeys(ctx, &s.Sorting, rows)
		if err != nil {
			return nil, err
		}
		a.Read = func(c int, dst []int64, from int) {
			g.unpack(dst, keys[from:][:len(dst)], s.place[c])
		}
		a.Free = func() { s.free(keys) }
	default:
		x, keys := s.ordering(rows)
		first, err := s.sorter().TopK(ctx, x, nil, keys, int64(a.N))
		if err != nil {
			return nil, err
		}
		a.Read = func(c int, dst []int64, from int) {
			s.cols[c].Gather(dst,
				first.Rows[from:][:len(dst)])
		}
		a.Free = first.Free
	}
	return a, nil
}

// fewRows is a threshold: if there are at least fewRows times as many rows as
// wanted, sorting all of them does not pay.
const fewRows = 8

// BlockRows is the number of rows in a block.
const BlockRows = 2048

// rowSorter sorts the rows of columns. The columns are divided into groups,
// each of which is packed into one word.
type rowSorter struct {
	Sorting
	cols   []*Column
	by     []Order // has every column
	groups []keyGroup
	place  []int // of each column: its index in the parts of its group
}

// Sorting holds the resources of a sort.
type Sorting struct {
	Threads int             // upper bound; 0: one for each core
	Memory  order.Allocator // nil: Go's heap
	What    string          // the name of the rows in error messages
}

// alloc returns n words.
func (s *Sorting) alloc(n int) ([]uint64, error) {
	if s.Memory == nil {
		return make([]uint64, n), nil
	}
	return s.Memory.Alloc(s.What, n)
}

func (s *Sorting) free(words []uint64) {
	if s.Memory != nil {
		s.Memory.Free(words)
	}
}

// rowList returns a list of n rows, which is never freed.
func (s *Sorting) rowList(n int) ([]uint32, error) {
	if n == 0 {
		return []uint32{}, nil
	}
	words, err := s.alloc((n + 1) / 2)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&words[0])), n), nil
}

func newRowSorter(with Sorting, cols []*Column, by []Order) *rowSorter {
	s := &rowSorter{Sorting: with, cols: cols, place: make([]int, len(cols)),
		groups: make([]keyGroup, 1)}
	used := make([]bool, len(cols))
	for _, o := range by {
		if !used[o.Col] {
			used[o.Col] = true
			s.by = append(s.by, o)
		}
	}
	for c := range cols {
		if !used[c] {
			s.by = append(s.by, Order{Col: c})
		}
	}
	for _, o := range s.by {
		part := newKeyPart(cols[o.Col], o.Desc)
		last := len(s.groups) - 1
		if s.groups[last].bits+part.bits > 64 {
			s.groups = append(s.groups, keyGroup{})
			last++
		}
		s.place[o.Col] = len(s.groups[last].parts)
		s.groups[last].add(part)
	}
	return s
}

// ranked is a dictionary whose ranks are known.
type ranked struct {
	*Dict
	ranks []uint32
}

// Ranks returns the ranks.
func (r ranked) Ranks() []uint32 { return r.ranks }

func (s *rowSorter) sorter() *order.Sorter {
	return &order.Sorter{Threads: s.Threads, Memory: s.Memory}
}

// ordering returns the rows and the keys in the form of package order.
func (s *rowSorter) ordering(rows int) (*order.Rows, []order.Key) {
	x := &order.Rows{Name: cmp.Or(s.What, "a relation"), N: rows}
	for _, c := range s.cols {
		x.Cols = append(x.Cols, order.Column{Type: c.Type, Words: c})
	}
	for i := range s.groups {
		for _, p := range s.groups[i].parts {
			if p.col.Dict != nil {
				for c := range s.cols {
					if s.cols[c] == p.col {
						x.Cols[c].Dict = ranked{p.col.Dict, p.ranks}
					}
				}
			}
		}
	}
	keys := list.Map(s.by, func(o Order) order.Key { return order.Key(o) })
	return x, keys
}

// orderRows is the number of rows that a thread checks at a time.
const orderRows = 1 << 16

// inOrder reports whether the rows are stored in order, and if so, whether no
// two of them are equal.
func (s *rowSorter) inOrder(ctx context.Context, rows int) (sorted, strict bool, err error) {
	g := &s.groups[0]
	var descends, repeats atomic.Bool
	parallel.Do(parallel.Threads(s.Threads), (rows+orderRows-1)/orderRows, func(i int) {
		from, to := i*orderRows, min((i+1)*orderRows, rows)
		keys, scratch := make([]uint64, BlockRows), make([]uint64, BlockRows)
		var last uint64
		if from > 0 {
			last = g.keyOf(from - 1)
		}
		for ; from < to && !descends.Load() && ctx.Err() == nil; from += BlockRows {
			part := keys[:min(BlockRows, to-from)]
			g.read(part, scratch, from)
			for i, k := range part {
				if k > last || from+i == 0 {
					last = k
					continue
				}
				order := -1
				if k == last {
					order = s.compareRest(from+i-1, from+i)
				}
				switch {
				case k < last || order > 0:
					descends.Store(true)
					return
				case order == 0:
					repeats.Store(true)
				}
			}
		}
	})
	sorted = !descends.Load()
	return sorted, sorted && !repeats.Load(), context.Cause(ctx)
}

// compareRest orders two rows by all groups but the first.
func (s *rowSorter) compareRest(a, b int) int {
	for i := range s.groups[1:] {
		g := &s.groups[i+1]
		if ka, kb := g.keyOf(a), g.keyOf(b); ka != kb {
			if ka < kb {
				return -1
			}
			return 1
		}
	}
	return 0
}

// rows returns the rows in order; the sort is stable. The caller frees the
// selection.
func (s *rowSorter) rows(ctx context.Context, n int) (*order.Selection, error) {
	x, keys := s.ordering(n)
	return s.sorter().Sort(ctx, x, keys)
}

// bucketBits is the number of leading key bits by which keys are scattered
// before they are sorted. It is large enough that a bucket of many million keys
// fits the cache.
const bucketBits = 11

// sortedKeys returns the keys of all rows in order. The caller frees them.
func (g *keyGroup) sortedKeys(ctx context.Context, with *Sorting, rows int) ([]uint64, error) {
	if rows <= oneSort {
		return g.sortedOnce(ctx, with, rows)
	}
	threads := min(parallel.Threads(with.Threads), 1+rows>>16)
	lead := max(0, g.bits-bucketBits)
	buckets := 1 << min(g.bits, bucketBits)
	// counts[t][b] is first the number of keys that thread t has in bucket b,
	// and later the position of its next one.
	counts := make([][]int, threads)
	share := func(t int) (from, to int) { return rows / threads * t, rows / threads * (t + 1) }
	each := func(t int, visit func(part []uint64)) {
		keys, scratch := make([]uint64, BlockRows), make([]uint64, BlockRows)
		from, to := share(t)
		if t == threads-1 {
			to = rows
		}
		for ; from < to && ctx.Err() == nil; from += BlockRows {
			part := keys[:min(BlockRows, to-from)]
			g.read(part, scratch, from)
			visit(part)
		}
	}
	parallel.Do(threads, threads, func(t int) {
		count := make([]int, buckets)
		each(t, func(part []uint64) {
			for _, k := range part {
				count[k>>lead]++
			}
		})
		counts[t] = count
	})
	// Threads stop counting when the context is done, which makes the counts
	// too small.
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	starts := bucketStarts(counts, buckets)
	out, err := with.alloc(rows)
	if err != nil {
		return nil, err
	}
	parallel.Do(threads, threads, func(t int) {
		next := counts[t]
		each(t, func(part []uint64) {
			for _, k := range part {
				b := k >> lead
				out[next[b]] = k
				next[b]++
			}
		})
	})
	scratch, errs := make([][]uint64, threads), make([]error, threads)
	parallel.By(threads, buckets, func(t, b int) {
		if ctx.Err() != nil || errs[t] != nil {
			return
		}
		bucket := out[starts[b]:starts[b+1]]
		if cap(scratch[t]) < len(bucket) {
			with.free(scratch[t])
			if scratch[t], errs[t] = with.alloc(len(bucket) + len(bucket)/4); errs[t] != nil {
				return
			}
		}
		// The only error is the context's, which is returned below.
		_ = order.Radix(ctx, bucket, scratch[t], 0, lead)
	})
	for _, s := range scratch {
		with.free(s)
	}
	if err := cmp.Or(context.Cause(ctx), cmp.Or(errs...)); err != nil {
		with.free(out)
		return nil, err
	}
	return out, nil
}

// bucketStarts returns where each bucket begins, and where the last one ends.
// It replaces counts[p][b], the number of items of part p in bucket b, by the
// position of the first of them.
func bucketStarts(counts [][]int, buckets int) []int {
	starts := make([]int, buckets+1)
	at := 0
	for b := range buckets {
		starts[b] = at
		for p := range counts {
			counts[p][b], at = at, at+counts[p][b]
		}
	}
	starts[buckets] = at
	return starts
}

// oneSort bounds the keys that are sorted without buckets. They and their copy
// fit a core's second-level cache, so reading them twice to scatter them would
// not pay.
const oneSort = 1 << 16

// sortedOnce is sortedKeys for few rows.
func (g *keyGroup) sortedOnce(ctx context.Context, with *Sorting, rows int) ([]uint64, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	keys, err := with.alloc(rows)
	if err != nil {
		return nil, err
	}
	scratch := make([]uint64, rows)
	for from := 0; from < rows; from += BlockRows {
		part := keys[from:min(from+BlockRows, rows)]
		g.read(part, scratch, from)
	}
	if err := order.Radix(ctx, keys, scratch, 0, g.bits); err != nil {
		with.free(keys)
		return nil, err
	}
	return keys, nil
}
