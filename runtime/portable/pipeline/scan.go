package pipeline

import (
	"slices"
	"sort"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/store"
)

// pieces number the rows of a source that lie in several places.
type pieces struct {
	starts []int // of each piece
	rows   int
}

func (p *pieces) reset() { p.starts, p.rows = p.starts[:0], 0 }

func (p *pieces) add(rows int) {
	p.starts = append(p.starts, p.rows)
	p.rows += rows
}

// each calls f for the rows from..to-1, at most size at a time: with n rows of
// a piece, from the given one of its rows on.
func (p *pieces) each(from, to, size int, f func(piece, row, n int)) {
	for at := sort.SearchInts(p.starts, from+1) - 1; from < to; at++ {
		end := p.rows
		if at+1 < len(p.starts) {
			end = p.starts[at+1]
		}
		for end = min(end, to); from < end; from += size {
			f(at, from-p.starts[at], min(size, end-from))
		}
		from = end
	}
}

// tableSource scans a version of a table.
type tableSource struct {
	pieces
	table   *tables.Table
	version queryplan.Version
	cols    []int // of the table, for each slot
	spans   []tables.Span
	first   int // the position of the version's first row
}

func (s *tableSource) prepare(*work.Run) int {
	s.spans = s.table.Version(s.spans[:0], s.version)
	if s.first = 0; s.version == queryplan.Delta {
		s.first = s.table.Rows(queryplan.Old)
	}
	s.reset()
	for _, p := range s.spans {
		s.add(p.Rows())
	}
	if slices.Contains(s.cols, s.table.Position()) {
		s.table.CheckPositions(s.first + s.rows)
	}
	return s.rows
}

func (s *tableSource) start(w *work.Worker) scanner {
	size := w.Run.Sizes.Vector
	return &tableScanner{src: s, batch: work.Batch{Cols: make([][]int64, len(s.cols))},
		room: work.Vectors(len(s.cols), size), size: size}
}

type tableScanner struct {
	src   *tableSource
	batch work.Batch
	room  [][]int64
	size  int
}

func (s *tableScanner) Scan(from, to int, next work.Op) {
	t := s.src.table
	s.src.each(from, to, s.size, func(piece, row, n int) {
		span := s.src.spans[piece]
		first := s.src.first + s.src.starts[piece] + row
		for slot, col := range s.src.cols {
			s.batch.Cols[slot] = t.Read(s.room[slot], span, row, col, n, first)
		}
		s.batch.N = n
		next.Push(&s.batch)
	})
}

// columnSource scans stored columns. Filters that compare a column with
// constants are applied to the narrow entries, and only the rows that pass them
// are widened.
type columnSource struct {
	cols    []*store.Column // for each slot
	rows    int
	filters []entryFilter
	never   bool // the filters exclude each other
}

// entryFilter keeps the entries of a column between two bounds, as unsigned
// offsets from its base.
type entryFilter struct {
	col    *store.Column
	lo, hi uint64
}

// newEntryFilter turns bounds on words into bounds on entries. all says that
// every entry passes, none that no entry does.
func newEntryFilter(c *store.Column, rng interval.Interval) (f entryFilter, all, none bool) {
	rng = rng.Intersect(interval.Interval{Lo: c.Stats.Min, Hi: c.Stats.Max})
	if rng.Empty() {
		return f, false, true
	}
	if rng.Lo <= c.Stats.Min && rng.Hi >= c.Stats.Max {
		return f, true, false
	}
	step := uint64(c.Step)
	f = entryFilter{c, (uint64(rng.Lo-c.Base) + step - 1) / step, uint64(rng.Hi-c.Base) / step}
	return f, false, f.lo > f.hi
}

func (s *columnSource) prepare(*work.Run) int {
	if s.never {
		return 0
	}
	return s.rows
}

func (s *columnSource) start(w *work.Worker) scanner {
	size := w.Run.Sizes.Vector
	return &columnScanner{src: s, batch: work.Batch{Cols: work.Vectors(len(s.cols), size)},
		size: size, sel: make([]uint32, size)}
}

type columnScanner struct {
	src   *columnSource
	batch work.Batch
	size  int
	sel   []uint32
}

func (s *columnScanner) Scan(from, to int, next work.Op) {
	for ; from < to; from += s.size {
		n := min(s.size, to-from)
		sel := s.sel[:n]
		for i := range s.src.filters {
			f := &s.src.filters[i]
			if i == 0 {
				sel = f.first(s.sel, from, n)
			} else {
				sel = f.next(sel)
			}
			if len(sel) == 0 {
				break
			}
		}
		if len(sel) == 0 {
			continue
		}
		for slot, c := range s.src.cols {
			if len(sel) == n {
				c.Read(s.batch.Cols[slot][:n], from)
			} else {
				c.Gather(s.batch.Cols[slot][:len(sel)], sel)
			}
		}
		s.batch.N = len(sel)
		next.Push(&s.batch)
	}
}

// first selects rows among from..from+n-1.
func (f *entryFilter) first(sel []uint32, from, n int) []uint32 {
	switch c := f.col; c.Width {
	case 1:
		return selectRange(sel, c.U8[from:from+n], from, f.lo, f.hi)
	case 2:
		return selectRange(sel, c.U16[from:from+n], from, f.lo, f.hi)
	case 4:
		return selectRange(sel, c.U32[from:from+n], from, f.lo, f.hi)
	default:
		return selectRange(sel, c.U64[from:from+n], from, f.lo, f.hi)
	}
}

// next keeps the selected rows that pass.
func (f *entryFilter) next(sel []uint32) []uint32 {
	switch c := f.col; c.Width {
	case 1:
		return refineRange(sel, c.U8, f.lo, f.hi)
	case 2:
		return refineRange(sel, c.U16, f.lo, f.hi)
	case 4:
		return refineRange(sel, c.U32, f.lo, f.hi)
	default:
		return refineRange(sel, c.U64, f.lo, f.hi)
	}
}

type entry interface {
	uint8 | uint16 | uint32 | uint64
}

// selectRange writes a row's number whether it passes or not, and moves on if
// it does: there is no branch to mispredict.
func selectRange[T entry](sel []uint32, entries []T, from int, lo, hi uint64) []uint32 {
	low, width := T(lo), T(hi-lo)
	sel = sel[:len(entries)]
	k := 0
	for i, v := range entries {
		sel[k] = uint32(from + i)
		k += work.Bit(v-low <= width)
	}
	return sel[:k]
}

func refineRange[T entry](sel []uint32, entries []T, lo, hi uint64) []uint32 {
	low, width := T(lo), T(hi-lo)
	k := 0
	for _, r := range sel {
		sel[k] = r
		k += work.Bit(entries[r]-low <= width)
	}
	return sel[:k]
}
