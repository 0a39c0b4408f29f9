package pipeline

import (
	"math"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// ordering is what package order is to do with a materialised input.
type ordering struct {
	name  string // what errors call it
	binds []columns.Column
	group []int // columns
	by    []order.Key
}

// rows returns a part as package order takes it.
func (o *ordering) rows(p *part) *order.Rows {
	x := &order.Rows{Name: o.name, N: p.n}
	for i := range o.binds {
		b := &o.binds[i]
		col := order.Column{Type: b.Type, Words: order.Slice(p.cols[i])}
		if b.Type.Kind == scalar.String {
			col.Dict = b.Dict.Dict
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
func (q *sequence) compute(r *work.Run) *bag {
	return q.bag(r, func() *bag {
		p := collect(r, q.name, q.pipes, q.cols).gather(r.Mem)
		index := work.Alloc[int64](r.Mem, q.name, p.n)
		if err := r.Sorter().Number(r.Stop.Ctx, q.rows(&p), q.group, q.by, index); err != nil {
			work.Abort(err)
		}
		p.cols = append(p.cols, index)
		return &bag{parts: []part{p}}
	})
}

// collect runs pipelines into a new sink.
func collect(r *work.Run, name string, pipes []*pipeline, cols []string) *collectSink {
	sink := newCollectSink(r, name, cols)
	runInto(r, sink, pipes)
	return sink
}

// runInto runs pipelines into a sink made for this run.
func runInto(r *work.Run, sink sink, pipes []*pipeline) {
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

func (k *topK) compute(r *work.Run) *bag {
	return k.bag(r, func() *bag {
		p, _ := k.collectCounted(r)
		return &bag{parts: []part{*p}}
	})
}

// collectCounted returns the first rows, in order, and the number of all.
func (k *topK) collectCounted(r *work.Run) (*part, int64) {
	sink := newCollectSink(r, k.name, k.cols)
	// Within groups, what is kept may be almost everything: prune once, at the
	// end.
	if len(k.group) == 0 && k.limit < math.MaxInt32 {
		sink.limit = max(minPrune, 4*int(k.limit))
		one := &order.Sorter{Threads: 1, Memory: r.Mem}
		sink.prune = func(p *part) { k.prune(r, one, p) }
	}
	runInto(r, sink, k.pipes)
	p := sink.gather(r.Mem)
	k.prune(r, r.Sorter(), &p)
	count := int64(0)
	for _, n := range sink.seen {
		count += n
	}
	return &p, count
}

// prune keeps the first rows of each group, in order.
func (k *topK) prune(r *work.Run, s *order.Sorter, p *part) {
	keep, err := s.TopK(r.Stop.Ctx, k.rows(p), k.group, k.by, k.limit)
	if err != nil {
		work.Abort(err)
	}
	defer keep.Free()
	for i, col := range p.cols {
		out := work.Alloc[int64](r.Mem, k.name, len(keep.Rows))
		work.Compact(out, col, keep.Rows)
		work.Free(r.Mem, col)
		p.cols[i] = out
	}
	p.n = len(keep.Rows)
}
