package portable

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
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
	index index
	sink  *keyedSink

	// Of a version of a table that grows in the loop which probes it.
	growing *growingIndex
	table   *table
	ranges  []interval.Interval
	version queryplan.Version
	keyCols []int
	payCols []int
}

// stamp identifies the contents of what an operator tree reads.
type stamp []versionOf

type versionOf struct {
	table   *table
	version queryplan.Version
}

// now returns a number that grows with every change of the inputs.
func (s stamp) now() uint64 {
	var sum uint64
	for _, v := range s {
		sum += v.table.epoch[v.version]
	}
	return sum
}

// grows reports whether the index is extended and not rebuilt.
func (b *buildSide) grows() bool { return b.table != nil }

// ensure builds the index if need be and returns its number of rows.
func (b *buildSide) ensure(r *run) int {
	if b.grows() {
		if b.growing == nil || b.growing.freed() {
			b.growing = b.table.growingIndex(b.ranges, b.keyCols, b.payCols, r.opts.vector)
		}
		return b.table.rows(b.version)
	}
	if now := b.inputs.now(); !b.built || b.at != now {
		b.built, b.at = false, now
		b.index.free()
		if b.sink == nil {
			b.sink = &keyedSink{side: b, parts: make([]*keyed, r.threads)}
			for i := range b.sink.parts {
				b.sink.parts[i] = &keyed{}
			}
			for _, p := range b.pipes {
				p.sink = b.sink
			}
		}
		exec(r, b.pipes)
		b.index.build(r, b.sink.parts)
		b.built = true
	}
	return b.index.rows
}

// layouts of the key and the payload.
func (b *buildSide) layouts() (key, pay *interval.Layout) {
	if b.grows() {
		return &b.growing.key, &b.growing.pay
	}
	return &b.index.key, &b.index.pay
}

// keyedSink packs the rows of a build side.
type keyedSink struct {
	side  *buildSide
	parts []*keyed // of the workers
}

func (s *keyedSink) begin(*run, bool) {}

func (s *keyedSink) start(w *worker, p *pipeline) op {
	o := &keyedOp{side: s.side, part: s.parts[w.id], mem: w.run.mem}
	for _, name := range s.side.key {
		o.keySlots = append(o.keySlots, p.find(name).slot)
	}
	for _, name := range s.side.pay {
		o.paySlots = append(o.paySlots, p.find(name).slot)
	}
	return o
}

type keyedOp struct {
	side               *buildSide
	part               *keyed
	mem                *memory
	keySlots, paySlots []int
	cols               [][]int64
}

func (o *keyedOp) push(b *batch) {
	x := &o.side.index
	o.part.keys = o.append(o.part.keys, &x.key, o.keySlots, b)
	o.part.pays = o.append(o.part.pays, &x.pay, o.paySlots, b)
	o.part.n += b.n
}

func (o *keyedOp) append(dst []uint64, l *interval.Layout, slots []int, b *batch) []uint64 {
	if l.Words == 0 {
		return dst
	}
	o.cols = o.cols[:0]
	for _, s := range slots {
		o.cols = append(o.cols, b.cols[s])
	}
	n := len(dst)
	dst = regrow(o.mem, o.side.index.name, dst, n+b.n*l.Words)[:n+b.n*l.Words]
	l.Pack(dst[n:], o.cols, b.n)
	return dst
}

func (o *keyedOp) close() {}
