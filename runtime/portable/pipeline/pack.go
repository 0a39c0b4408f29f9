package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// packSink packs the rows of an index or a trie: some columns as the key,
// others as the payload.
type packSink struct {
	name     string // for messages
	key, pay packing
	parts    []*tables.Keyed // of the workers
	share    int             // rows of the source for each worker
}

// packing is columns and their layout.
type packing struct {
	cols []string
	lay  *interval.Layout
}

func newPackSink(r *work.Run, name string, key, pay packing) *packSink {
	s := &packSink{name: name, key: key, pay: pay, parts: make([]*tables.Keyed, r.Threads)}
	for i := range s.parts {
		s.parts[i] = &tables.Keyed{}
	}
	return s
}

func (s *packSink) begin(r *work.Run, rows int, parallel bool) {
	if s.share = rows; parallel { // workers take about as many rows
		s.share = rows / r.Threads * 9 / 8
	}
}

func (s *packSink) start(w *work.Worker, p *pipeline) work.Op {
	return &packOp{packSink: s, part: s.parts[w.ID], mem: w.Run.Mem, key: p.slotsOf(s.key.cols),
		pay: p.slotsOf(s.pay.cols), whole: len(p.stages) == 0}
}

// take returns the keys of all workers in one array, which the caller owns.
func (s *packSink) take(r *work.Run) (words []uint64, rows int) {
	starts := make([]int, len(s.parts))
	for i, p := range s.parts {
		starts[i] = rows
		rows += p.N
	}
	w := s.key.lay.Words
	words = work.Alloc[uint64](r.Mem, s.name, rows*w)
	r.Tasks(len(s.parts), func(i int) {
		p := s.parts[i]
		copy(words[starts[i]*w:], p.Keys)
		work.Free(r.Mem, p.Keys)
		*p = tables.Keyed{}
	})
	return words, rows
}

type packOp struct {
	*packSink
	part     *tables.Keyed
	mem      *work.Memory
	key, pay []int // slots
	cols     [][]int64
	whole    bool // all rows of the source arrive
}

func (o *packOp) Push(b *work.Batch) {
	p := o.part
	p.Keys = o.append(p.Keys, o.packSink.key.lay, o.key, b)
	p.Pays = o.append(p.Pays, o.packSink.pay.lay, o.pay, b)
	p.N += b.N
}

func (o *packOp) append(dst []uint64, lay *interval.Layout, slots []int, b *work.Batch) []uint64 {
	if lay.Words == 0 {
		return dst
	}
	o.cols = b.Pick(o.cols, slots)
	n := len(dst)
	if n == 0 && o.whole {
		dst = work.Regrow(o.mem, o.name, dst, o.share*lay.Words)
	}
	dst = work.Regrow(o.mem, o.name, dst, n+b.N*lay.Words)[:n+b.N*lay.Words]
	lay.Pack(dst[n:], o.cols, b.N)
	return dst
}

func (o *packOp) Close() {}
