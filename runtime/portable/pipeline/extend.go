package pipeline

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// extension is how a join makes tuples of a table without writing them to
// vectors. It serves the last join of a rule if one column of the head comes
// from the index. Recursive rules mostly find tuples again; such a tuple then
// costs one look at the set, or a bit of a word.
type extension struct {
	*insertSink
	column int          // of the table, from the index
	input  []int        // the input's slots of the others
	bits   *tables.Bits // of this run of the pipeline; nil if it goes by rows
}

// extend has the last join of a pipeline do the work of the sink, too, if it
// can.
func (p *pipeline) extend(sink *insertSink) {
	if len(p.stages) == 0 {
		return
	}
	s, ok := p.stages[len(p.stages)-1].(*joinStage)
	if !ok || s.kind != queryplan.Inner {
		return
	}
	slots := p.slotsOf(sink.cols)
	x := &extension{insertSink: sink, column: -1, input: make([]int, len(slots))}
	for i, slot := range slots {
		switch {
		case slot < len(s.keep):
			x.input[i] = s.keep[slot]
		case x.column >= 0:
			return
		default:
			x.column = i
		}
	}
	layout := &sink.table.Layout
	if x.column >= 0 && layout.Words == 1 && layout.Fields[x.column].Bits > 0 {
		s.extension = x
	}
}

// choose decides whether the pipeline goes by bits.
func (x *extension) choose(r *work.Run, side buildSide) {
	x.bits = nil
	if !r.NoBitJoins && !side.momentary() {
		x.bits = x.table.Bits(side.finder(), x.column)
	}
	x.byBits = x.byBits || x.bits != nil
}

// extendOp joins a batch with an index and inserts the result in one step.
type extendOp struct {
	*joinOp
	*extension
	insert *insertOp
	cols   [][]int64
	rows   tables.Extension
}

func newExtendOp(o *joinOp, insert *insertOp) *extendOp {
	x := &extendOp{joinOp: o, extension: o.extension, insert: insert}
	field := x.table.Layout.Fields[x.column]
	zero := make([]int64, o.size)
	for i := range zero {
		zero[i] = field.Base
	}
	x.cols = make([][]int64, len(x.input))
	x.cols[x.column] = zero
	x.rows = tables.Extension{Keys: make([]uint64, o.size), Runs: &o.runs,
		Shift: field.Shift, Bits: field.Bits}
	return x
}

func (o *extendOp) Push(b *work.Batch) {
	valid := o.pack(b)
	if o.bits == nil {
		o.index.Lookup(o.keys, valid, b.N, &o.runs)
	}
	words, base := o.index.Run()
	if words == nil || o.index.Distinct() {
		o.match(b)
		return
	}
	for i, slot := range o.input {
		if i != o.column {
			o.cols[i] = b.Cols[slot]
		}
	}
	layout := &o.table.Layout
	layout.Pack(o.rows.Keys, o.cols, b.N)
	key := o.index.KeyLayout()
	o.rows.Joins, o.rows.JoinBits = o.keys, key.Bits
	if o.bits != nil {
		o.insert.n += int64(o.insert.writer.ExtendByBits(o.insert.run, &o.rows, o.bits, valid, b.N))
		return
	}
	o.rows.Words, o.rows.Offset = words, uint64(base-layout.Fields[o.column].Base)
	o.rows.Token = nil
	if key.Words == 1 {
		o.rows.Token = o.index.Token()
	}
	for _, c := range o.runs.Count[:b.N] {
		o.insert.n += int64(c)
	}
	o.insert.writer.Extend(o.insert.run, &o.rows, b.N)
}
