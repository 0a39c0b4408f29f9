package driver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/internal/trace"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/byrows"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/spill"
)

// evaluate runs a request on an engine: as a whole, or by parts if it does not
// fit the memory.
func (q *Prepared) evaluate(ctx context.Context, e runtime.Engine, req *runtime.Request,
	opts RunOptions) (*runtime.Answer, error) {
	start := time.Now()
	if bound := q.exceeded.Load(); bound > 0 {
		return q.onDevice(ctx, e, req, opts, bound)
	}
	if q.pool.Batches.Always > 0 {
		if answered, err := q.byBatches(ctx, e, req, 0); !errors.Is(err, byrows.ErrWhole) {
			return answered, err
		}
	}
	answered, err := e.Run(ctx, req)
	switch bound := deviceBound(err); {
	case bound > 0:
		if q.FactBytes() > bound { // and not only as other runs took its memory
			q.exceeded.Store(bound)
		}
		trace.Func(opts.Trace).Since("run in the memory of the GPU", start)
		return q.onDevice(ctx, e, req, opts, bound)
	case opts.Spill != "" && CouldSpill(err):
		trace.Func(opts.Trace).Since("run in memory", start)
		return spill.Run(ctx, portable.New(), req, spill.Options{Folder: opts.Spill})
	}
	return answered, err
}

// onDevice runs a request that does not fit the memory of a GPU: by batches of
// rows if that can be done, else by parts that it keeps in a file.
func (q *Prepared) onDevice(ctx context.Context, e runtime.Engine, req *runtime.Request,
	opts RunOptions, bound int64) (*runtime.Answer, error) {
	start := time.Now()
	answered, err := q.byBatches(ctx, e, req, bound)
	if !errors.Is(err, byrows.ErrWhole) && deviceBound(err) == 0 {
		return answered, err
	}
	trace.Func(opts.Trace).Since("run by batches of rows", start)
	return spill.Run(ctx, e, req,
		spill.Options{Folder: opts.Spill, Device: bound, Host: portable.New()})
}

// byBatches runs a request by batches of rows on a GPU with so much memory. The
// error is byrows.ErrWhole if that cannot be done.
func (q *Prepared) byBatches(ctx context.Context, e runtime.Engine, req *runtime.Request,
	memory int64) (*runtime.Answer, error) {
	device, ok := e.(byrows.Device)
	if !ok || slices.Contains(q.program.disable, streamBatches) {
		return nil, byrows.ErrWhole
	}
	if err := req.Facts.Decode(ctx, req.Threads); err != nil {
		return nil, err
	}
	return byrows.Run(ctx, device, req,
		byrows.Options{Memory: memory, Merge: portable.New(), Sizes: q.pool.Batches})
}
