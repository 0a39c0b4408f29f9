package spill

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// blockRows is the largest number of rows in a block, and leastRows the
// smallest in a full one.
const (
	blockRows = 1 << 16
	leastRows = 1 << 6
	// goodRows is the size of a block from which its overhead no longer
	// matters.
	goodRows = 1 << 9
)

// writing is the share of the memory that the buffers of writers take.
const writing = 8

// writer distributes rows over lists of blocks by the classes of their values.
type writer struct {
	r      *run
	types  []scalar.Type
	dims   []dim
	tuple  int // columns of a tuple
	to     []*[]block
	room   int       // rows of a buffer
	bufs   [][]int64 // of a list, column after column
	filled []int     // rows in each buffer
	// lists and places are where each of the current rows goes.
	lists  []uint32
	places []int32
	data   []byte
}

// newWriter returns a writer to 2^b lists, where b is the sum of the bits of
// dims. It is one of several that write at the same time.
func (r *run) newWriter(types []scalar.Type, dims []dim, to []*[]block, several int) *writer {
	w := &writer{r: r, types: types, dims: dims, to: to, bufs: make([][]int64, len(to)),
		filled: make([]int, len(to))}
	w.tuple = len(types)
	w.room = int(r.bound/writing) / (8 * len(types) * len(to) * several)
	w.room = min(max(w.room, leastRows), blockRows)
	return w
}

// add appends n rows of columns.
func (w *writer) add(cols [][]int64, n int) error {
	if len(w.to) == 1 {
		return w.append(cols, n)
	}
	w.classify(cols, n)
	w.places = slices.Grow(w.places[:0], n)[:n]
	for from := 0; from < n; {
		// The rows up to the first one that fills a buffer.
		full, until := -1, from
		for until < n && full < 0 {
			at := w.lists[until]
			if w.bufs[at] == nil {
				w.bufs[at] = make([]int64, w.room*len(w.types))
			}
			w.places[until] = int32(w.filled[at])
			w.filled[at]++
			until++
			if w.filled[at] == w.room {
				full = int(at)
			}
		}
		lists, places := w.lists[from:until], w.places[from:until]
		for c, words := range cols {
			base := c * w.room
			for i, word := range words[from:until] {
				w.bufs[lists[i]][base+int(places[i])] = word
			}
		}
		if full >= 0 {
			if err := w.flush(full); err != nil {
				return err
			}
		}
		from = until
	}
	return nil
}

// append is add with a single list.
func (w *writer) append(cols [][]int64, n int) error {
	if w.bufs[0] == nil && n > 0 {
		w.bufs[0] = make([]int64, w.room*len(w.types))
	}
	for from := 0; from < n; {
		k := min(n-from, w.room-w.filled[0])
		for c, words := range cols {
			copy(w.bufs[0][c*w.room+w.filled[0]:], words[from:from+k])
		}
		w.filled[0] += k
		from += k
		if w.filled[0] == w.room {
			if err := w.flush(0); err != nil {
				return err
			}
		}
	}
	return nil
}

// classify finds the list of each row.
func (w *writer) classify(cols [][]int64, n int) {
	w.lists = slices.Grow(w.lists[:0], n)[:n]
	clear(w.lists)
	for _, d := range w.dims {
		if d.col == wholeRow {
			for i := range w.lists {
				class := classOfHash(hashRow(cols[:w.tuple], i), d.bits)
				w.lists[i] = w.lists[i]<<d.bits | uint32(class)
			}
			continue
		}
		for i, word := range cols[d.col][:n] {
			w.lists[i] = w.lists[i]<<d.bits | uint32(classOf(word, d.bits))
		}
	}
}

// close writes what is left.
func (w *writer) close() error {
	for at, n := range w.filled {
		if n > 0 {
			if err := w.flush(at); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the rows of a buffer as a block.
func (w *writer) flush(at int) error {
	rows := w.filled[at]
	w.filled[at] = 0
	b := block{rows: rows, cols: make([]field, len(w.types))}
	w.data = w.data[:0]
	for c := range w.types {
		words := w.bufs[at][c*w.room:][:rows]
		f := field{lo: slices.Min(words), hi: slices.Max(words)}
		f.width = store.WidthOf(uint64(f.hi) - uint64(f.lo))
		b.cols[c] = f
		had, n := len(w.data), rows*int(f.width)
		w.data = slices.Grow(w.data, n)[:had+n]
		pack(w.data[had:], words, f)
	}
	b.bytes = len(w.data)
	var err error
	if b.at, err = w.r.file.write(w.data); err != nil {
		return err
	}
	*w.to[at] = append(*w.to[at], b)
	return w.r.stopped()
}

// adder takes n rows of columns.
type adder = func(cols [][]int64, n int) error

// distribute appends rows of a bag to lists of blocks, by the classes of their
// values. Several writers take a stretch of the rows each, and the lists have
// the rows in the order of the bag. more, if not nil, returns an adder that
// adds columns to the rows from a number on. types are those of all columns.
func (r *run) distribute(g *bag, from []block, types []scalar.Type, dims []dim, to [][]block,
	more func(at int64, to adder) adder) error {
	all := firstColumns(max(len(g.types), len(g.facts)))
	codes, err := r.codesOf(g, all)
	if err != nil {
		return err
	}
	rows := g.rows
	if from != nil {
		rows = rowsOf(from)
	}
	room := r.bound / writing / int64(8*len(types)*len(to)*goodRows)
	n := max(1, min(r.threads(), int(min(room, rows/leastStretch))))
	lists := make([][][]block, n)
	err = r.sideBySide(n, func(k int) error {
		lists[k] = make([][]block, len(to))
		pointers := make([]*[]block, len(to))
		for i := range pointers {
			pointers[i] = &lists[k][i]
		}
		w := r.newWriter(types, dims, pointers, n)
		w.tuple = max(g.tuple, 1)
		add := w.add
		if more != nil {
			start, _ := stretchOf(int(rows), k, n)
			add = more(int64(start), w.add)
		}
		if err := r.stretch(g, from, all, codes, k, n, add); err != nil {
			return err
		}
		return w.close()
	})
	for _, list := range lists {
		for i := range list {
			to[i] = append(to[i], list[i]...) // also after a failure, to free them
		}
	}
	return err
}

// leastStretch is the least number of rows for a thread.
const leastStretch = 1 << 14

// threads returns the number of threads of a run.
func (r *run) threads() int { return parallel.Threads(r.req.Threads) }

// sideBySide calls f(0) to f(n-1) at the same time, and returns the error of
// the first of these that fails.
func (r *run) sideBySide(n int, f func(k int) error) error {
	errs := make([]error, n)
	parallel.Do(n, n, func(k int) {
		defer failure.Recover("spilling", &errs[k])
		errs[k] = f(k)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
