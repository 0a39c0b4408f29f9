package gpu

import (
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
)

// service launches a service kernel.
func (r *work) service(l service.Launch) error { return r.serve(r.services[l.Kernel], l) }

// serve launches a kernel of package service.
func (r *work) serve(f driver.Function, l service.Launch) error {
	shape := cuda.Shape{Grid: cuda.Dim{X: l.Blocks}, Block: cuda.Dim{X: l.Threads}, Shared: l.Shared}
	r.launches++
	return r.lane.stream.Launch(f, shape, l.Params)
}

// rehash enters the keys of a set into a larger one.
func (r *work) rehash(from buffer, fromMask uint64, to buffer, toMask uint64, moved buffer) error {
	return r.service(service.Rehash(from.word(), int64(fromMask), to.word(), int64(toMask), moved.word()))
}

// move copies cells of slots to where the slots went.
func (r *work) move(moved buffer, slots int64, words int, from, to buffer) error {
	return r.service(service.Move(moved.word(), slots, int64(words), from.word(), to.word()))
}

// rowset enters the first rows of columns into an empty row set.
func (r *work) rowset(slots buffer, mask uint64, columns buffer, width int, rows int64) error {
	return r.service(service.RowSet(slots.word(), int64(mask), columns.word(), int64(width), rows))
}

// scan replaces counts by their running sums.
func (r *work) scan(counts buffer, n int64, inclusive bool) error {
	bytes := service.ScanScratch(n)
	if r.scratch.bytes < bytes {
		if err := r.free(&r.scratch); err != nil {
			return err
		}
		if err := r.zeroed(&r.scratch, "the scratch memory of sums", 2*bytes); err != nil {
			return err
		}
	}
	return r.service(service.Scan(counts.word(), n, inclusive, r.scratch.word()))
}
