package gpu

import (
	"context"
	"errors"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime"
)

// alloc makes the empty buffer one of so many bytes, whose contents are not defined.
func (r *run) alloc(b *buffer, what string, bytes int64) error {
	if r.slab.take(b, bytes) {
		return nil
	}
	made, err := r.take(what, bytes)
	var full *runtime.MemoryError
	if errors.As(err, &full) && len(r.retired) > 0 && r.capture == nil {
		if err := r.retire(); err != nil {
			return err
		}
		made, err = r.take(what, bytes)
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
func (r *run) take(what string, bytes int64) (buffer, error) {
	if r.capture != nil {
		return r.capture.arena.alloc(what, bytes)
	}
	return r.engine.mem.alloc(r.lane.stream, what, bytes)
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
func (r *run) openSlab(bytes int64) error {
	if r.slab.closed || bytes == 0 || bytes > r.engine.mem.room()/plenty {
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
func (r *run) zeroed(b *buffer, what string, bytes int64) error {
	if err := r.alloc(b, what, bytes); err != nil || r.slab.has(*b) {
		return err
	}
	return r.zero(*b)
}

// zero clears a buffer.
func (r *run) zero(b buffer) error {
	return r.lane.stream.Fill32(b.at, 0, uint64(b.bytes/4))
}

// smallBytes is the size up to which it is not worth while to look for less memory.
const smallBytes = 256

// renew makes a buffer one of so many zeroed bytes, in its own memory if it is of about
// that size.
func (r *run) renew(b *buffer, what string, bytes int64) error {
	if b.at != 0 && b.bytes >= bytes && b.bytes <= 4*max(bytes, smallBytes) {
		return r.lane.stream.Fill32(b.at, 0, uint64((bytes+3)/4))
	}
	if err := r.free(b); err != nil {
		return err
	}
	return r.zeroed(b, what, bytes)
}

// fill sets the words from until of a buffer.
func (r *run) fill(b buffer, from, until int64, value int64) error {
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
func (r *run) fresh(b buffer, from, until int64, value int64) error {
	if value == 0 && r.slab.has(b) {
		return nil
	}
	if r.capture != nil && r.slab.has(b) {
		return r.control.image.fill(b.at+cuda.Pointer(8*from), until-from, value)
	}
	return r.fill(b, from, until, value)
}

// putFresh sets the first words of a buffer, which nothing was written to since it was
// allocated.
func (r *run) putFresh(b buffer, words ...int64) error {
	if r.capture != nil && r.slab.has(b) {
		return r.control.image.put(b.at, words)
	}
	return r.control.put(r.ctx, b.at, words...)
}

// grow makes a buffer one of at least so many bytes, which begins with the first ones
// of what it was.
func (r *run) grow(b *buffer, what string, keep, bytes int64) error {
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
func (r *run) free(b *buffer) error {
	if b.at == 0 {
		return nil
	}
	old := *b
	*b = buffer{}
	if r.slab.has(old) {
		return nil
	}
	r.disown(old)
	if r.capture != nil {
		r.capture.arena.give(old)
		return nil
	}
	return r.engine.mem.free(r.lane.stream, old)
}

// disown lets a buffer outlive the run.
func (r *run) disown(b buffer) {
	delete(r.owned, b.at)
	r.held -= b.bytes
}

// pointers puts the addresses of columns into a buffer.
func (r *run) pointers(ctx context.Context, b *buffer, what string, cols []*column) error {
	words := make([]int64, len(cols))
	for i, c := range cols {
		words[i] = c.data.word()
	}
	if b.at == 0 {
		if err := r.alloc(b, what, int64(8*len(cols))); err != nil {
			return err
		}
		return r.putFresh(*b, words...)
	}
	return r.control.put(ctx, b.at, words...)
}

// send copies bytes to the device.
func (r *run) send(to buffer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	end, err := r.begin(timedSend, "")
	if err != nil {
		return err
	}
	r.toDevice += int64(len(from))
	if r.capture != nil {
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

// fetch copies from the device and waits: once, for copies that fit the lane's memory
// for results, all together.
func (r *run) fetch(ctx context.Context, copies ...hostCopy) error {
	total := 0
	for _, c := range copies {
		total += len(c.to)
	}
	if total == 0 {
		return nil
	}
	if r.capture != nil {
		return errCaptured
	}
	end, err := r.begin(timedFetch, "")
	if err != nil {
		return err
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
			return err
		}
		at += len(to)
	}
	if err := end(); err != nil {
		return err
	}
	if pinned != nil {
		r.waits++
	}
	if err := r.lane.wait(ctx); err != nil {
		return err
	}
	if pinned != nil {
		for _, c := range copies {
			copy(c.to, pinned)
			pinned = pinned[len(c.to):]
		}
	}
	return r.compare()
}
