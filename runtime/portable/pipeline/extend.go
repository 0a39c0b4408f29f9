package pipeline

import (
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// extendOp joins a batch with an index and inserts the result in one step. It
// serves the last join of a rule if one column of the head comes from the
// index. Recursive rules mostly find tuples again; such a tuple then never
// passes through vectors.
type extendOp struct {
	*joinOp
	insert *insertOp
	column int   // of the table, from the index
	left   []int // the input's slots of the others
	cols   [][]int64
	rows   tables.Extension
}

// extending returns the op that does the work of both, or the join if it has to
// stay.
func extending(o *joinOp, insert *insertOp) work.Op {
	layout := &insert.table.Layout
	x := &extendOp{joinOp: o, insert: insert, column: -1, left: make([]int, len(insert.slots))}
	for i, slot := range insert.slots {
		switch {
		case slot < len(o.keep):
			x.left[i] = o.keep[slot]
		case x.column >= 0:
			return o
		default:
			x.column = i
		}
	}
	if x.column < 0 || layout.Words != 1 || layout.Fields[x.column].Bits == 0 {
		return o
	}
	field := layout.Fields[x.column]
	zero := make([]int64, o.size)
	for i := range zero {
		zero[i] = field.Base
	}
	x.cols = make([][]int64, len(insert.slots))
	x.cols[x.column] = zero
	x.rows = tables.Extension{Keys: make([]uint64, o.size), Runs: &o.runs,
		Shift: field.Shift, Bits: field.Bits}
	return x
}

func (o *extendOp) Push(b *work.Batch) {
	o.lookup(b)
	words, base := o.index.Run()
	if words == nil || o.index.Distinct() {
		o.match(b)
		return
	}
	for i, slot := range o.left {
		if i != o.column {
			o.cols[i] = b.Cols[slot]
		}
	}
	layout := &o.insert.table.Layout
	layout.Pack(o.rows.Keys, o.cols, b.N)
	o.rows.Words, o.rows.Offset = words, uint64(base-layout.Fields[o.column].Base)
	o.rows.Token = nil
	if key := o.index.KeyLayout(); key.Words == 1 {
		o.rows.Joins, o.rows.JoinBits, o.rows.Token = o.keys, key.Bits, o.index.Token()
	}
	for _, c := range o.runs.Count[:b.N] {
		o.insert.n += int64(c)
	}
	o.insert.writer.Extend(o.insert.run, &o.rows, b.N)
}
