package pipeline

import (
	"sync"

	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// cached is the bag of an operator that is computed as a whole.
type cached struct {
	memo
	result *bag
}

// bag returns the result, computing it if need be.
func (c *cached) bag(r *work.Run, compute func() *bag) *bag {
	c.refresh(func() {
		if c.result != nil {
			c.result.release(r.Mem)
		}
		c.result = compute()
	})
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

func newCollectSink(r *work.Run, name string, cols []string) *collectSink {
	return &collectSink{name: name, cols: cols, parts: make([]*part, r.Threads),
		seen: make([]int64, r.Threads)}
}

func (s *collectSink) begin(*work.Run, int, bool) {}

func (s *collectSink) start(w *work.Worker, p *pipeline) work.Op {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts[w.ID] == nil {
		s.parts[w.ID] = &part{cols: make([][]int64, len(s.cols))}
	}
	return &collectOp{collectSink: s, part: s.parts[w.ID], mem: w.Run.Mem, id: w.ID,
		slots: p.slotsOf(s.cols)}
}

type collectOp struct {
	*collectSink
	part  *part
	mem   *work.Memory
	id    int
	slots []int
}

func (o *collectOp) Push(b *work.Batch) {
	p := o.part
	for i, slot := range o.slots {
		p.cols[i] = append(work.Regrow(o.mem, o.name, p.cols[i], p.n+b.N), b.Cols[slot][:b.N]...)
	}
	p.n += b.N
	o.seen[o.id] += int64(b.N)
	if o.prune != nil && p.n >= o.limit {
		o.prune(p)
	}
}

func (o *collectOp) Close() {}

// gather returns all rows as one part and frees the others.
func (s *collectSink) gather(mem *work.Memory) part {
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
		col := work.Alloc[int64](mem, s.name, n)
		at := 0
		for _, p := range all {
			at += copy(col[at:], p.cols[i])
			work.Free(mem, p.cols[i])
		}
		out.cols = append(out.cols, col)
	}
	return out
}
