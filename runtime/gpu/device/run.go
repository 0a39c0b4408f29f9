package device

import (
	"context"
	"errors"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime"
)

// Run is the device's part of a run: a lane, memory, counters and statistics.
type Run struct {
	Ctx      context.Context
	Memory   *Memory
	Lane     *Lane
	Control  control
	Services map[string]driver.Function // by the name of a service.Launch
	// Arena is the memory of a captured run, or nil.
	Arena *Arena
	// Spare frees memory that the run can do without, and reports whether it
	// freed any.
	Spare func() (freed bool, err error)

	Slab       slab
	States     states
	scratch    Buffer
	Owned      map[cuda.Pointer]int64
	held, Peak int64
	inRegions  int64 // the part of held that lies in regions
	// Steady is the peak without regions, and without the copies of tables that
	// are being enlarged.
	Steady int64
	meter
}

// Start allocates the counters, a log of logged words for earlier states of the
// counters, a slab of slab bytes, and the states of the expected launches.
func (r *Run) Start(logged int, slab int64, launches []LaunchShape) error {
	c := &r.Control
	if err := c.Fit(c.Words, logged, ResultWords); err != nil {
		return err
	}
	device, err := r.take("the run's counters", int64(8*c.Words))
	if err != nil {
		return err
	}
	c.start(device)
	copy(c.block, c.Mirror[:c.Words])
	if err := r.Lane.Stream.CopyToDevice(device.At, BytesOf(c.block[:c.Words])); err != nil {
		return err
	}
	if err := r.openSlab(slab); err != nil {
		return err
	}
	return r.expectLaunches(launches)
}

// Settled updates Steady. No table is being enlarged.
func (r *Run) Settled() { r.Steady = max(r.Steady, r.held-r.inRegions) }

// GiveBack frees everything that the run owns.
func (r *Run) GiveBack() error {
	var errs []error
	for at, bytes := range r.Owned {
		errs = append(errs, r.Memory.Free(r.Lane.Stream, Buffer{at, bytes}))
	}
	r.Owned, r.held, r.inRegions = nil, 0, 0
	return errors.Join(errs...)
}

// Alloc allocates bytes of memory with undefined contents for an empty buffer.
func (r *Run) Alloc(b *Buffer, what string, bytes int64) error {
	if r.Slab.take(b, bytes) {
		return nil
	}
	var made Buffer
	if err := r.withSpare(func() (err error) {
		made, err = r.take(what, bytes)
		return err
	}); err != nil {
		return err
	}
	*b = made
	r.Owned[made.At] = made.Bytes
	r.held += made.Bytes
	if r.Arena == nil && r.Memory.regionOf(made) != nil {
		r.inRegions += made.Bytes
	}
	r.Peak = max(r.Peak, r.held)
	return nil
}

// take allocates memory from the engine, or from the arena of a captured run.
func (r *Run) take(what string, bytes int64) (Buffer, error) {
	if r.Arena != nil {
		return r.Arena.Alloc(what, bytes)
	}
	return r.Memory.Alloc(r.Lane.Stream, what, bytes)
}

// slab is zeroed memory for the small allocations of a run, sized by its
// record. No part of it is reused within the run.
type slab struct {
	Buffer
	used   int64
	Wanted int64 // the bytes that the run asked for
	Closed bool  // allocations may outlive the run, so the slab serves none
}

const (
	// MostSlab bounds the size of a slab, in bytes.
	MostSlab = 8 << 20
	// Allocations of up to slabbed bytes come from the slab while there is
	// room. They begin at multiples of slabPart.
	slabbed  = 256 << 10
	slabPart = 256
	plenty   = 16 // free memory that the slab needs, in multiples of its size
)

// take makes the empty buffer a part of the slab. It returns false if there is
// no room.
func (s *slab) take(b *Buffer, bytes int64) bool {
	bytes = padded(bytes, slabPart)
	if bytes > slabbed || s.Closed {
		return false
	}
	s.Wanted = min(s.Wanted+bytes, MostSlab)
	if s.used+bytes > s.Bytes {
		return false
	}
	*b = Buffer{s.At + cuda.Pointer(s.used), bytes}
	s.used += bytes
	return true
}

// has reports whether a buffer is part of the slab.
func (s *slab) has(b Buffer) bool { return b.At >= s.At && b.At < s.At+cuda.Pointer(s.Bytes) }

// openSlab allocates the slab, if memory is plentiful.
func (r *Run) openSlab(bytes int64) error {
	if r.Slab.Closed || bytes == 0 || bytes > r.Memory.Room()/plenty {
		return nil
	}
	var made Buffer
	r.Slab.Closed = true
	err := r.Zeroed(&made, "small tables", bytes)
	r.Slab.Closed = false
	var full *runtime.MemoryError
	if errors.As(err, &full) {
		return nil
	}
	r.Slab.Buffer = made
	return err
}

// Zeroed allocates bytes of zeroed memory for an empty buffer.
func (r *Run) Zeroed(b *Buffer, what string, bytes int64) error {
	if err := r.Alloc(b, what, bytes); err != nil || r.Slab.has(*b) {
		return err
	}
	return r.Zero(*b)
}

// Zero clears a buffer.
func (r *Run) Zero(b Buffer) error {
	return r.Lane.Stream.Fill32(b.At, 0, uint64(b.Bytes/4))
}

// smallBytes is the size below which a buffer keeps its memory however little
// of it is used.
const smallBytes = 256

// Renew makes b a buffer of bytes zeroed bytes. It reuses the memory of b if
// that is of about the right size.
func (r *Run) Renew(b *Buffer, what string, bytes int64) error {
	if b.At != 0 && b.Bytes >= bytes && b.Bytes <= 4*max(bytes, smallBytes) {
		return r.Lane.Stream.Fill32(b.At, 0, uint64((bytes+3)/4))
	}
	if err := r.Drop(b); err != nil {
		return err
	}
	return r.Zeroed(b, what, bytes)
}

// Fill sets words from up to until of a buffer to a value.
func (r *Run) Fill(b Buffer, from, until int64, value int64) error {
	at := b.At + cuda.Pointer(8*from)
	if until <= from {
		return nil
	}
	if value == 0 {
		return r.Lane.Stream.Fill32(at, 0, uint64(2*(until-from)))
	}
	return r.service(service.Fill(int64(at), until-from, value))
}

// Fresh is Fill for a buffer that nothing has written since its allocation.
func (r *Run) Fresh(b Buffer, from, until int64, value int64) error {
	if value == 0 && r.Slab.has(b) {
		return nil
	}
	if r.Arena != nil && r.Slab.has(b) {
		return r.Control.Image.fill(b.At+cuda.Pointer(8*from), until-from, value)
	}
	return r.Fill(b, from, until, value)
}

// PutFresh is Put for a buffer that nothing has written since its allocation.
func (r *Run) PutFresh(b Buffer, words ...int64) error {
	if r.Arena != nil && r.Slab.has(b) {
		return r.Control.Image.put(b.At, words)
	}
	return r.Control.put(r.Ctx, b.At, words...)
}

// Grow enlarges a buffer to at least bytes bytes, and preserves the first keep
// of them.
func (r *Run) Grow(b *Buffer, what string, keep, bytes int64) error {
	if bytes <= b.Bytes {
		return nil
	}
	old := *b
	placed, err := r.growRegion(b, what, bytes)
	if err == nil && !placed {
		err = r.Alloc(b, what, bytes)
	}
	if err != nil || b.At == old.At {
		return err
	}
	if keep > 0 {
		if err := r.Lane.Stream.Copy(b.At, old.At, uint64(keep)); err != nil {
			return err
		}
	}
	return r.Drop(&old)
}

// growRegion enlarges a buffer in place if it lies in a region, and moves it to
// a region otherwise. If the buffer would be too small for a region, or the
// driver has none, it stays as it is and placed is false.
func (r *Run) growRegion(b *Buffer, what string, bytes int64) (placed bool, err error) {
	if r.Arena != nil || !r.Memory.GrowsInPlace(bytes) {
		return false, nil
	}
	grown := *b
	err = r.withSpare(func() (err error) {
		if x := r.Memory.regionOf(*b); x != nil {
			return r.Memory.extend(r.Lane.Stream, x, &grown, what, bytes)
		}
		grown, err = r.Memory.allocRegion(r.Lane.Stream, what, bytes)
		return err
	})
	if err != nil || grown.At == 0 {
		return false, err
	}
	more := grown.Bytes
	if grown.At == b.At {
		more -= b.Bytes
	}
	*b = grown
	r.Owned[b.At] = b.Bytes
	r.held += more
	r.inRegions += more
	r.Peak = max(r.Peak, r.held)
	return true, nil
}

// withSpare calls f, and again after Spare has freed memory that f lacked.
func (r *Run) withSpare(f func() error) error {
	err := f()
	var full *runtime.MemoryError
	if errors.As(err, &full) && r.Arena == nil {
		freed, failed := r.Spare()
		if failed != nil {
			return failed
		}
		if freed {
			err = f()
		}
	}
	return err
}

// Drop frees the memory of a buffer.
func (r *Run) Drop(b *Buffer) error {
	if b.At == 0 {
		return nil
	}
	old := *b
	*b = Buffer{}
	if r.Slab.has(old) {
		return nil
	}
	r.Disown(old)
	if r.Arena != nil {
		r.Arena.give(old)
		return nil
	}
	return r.Memory.Free(r.Lane.Stream, old)
}

// Disown makes a buffer outlive the run.
func (r *Run) Disown(b Buffer) {
	delete(r.Owned, b.At)
	r.held -= b.Bytes
	if r.Arena == nil && r.Memory.regionOf(b) != nil {
		r.inRegions -= b.Bytes
	}
}

// Put writes words to the start of a buffer.
func (r *Run) Put(b Buffer, words ...int64) error {
	return r.Control.put(r.Ctx, b.At, words...)
}

// Addresses allocates a buffer for words, which are addresses, and writes them.
func (r *Run) Addresses(b *Buffer, what string, words []int64) error {
	if b.At == 0 {
		if err := r.Alloc(b, what, int64(8*len(words))); err != nil {
			return err
		}
		return r.PutFresh(*b, words...)
	}
	return r.Control.put(r.Ctx, b.At, words...)
}

// Send copies bytes to the device.
func (r *Run) Send(to Buffer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	end, err := r.Begin(TimedSend, "")
	if err != nil {
		return err
	}
	r.ToDevice += int64(len(from))
	if r.Arena != nil {
		if done, err := r.Control.Image.copy(r.Lane.Stream, to.At, from); done || err != nil {
			return err
		}
		if from, err = r.Lane.stage(from); err != nil {
			return err
		}
	}
	// CopyToDevice stages Go's memory before it returns.
	if err := r.Lane.Stream.CopyToDevice(to.At, from); err != nil {
		return err
	}
	return end()
}

// HostCopy is a copy from the start of device memory to the host.
type HostCopy struct {
	To   []byte
	From Buffer
}

// Receive copies from the device and waits for the copies: once for all, if
// they fit the lane's pinned memory. If there is nothing to copy, it does not
// wait.
func (r *Run) Receive(ctx context.Context, copies ...HostCopy) (waited bool, err error) {
	total := 0
	for _, c := range copies {
		total += len(c.To)
	}
	if total == 0 {
		return false, nil
	}
	if r.Arena != nil {
		return false, ErrCaptured
	}
	end, err := r.Begin(TimedFetch, "")
	if err != nil {
		return false, err
	}
	r.ToHost += int64(total)
	pinned := r.Lane.Results
	if total > len(pinned) {
		pinned = nil
	}
	at := 0
	for _, c := range copies {
		to := c.To
		if pinned != nil {
			to = pinned[at:][:len(to)]
		} else if len(to) > 0 {
			r.Waits++ // the driver waits if memory is not pinned
		}
		if err := r.Lane.Stream.CopyToHost(to, c.From.At); err != nil {
			return false, err
		}
		at += len(to)
	}
	if err := end(); err != nil {
		return false, err
	}
	if pinned != nil {
		r.Waits++
	}
	if err := r.Lane.Wait(ctx); err != nil {
		return false, err
	}
	if pinned != nil {
		for _, c := range copies {
			copy(c.To, pinned)
			pinned = pinned[len(c.To):]
		}
	}
	return true, nil
}

// service launches a service kernel.
func (r *Run) service(l service.Launch) error { return r.Serve(r.Services[l.Kernel], l) }

// Serve launches a kernel of package service.
func (r *Run) Serve(f driver.Function, l service.Launch) error {
	r.Launches++
	return Launch(r.Lane.Stream, f, l)
}

// Launch enqueues a kernel of package service.
func Launch(s driver.Stream, f driver.Function, l service.Launch) error {
	shape := cuda.Shape{Grid: cuda.Dim{X: l.Blocks}, Block: cuda.Dim{X: l.Threads},
		Shared: l.Shared}
	return s.Launch(f, shape, l.Params)
}

// Rehash inserts the keys of a set into a larger one.
func (r *Run) Rehash(from Buffer, fromMask uint64, to Buffer, toMask uint64, moved Buffer) error {
	l := service.Rehash(from.Word(), int64(fromMask), to.Word(), int64(toMask), moved.Word())
	return r.service(l)
}

// Extents makes the extents of n numbers from the positions at which their rows
// begin.
func (r *Run) Extents(begins Buffer, n int64, extents Buffer) error {
	return r.service(service.Extents(begins.Word(), n, extents.Word()))
}

// Move copies the cells of slots to the new places of the slots.
func (r *Run) Move(moved Buffer, slots int64, words int, from, to Buffer) error {
	return r.service(service.Move(moved.Word(), slots, int64(words), from.Word(), to.Word()))
}

// RowSet inserts the first rows of columns into an empty row set.
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
