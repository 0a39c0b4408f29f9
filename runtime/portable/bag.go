package portable

import (
	"slices"
	"sort"
)

// bag is materialised rows, in the pieces that the workers made.
type bag struct {
	parts []part
}

type part struct {
	cols [][]int64
	n    int
}

// release frees a bag whose columns were allocated from mem.
func (b *bag) release(mem *memory) {
	for _, p := range b.parts {
		for _, c := range p.cols {
			free(mem, c)
		}
	}
	b.parts = nil
}

// remove takes rows out, given in ascending order, and puts the last ones in their
// places.
func (p *part) remove(rows []int) {
	for _, row := range slices.Backward(rows) {
		p.n--
		for _, col := range p.cols {
			col[row] = col[p.n]
		}
	}
	for i := range p.cols {
		p.cols[i] = p.cols[i][:p.n]
	}
}

// bagSource scans a bag that is computed when it is needed.
type bagSource struct {
	compute func(r *run) *bag
	bag     *bag
	cols    []int // of the bag, for each slot
	starts  []int
}

func (s *bagSource) prepare(r *run) int {
	s.bag = s.compute(r)
	s.starts = s.starts[:0]
	rows := 0
	for _, p := range s.bag.parts {
		s.starts = append(s.starts, rows)
		rows += p.n
	}
	return rows
}

func (s *bagSource) start(w *worker) scanner {
	return &bagScanner{src: s, batch: batch{cols: make([][]int64, len(s.cols))}, size: w.run.opts.vector}
}

type bagScanner struct {
	src   *bagSource
	batch batch
	size  int
}

func (s *bagScanner) scan(from, to int, next op) {
	src := s.src
	at := sort.SearchInts(src.starts, from+1) - 1
	for from < to {
		p := &src.bag.parts[at]
		begin := from - src.starts[at]
		n := min(to-from, p.n-begin, s.size)
		if n == 0 {
			at++
			continue
		}
		for slot, col := range src.cols {
			s.batch.cols[slot] = p.cols[col][begin : begin+n]
		}
		s.batch.n = n
		next.push(&s.batch)
		from += n
	}
}
