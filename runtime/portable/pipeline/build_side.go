package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// buildSide is the right input of joins: an index that is built when it is
// first probed, and again only when what it was built from has changed. Joins
// with equal build sides share one.
type buildSide struct {
	name     string // for messages
	pipes    []*pipeline
	inputs   stamp
	key, pay []string
	// bounds are the ranges of the key columns.
	bounds []interval.Interval

	built bool
	at    uint64 // the inputs' stamp when it was built
	index tables.Index
	sink  *keyedSink

	// Of a version of a table that grows in the loop which probes it.
	growing *tables.GrowingIndex
	table   *tables.Table
	ranges  []interval.Interval
	version queryplan.Version
	keyCols []int
	payCols []int
}

// stamp identifies the contents of what an operator tree reads.
type stamp []versionOf

type versionOf struct {
	table   *tables.Table
	version queryplan.Version
}

// now returns a number that grows with every change of the inputs.
func (s stamp) now() uint64 {
	var sum uint64
	for _, v := range s {
		sum += v.table.Epoch[v.version]
	}
	return sum
}

// grows reports whether the index is extended and not rebuilt.
func (b *buildSide) grows() bool { return b.table != nil }

// ensure builds the index if need be and returns its number of rows.
func (b *buildSide) ensure(r *work.Run) int {
	if b.grows() {
		if b.growing == nil || b.growing.Freed() {
			b.growing = b.table.Growing(b.ranges, b.keyCols, b.payCols, r.Sizes.Vector)
		}
		return b.table.Rows(b.version)
	}
	if now := b.inputs.now(); !b.built || b.at != now {
		b.built, b.at = false, now
		b.index.Free()
		if b.sink == nil {
			b.sink = &keyedSink{side: b, parts: make([]*tables.Keyed, r.Threads)}
			for i := range b.sink.parts {
				b.sink.parts[i] = &tables.Keyed{}
			}
			for _, p := range b.pipes {
				p.sink = b.sink
			}
		}
		exec(r, b.pipes)
		b.index.Build(r, b.sink.parts)
		b.built = true
	}
	return b.index.Rows
}

// layouts of the key and the payload.
func (b *buildSide) layouts() (key, pay *interval.Layout) {
	if b.grows() {
		return &b.growing.Key, &b.growing.Pay
	}
	return &b.index.Key, &b.index.Pay
}

// keyedSink packs the rows of a build side.
type keyedSink struct {
	side  *buildSide
	parts []*tables.Keyed // of the workers
}

func (s *keyedSink) begin(*work.Run, bool) {}

func (s *keyedSink) start(w *work.Worker, p *pipeline) work.Op {
	o := &keyedOp{side: s.side, part: s.parts[w.Id], mem: w.Run.Mem}
	for _, name := range s.side.key {
		o.keySlots = append(o.keySlots, p.find(name).Slot)
	}
	for _, name := range s.side.pay {
		o.paySlots = append(o.paySlots, p.find(name).Slot)
	}
	return o
}

type keyedOp struct {
	side               *buildSide
	part               *tables.Keyed
	mem                *work.Memory
	keySlots, paySlots []int
	cols               [][]int64
}

func (o *keyedOp) Push(b *work.Batch) {
	x := &o.side.index
	o.part.Keys = o.append(o.part.Keys, &x.Key, o.keySlots, b)
	o.part.Pays = o.append(o.part.Pays, &x.Pay, o.paySlots, b)
	o.part.N += b.N
}

func (o *keyedOp) append(dst []uint64, l *interval.Layout, slots []int, b *work.Batch) []uint64 {
	if l.Words == 0 {
		return dst
	}
	o.cols = o.cols[:0]
	for _, s := range slots {
		o.cols = append(o.cols, b.Cols[s])
	}
	n := len(dst)
	dst = work.Regrow(o.mem, o.side.index.Name, dst, n+b.N*l.Words)[:n+b.N*l.Words]
	l.Pack(dst[n:], o.cols, b.N)
	return dst
}

func (o *keyedOp) Close() {}
