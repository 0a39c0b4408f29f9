package byrows

import (
	"context"
	"errors"
	"time"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Device is an engine with a memory of its own, which keeps copies of columns
// of facts.
type Device interface {
	runtime.Engine
	// Prefetch copies a column for later runs, concurrently with other work,
	// if there is room. Whole is for runs with NoPackedColumns.
	Prefetch(ctx context.Context, name string, c *store.Column, whole bool,
		trace func(runtime.Span)) error
	// Drop frees the copy of a column once no run uses it.
	Drop(c *store.Column)
}

// Options are the options of Run.
type Options struct {
	// Memory is the size of the device's memory in bytes.
	Memory int64
	// Merge merges the results of batches: the go engine.
	Merge runtime.Engine
	Sizes
}

// Sizes are numbers of rows, which tests set.
type Sizes struct {
	Least int // of the smallest batch; 0 stands for leastBatch
	// Always, if it is not 0, is that of each batch, and has runs go by batches
	// even if the facts fit.
	Always int
}

// leastBatch is the number of rows that a device computes on in less time than
// a launch takes.
const leastBatch = 1 << 16

// ErrWhole is the error of a plan of which no step is divided by rows, or of
// which a step must run as a whole after all, because a total over a part of
// its rows overflows.
var ErrWhole = errors.New("no step of the plan is divided by rows")

// Run evaluates a request whose facts do not fit the memory of a device, batch
// by batch of the rows of a table. Steps that are not divided run as a whole.
// The error is ErrWhole, or the device's *runtime.MemoryError if a step does
// not fit that is not divided, or one row at a time would not.
func Run(ctx context.Context, device Device, req *runtime.Request, opts Options) (
	*runtime.Answer, error) {
	if opts.Least == 0 {
		opts.Least = leastBatch
	}
	r := &run{device, req, opts, NewResults(req.Plan)}
	divided := false
	steps := Steps(req.Plan, req.Facts, 1)
	for _, s := range steps {
		divided = divided || s.Rows != nil
	}
	if !divided || req.Rounds || req.Round != nil {
		return nil, ErrWhole
	}
	for _, s := range steps {
		err := r.step(ctx, s)
		if err != nil {
			return nil, err
		}
	}
	return r.Answer, nil
}

// run is one run batch by batch.
type run struct {
	device Device
	req    *runtime.Request
	opts   Options
	Results
}

// step runs a step, by ever more batches until they fit the device.
func (r *run) step(ctx context.Context, s *Step) error {
	if s.Rows == nil {
		start := time.Now()
		answer, err := r.device.Run(ctx, r.of(s, s.Facts(r.req.Facts, r.Derived)))
		if err != nil {
			return err
		}
		r.AddDevice(answer.Device)
		r.Answer.Segments = append(r.Answer.Segments,
			s.Profile(r.device.Name(), time.Since(start)-answer.Compile, answer))
		r.Answer.Compile += answer.Compile
		r.Enter(s, answer)
		return nil
	}
	cols, err := s.Columns(s.Facts(r.req.Facts, r.Derived))
	if err != nil {
		return err
	}
	size := r.batch(s, cols)
	for {
		err := r.batches(ctx, s, cols, size)
		var memory *runtime.MemoryError
		if !errors.As(err, &memory) || !memory.Device || size <= r.opts.Least {
			return err
		}
		size = max(size/2, r.opts.Least)
	}
}

// of returns the request for a step that is not divided, or a part of one.
func (r *run) of(s *Step, facts *store.Database) *runtime.Request {
	req := *r.req
	req.Plan, req.Facts, req.Resident = s.Seg.Plan, facts, false
	if s.Rows != nil {
		req.Plan = s.Rows.Part
	}
	req.Profile, req.Progress = false, nil
	return &req
}

// batch returns the number of rows of the first batches of a step. Two of them
// take half of the memory that the facts leave which every batch reads: the
// other half is for what runs derive.
func (r *run) batch(s *Step, cols []Column) int {
	if r.opts.Always > 0 {
		return r.opts.Always
	}
	row, left := int64(1), r.opts.Memory
	for _, c := range cols {
		if c.Divided {
			row += int64(c.Width)
		} else {
			left -= int64(c.Width) * int64(c.Rows)
		}
	}
	const batches, share = 2, 2
	rows := max(left, 0) / (row * batches * share)
	return int(max(min(rows, int64(s.Table.Rows)), int64(r.opts.Least)))
}

// batches runs a step, which reads some columns, by batches of a number of rows
// and merges their results.
func (r *run) batches(ctx context.Context, s *Step, cols []Column, size int) error {
	rows := s.Table.Rows
	count := (rows + size - 1) / size
	if !s.Divide(r.req.Facts, count) {
		return ErrWhole
	}
	var divided []int // places of the columns in the table
	for at, c := range s.Table.Columns {
		for _, read := range cols {
			if read.Divided && read.Column == c {
				divided = append(divided, at)
			}
		}
	}
	slice := func(batch int) *store.Table {
		return Slice(s.Table, batch*size, min((batch+1)*size, rows))
	}
	var outputs []map[string]*store.Relation
	start, compile, dropped := time.Now(), time.Duration(0), int64(0)
	for batch, table := 0, slice(0); batch < count; batch++ {
		var next *store.Table
		ahead := func() {}
		if batch+1 < count {
			next = slice(batch + 1)
			ahead = r.copyAhead(ctx, next, divided)
		}
		facts := s.Facts(With(r.req.Facts, table, s.Table), r.Derived)
		answer, err := r.device.Run(ctx, r.of(s, facts))
		ahead()
		for _, at := range divided {
			r.device.Drop(table.Columns[at])
		}
		var overflow *runtime.OverflowError
		switch {
		case errors.As(err, &overflow):
			err = ErrWhole
			fallthrough
		case err != nil:
			if next != nil {
				for _, at := range divided {
					r.device.Drop(next.Columns[at])
				}
			}
			return err
		}
		outputs = append(outputs, answer.Outputs)
		r.AddDevice(answer.Device)
		dropped += answer.Dropped
		compile += answer.Compile
		table = next
	}
	answer, err := r.opts.Merge.Run(ctx, r.Merge(s, r.req, outputs))
	var overflow *runtime.OverflowError
	if s.Rows.Computes && (errors.As(err, &overflow) || err == nil && answer.Dropped > 0) {
		return ErrWhole
	}
	if err != nil {
		return err
	}
	p := s.Profile(r.device.Name(), time.Since(start)-compile, &runtime.Answer{Compile: compile})
	p.Of, p.Until, p.Batches = s.Of(), int64(rows), int64(count)
	r.Answer.Segments = append(r.Answer.Segments, p)
	r.Answer.Compile, r.Answer.Dropped = r.Answer.Compile+compile, r.Answer.Dropped+dropped
	r.Enter(s, answer)
	return nil
}

// copyAhead begins to copy columns of a table to the device. It returns a
// function that waits for the copies.
func (r *run) copyAhead(ctx context.Context, t *store.Table, columns []int) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, at := range columns {
			name := t.Name
			if at < len(t.Names) {
				name += "." + t.Names[at]
			}
			if r.device.Prefetch(ctx, name, t.Columns[at], r.req.NoPackedColumns,
				r.req.Trace) != nil {
				return // the run meets it in its turn
			}
		}
	}()
	return func() { <-done }
}
