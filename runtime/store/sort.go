package store

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
)

// Order is one column of an ordering.
type Order struct {
	Col  int
	Desc bool
}

// SortRows returns the rows in the order of the given columns; ties are broken
// by the columns that `by` leaves out, ascending, from first to last, so that
// the order of a relation's tuples is total. Strings are ordered by bytes.
//
// Columns are packed into 64-bit keys that are radix-sorted with their row
// numbers. It takes 36 bytes a row while it runs.
func SortRows(cols []*Column, rows int, by []Order) []uint32 {
	return newRowSorter(cols, by).rows(rows)
}

// EachSorted calls yield with blocks of rows in the order of SortRows: block
// holds a slice of words for each column. The slices are used again. When the
// packed columns fit 64 bits, it takes 8 bytes a row: the keys are scattered by
// their leading bits, sorted a bucket at a time in cache, and unpacked; no row is
// looked up. When the rows are in order already, nothing is held.
func EachSorted(cols []*Column, rows int, by []Order, yield func(block [][]int64) error) error {
	s := newRowSorter(cols, by)
	block := make([][]int64, len(cols))
	room := make([]int64, len(cols)*blockRows)
	emit := func(n int, fill func(c int, dst []int64)) error {
		for c := range cols {
			block[c] = room[c*blockRows:][:n]
			fill(c, block[c])
		}
		return yield(block)
	}
	if sorted, _ := s.inOrder(rows); sorted {
		for from := 0; from < rows; from += blockRows {
			err := emit(min(blockRows, rows-from), func(c int, dst []int64) { cols[c].Read(dst, from) })
			if err != nil {
				return err
			}
		}
		return nil
	}
	if len(s.groups) == 1 {
		g := &s.groups[0]
		keys := g.sortedKeys(rows)
		for from := 0; from < rows; from += blockRows {
			part := keys[from:min(from+blockRows, rows)]
			err := emit(len(part), func(c int, dst []int64) { g.unpack(dst, part, s.place[c]) })
			if err != nil {
				return err
			}
		}
		return nil
	}
	order := s.rows(rows)
	for from := 0; from < rows; from += blockRows {
		part := order[from:min(from+blockRows, rows)]
		err := emit(len(part), func(c int, dst []int64) { cols[c].Gather(dst, part) })
		if err != nil {
			return err
		}
	}
	return nil
}

// blockRows is the number of rows that are handed on at once.
const blockRows = 2048

// rowSorter sorts rows by groups of columns, each packed into one word.
type rowSorter struct {
	groups []keyGroup
	place  []int // of each column in its group's parts
}

func newRowSorter(cols []*Column, by []Order) *rowSorter {
	order := make([]Order, 0, len(cols))
	used := make([]bool, len(cols))
	for _, o := range by {
		if !used[o.Col] {
			used[o.Col] = true
			order = append(order, o)
		}
	}
	for c := range cols {
		if !used[c] {
			order = append(order, Order{Col: c})
		}
	}
	s := &rowSorter{place: make([]int, len(cols)), groups: make([]keyGroup, 1)}
	for _, o := range order {
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

// inOrder reports whether the rows are in order as they are, and whether no two
// of them are equal then.
func (s *rowSorter) inOrder(rows int) (sorted, strict bool) {
	keys, scratch := make([]uint64, blockRows), make([]uint64, blockRows)
	strict = true
	var last uint64
	for from := 0; from < rows; from += blockRows {
		part := keys[:min(blockRows, rows-from)]
		s.groups[0].read(part, scratch, from)
		for i, k := range part {
			if k > last || from+i == 0 {
				last = k
				continue
			}
			if k < last {
				return false, false
			}
			switch s.compareRest(from+i-1, from+i) {
			case 1:
				return false, false
			case 0:
				strict = false
			}
		}
	}
	return true, strict
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

// rows returns the rows in order; equal ones stay in the order they have.
func (s *rowSorter) rows(n int) []uint32 {
	order := make([]uint32, n)
	if n == 0 {
		return order
	}
	keyed := s.groups[0].keyedRows(n)
	scratch := make([]keyedRow, n)
	sortKeyedRows(keyed, scratch, s.groups[0].bits)
	s.refine(keyed, scratch, 1)
	for i, k := range keyed {
		order[i] = k.row
	}
	return order
}

// refine sorts runs of equal keys by the group of that number and those after it.
func (s *rowSorter) refine(rows, scratch []keyedRow, group int) {
	if group == len(s.groups) {
		return
	}
	g := &s.groups[group]
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].key == rows[from].key {
			to++
		}
		if run := rows[from:to]; len(run) > 1 {
			for i := range run {
				run[i].key = g.keyOf(int(run[i].row))
			}
			sortKeyedRows(run, scratch, g.bits)
			s.refine(run, scratch, group+1)
		}
		from = to
	}
}

// bucketBits is the number of leading key bits by which keys are scattered
// before they are sorted: enough that a bucket of many millions fits the cache.
const bucketBits = 11

// sortedKeys returns the keys of all rows in order.
func (g *keyGroup) sortedKeys(rows int) []uint64 {
	threads := min(goruntime.GOMAXPROCS(0), 1+rows>>16)
	lead := max(0, g.bits-bucketBits)
	buckets := 1 << min(g.bits, bucketBits)
	// counts[t][b] is first how many keys thread t has in bucket b, then where
	// its next one goes.
	counts := make([][]int, threads)
	share := func(t int) (from, to int) { return rows / threads * t, rows / threads * (t + 1) }
	each := func(t int, visit func(part []uint64)) {
		keys, scratch := make([]uint64, blockRows), make([]uint64, blockRows)
		from, to := share(t)
		if t == threads-1 {
			to = rows
		}
		for ; from < to; from += blockRows {
			part := keys[:min(blockRows, to-from)]
			g.read(part, scratch, from)
			visit(part)
		}
	}
	inParallel(threads, threads, func(t int) {
		count := make([]int, buckets)
		each(t, func(part []uint64) {
			for _, k := range part {
				count[k>>lead]++
			}
		})
		counts[t] = count
	})
	starts := make([]int, buckets+1)
	at := 0
	for b := range buckets {
		starts[b] = at
		for t := range counts {
			counts[t][b], at = at, at+counts[t][b]
		}
	}
	starts[buckets] = at
	out := make([]uint64, rows)
	inParallel(threads, threads, func(t int) {
		next := counts[t]
		each(t, func(part []uint64) {
			for _, k := range part {
				b := k >> lead
				out[next[b]] = k
				next[b]++
			}
		})
	})
	scratch := make([][]uint64, threads)
	inParallelBy(threads, buckets, func(t, b int) {
		bucket := out[starts[b]:starts[b+1]]
		if len(bucket) > smallSort && cap(scratch[t]) < len(bucket) {
			scratch[t] = make([]uint64, len(bucket)+len(bucket)/4)
		}
		sortKeys(bucket, scratch[t], lead)
	})
	return out
}

// inParallel runs do(0) to do(n-1), on so many goroutines at most.
func inParallel(threads, n int, do func(i int)) {
	inParallelBy(threads, n, func(_, i int) { do(i) })
}

// inParallelBy is inParallel for work that needs to know its goroutine's number.
func inParallelBy(threads, n int, do func(thread, i int)) {
	if threads <= 1 || n <= 1 {
		for i := range n {
			do(0, i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for t := range min(threads, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(t, i)
			}
		})
	}
	wg.Wait()
}
