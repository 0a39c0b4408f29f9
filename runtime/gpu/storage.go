package gpu

import (
	"context"
	"errors"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime"
)

// work is what a run has of the device: a lane, memory, counters, and what the run has
// done so far.
type work struct {
	ctx      context.Context
	mem      *memory
	lane     *lane
	control  control
	services map[string]driver.Function // by the name of a service.Launch
	// arena has the memory of a run that is captured, else it is nil.
	arena *arena
	// spare gives up what the run may do without, and reports whether there was any.
	spare func() (freed bool, err error)

	slab       slab
	states     states
	scratch    buffer
	owned      map[cuda.Pointer]int64
	held, peak int64
	meter
}

// start makes the counters, of which so many earlier states are to be compared, a slab
// of so many bytes, and the states of launches that are expected.
func (r *work) start(logged int, slab int64, launches []launchShape) error {
	c := &r.control
	if err := c.fit(c.words, logged*c.words, resultWords); err != nil {
		return err
	}
	device, err := r.take("the run's counters", int64(8*c.words))
	if err != nil {
		return err
	}
	c.start(device)
	copy(c.block, c.mirror[:c.words])
	if err := r.lane.stream.CopyToDevice(device.at, bytesOf(c.block[:c.words])); err != nil {
		return err
	}
	if err := r.openSlab(slab); err != nil {
		return err
	}
	return r.expectLaunches(launches)
}

// giveBack frees what the run has allocated.
func (r *work) giveBack() error {
	var errs []error
	for at, bytes := range r.owned {
		errs = append(errs, r.mem.free(r.lane.stream, buffer{at, bytes}))
	}
	r.owned, r.held = nil, 0
	return errors.Join(errs...)
}

// alloc makes the empty buffer one of so many bytes, whose contents are not defined.
func (r *work) alloc(b *buffer, what string, bytes int64) error {
	if r.slab.take(b, bytes) {
		return nil
	}
	made, err := r.take(what, bytes)
	var full *runtime.MemoryError
	if errors.As(err, &full) && r.arena == nil {
		freed, failed := r.spare()
		if failed != nil {
			return failed
		}
		if freed {
			made, err = r.take(what, bytes)
		}
	}
	if err != nil {
		return err
	}
	*b = made
	r.owned[made.at] = made.bytes
	r.held += made.bytes
	r.peak = max(r.peak, r.held)
	return nil
}

// take takes memory from the engine, or from the arena of a run that is captured.
func (r *work) take(what string, bytes int64) (buffer, error) {
	if r.arena != nil {
		return r.arena.alloc(what, bytes)
	}
	return r.mem.alloc(r.lane.stream, what, bytes)
}

// slab is memory for the small allocations of a run, which a run before has counted. It
// is zeroed at the beginning, and no part of it is handed out twice.
type slab struct {
	buffer
	used   int64
	wanted int64 // by the run
	closed bool  // what is allocated now may outlive the run
}

const (
	// Allocations of up to slabbed bytes are of a slab, as long as all of them together take at most
	// mostSlab bytes. Parts of it begin at multiples of slabPart.
	slabbed  = 256 << 10
	mostSlab = 8 << 20
	slabPart = 256
	plenty   = 16 // times the slab
)

// take makes the empty buffer a part of the slab, if there is room.
func (s *slab) take(b *buffer, bytes int64) bool {
	bytes = padded(bytes, slabPart)
	if bytes > slabbed || s.closed {
		return false
	}
	s.wanted = min(s.wanted+bytes, mostSlab)
	if s.used+bytes > s.bytes {
		return false
	}
	*b = buffer{s.at + cuda.Pointer(s.used), bytes}
	s.used += bytes
	return true
}

// has reports whether a buffer is part of the slab.
func (s *slab) has(b buffer) bool { return b.at >= s.at && b.at < s.at+cuda.Pointer(s.bytes) }

// openSlab makes the slab one of so many bytes, if there is plenty of memory.
func (r *work) openSlab(bytes int64) error {
	if r.slab.closed || bytes == 0 || bytes > r.mem.room()/plenty {
		return nil
	}
	var made buffer
	r.slab.closed = true
	err := r.zeroed(&made, "small tables", bytes)
	r.slab.closed = false
	var full *runtime.MemoryError
	if errors.As(err, &full) {
		return nil
	}
	r.slab.buffer = made
	return err
}

// zeroed makes the empty buffer one of so many zeroed bytes.
func (r *work) zeroed(b *buffer, what string, bytes int64) error {
	if err := r.alloc(b, what, bytes); err != nil || r.slab.has(*b) {
		return err
	}
	return r.zero(*b)
}

// zero clears a buffer.
func (r *work) zero(b buffer) error {
	return r.lane.stream.Fill32(b.at, 0, uint64(b.bytes/4))
}

// smallBytes is the size up to which it is not worth while to look for less memory.
const smallBytes = 256

// renew makes a buffer one of so many zeroed bytes, in its own memory if it is of about
// that size.
func (r *work) renew(b *buffer, what string, bytes int64) error {
	if b.at != 0 && b.bytes >= bytes && b.bytes <= 4*max(bytes, smallBytes) {
		return r.lane.stream.Fill32(b.at, 0, uint64((bytes+3)/4))
	}
	if err := r.free(b); err != nil {
		return err
	}
	return r.zeroed(b, what, bytes)
}

// fill sets the words from until of a buffer.
func (r *work) fill(b buffer, from, until int64, value int64) error {
	at := b.at + cuda.Pointer(8*from)
	if until <= from {
		return nil
	}
	if value == 0 {
		return r.lane.stream.Fill32(at, 0, uint64(2*(until-from)))
	}
	return r.service(service.Fill(int64(at), until-from, value))
}

// fresh sets the words from until of a buffer, which nothing was written to since it was
// allocated.
func (r *work) fresh(b buffer, from, until int64, value int64) error {
	if value == 0 && r.slab.has(b) {
		return nil
	}
	if r.arena != nil && r.slab.has(b) {
		return r.control.image.fill(b.at+cuda.Pointer(8*from), until-from, value)
	}
	return r.fill(b, from, until, value)
}

// putFresh sets the first words of a buffer, which nothing was written to since it was
// allocated.
func (r *work) putFresh(b buffer, words ...int64) error {
	if r.arena != nil && r.slab.has(b) {
		return r.control.image.put(b.at, words)
	}
	return r.control.put(r.ctx, b.at, words...)
}

// grow makes a buffer one of at least so many bytes, which begins with the first ones
// of what it was.
func (r *work) grow(b *buffer, what string, keep, bytes int64) error {
	if bytes <= b.bytes {
		return nil
	}
	old := *b
	if err := r.alloc(b, what, bytes); err != nil {
		return err
	}
	if keep > 0 {
		if err := r.lane.stream.Copy(b.at, old.at, uint64(keep)); err != nil {
			return err
		}
	}
	return r.free(&old)
}

// free makes a buffer empty.
func (r *work) free(b *buffer) error {
	if b.at == 0 {
		return nil
	}
	old := *b
	*b = buffer{}
	if r.slab.has(old) {
		return nil
	}
	r.disown(old)
	if r.arena != nil {
		r.arena.give(old)
		return nil
	}
	return r.mem.free(r.lane.stream, old)
}

// disown lets a buffer outlive the run.
func (r *work) disown(b buffer) {
	delete(r.owned, b.at)
	r.held -= b.bytes
}

// addresses puts the addresses of memory into a buffer.
func (r *work) addresses(b *buffer, what string, words []int64) error {
	if b.at == 0 {
		if err := r.alloc(b, what, int64(8*len(words))); err != nil {
			return err
		}
		return r.putFresh(*b, words...)
	}
	return r.control.put(r.ctx, b.at, words...)
}

// send copies bytes to the device.
func (r *work) send(to buffer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	end, err := r.begin(timedSend, "")
	if err != nil {
		return err
	}
	r.toDevice += int64(len(from))
	if r.arena != nil {
		if done, err := r.control.image.copy(r.lane.stream, to.at, from); done || err != nil {
			return err
		}
		if from, err = r.lane.stage(from); err != nil {
			return err
		}
	}
	// Go's memory is staged before the call returns.
	if err := r.lane.stream.CopyToDevice(to.at, from); err != nil {
		return err
	}
	return end()
}

// hostCopy is a copy of the first bytes of device memory to the host.
type hostCopy struct {
	to   []byte
	from buffer
}

// receive copies from the device and waits: once, for copies that fit the lane's memory
// for results, all together. It does not wait for no bytes.
func (r *work) receive(ctx context.Context, copies ...hostCopy) (waited bool, err error) {
	total := 0
	for _, c := range copies {
		total += len(c.to)
	}
	if total == 0 {
		return false, nil
	}
	if r.arena != nil {
		return false, errCaptured
	}
	end, err := r.begin(timedFetch, "")
	if err != nil {
		return false, err
	}
	r.toHost += int64(total)
	pinned := r.lane.results
	if total > len(pinned) {
		pinned = nil
	}
	at := 0
	for _, c := range copies {
		to := c.to
		if pinned != nil {
			to = pinned[at:][:len(to)]
		} else if len(to) > 0 {
			r.waits++ // for ordinary memory the driver does
		}
		if err := r.lane.stream.CopyToHost(to, c.from.at); err != nil {
			return false, err
		}
		at += len(to)
	}
	if err := end(); err != nil {
		return false, err
	}
	if pinned != nil {
		r.waits++
	}
	if err := r.lane.wait(ctx); err != nil {
		return false, err
	}
	if pinned != nil {
		for _, c := range copies {
			copy(c.to, pinned)
			pinned = pinned[len(c.to):]
		}
	}
	return true, nil
}
