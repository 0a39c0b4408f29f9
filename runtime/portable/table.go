package portable

import (
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
)

// table holds the tuples of a Derived or Temp variable, or of a Dedup: packed
// rows, only ever appended, and, where repeated tuples must be found, a set.
// Its versions are spans of the rows, so Merge moves no tuple.
type table struct {
	name string
	mem  *memory
	lay  interval.Layout
	set  *tupleSet // nil for bags and for tuples proved distinct

	old, delta, fresh spans
	taken             int // rows of fresh that takeNew has counted
	// epoch counts the changes of each version, for what was computed from it.
	epoch [3]uint64

	// chunks is replaced as a whole when it grows, so that workers look rows up
	// while others append.
	mu     sync.Mutex
	chunks atomic.Pointer[[]*chunk]
	// writers add rows on behalf of the workers, by the worker's number.
	writers []*writer
	// growing are the indexes that each Merge extends.
	growing []*growingIndex
}

// chunk is a piece of a table's rows. It belongs to the worker that fills it.
type chunk struct {
	words []uint64
	id    int
	rows  int // filled
	room  int
}

// span is a range of a chunk's rows.
type span struct {
	chunk    *chunk
	from, to int
}

// packed returns n rows of k words, from the given one of the span on.
func (s span) packed(k, from, n int) []uint64 {
	return s.chunk.words[(s.from+from)*k : (s.from+from+n)*k]
}

func (s span) rows() int { return s.to - s.from }

// spans is a version of a table.
type spans struct {
	list []span
	rows int
}

func (s *spans) add(p span) {
	if p.from == p.to {
		return
	}
	s.rows += p.to - p.from
	if n := len(s.list); n > 0 && s.list[n-1].chunk == p.chunk && s.list[n-1].to == p.from {
		s.list[n-1].to = p.to
		return
	}
	s.list = append(s.list, p)
}

// The rows of a chunk: small first, so that tiny relations stay tiny, then a
// share of what the table has, up to a huge page of single words.
const (
	minChunkRows = 64
	maxChunkRows = 1 << 18
	// rowBits is what a row number within a chunk needs.
	rowBits = 18
)

// newTable returns an empty table whose columns are bounded by ranges.
func newTable(mem *memory, name string, ranges []interval.Interval, distinct bool) *table {
	t := &table{name: name, mem: mem, lay: interval.NewLayout(ranges)}
	// Tuples without a bit, such as those of a nullary predicate, still need
	// something to be found by.
	t.lay.Words = max(t.lay.Words, 1)
	t.chunks.Store(&[]*chunk{})
	if distinct {
		t.set = newTupleSet(t, ranges)
	}
	return t
}

// rows returns the number of tuples of a version.
func (t *table) rows(v queryplan.Version) int {
	switch v {
	case queryplan.Old:
		return t.old.rows
	case queryplan.Delta:
		return t.delta.rows
	}
	return t.old.rows + t.delta.rows
}

// version appends the spans of a version to dst.
func (t *table) version(dst []span, v queryplan.Version) []span {
	if v != queryplan.Delta {
		dst = append(dst, t.old.list...)
	}
	if v != queryplan.Old {
		dst = append(dst, t.delta.list...)
	}
	return dst
}

// merge ends a round.
func (t *table) merge() {
	grew, moves := t.fresh.rows > 0, t.delta.rows > 0
	if grew {
		t.epoch[queryplan.Full]++
	}
	if grew || moves {
		t.epoch[queryplan.Delta]++
	}
	if moves {
		t.epoch[queryplan.Old]++
	}
	for _, s := range t.delta.list {
		t.old.add(s)
	}
	t.delta, t.fresh, t.taken = t.fresh, spans{list: t.delta.list[:0]}, 0
	for _, x := range t.growing {
		x.extend()
	}
}

// publish makes all rows appended so far the only version of a bag.
func (t *table) publish() {
	for i := range t.epoch {
		t.epoch[i]++
	}
	t.old, t.fresh, t.taken = t.fresh, spans{}, 0
}

// detach makes room for new contents of a bag; the rows that it has can be
// scanned until freeChunks.
func (t *table) detach() []*chunk {
	had := *t.chunks.Load()
	t.chunks.Store(&[]*chunk{})
	t.freeWriters()
	return had
}

func (t *table) freeChunks(chunks []*chunk) {
	for _, c := range chunks {
		free(t.mem, c.words)
	}
}

// clear drops rows, set and indexes.
func (t *table) clear() {
	for i := range t.epoch {
		t.epoch[i]++
	}
	t.freeChunks(*t.chunks.Load())
	t.chunks.Store(&[]*chunk{})
	t.old, t.delta, t.fresh, t.taken = spans{}, spans{}, spans{}, 0
	t.freeWriters()
	if t.set != nil {
		t.set.reset()
	}
	for _, x := range t.growing {
		x.free()
	}
	t.growing = nil
}

// newChunk returns a chunk with room for rows, at least for one.
func (t *table) newChunk() *chunk {
	t.mu.Lock()
	defer t.mu.Unlock()
	have := *t.chunks.Load()
	room := minChunkRows
	for _, c := range have[max(0, len(have)-8):] {
		room = max(room, 2*c.room)
	}
	room = min(room, maxChunkRows)
	c := &chunk{id: len(have), room: room}
	c.words = alloc[uint64](t.mem, t.name, room*t.lay.Words)
	grown := append(have, c)
	t.chunks.Store(&grown)
	return c
}

// row returns the words of a row by its number, see appender.
func (t *table) row(number uint64) []uint64 {
	c := (*t.chunks.Load())[number>>rowBits]
	k := t.lay.Words
	at := int(number&(1<<rowBits-1)) * k
	return c.words[at : at+k]
}

// appender adds rows to a table on behalf of one worker.
type appender struct {
	table *table
	cur   *chunk
	from  int
	done  []span
}

// reserve returns the current chunk, with room for at least one row.
func (a *appender) reserve() *chunk {
	if a.cur == nil || a.cur.rows == a.cur.room {
		a.seal()
		a.cur = a.table.newChunk()
		a.from = 0
	}
	return a.cur
}

// add appends rows of k words each.
func (a *appender) add(rows []uint64) {
	k := a.table.lay.Words
	for len(rows) > 0 {
		c := a.reserve()
		n := min(len(rows)/k, c.room-c.rows)
		copy(c.words[c.rows*k:], rows[:n*k])
		c.rows += n
		rows = rows[n*k:]
	}
}

// addRow appends one row and returns its number.
func (a *appender) addRow(row []uint64) uint64 {
	c := a.reserve()
	copy(c.words[c.rows*len(row):], row)
	number := uint64(c.id)<<rowBits | uint64(c.rows)
	c.rows++
	return number
}

func (a *appender) seal() {
	if a.cur != nil && a.cur.rows > a.from {
		a.done = append(a.done, span{a.cur, a.from, a.cur.rows})
		a.from = a.cur.rows
	}
}

// flush hands the rows appended so far over to the table's running round.
func (a *appender) flush() {
	a.seal()
	for _, s := range a.done {
		a.table.fresh.add(s)
	}
	a.done = a.done[:0]
}

// writer is what one worker needs to add tuples to a table.
type writer struct {
	appender
	fresh  []uint64
	narrow exchange[uint32]
	broad  exchange[uint64]
	wide   wideExchange
}

// writer returns the writer of a worker. Workers may ask at the same time.
func (t *table) writer(id int) *writer {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.writers) <= id {
		t.writers = append(t.writers, &writer{appender: appender{table: t}})
	}
	return t.writers[id]
}

// begin prepares the table for inserts by one worker, or by several.
func (t *table) begin(r *run, parallel bool) {
	if t.set != nil && (t.set.mode != smallMode || parallel) {
		t.set.grow(r)
	}
}

// insert adds packed tuples: all of them to a bag, else those that are new.
func (w *writer) insert(r *run, keys []uint64) {
	if set := w.table.set; set != nil {
		set.insert(w, r, keys)
		return
	}
	w.add(keys)
}

// finish inserts what insert has only collected, on behalf of a worker.
func (w *writer) finish(r *run, id int) {
	if set := w.table.set; set != nil {
		set.flush(w, r, id)
	}
}

// flush takes over the rows of all writers. No worker may run.
func (t *table) flush() {
	for _, w := range t.writers {
		w.flush()
	}
}

// takeNew takes over the rows of all writers and returns how many rows have come
// since the last call.
func (t *table) takeNew() int {
	t.flush()
	n := t.fresh.rows - t.taken
	t.taken = t.fresh.rows
	return n
}

func (t *table) freeWriters() {
	for _, w := range t.writers {
		free(t.mem, w.narrow.words)
		free(t.mem, w.broad.words)
		*w = writer{appender: appender{table: t}}
	}
}

// settle frees everything but the rows, as nothing is inserted or looked up any
// more.
func (t *table) settle() {
	t.dropSet()
	for _, x := range t.growing {
		x.free()
	}
}

// dropSet frees the set once nothing is inserted any more.
func (t *table) dropSet() {
	if t.set != nil {
		t.set.reset()
		t.set = nil
		t.freeWriters()
	}
}
