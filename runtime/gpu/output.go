package gpu

import (
	"context"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// Output copies a relation to the host.
func (r *run) Output(decl *harmony.Relation) ([]*store.Column, error) {
	rel := r.relations[decl]
	_, n, err := rel.version(r.ctx, harmony.Full)
	if err != nil {
		return nil, err
	}
	if r.arrived == nil {
		if err := r.fetchOutputs(); err != nil {
			return nil, err
		}
	}
	cols, err := download(r.Bound, decl, n, r.sizes.output, func(i int, to []byte) error {
		if data := r.arrived[rel]; data != nil {
			copy(to, data[i])
			return nil
		}
		return r.fetch(r.ctx, hostCopy{to, rel.cols[i].data})
	})
	if err != nil {
		return nil, err
	}
	return cols, rel.release()
}

// fetchOutputs copies outputs to the host together, as many as the lane has memory for.
func (r *run) fetchOutputs() error {
	r.arrived = map[*relation][][]byte{}
	left := int64(len(r.lane.results))
	var copies []hostCopy
	for _, decl := range r.Graph.Relations {
		rel := r.relations[decl]
		if !decl.Output || rel.isLoaded() {
			continue
		}
		_, n, err := rel.version(r.ctx, harmony.Full)
		if err != nil {
			return err
		}
		if bytes := n * int64(rel.rowBytes()); bytes == 0 || bytes > left {
			continue
		} else {
			left -= bytes
		}
		for _, c := range rel.cols {
			data := make([]byte, n*int64(c.Width))
			r.arrived[rel] = append(r.arrived[rel], data)
			copies = append(copies, hostCopy{data, c.data})
		}
	}
	return r.fetch(r.ctx, copies...)
}

// copyBlock is how many rows are widened at a time.
const copyBlock = 1 << 12

// download makes columns of n rows of a relation, whose offsets fetch fetches. Columns
// keep the bounds that are known of them where offsets can be copied as they are, and
// are made as narrow as their words allow where there are fewer rows than many.
func download(b *woven.Bound, decl *harmony.Relation, n, many int64, fetch func(col int, to []byte) error) ([]*store.Column, error) {
	cols := make([]*store.Column, len(decl.Cols))
	for i, c := range decl.Cols {
		bound, packed := b.IsPacked(decl, i)
		if packed && n >= many {
			cols[i] = store.NewPacked(c.Type, b.Dict(decl, i), int(n), bound.Lo, bound.Hi)
			if err := fetch(i, bytesOfColumn(cols[i])); err != nil {
				return nil, err
			}
			continue
		}
		v := layout.View{Column: b.Layouts.Columns[decl][i]}
		v.Data = make([]byte, n*int64(v.Width))
		if err := fetch(i, v.Data); err != nil {
			return nil, err
		}
		to := store.NewBuilder(c.Type, b.Dict(decl, i))
		words := make([]int64, min(copyBlock, n))
		for from := 0; from < int(n); from += copyBlock {
			part := words[:min(copyBlock, int(n)-from)]
			v.Read(part, from)
			to.AppendWords(part)
		}
		cols[i] = to.Finish()
	}
	return cols, nil
}

// Keep leaves a relation on the device.
func (r *run) Keep(decl *harmony.Relation) (runtime.Pending, error) {
	rel := r.relations[decl]
	_, n, err := rel.version(r.ctx, harmony.Full)
	if err != nil {
		return nil, err
	}
	k := &kept{engine: r.engine, bound: r.Bound, decl: decl, rows: n, cols: []buffer{}} // of no column: still to be fetched
	for _, c := range rel.cols {
		k.cols = append(k.cols, c.data)
		if c.data.at != 0 {
			r.disown(c.data)
		}
		c.data = buffer{}
	}
	r.engine.pending(k, true)
	r.keeps = append(r.keeps, k)
	return k, rel.release()
}

// kept is an output that has stayed on the device.
type kept struct {
	engine *Engine
	bound  *woven.Bound
	decl   *harmony.Relation
	rows   int64

	mu   sync.Mutex
	cols []buffer // nil once they are given back
}

// Rows returns the number of tuples.
func (k *kept) Rows() int64 { return k.rows }

// Fetch copies the tuples to the host.
func (k *kept) Fetch(ctx context.Context) (*store.Relation, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cols == nil {
		return nil, errReleased
	}
	l, err := k.engine.lanes.take()
	if err != nil {
		return nil, err
	}
	cols, err := download(k.bound, k.decl, k.rows, k.engine.sizes.output, func(i int, to []byte) error {
		if len(to) == 0 {
			return nil
		}
		if err := l.stream.CopyToHost(to, k.cols[i].at); err != nil {
			return err
		}
		// A copy that is under way writes into to, so it can not be left alone.
		return l.stream.Synchronize(context.Background())
	})
	if err != nil {
		_ = l.close() // err says what is wrong
		return nil, k.engine.failure(err)
	}
	k.free(l)
	k.engine.lanes.give(l)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return woven.Stored(k.decl, cols, int(k.rows)), nil
}

// Release gives the memory back.
func (k *kept) Release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cols == nil {
		return
	}
	l, err := k.engine.lanes.take()
	if err != nil {
		return // the device is lost, and its memory with it
	}
	k.free(l)
	k.engine.lanes.give(l)
}

func (k *kept) free(l *lane) {
	for _, b := range k.cols {
		_ = k.engine.mem.free(l.stream, b) // it fails on a lost device, whose memory is gone
	}
	k.cols = nil
	k.engine.pending(k, false)
}
