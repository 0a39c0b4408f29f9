package portable

import "sync/atomic"

// insertSink adds tuples to a table: those that are new, if the table has a set.
type insertSink struct {
	table *table
	cols  []string     // column names of the pipeline, in the table's order
	rows  atomic.Int64 // tuples that arrived
}

func (s *insertSink) begin(r *run, parallel bool) {
	s.table.begin(r, parallel)
}

func (s *insertSink) start(w *worker, p *pipeline) op {
	o := &insertOp{insertSink: s, run: w.run, id: w.id, writer: s.table.writer(w.id)}
	for _, name := range s.cols {
		o.slots = append(o.slots, p.find(name).slot)
	}
	o.cols = make([][]int64, len(o.slots))
	o.keys = make([]uint64, w.run.opts.vector*s.table.lay.Words)
	return o
}

// finish hands the new rows over and returns how many tuples arrived and how
// many were new, since the last call.
func (s *insertSink) finish() (rows, kept int64) {
	return s.rows.Swap(0), int64(s.table.takeNew())
}

// insertOp adds one worker's tuples.
type insertOp struct {
	*insertSink
	run    *run
	id     int
	writer *writer
	slots  []int
	cols   [][]int64
	keys   []uint64 // packed tuples of the batch
	n      int64
}

func (o *insertOp) push(b *batch) {
	t := o.table
	for i, slot := range o.slots {
		o.cols[i] = b.cols[slot]
	}
	keys := o.keys[:b.n*t.lay.Words]
	t.lay.Pack(keys, o.cols, b.n)
	o.n += int64(b.n)
	o.writer.insert(o.run, keys)
}

func (o *insertOp) close() {
	o.writer.finish(o.run, o.id)
	o.rows.Add(o.n)
	o.n = 0
}
