package portable

import (
	"math"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/order"
)

// ordering is what package order is to do with a materialised input.
type ordering struct {
	name  string // what errors call it
	binds []binding
	group []int // columns
	by    []order.Key
}

// rows returns a part as package order takes it.
func (o *ordering) rows(p *part) *order.Rows {
	x := &order.Rows{Name: o.name, N: p.n}
	for i := range o.binds {
		b := &o.binds[i]
		col := order.Column{Type: b.typ, Words: order.Slice(p.cols[i])}
		if b.typ.Kind == scalar.String {
			col.Dict = b.dict.Dict
		}
		x.Cols = append(x.Cols, col)
	}
	return x
}

// sequence computes a Seq.
type sequence struct {
	cached
	ordering
	pipes []*pipeline
	cols  []string
}

// compute returns the input's columns and the index.
func (q *sequence) compute(r *run) *bag {
	return q.refresh(r, func() *bag {
		p := collect(r, q.name, q.pipes, q.cols).gather(r.mem)
		index := alloc[int64](r.mem, q.name, p.n)
		by := make([]int, len(q.by))
		for i, k := range q.by {
			by[i] = k.Col
		}
		if err := r.sorter().Number(r.stop.ctx, q.rows(&p), q.group, by, index); err != nil {
			abort(err)
		}
		p.cols = append(p.cols, index)
		return &bag{parts: []part{p}}
	})
}

// collect runs pipelines into a new sink.
func collect(r *run, name string, pipes []*pipeline, cols []string) *collectSink {
	sink := newCollectSink(r, name, cols)
	runInto(r, sink, pipes)
	return sink
}

// runInto runs pipelines into a sink made for this run.
func runInto(r *run, sink sink, pipes []*pipeline) {
	for _, p := range pipes {
		p.sink, p.chains = sink, nil
	}
	exec(r, pipes)
}

// topK computes a TopK. Each worker keeps rows until it has several times as
// many as are wanted, then drops the rest, so that the work is linear and the
// memory bounded.
type topK struct {
	cached
	ordering
	pipes []*pipeline
	cols  []string
	limit int64
}

// minPrune is the least number of rows of which some are worth dropping.
const minPrune = 1 << 14

func (k *topK) compute(r *run) *bag {
	return k.refresh(r, func() *bag {
		p, _ := k.collectCounted(r)
		return &bag{parts: []part{*p}}
	})
}

// collectCounted returns the first rows, in order, and the number of all.
func (k *topK) collectCounted(r *run) (*part, int64) {
	sink := newCollectSink(r, k.name, k.cols)
	// Within groups, what is kept may be almost everything: prune once, at the
	// end.
	if len(k.group) == 0 && k.limit < math.MaxInt32 {
		sink.limit = max(minPrune, 4*int(k.limit))
		one := &order.Sorter{Threads: 1, Memory: r.mem}
		sink.prune = func(p *part) { k.prune(r, one, p) }
	}
	runInto(r, sink, k.pipes)
	p := sink.gather(r.mem)
	k.prune(r, r.sorter(), &p)
	count := int64(0)
	for _, n := range sink.seen {
		count += n
	}
	return &p, count
}

// prune keeps the first rows of each group, in order.
func (k *topK) prune(r *run, s *order.Sorter, p *part) {
	keep, err := s.TopK(r.stop.ctx, k.rows(p), k.group, k.by, k.limit)
	if err != nil {
		abort(err)
	}
	defer keep.Free()
	for i, col := range p.cols {
		out := alloc[int64](r.mem, k.name, len(keep.Rows))
		compact(out, col, keep.Rows)
		free(r.mem, col)
		p.cols[i] = out
	}
	p.n = len(keep.Rows)
}
