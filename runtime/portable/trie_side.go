package portable

import "github.com/redfoxdb/redfox/internal/interval"

// trieSide is an input of multijoins: a trie that is built when it is first
// needed, and again only when what it was built from has changed. Multijoins with
// equal inputs share one.
type trieSide[K trieWord] struct {
	trieShape
	pipes  []*pipeline
	inputs stamp
	cols   []string // of the levels and then of the payload

	built bool
	at    uint64 // the inputs' stamp when it was built
	sink  *trieSink
	trie  trie[K]
}

// ensure builds the trie if need be and returns its number of rows.
func (s *trieSide[K]) ensure(r *run) int {
	if now := s.inputs.now(); !s.built || s.at != now {
		s.built, s.at = false, now
		s.trie.free(r.mem)
		if s.sink == nil {
			s.sink = &trieSink{name: s.name, cols: s.cols, lay: &s.lay, parts: make([]keyed, r.threads)}
			setSink(s.pipes, s.sink)
		}
		exec(r, s.pipes)
		words, rows := s.sink.take(r)
		s.trie = *buildTrie[K](r, &s.trieShape, words, rows)
		s.built = true
	}
	return s.trie.rows
}

// trieSink packs the rows of an input.
type trieSink struct {
	name  string
	cols  []string
	lay   *interval.Layout
	parts []keyed // of the workers; the rows are their keys
}

func (s *trieSink) begin(*run, bool) {}

func (s *trieSink) start(w *worker, p *pipeline) op {
	o := &trieOp{trieSink: s, part: &s.parts[w.id], mem: w.run.mem, in: make([][]int64, len(s.cols))}
	for _, name := range s.cols {
		o.slots = append(o.slots, p.find(name).slot)
	}
	return o
}

// take returns the rows of all workers in one array, which the caller owns.
func (s *trieSink) take(r *run) (words []uint64, rows int) {
	starts := make([]int, len(s.parts))
	for i := range s.parts {
		starts[i] = rows
		rows += s.parts[i].n
	}
	w := s.lay.Words
	words = alloc[uint64](r.mem, s.name, rows*w)
	r.tasks(len(s.parts), func(i int) {
		p := &s.parts[i]
		copy(words[starts[i]*w:], p.keys)
		free(r.mem, p.keys)
		*p = keyed{}
	})
	return words, rows
}

type trieOp struct {
	*trieSink
	part  *keyed
	mem   *memory
	slots []int
	in    [][]int64
}

func (o *trieOp) push(b *batch) {
	for i, slot := range o.slots {
		o.in[i] = b.cols[slot]
	}
	w, p := o.lay.Words, o.part
	n := len(p.keys)
	p.keys = regrow(o.mem, o.name, p.keys, n+b.n*w)[:n+b.n*w]
	o.lay.Pack(p.keys[n:], o.in, b.n)
	p.n += b.n
}

func (o *trieOp) close() {}
