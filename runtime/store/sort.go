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

// Order is one column of an ordering.
type Order struct {
	Col  int
	Desc bool
}

// Arrangement is rows in order.
type Arrangement struct {
	N int
	// read sets dst to the words of a column from a place of the order on.
	// Goroutines may read at the same time.
	Read func(col int, dst []int64, from int)
	Free func() // gives memory back; nothing is read afterwards
}

// InPlace is the first n rows of columns as they stand.
func InPlace(cols []*Column, n int) *Arrangement {
	return &Arrangement{N: n, Read: func(c int, dst []int64, from int) { cols[c].Read(dst, from) },
		Free: func() {}}
}

// Each calls yield with blocks of the rows in order: block holds a slice of
// words for each column. The slices are used again.
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

// Arrange finds the order of rows, or of the first of them. Ties are broken by
// the columns that the ordering leaves out, ascending, from first to last, so
// that the order of a relation's tuples is total. Strings are ordered by bytes.
//
// When the packed columns fit 64 bits, it takes 8 bytes a row: the keys are
// scattered by their leading bits, sorted a bucket at a time in cache, and
// unpacked; no row is looked up. Otherwise it takes 20. When the rows are in
// order already, or few are wanted, next to nothing is held.
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

// fewRows is how many times more rows there are than wanted when sorting all of
// them is not worth it.
const fewRows = 8

// blockRows is the number of rows that are handed on at once.
const BlockRows = 2048

// rowSorter sorts the rows of columns. Its groups are the columns, each group
// packed into one word.
type rowSorter struct {
	Sorting
	cols   []*Column
	by     []Order // of every column
	groups []keyGroup
	place  []int // of each column in its group's parts
}

// Sorting holds the resources of a sort.
type Sorting struct {
	Threads int             // at most; 0: one for each core
	Memory  order.Allocator // nil: Go's heap
	What    string          // what messages call the rows
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

// rowList returns a list of n rows that is not given back.
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

// ordering returns the rows as package order takes them.
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

// orderRows is how many rows a thread takes at a time of those whose order is
// looked at.
const orderRows = 1 << 16

// inOrder reports whether the rows are in order as they are, and whether no two
// of them are equal then.
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

// rows returns the rows in order; equal ones stay in the order they have. The
// selection is the caller's to free.
func (s *rowSorter) rows(ctx context.Context, n int) (*order.Selection, error) {
	x, keys := s.ordering(n)
	return s.sorter().Sort(ctx, x, keys)
}

// bucketBits is the number of leading key bits by which keys are scattered
// before they are sorted: enough that a bucket of many millions fits the cache.
const bucketBits = 11

// sortedKeys returns the keys of all rows in order, which are the caller's to
// free.
func (g *keyGroup) sortedKeys(ctx context.Context, with *Sorting, rows int) ([]uint64, error) {
	if rows <= oneSort {
		return g.sortedOnce(ctx, with, rows)
	}
	threads := min(parallel.Threads(with.Threads), 1+rows>>16)
	lead := max(0, g.bits-bucketBits)
	buckets := 1 << min(g.bits, bucketBits)
	// counts[t][b] is first how many keys thread t has in bucket b, then where
	// its next one goes.
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
	// Threads stop counting when the context is done: then the counts are
	// short.
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
		// An error is the context's, which is returned below.
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
// counts[p][b] is first how many items of part p are in bucket b, then where
// the next one of them goes.
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

// oneSort is how many keys are sorted as one: they and their copy fit a core's
// second-level cache, and reading them twice to scatter them would not pay.
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
