package device

import (
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
)

// service launches a service kernel.
func (r *Run) service(l service.Launch) error { return r.Serve(r.Services[l.Kernel], l) }

// Serve launches a kernel of package service.
func (r *Run) Serve(f driver.Function, l service.Launch) error {
	shape := cuda.Shape{Grid: cuda.Dim{X: l.Blocks}, Block: cuda.Dim{X: l.Threads},
		Shared: l.Shared}
	r.Launches++
	return r.Lane.Stream.Launch(f, shape, l.Params)
}

// Rehash enters the keys of a set into a larger one.
func (r *Run) Rehash(from Buffer, fromMask uint64, to Buffer, toMask uint64, moved Buffer) error {
	l := service.Rehash(from.Word(), int64(fromMask), to.Word(), int64(toMask), moved.Word())
	return r.service(l)
}

// Move copies cells of slots to where the slots went.
func (r *Run) Move(moved Buffer, slots int64, words int, from, to Buffer) error {
	return r.service(service.Move(moved.Word(), slots, int64(words), from.Word(), to.Word()))
}

// RowSet enters the first rows of columns into an empty row set.
func (r *Run) RowSet(slots Buffer, mask uint64, columns Buffer, width int, rows int64) error {
	return r.service(service.RowSet(slots.Word(), int64(mask), columns.Word(), int64(width), rows))
}

// Scan replaces counts by their running sums.
func (r *Run) Scan(counts Buffer, n int64, inclusive bool) error {
	bytes := service.ScanScratch(n)
	if r.scratch.Bytes < bytes {
		if err := r.Drop(&r.scratch); err != nil {
			return err
		}
		if err := r.Zeroed(&r.scratch, "the scratch memory of sums", 2*bytes); err != nil {
			return err
		}
	}
	return r.service(service.Scan(counts.Word(), n, inclusive, r.scratch.Word()))
}
