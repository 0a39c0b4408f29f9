package portable

import (
	"cmp"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// sortColumn is one column of an ordering.
type sortColumn struct {
	binding // slot: the column of the part
	desc    bool
}

// sortWords maps a column to words that order as int64 do.
func (c *sortColumn) sortWords(mem *memory, name string, p *part) []int64 {
	out := alloc[int64](mem, name, p.n)
	copy(out, p.cols[c.slot][:p.n])
	switch {
	case c.typ.Kind == scalar.String && c.dom.grows:
		if ranks := c.dom.dict.Ranks(); ranks != nil {
			for i, w := range out {
				out[i] = int64(ranks[w])
			}
		}
	case c.typ.Kind == scalar.Uint, c.typ.Kind == scalar.Float:
		for i, w := range out {
			out[i] = orderWord(c.typ.Kind, w)
		}
	}
	if c.desc {
		for i, w := range out {
			out[i] = ^w
		}
	}
	return out
}

// sorter orders the rows of a part by some columns. The leading ones are packed
// into one word a row, as many as fit; the rest are compared when these are
// equal.
type sorter struct {
	rows []keyedRow
	rest [][]int64
	all  [][]int64
	mem  *memory
}

type keyedRow struct {
	key uint64
	row uint32
}

// newSorter sorts the rows of a part.
func newSorter(mem *memory, name string, p *part, by []sortColumn) *sorter {
	if p.n >= math.MaxUint32 {
		abort(errSortRows{name})
	}
	s := &sorter{mem: mem}
	for i := range by {
		s.all = append(s.all, by[i].sortWords(mem, name, p))
	}
	mem.reserve(name, int64(p.n)*16)
	s.rows = make([]keyedRow, p.n)
	for i := range s.rows {
		s.rows[i].row = uint32(i)
	}
	room, packed := 64, 0
	for _, col := range s.all {
		rng := noWords
		for _, w := range col {
			rng = rng.union(interval{w, w})
		}
		b := rng.bits()
		if b > room {
			break
		}
		room -= b
		packed++
		for i, w := range col {
			k := &s.rows[i].key
			*k = *k<<(b&63) | uint64(w-rng.lo)
			if b == 64 {
				*k = uint64(w - rng.lo)
			}
		}
	}
	s.rest = s.all[packed:]
	slices.SortFunc(s.rows, s.compare)
	return s
}

// errSortRows is the error of an ordering of more rows than the engine numbers.
type errSortRows struct{ name string }

func (e errSortRows) Error() string {
	return e.name + " orders more than 4 billion tuples, which is not supported"
}

func (s *sorter) compare(a, b keyedRow) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	for _, col := range s.rest {
		if c := cmp.Compare(col[a.row], col[b.row]); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.row, b.row)
}

// sameGroup reports whether the rows at i and j of the order agree on the first
// n columns.
func (s *sorter) sameGroup(i, j, n int) bool {
	a, b := s.rows[i].row, s.rows[j].row
	for _, col := range s.all[:n] {
		if col[a] != col[b] {
			return false
		}
	}
	return true
}

func (s *sorter) free() {
	for _, col := range s.all {
		free(s.mem, col)
	}
	s.mem.release(int64(len(s.rows)) * 16)
}

// sequence computes a Seq.
type sequence struct {
	cached
	name   string
	pipes  []*pipeline
	cols   []string
	group  int          // leading columns of by that are the group
	by     []sortColumn // group, order, then the others
	needed int
}

// compute returns the input's columns and the index.
func (q *sequence) compute(r *run) *bag {
	return q.refresh(r, func() *bag {
		p := collect(r, q.name, q.pipes, q.cols).gather(r.mem)
		index := alloc[int64](r.mem, q.name, p.n)
		s := newSorter(r.mem, q.name, &p, q.by)
		defer s.free()
		next := int64(0)
		for i, k := range s.rows {
			if i > 0 && !s.sameGroup(i-1, i, q.group) {
				next = 0
			}
			index[k.row] = next
			next++
		}
		p.cols = append(p.cols, index)
		return &bag{parts: []part{p}}
	})
}

// collect runs pipelines into a new sink.
func collect(r *run, name string, pipes []*pipeline, cols []string) *collectSink {
	sink := newCollectSink(r, name, cols)
	runInto(r, sink, pipes)
	return sink
}

// runInto runs pipelines into a sink made for this run.
func runInto(r *run, sink sink, pipes []*pipeline) {
	for _, p := range pipes {
		p.sink, p.chains = sink, nil
	}
	r.exec(pipes)
}

// topK computes a TopK. Each worker keeps rows until it has several times as
// many as are wanted, then sorts them and drops the rest, so that the work is
// linear and the memory bounded.
type topK struct {
	cached
	name  string
	pipes []*pipeline
	cols  []string
	group int
	by    []sortColumn
	limit int64
}

// minPrune is the least number of rows that is worth sorting to drop some.
const minPrune = 1 << 14

func (k *topK) compute(r *run) *bag {
	return k.refresh(r, func() *bag {
		return &bag{parts: []part{*k.collect(r)}}
	})
}

func (k *topK) collect(r *run) *part {
	p, _ := k.collectCounted(r)
	return p
}

// collectCounted returns the first rows and the number of all.
func (k *topK) collectCounted(r *run) (*part, int64) {
	sink := newCollectSink(r, k.name, k.cols)
	// Within groups, what is kept may be almost everything: prune once, at the
	// end.
	if k.group == 0 && k.limit < math.MaxInt32 {
		sink.limit = max(minPrune, 4*int(k.limit))
		sink.prune = func(p *part) { k.prune(r.mem, p) }
	}
	runInto(r, sink, k.pipes)
	p := sink.gather(r.mem)
	k.prune(r.mem, &p)
	count := int64(0)
	for _, n := range sink.seen {
		count += n
	}
	return &p, count
}

// prune sorts a part and keeps the first rows of each group.
func (k *topK) prune(mem *memory, p *part) {
	s := newSorter(mem, k.name, p, k.by)
	defer s.free()
	var keep []uint32
	n := int64(0)
	for i, row := range s.rows {
		if i > 0 && !s.sameGroup(i-1, i, k.group) {
			n = 0
		}
		if n < k.limit {
			keep = append(keep, row.row)
		}
		n++
	}
	for i, col := range p.cols {
		out := alloc[int64](mem, k.name, len(keep))
		compact(out, col, keep)
		free(mem, col)
		p.cols[i] = out
	}
	p.n = len(keep)
}
