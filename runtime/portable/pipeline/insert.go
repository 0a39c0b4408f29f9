package pipeline

import (
	"sync/atomic"

	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// insertSink adds tuples to a table: those that are new, if the table has a
// set.
type insertSink struct {
	table *tables.Table
	cols  []string     // column names of the pipeline, in the table's order
	rows  atomic.Int64 // tuples that arrived
	// byBits says that a join went by bits since the last call of finish.
	byBits bool
}

func (s *insertSink) begin(r *work.Run, rows int, parallel bool) {
	s.table.Begin(r, rows, parallel)
}

func (s *insertSink) start(w *work.Worker, p *pipeline) work.Op {
	o := &insertOp{insertSink: s, slots: p.slotsOf(s.cols), run: w.Run, id: w.ID,
		writer: s.table.Writer(w.ID)}
	o.keys = make([]uint64, w.Run.Sizes.Vector*s.table.Layout.Words)
	return o
}

// finish hands the new rows over and returns what was done since the last call.
func (s *insertSink) finish() Done {
	done := Done{Rows: s.rows.Swap(0), Kept: int64(s.table.TakeNew()), ByBits: s.byBits}
	s.byBits = false
	return done
}

// insertOp adds one worker's tuples.
type insertOp struct {
	*insertSink
	run    *work.Run
	id     int
	writer *tables.Writer
	slots  []int
	cols   [][]int64
	keys   []uint64 // packed tuples of the batch
	n      int64
}

func (o *insertOp) Push(b *work.Batch) {
	t := o.table
	o.cols = b.Pick(o.cols, o.slots)
	o.n += int64(b.N)
	if t.ByColumn {
		o.writer.AddColumns(o.cols, b.N)
		return
	}
	keys := o.keys[:b.N*t.Layout.Words]
	t.Layout.Pack(keys, o.cols, b.N)
	o.writer.Insert(o.run, keys)
}

func (o *insertOp) Close() {
	o.writer.Finish(o.run, o.id)
	o.rows.Add(o.n)
	o.n = 0
}
