package tables

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/bitrows"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// Table holds the tuples of a Derived or Temp variable, or of a Dedup: packed
// rows, only ever appended, and, where repeated tuples must be found, a set.
// Its versions are spans of the rows, so Merge moves no tuple.
type Table struct {
	Name   string
	mem    *work.Memory
	Layout interval.Layout
	set    *tupleSet // nil for bags and for tuples proved distinct
	// ByColumn says that chunks have a column after the other, as words of
	// values. Bags whose columns need a word each are kept so.
	ByColumn bool

	old, delta, fresh spans
	taken             int // rows of fresh that takeNew has counted
	// Epoch counts the changes of each version, for what was computed from it.
	Epoch [4]uint64
	// keys stands for the set of keys that a bag has, 0 for that of an empty
	// one; keysMade numbers them.
	keys, keysMade uint64

	// chunks is replaced as a whole when it grows, so that workers look rows up
	// while others append.
	mu     sync.Mutex
	chunks atomic.Pointer[[]*chunk]
	// Reuses says that chunks that are given back are kept in spare for the
	// next contents.
	Reuses bool
	spare  []*chunk
	// writers add rows on behalf of the workers, by the worker's number.
	writers []*Writer
	// repeats are what rules that extend tuples remember.
	repeats []*repeats
	// seen is what joins by bits have found, by column.
	seen []bitrows.Seen
	// growing are the indexes that each Merge extends.
	growing []*GrowingIndex
}

// chunk is a piece of a table's rows. It belongs to the worker that fills it.
type chunk struct {
	words []uint64
	id    int
	rows  int // filled
	room  int
}

// Span is a range of a chunk's rows.
type Span struct {
	chunk    *chunk
	from, to int
}

// Packed returns n rows of k words, from the given one of the span on.
func (s Span) Packed(k, from, n int) []uint64 {
	return s.chunk.words[(s.from+from)*k : (s.from+from+n)*k]
}

// column returns n words of a column, from the given row of the span on, of a
// table that is kept by column.
func (s Span) column(col, from, n int) []int64 {
	at := col*s.chunk.room + s.from + from
	words := s.chunk.words[at : at+n]
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// Rows returns the number of rows.
func (s Span) Rows() int { return s.to - s.from }

// spans is a version of a table.
type spans struct {
	list []Span
	rows int
}

func (s *spans) add(p Span) {
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

// New returns an empty table whose columns are bounded by ranges.
func New(mem *work.Memory, name string, ranges []interval.Interval, distinct bool) *Table {
	t := &Table{Name: name, mem: mem, Layout: interval.NewLayout(ranges)}
	// Tuples without a bit, such as those of a nullary predicate, still need
	// something to be found by.
	t.Layout.Words = max(t.Layout.Words, 1)
	t.chunks.Store(&[]*chunk{})
	if distinct {
		t.set = newTupleSet(t, ranges)
	}
	return t
}

// NewBag returns an empty table of a Temp variable.
func NewBag(mem *work.Memory, name string, ranges []interval.Interval) *Table {
	t := New(mem, name, ranges, false)
	t.ByColumn = t.Layout.Words > 1 && t.Layout.Words == len(t.Layout.Fields)
	return t
}

// Position is the column that stands for a row's number in the order of
// insertion: the one behind the others.
func (t *Table) Position() int { return len(t.Layout.Fields) }

// CheckPositions aborts the run if a table has more rows than positions can
// tell apart.
func (t *Table) CheckPositions(rows int) {
	if rows > work.MaxPositions {
		work.Abort(work.TooManyPositions(t.Name))
	}
}

// Unpack reads a column of n packed rows, of which the first has the given
// position.
func (t *Table) Unpack(dst []int64, rows []uint64, col, n, first int) {
	if col < len(t.Layout.Fields) {
		t.Layout.Unpack(dst, rows, col, n)
		return
	}
	for i := range dst[:n] {
		dst[i] = int64(first + i)
	}
}

// Read returns a column of n rows of a span, from the given one on, of which
// the first has a position. It may use dst, and is not to be written to.
func (t *Table) Read(dst []int64, s Span, from, col, n, first int) []int64 {
	if t.ByColumn && col < len(t.Layout.Fields) {
		return s.column(col, from, n)
	}
	t.Unpack(dst, s.Packed(t.Layout.Words, from, n), col, n, first)
	return dst[:n]
}

// Rows returns the number of tuples of a version.
func (t *Table) Rows(v queryplan.Version) int {
	switch v {
	case queryplan.Old:
		return t.old.rows
	case queryplan.Delta:
		return t.delta.rows
	}
	return t.old.rows + t.delta.rows
}

// rows returns the number of tuples, those of the running round included.
func (t *Table) rows() int { return t.old.rows + t.delta.rows + t.fresh.rows }

// Version appends the spans of a version to dst.
func (t *Table) Version(dst []Span, v queryplan.Version) []Span {
	if v != queryplan.Delta {
		dst = append(dst, t.old.list...)
	}
	if v != queryplan.Old {
		dst = append(dst, t.delta.list...)
	}
	return dst
}

// IsMerged reports whether nothing was inserted since the last Merge.
func (t *Table) IsMerged() bool { return t.fresh.rows == 0 }

// Merge ends a round.
func (t *Table) Merge() {
	grew, moves := t.fresh.rows > 0, t.delta.rows > 0
	if grew {
		t.Epoch[queryplan.Full]++
		t.Epoch[queryplan.Last]++
	}
	if grew || moves {
		t.Epoch[queryplan.Delta]++
	}
	if moves {
		t.Epoch[queryplan.Old]++
	}
	for _, s := range t.delta.list {
		t.old.add(s)
	}
	t.delta, t.fresh, t.taken = t.fresh, spans{list: t.delta.list[:0]}, 0
	for _, x := range t.growing {
		x.extend()
	}
}

// Publish makes all rows appended so far the only version of a bag.
func (t *Table) Publish() {
	for i := range t.Epoch {
		t.Epoch[i]++
	}
	t.old, t.fresh, t.taken = t.fresh, spans{}, 0
	t.keysMade++
	t.keys = t.keysMade
}

// Keys returns a number that stands for the set of keys of a bag.
func (t *Table) Keys() uint64 { return t.keys }

// KeepKeys says that a bag has the keys again that it had when Keys returned a
// number.
func (t *Table) KeepKeys(number uint64) { t.keys = number }

// Detach makes room for new contents of a bag; the rows that it has can be
// scanned until freeChunks.
func (t *Table) Detach() []*chunk {
	had := *t.chunks.Load()
	t.chunks.Store(&[]*chunk{})
	t.freeWriters()
	return had
}

// FreeChunks gives back the memory of chunks.
func (t *Table) FreeChunks(chunks []*chunk) {
	if t.Reuses {
		t.spare = append(t.spare, chunks...)
		return
	}
	for _, c := range chunks {
		work.Free(t.mem, c.words)
	}
}

// FreeSpare gives back the memory of chunks that nothing uses.
func (t *Table) FreeSpare() {
	for _, c := range t.spare {
		work.Free(t.mem, c.words)
	}
	t.spare = nil
}

// Clear drops rows, set and indexes.
func (t *Table) Clear() {
	for i := range t.Epoch {
		t.Epoch[i]++
	}
	t.keys = 0
	t.FreeChunks(*t.chunks.Load())
	t.chunks.Store(&[]*chunk{})
	t.old, t.delta, t.fresh, t.taken = spans{}, spans{}, spans{}, 0
	t.freeWriters()
	t.freeRepeats()
	t.freeSeen()
	if t.set != nil {
		t.set.reset()
	}
	for _, x := range t.growing {
		x.free()
	}
	t.growing = nil
}

// newChunk returns a chunk with room for rows, at least for one.
func (t *Table) newChunk() *chunk {
	t.mu.Lock()
	defer t.mu.Unlock()
	have := *t.chunks.Load()
	room := minChunkRows
	for _, c := range have[max(0, len(have)-8):] {
		room = max(room, 2*c.room)
	}
	room = min(room, maxChunkRows)
	c := t.takeSpare(room)
	if c == nil {
		c = &chunk{room: room}
		c.words = work.Alloc[uint64](t.mem, t.Name, room*t.Layout.Words)
	}
	c.id, c.rows = len(have), 0
	grown := append(have, c)
	t.chunks.Store(&grown)
	return c
}

// takeSpare removes the smallest spare chunk that has room for the given rows,
// and returns it, or nil.
func (t *Table) takeSpare(room int) *chunk {
	best := -1
	for i, c := range t.spare {
		if c.room >= room && (best < 0 || c.room < t.spare[best].room) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	c := t.spare[best]
	t.spare = slices.Delete(t.spare, best, best+1)
	return c
}

// row returns the words of a row by its number, see appender.
func (t *Table) row(number uint64) []uint64 {
	c := (*t.chunks.Load())[number>>rowBits]
	k := t.Layout.Words
	at := int(number&(1<<rowBits-1)) * k
	return c.words[at : at+k]
}

// appender adds rows to a table on behalf of one worker.
type appender struct {
	table *Table
	cur   *chunk
	from  int
	done  []Span
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
	k := a.table.Layout.Words
	for len(rows) > 0 {
		c := a.reserve()
		n := min(len(rows)/k, c.room-c.rows)
		copy(c.words[c.rows*k:], rows[:n*k])
		c.rows += n
		rows = rows[n*k:]
	}
}

// AddColumns appends n rows to a table that is kept by column.
func (a *appender) AddColumns(cols [][]int64, n int) {
	for from := 0; from < n; {
		c := a.reserve()
		m := min(n-from, c.room-c.rows)
		for i, col := range cols {
			copy(Span{c, c.rows, c.rows + m}.column(i, 0, m), col[from:from+m])
		}
		c.rows += m
		from += m
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
		a.done = append(a.done, Span{a.cur, a.from, a.cur.rows})
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

// Writer is what one worker needs to add tuples to a table.
type Writer struct {
	appender
	fresh []uint64
	made  []uint64 // tuples of an Extension
	tries int      // tuples that came
	// extended are the tuples that came by extending, by the column's shift.
	extended [64]int

	narrow exchange[uint32]
	broad  exchange[uint64]
	wide   wideExchange
}

// Writer returns the writer of a worker. Workers may ask at the same time.
func (t *Table) Writer(id int) *Writer {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.writers) <= id {
		t.writers = append(t.writers, &Writer{appender: appender{table: t}})
	}
	return t.writers[id]
}

// Begin prepares the table for inserts by one worker, or by several, of what
// they make of so many rows.
func (t *Table) Begin(r *work.Run, rows int, parallel bool) {
	t.fitRepeats()
	if t.set != nil && (t.set.mode != smallMode || parallel) {
		t.set.grow(r, rows)
	}
}

// Insert adds packed tuples: all of them to a bag, else those that are new.
func (w *Writer) Insert(r *work.Run, keys []uint64) {
	w.tries += len(keys)
	if set := w.table.set; set != nil {
		set.insert(w, r, keys)
		return
	}
	w.add(keys)
}

// Finish inserts what insert has only collected, on behalf of a worker.
func (w *Writer) Finish(r *work.Run, id int) {
	if set := w.table.set; set != nil {
		set.flush(w, r, id)
	}
}

// flush takes over the rows of all writers. No worker may run.
func (t *Table) flush() {
	for _, w := range t.writers {
		w.flush()
	}
}

// TakeNew takes over the rows of all writers and returns how many rows have
// come since the last call.
func (t *Table) TakeNew() int {
	t.flush()
	n := t.fresh.rows - t.taken
	t.taken = t.fresh.rows
	return n
}

func (t *Table) freeWriters() {
	for _, w := range t.writers {
		work.Free(t.mem, w.narrow.words)
		work.Free(t.mem, w.broad.words)
		*w = Writer{appender: appender{table: t}}
	}
}

// Settle frees everything but the rows, as nothing is inserted or looked up any
// more.
func (t *Table) Settle() {
	t.DropSet()
	for _, x := range t.growing {
		x.free()
	}
}

// DropSet frees the set once nothing is inserted any more.
func (t *Table) DropSet() {
	if t.set != nil {
		t.set.reset()
		t.set = nil
		t.freeWriters()
		t.freeRepeats()
		t.freeSeen()
	}
}
