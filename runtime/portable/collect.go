package portable

import (
	"sync"
)

// cached is the result of an operator that is computed as a whole. It is kept
// while nothing that it was computed from changes, so that what does not change
// in a loop is computed once.
type cached struct {
	inputs stamp
	built  bool
	at     uint64
	result *bag
}

// refresh returns the result, computing it if need be.
func (c *cached) refresh(r *run, compute func() *bag) *bag {
	if now := c.inputs.now(); !c.built || c.at != now {
		if c.result != nil {
			c.result.release(r.mem)
		}
		c.built, c.at = false, now
		c.result = compute()
		c.built = true
	}
	return c.result
}

// collectSink keeps the rows of pipelines, a part for each worker.
type collectSink struct {
	name string
	cols []string
	// prune, if set, is called when a part has reached limit rows; it may drop
	// some.
	prune func(p *part)
	limit int

	mu    sync.Mutex
	parts []*part
	seen  []int64 // rows that arrived at each worker
}

func newCollectSink(r *run, name string, cols []string) *collectSink {
	return &collectSink{name: name, cols: cols, parts: make([]*part, r.threads), seen: make([]int64, r.threads)}
}

func (s *collectSink) begin(*run, bool) {}

func (s *collectSink) start(w *worker, p *pipeline) op {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts[w.id] == nil {
		s.parts[w.id] = &part{cols: make([][]int64, len(s.cols))}
	}
	o := &collectOp{collectSink: s, part: s.parts[w.id], mem: w.run.mem, id: w.id}
	for _, name := range s.cols {
		o.slots = append(o.slots, p.find(name).slot)
	}
	return o
}

type collectOp struct {
	*collectSink
	part  *part
	mem   *memory
	id    int
	slots []int
}

func (o *collectOp) push(b *batch) {
	p := o.part
	for i, slot := range o.slots {
		p.cols[i] = append(regrow(o.mem, o.name, p.cols[i], p.n+b.n), b.cols[slot][:b.n]...)
	}
	p.n += b.n
	o.seen[o.id] += int64(b.n)
	if o.prune != nil && p.n >= o.limit {
		o.prune(p)
	}
}

func (o *collectOp) close() {}

// gather returns all rows as one part and frees the others.
func (s *collectSink) gather(mem *memory) part {
	var all []*part
	n := 0
	for _, p := range s.parts {
		if p != nil && p.n > 0 {
			all = append(all, p)
			n += p.n
		} else if p != nil {
			(&bag{parts: []part{*p}}).release(mem)
		}
	}
	switch len(all) {
	case 0:
		return part{cols: make([][]int64, len(s.cols))}
	case 1:
		return *all[0]
	}
	out := part{n: n}
	for i := range s.cols {
		col := alloc[int64](mem, s.name, n)
		at := 0
		for _, p := range all {
			at += copy(col[at:], p.cols[i])
			free(mem, p.cols[i])
		}
		out.cols = append(out.cols, col)
	}
	return out
}
