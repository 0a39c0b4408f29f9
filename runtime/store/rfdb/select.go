package rfdb

import (
	"context"
	"math/bits"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/bitpack"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/rowmarks"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/blocks"
)

// Rows of a table are selected a block at a time. The tested columns are
// unpacked first, into memory that the next block reuses. The other columns are
// unpacked only if rows are left. If the bounds of a block show that no row
// passes, nothing is unpacked.

// Test is a test of the values of a column. Rows that fail it need not be
// returned.
type Test struct {
	// Range means that a word passes if it is between Least and Most, as signed
	// numbers.
	Range       bool
	Least, Most int64
	// Equal, if not nil, lists all values that can pass.
	Equal []scalar.Value
	// Passes reports whether a value passes.
	Passes func(v scalar.Value) bool
	// Alone means that nothing reads the column but this test. Its values may
	// then be replaced by one value that passes.
	Alone bool
}

// Selection reports what Relations has left out.
type Selection struct {
	Selected     bool // rows were left out, or columns reduced to one value
	Kept         int64
	Bytes        int64 // of the file that were read
	Blocks, Left int   // the blocks of the columns, and how many were not unpacked
}

// Selecting rows pays if at most the share mostSelected of a table passes, and
// the table has at least leastSelected rows. Tests change both.
var (
	mostSelected  = 0.125
	leastSelected = 1 << 16
)

// tableSize bounds the offsets of a test whose results are tabulated.
const tableSize = 1 << 16

// offsetTest is a test of offsets.
type offsetTest struct {
	lo, hi uint64 // an offset passes between these
	table  []bool // if not nil, an offset passes if it is true here
	none   bool   // no offset passes
}

// compile translates a test of a column's values into one of its offsets. It
// returns false if that would cost more than it saves.
func (e *columnEntry) compile(t *Test, dict *store.Dict) (offsetTest, bool) {
	l := &e.layout
	last := ^uint64(0) >> (64 - 8*max(e.Width, 1))
	lo, hi := offsetOf(l, l.Stats.Min), offsetOf(l, l.Stats.Max)
	a, b, ascends := l.Between(lo, hi)
	if e.Width == 0 || lo > hi || hi > last || !ascends || a != l.Stats.Min || b != l.Stats.Max {
		return offsetTest{}, false
	}
	if isSigned := l.Stats.Min <= l.Stats.Max; t.Range && isSigned && l.Type.Kind != scalar.String {
		if t.Most < l.Stats.Min || t.Least > l.Stats.Max {
			return offsetTest{none: true}, true
		}
		out := offsetTest{lo: lo, hi: hi}
		if t.Least > l.Stats.Min {
			out.lo = offsetOf(l, t.Least-1) + 1
		}
		if t.Most < l.Stats.Max {
			out.hi = offsetOf(l, t.Most)
		}
		out.none = out.lo > out.hi
		return out, true
	}
	if hi >= tableSize && (t.Equal == nil || dict == nil || hi >= 1<<32) {
		return offsetTest{}, false
	}
	out := offsetTest{table: make([]bool, hi+1)}
	switch {
	case dict == nil:
		for o := lo; o <= hi; o++ {
			out.table[o] = t.Passes(scalar.OfBits(l.Type, uint64(l.Base)+o*uint64(l.Step)))
		}
	case t.Equal != nil:
		for _, v := range t.Equal {
			code, ok := dict.Lookup(v.Str())
			if w := int64(code); ok && w >= l.Stats.Min && w <= l.Stats.Max && t.Passes(v) {
				out.table[offsetOf(l, w)] = true
			}
		}
	default:
		dict.Each(int(l.Stats.Min), int(l.Stats.Max)+1, func(code int, s string) {
			out.table[offsetOf(l, int64(code))] = t.Passes(scalar.OfString(s))
		})
	}
	return out, true
}

// offsetOf returns the offset of the greatest word of a layout that is at most
// w. w is at least the base.
func offsetOf(l *store.Layout, w int64) uint64 {
	q, _ := bits.Div64(0, uint64(w)-uint64(l.Base), uint64(l.Step))
	return q
}

func (t *offsetTest) passes(offset uint64) bool {
	if t.table != nil {
		return offset < uint64(len(t.table)) && t.table[offset]
	}
	return !t.none && t.lo <= offset && offset <= t.hi
}

// excludes reports whether no offset between the bounds can pass; includes
// reports whether all of them do. Both may return false if the bounds do not
// tell.
func (t *offsetTest) excludes(least, greatest uint64) bool {
	return t.none || t.table == nil && (greatest < t.lo || least > t.hi)
}

func (t *offsetTest) includes(least, greatest uint64) bool {
	return t.table == nil && !t.none && t.lo <= least && greatest <= t.hi
}

// mark clears the marks of rows that fail.
func mark[T bitpack.Unsigned](t *offsetTest, marks []bool, entries []T) {
	b := rowmarks.Bytes(marks)
	entries = entries[:len(b)]
	if t.table != nil {
		passes := rowmarks.Bytes(t.table)
		for i, v := range entries {
			b[i] &= passes[v]
		}
		return
	}
	lo, span := T(t.lo), T(t.hi-t.lo)
	for i, v := range entries {
		pass := byte(0)
		if v-lo <= span {
			pass = 1
		}
		b[i] &= pass
	}
}

// selectedColumn is a column of a table whose rows are selected.
type selectedColumn struct {
	entry  *columnEntry
	part   string
	column *store.Column // of all rows; without entries if they are packed
	blocks []packedBlock
	test   *offsetTest
	alone  bool
	read   bool // it is in the result
	chunks [][]store.Chunk
	first  []representative // the first word that passes, of each task
}

type representative struct {
	word  int64
	known bool
}

// selecting is the selection of a table's rows.
type selecting struct {
	file    *File
	rows    int
	columns []*selectedColumn
	tested  []*selectedColumn
	workers []*selector
	kept    []int
	mu      sync.Mutex
	report  *Selection
}

// selector is the memory of a thread that selects.
type selector struct {
	decoder blocks.Decoder
	marks   [blocks.Rows]bool
	places  [blocks.Rows]uint32
	rooms   []*store.Column // a block of each column
	loaded  []*store.Column // the columns that are loaded for the current block
	words   [][]int64       // of the selected rows, for each column
	bytes   int64           // read in the task
}

// selectRows returns a table of the rows that pass tests. It returns nil if
// there are no tests, or if selecting does not pay.
func (f *File) selectRows(ctx context.Context, how Reading, t *tableEntry, columns []int,
	read map[int]bool, tests map[int]*Test) (*store.Table, error) {
	if len(tests) == 0 || how.Selection == nil || t.Rows < leastSelected ||
		t.Rows <= store.SampleRows {
		return nil, nil
	}
	var entries []*columnEntry
	for _, c := range columns {
		e := t.Columns[c]
		if e.Packed != nil && e.packedRows() < t.Rows {
			return nil, nil
		}
		if read[c] {
			entries = append(entries, e)
		}
	}
	headers := how
	headers.headersOnly = true
	if err := f.prove(ctx, headers, entries); err != nil {
		return nil, err
	}
	s := &selecting{file: f, rows: t.Rows, report: how.Selection}
	pays := false
	err := guarded(func() error {
		var err error
		pays, err = s.plan(t, columns, read, tests)
		return err
	})
	if err != nil || !pays {
		return nil, f.cut(err)
	}
	if err := s.run(ctx, parallel.Threads(how.Threads)); err != nil {
		return nil, err
	}
	return s.table(how, t, columns)
}

// plan chooses how to test the columns, and estimates whether few rows pass.
func (s *selecting) plan(t *tableEntry, columns []int, read map[int]bool,
	tests map[int]*Test) (pays bool, err error) {
	passing := make([]bool, store.SampleRows)
	for i := range passing {
		passing[i] = true
	}
	for _, at := range columns {
		e := t.Columns[at]
		c := &selectedColumn{entry: e, read: read[at], part: s.file.owner(e),
			column: s.file.column(e)}
		s.columns = append(s.columns, c)
		if test := tests[at]; c.read && test != nil {
			if compiled, ok := e.compile(test, c.column.Dict); ok {
				c.test, c.alone = &compiled, test.Alone
				s.tested = append(s.tested, c)
				for i, w := range s.file.sampleOf(e).Words {
					passing[i] = passing[i] && compiled.passes(offsetOf(&e.layout, w))
				}
			}
		}
		if c.read && e.Packed != nil {
			if c.blocks, err = e.blocksOf(s.file.bytes(&e.Packed.Headers)); err != nil {
				return false, &DamageError{c.part, e.Packed.Headers.At, "it has " + err.Error()}
			}
		}
	}
	return len(s.tested) > 0 &&
		float64(rowmarks.Count(passing)) <= mostSelected*store.SampleRows, nil
}

// run selects the rows. A task is blocksAtOnce blocks.
func (s *selecting) run(ctx context.Context, threads int) error {
	count := (s.rows + blocks.Rows - 1) / blocks.Rows
	tasks := (count + blocksAtOnce - 1) / blocksAtOnce
	s.workers, s.kept = make([]*selector, threads), make([]int, tasks)
	for _, c := range s.columns {
		c.chunks, c.first = make([][]store.Chunk, tasks), make([]representative, tasks)
	}
	errs := make([]error, tasks)
	parallel.By(threads, tasks, func(t, task int) {
		if errs[task] = context.Cause(ctx); errs[task] != nil {
			return
		}
		if s.workers[t] == nil {
			s.workers[t] = s.newSelector()
		}
		errs[task] = s.file.cut(guarded(func() error {
			return s.selectTask(s.workers[t], task, min((task+1)*blocksAtOnce, count))
		}))
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *selecting) newSelector() *selector {
	w := &selector{rooms: make([]*store.Column, len(s.columns)),
		loaded: make([]*store.Column, len(s.columns)), words: make([][]int64, len(s.columns))}
	for i, c := range s.columns {
		if c.blocks != nil {
			layout := c.entry.layout
			layout.Rows = blocks.Rows
			w.rooms[i] = store.UnreadColumn(layout, c.column.Dict)
			_ = w.rooms[i].MakeRoom(nil, "") // without a ledger there is no error
		}
	}
	return w
}

// selectTask selects the rows of the blocks of a task. until is the end of the
// last one.
func (s *selecting) selectTask(w *selector, task, until int) error {
	unpacked, all := 0, 0
	w.bytes = 0
	for i := range w.words {
		w.words[i] = w.words[i][:0]
	}
	for b := task * blocksAtOnce; b < until; b++ {
		clear(w.loaded)
		from, end := b*blocks.Rows, min((b+1)*blocks.Rows, s.rows)
		marks := w.marks[:end-from]
		n, err := s.markBlock(w, b, from, end, marks)
		if err != nil {
			return err
		}
		places := w.places[:0]
		if n > 0 {
			places = rowmarks.Places(w.places[:], marks)
			s.kept[task] += n
		}
		for i, c := range s.columns {
			if c.blocks != nil {
				all++
			}
			switch {
			case !c.read || n == 0:
			case c.alone && c.first[task].known:
			default:
				if err := s.load(w, i, b, from, end); err != nil {
					return err
				}
				if c.alone {
					c.first[task] = representative{w.loaded[i].Word(int(places[0])), true}
					break
				}
				at := len(w.words[i])
				w.words[i] = slices.Grow(w.words[i], n)[:at+n]
				w.loaded[i].Gather(w.words[i][at:], places)
			}
			if c.blocks != nil && w.loaded[i] != nil {
				unpacked++
			}
		}
	}
	for i, c := range s.columns {
		if len(w.words[i]) > 0 {
			c.chunks[task] = []store.Chunk{store.Narrow(c.entry.layout.Type.Kind, w.words[i], 1)}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report.Blocks += all
	s.report.Left += all - unpacked
	s.report.Bytes += w.bytes
	return nil
}

// markBlock marks the rows of a block that pass, and counts them.
func (s *selecting) markBlock(w *selector, b, from, until int, marks []bool) (int, error) {
	for _, c := range s.tested {
		if c.blocks != nil && c.test.excludes(c.blocks[b].Least, c.blocks[b].Greatest) ||
			c.test.none {
			return 0, nil
		}
	}
	for i := range marks {
		marks[i] = true
	}
	for i, c := range s.columns {
		if c.test == nil || c.blocks != nil && c.test.includes(c.blocks[b].Least,
			c.blocks[b].Greatest) {
			continue
		}
		// A row that passes a range is within the bounds of the column, so the
		// decoder need not check.
		w.decoder.Unchecked = c.test.table == nil
		err := s.load(w, i, b, from, until)
		w.decoder.Unchecked = false
		if err != nil {
			return 0, err
		}
		switch col := w.loaded[i]; col.Width {
		case 1:
			mark(c.test, marks, col.U8)
		case 2:
			mark(c.test, marks, col.U16)
		case 4:
			mark(c.test, marks, col.U32)
		default:
			mark(c.test, marks, col.U64)
		}
		if !slices.Contains(marks, true) {
			return 0, nil
		}
	}
	return rowmarks.Count(marks), nil
}

// load unpacks a block of a column, unless it is loaded.
func (s *selecting) load(w *selector, i, b, from, until int) error {
	c := s.columns[i]
	if w.loaded[i] != nil {
		return nil
	}
	if c.blocks == nil {
		w.loaded[i] = c.column.Slice(from, until)
		w.bytes += w.loaded[i].Bytes()
		return nil
	}
	room, block := w.rooms[i], c.blocks[b]
	block.from, block.until = 0, until-from
	w.bytes += int64(block.Size)
	if err := s.file.unpack(&w.decoder, c.entry, &block, room, c.part); err != nil {
		return err
	}
	w.loaded[i] = room
	return nil
}

// table returns the table of the selected rows.
func (s *selecting) table(how Reading, t *tableEntry, columns []int) (*store.Table, error) {
	kept := 0
	for _, n := range s.kept {
		kept += n
	}
	s.report.Selected = true
	s.report.Kept = int64(kept)
	out := &store.Table{Name: t.Name, Rows: kept}
	for i, c := range s.columns {
		e := t.Columns[columns[i]]
		out.Names = append(out.Names, e.Name)
		var col *store.Column
		switch {
		case !c.read:
			stats := e.layout.Stats
			stats.Distinct = min(stats.Distinct, int64(kept))
			col = store.AbsentColumn(e.layout.Type, kept, stats)
		case c.alone && kept > 0:
			first := slices.IndexFunc(c.first, func(r representative) bool { return r.known })
			col = store.ConstantColumn(e.layout.Type, c.column.Dict, c.first[first].word, kept)
		default:
			var err error
			col, err = store.Join(parallel.Threads(how.Threads), e.layout.Type, c.column.Dict,
				slices.Concat(c.chunks...), how.Ledger, c.part)
			if err != nil {
				return nil, err
			}
			col.Stats.Distinct = min(col.Stats.Distinct, int64(kept))
		}
		out.Columns = append(out.Columns, col)
	}
	return out, nil
}
