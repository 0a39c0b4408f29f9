package gpu

import (
	"context"
	"time"
	"weak"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// copyAhead is the copying of a run's facts, concurrent with compilation.
type copyAhead struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// factColumn is a column of facts.
type factColumn struct {
	of   *harmony.Relation
	col  int
	bits int // the bits of a packed offset, or 0
	*store.Column
}

// columnsRead lists the columns of facts that commands read on the device, in
// program order.
func (r *run) columnsRead() (list []factColumn) {
	seen := map[*store.Column]bool{}
	for _, b := range r.Graph.Blocks {
		for _, c := range b.Cmds {
			if k, ok := c.(*harmony.Run); ok && k.Kernel.Host {
				continue
			}
			harmony.ColumnsRead(c, func(decl *harmony.Relation, col int) {
				if loaded := r.Data.Columns(decl); loaded != nil && !seen[loaded[col]] {
					seen[loaded[col]] = true
					list = append(list, factColumn{decl, col,
						r.Layouts.Columns[decl][col].PackedBits(), loaded[col]})
				}
			})
		}
	}
	return list
}

// beginCopies starts copying the columns that the run's kernels read.
func (r *run) beginCopies() {
	ctx, cancel := context.WithCancel(r.Ctx)
	r.Mark = &tables.CopyMark{}
	r.ahead = &copyAhead{cancel, make(chan struct{})}
	columns := r.columnsRead()
	go func() {
		defer close(r.ahead.done)
		for _, c := range columns {
			what := c.of.Name + "." + c.of.Cols[c.col].Name
			if err := r.engine.prefetch(ctx, what, c.Column, c.bits, r.Mark,
				r.walk.Request.Trace); err != nil {
				return // the run meets the same error and reports it
			}
		}
	}()
}

// end cancels the copy and waits for it.
func (a *copyAhead) end() {
	a.cancel()
	<-a.done
}

// Prefetch copies a column of facts to the device for later runs. It evicts
// nothing; if there is no room, it copies nothing. whole is for runs with
// NoPackedColumns. trace may be nil.
func (e *Engine) Prefetch(ctx context.Context, name string, c *store.Column, whole bool,
	trace func(runtime.Span)) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	bits := woven.LoadedLayout(c,
		e.sizes.policyFor(&runtime.Request{NoPackedColumns: whole})).PackedBits()
	if err := e.prefetch(ctx, name, c, bits, nil, trace); err != nil {
		return e.failure(err)
	}
	return nil
}

// prefetch waits for the device and copies a column, packed to bits unless bits
// is 0. mark is that of the run that copies its facts ahead, or nil.
func (e *Engine) prefetch(ctx context.Context, what string, c *store.Column, bits int,
	mark *tables.CopyMark,
	trace func(runtime.Span)) error {
	if err := e.waitOpen(); err != nil {
		return err
	}
	start := time.Now()
	sent, err := e.resident.Prefetch(ctx, what, c, bits, mark)
	if sent > 0 && trace != nil {
		trace(runtime.Span{Track: copiesTrack, Name: what, Start: start,
			Duration: time.Since(start), Args: map[string]any{"bytes": sent}})
	}
	return err
}

// copiesTrack is the trace track of columns that are copied ahead of runs.
const copiesTrack = "copies"

// Drop frees the copy of a column as soon as no run uses it.
func (e *Engine) Drop(c *store.Column) {
	if e.waitOpen() == nil {
		e.resident.Drop(weak.Make(c.Head()))
	}
}

// Weigh sets the weight of a column: what a byte of it saves on the device,
// relative to other columns. The default is 0. When memory is needed, columns
// of the least weight are evicted first.
func (e *Engine) Weigh(c *store.Column, weight float64) {
	if e.waitOpen() == nil {
		e.resident.Weigh(c, weight)
	}
}

// Room returns the device memory that runs and facts may take, in bytes.
func (e *Engine) Room() (int64, error) {
	if err := e.waitOpen(); err != nil {
		return 0, err
	}
	return e.mem.Use().Limit, nil
}
