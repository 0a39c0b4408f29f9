package pipeline

import (
	"slices"

	"github.com/redfoxdb/redfox/runtime/portable/work"
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
func (b *bag) release(mem *work.Memory) {
	for _, p := range b.parts {
		for _, c := range p.cols {
			work.Free(mem, c)
		}
	}
	b.parts = nil
}

// remove takes rows out, given in ascending order, and puts the last ones in
// their places.
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
	pieces
	compute func(r *work.Run) *bag
	bag     *bag
	cols    []int // of the bag, for each slot
	// sameKeys reports whether the last bag that was computed has the groups of
	// the one before; nil if nothing is known.
	sameKeys func() bool
}

func (s *bagSource) prepare(r *work.Run) int {
	s.bag = s.compute(r)
	s.reset()
	for _, p := range s.bag.parts {
		s.add(p.n)
	}
	return s.rows
}

func (s *bagSource) start(w *work.Worker) scanner {
	return &bagScanner{src: s, batch: work.Batch{Cols: make([][]int64, len(s.cols))},
		size: w.Run.Sizes.Vector}
}

type bagScanner struct {
	src   *bagSource
	batch work.Batch
	size  int
}

func (s *bagScanner) Scan(from, to int, next work.Op) {
	s.src.each(from, to, s.size, func(piece, row, n int) {
		for slot, col := range s.src.cols {
			s.batch.Cols[slot] = s.src.bag.parts[piece].cols[col][row : row+n]
		}
		s.batch.N = n
		next.Push(&s.batch)
	})
}
