package gpu

import (
	"context"
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// Output copies a relation to the host.
func (r *run) Output(decl *harmony.Relation) ([]*store.Column, error) {
	rel := r.Relations[decl]
	_, n, err := rel.Version(r.Ctx, harmony.Full)
	if err != nil {
		return nil, err
	}
	if r.capture != nil {
		if err := r.capture.output(r, rel, n); err != nil {
			return nil, err
		}
		return nil, rel.Release()
	}
	if r.arrived == nil {
		if err := r.fetchOutputs(); err != nil {
			return nil, err
		}
	}
	data := r.arrived[rel]
	if data == nil {
		var copies []device.HostCopy
		data, copies = received(rel, n)
		if err := r.fetch(r.Ctx, copies...); err != nil {
			return nil, err
		}
	}
	return storedColumns(r.Bound, decl, n, r.sizes.output, data), rel.Release()
}

// received allocates host memory for n rows of a relation, and returns the
// copies that fill it.
func received(rel *tables.Relation, n int64) (data [][]byte, copies []device.HostCopy) {
	data = make([][]byte, len(rel.Cols))
	for i, c := range rel.Cols {
		data[i] = make([]byte, n*int64(c.Width))
		copies = append(copies, device.HostCopy{To: data[i], From: c.Data})
	}
	return data, copies
}

// fetchOutputs copies the outputs to the host in one batch, as far as they fit
// the lane's pinned memory.
func (r *run) fetchOutputs() error {
	r.arrived = map[*tables.Relation][][]byte{}
	left := int64(len(r.Lane.Results))
	var copies []device.HostCopy
	for _, decl := range r.Graph.Relations {
		rel := r.Relations[decl]
		if !decl.Output || rel.IsLoaded() {
			continue
		}
		_, n, err := rel.Version(r.Ctx, harmony.Full)
		if err != nil {
			return err
		}
		if bytes := n * int64(rel.RowBytes()); bytes == 0 || bytes > left {
			continue
		} else {
			left -= bytes
		}
		data, some := received(rel, n)
		r.arrived[rel] = data
		copies = append(copies, some...)
	}
	return r.fetch(r.Ctx, copies...)
}

// copyBlock is the number of rows that are widened at a time.
const copyBlock = 1 << 12

// mostAsIs is the multiple of storedColumns' many up to which a column without
// known bounds keeps its words as they are.
const mostAsIs = 16

// storedColumns makes columns from the offsets of n rows of a relation. The
// columns keep data. With at least many rows, a column gets the bounds that are
// known of it. Other columns get the bounds of their words.
func storedColumns(b *woven.Bound, decl *harmony.Relation, n, many int64,
	data [][]byte) []*store.Column {
	cols := make([]*store.Column, len(decl.Cols))
	for i, c := range decl.Cols {
		dict, lay := b.Dict(decl, i), b.Layouts.Columns[decl][i]
		bound, packed := b.IsPacked(decl, i)
		switch {
		case packed && n >= many:
			cols[i] = store.NewOver(c.Type, dict, int(n), bound.Lo, bound.Hi,
				unsafe.Pointer(unsafe.SliceData(data[i])), nil)
		case c.Type.Kind != scalar.Datetime && n < mostAsIs*many:
			cols[i] = store.NewBounded(c.Type, dict, int(n), lay.Base, lay.Step, uint8(lay.Width),
				data[i])
		default:
			// Rebuilding finds out whether datetimes are whole days, and
			// narrows the words of a large column without known bounds.
			v := layout.View{Column: lay, Data: data[i]}
			to := store.NewBuilder(c.Type, dict)
			words := make([]int64, min(copyBlock, n))
			for from := 0; from < int(n); from += copyBlock {
				part := words[:min(copyBlock, int(n)-from)]
				v.Read(part, from)
				to.AppendWords(part)
			}
			cols[i] = to.Finish()
		}
	}
	return cols
}

// Keep leaves a relation on the device.
func (r *run) Keep(decl *harmony.Relation) (runtime.Pending, error) {
	rel := r.Relations[decl]
	_, n, err := rel.Version(r.Ctx, harmony.Full)
	if err != nil {
		return nil, err
	}
	if r.capture != nil {
		r.capture.keep(rel, n)
		return nil, rel.Release()
	}
	// cols is not nil even without columns: nil means freed.
	k := &kept{engine: r.engine, bound: r.Bound, decl: decl, rows: n, cols: []device.Buffer{}}
	for _, c := range rel.Cols {
		k.cols = append(k.cols, c.Data)
		if c.Data.At != 0 {
			r.Disown(c.Data)
		}
		c.Data = device.Buffer{}
	}
	r.engine.pending(k, true)
	r.keeps = append(r.keeps, k)
	return k, rel.Release()
}

// kept is an output that stays on the device until it is fetched or released.
type kept struct {
	engine *Engine
	bound  *woven.Bound
	decl   *harmony.Relation
	rows   int64

	mu   sync.Mutex
	cols []device.Buffer // nil once freed
}

// Rows returns the number of tuples.
func (k *kept) Rows() int64 { return k.rows }

// Fetch copies the tuples to the host and frees their device memory.
func (k *kept) Fetch(ctx context.Context) (*store.Relation, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cols == nil {
		return nil, errReleased
	}
	l, err := k.engine.lanes.Take()
	if err != nil {
		return nil, err
	}
	data := make([][]byte, len(k.cols))
	for i, c := range k.bound.Layouts.Columns[k.decl] {
		data[i] = make([]byte, k.rows*int64(c.Width))
		if err = l.Stream.CopyToHost(data[i], k.cols[i].At); err != nil {
			break
		}
	}
	// A pending copy writes into data, so wait even after an error.
	if wait := l.Stream.Synchronize(context.Background()); err == nil {
		err = wait
	}
	if err != nil {
		_ = l.Close() // err says what is wrong
		return nil, k.engine.failure(err)
	}
	k.free(l)
	k.engine.lanes.Give(l)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return woven.Stored(k.decl, storedColumns(k.bound, k.decl, k.rows, k.engine.sizes.output, data),
		int(k.rows)), nil
}

// Release frees the device memory. It may be called more than once.
func (k *kept) Release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cols == nil {
		return
	}
	l, err := k.engine.lanes.Take()
	if err != nil {
		return // the device is lost, and its memory with it
	}
	k.free(l)
	k.engine.lanes.Give(l)
}

func (k *kept) free(l *device.Lane) {
	for _, b := range k.cols {
		_ = k.engine.mem.Free(l.Stream, b) // fails on a lost device, whose memory is gone
	}
	k.cols = nil
	k.engine.pending(k, false)
}
