package pipeline

import (
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/tries"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// trieSide is an input of multijoins: a trie that is built when it is first
// needed, and again only when what it was built from has changed. Multijoins with
// equal inputs share one.
type trieSide[K tries.Word] struct {
	tries.Shape
	pipes  []*pipeline
	inputs stamp
	cols   []string // of the levels and then of the payload

	built bool
	at    uint64 // the inputs' stamp when it was built
	sink  *trieSink
	trie  tries.Trie[K]
}

// ensure builds the trie if need be and returns its number of rows.
func (s *trieSide[K]) ensure(r *work.Run) int {
	if now := s.inputs.now(); !s.built || s.at != now {
		s.built, s.at = false, now
		s.trie.Free(r.Mem)
		if s.sink == nil {
			s.sink = &trieSink{name: s.Name, cols: s.cols, lay: &s.Layout, parts: make([]tables.Keyed, r.Threads)}
			setSink(s.pipes, s.sink)
		}
		exec(r, s.pipes)
		words, rows := s.sink.take(r)
		s.trie = *tries.Build[K](r, &s.Shape, words, rows)
		s.built = true
	}
	return s.trie.Rows
}

// trieSink packs the rows of an input.
type trieSink struct {
	name  string
	cols  []string
	lay   *interval.Layout
	parts []tables.Keyed // of the workers; the rows are their keys
}

func (s *trieSink) begin(*work.Run, bool) {}

func (s *trieSink) start(w *work.Worker, p *pipeline) work.Op {
	o := &trieOp{trieSink: s, part: &s.parts[w.Id], mem: w.Run.Mem, in: make([][]int64, len(s.cols))}
	for _, name := range s.cols {
		o.slots = append(o.slots, p.find(name).Slot)
	}
	return o
}

// take returns the rows of all workers in one array, which the caller owns.
func (s *trieSink) take(r *work.Run) (words []uint64, rows int) {
	starts := make([]int, len(s.parts))
	for i := range s.parts {
		starts[i] = rows
		rows += s.parts[i].N
	}
	w := s.lay.Words
	words = work.Alloc[uint64](r.Mem, s.name, rows*w)
	r.Tasks(len(s.parts), func(i int) {
		p := &s.parts[i]
		copy(words[starts[i]*w:], p.Keys)
		work.Free(r.Mem, p.Keys)
		*p = tables.Keyed{}
	})
	return words, rows
}

type trieOp struct {
	*trieSink
	part  *tables.Keyed
	mem   *work.Memory
	slots []int
	in    [][]int64
}

func (o *trieOp) Push(b *work.Batch) {
	for i, slot := range o.slots {
		o.in[i] = b.Cols[slot]
	}
	w, p := o.lay.Words, o.part
	n := len(p.Keys)
	p.Keys = work.Regrow(o.mem, o.name, p.Keys, n+b.N*w)[:n+b.N*w]
	o.lay.Pack(p.Keys[n:], o.in, b.N)
	p.N += b.N
}

func (o *trieOp) Close() {}
