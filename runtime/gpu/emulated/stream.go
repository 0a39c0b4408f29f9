package emulated

import (
	"bytes"
	"context"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// stream is a queue of operations, which are done as late as possible.
type stream struct {
	object
	eager bool // starts work soon, without a wait

	line    sync.Mutex
	random  *rand.Rand
	queue   []operation // not yet done
	put     int64       // the number of operations that were enqueued
	done    int64       // the number of them that are done
	wanted  int64       // the number of them to do now
	running bool
	waiting []waiter
	capture *graph // the graph that is being recorded
}

// operation is a piece of a stream's work. It returns an error for a wrong use
// that would make a device fault.
type operation func() error

// waiter waits for the first operations of a stream.
type waiter struct {
	until int64
	over  chan struct{}
}

// NewStream makes a stream.
func (c *share) NewStream() (driver.Stream, error) {
	var s *stream
	err := c.call("cuStreamCreate", func() error {
		random := c.driver.fork()
		s = &stream{object: newObject(c, "stream"), random: random, eager: random.IntN(3) == 0}
		c.primary.mu.Lock()
		defer c.primary.mu.Unlock()
		c.streams = append(c.streams, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the stream. Its queued work is still done.
func (s *stream) Close() error {
	return s.close("cuStreamDestroy", func() error {
		last := s.demand()
		p := s.ctx.primary
		p.work.Go(func() {
			_ = s.waitFor(context.Background(), last)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.streams = slices.DeleteFunc(p.streams, func(other *stream) bool { return other == s })
		})
		return nil
	})
}

// enqueue appends an operation and returns its position, counted from 1. Some
// streams start work at once, and all do so now and then.
func (s *stream) enqueue(op operation) int64 {
	s.line.Lock()
	defer s.line.Unlock()
	if s.capture != nil {
		s.capture.operations = append(s.capture.operations, op)
		return 0
	}
	s.queue = append(s.queue, op)
	s.put++
	if s.eager || s.random.IntN(16) == 0 {
		s.start(s.put)
	}
	return s.put
}

// demand starts all work that is in the stream, and returns the last position.
func (s *stream) demand() int64 {
	s.line.Lock()
	defer s.line.Unlock()
	s.start(s.put)
	return s.put
}

// demandUntil starts the operations up to a position.
func (s *stream) demandUntil(until int64) {
	s.line.Lock()
	defer s.line.Unlock()
	s.start(until)
}

// start makes sure that a goroutine does the wanted operations. The caller
// holds the lock line.
func (s *stream) start(wanted int64) {
	s.wanted = max(s.wanted, wanted)
	if !s.running && s.done < s.wanted {
		s.running = true
		s.ctx.work.Go(s.run)
	}
}

// run does the wanted operations.
func (s *stream) run() {
	s.line.Lock()
	defer s.line.Unlock()
	for s.done < s.wanted {
		op := s.queue[0]
		s.queue = s.queue[1:]
		pause := s.eager && s.random.IntN(8) == 0
		s.line.Unlock()
		if pause {
			goruntime.Gosched()
		}
		if s.ctx.lost.Load() == nil {
			if err := op(); err != nil {
				e, ok := err.(*cuda.Error)
				if !ok || !e.Is(cuda.ErrLost) {
					e = failure(Execution, IllegalAddress, "%v", err)
				}
				s.ctx.lose(e)
			}
		}
		s.line.Lock()
		s.done++
		s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool {
			if w.until > s.done {
				return false
			}
			close(w.over)
			return true
		})
	}
	s.running = false
}

// waitFor waits until the first operations are done, or ctx is done.
func (s *stream) waitFor(ctx context.Context, until int64) error {
	s.line.Lock()
	if s.done >= until {
		s.line.Unlock()
		return nil
	}
	w := waiter{until, make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.line.Unlock()
	select {
	case <-w.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recording reports whether the stream is captured.
func (s *stream) recording() bool {
	s.line.Lock()
	defer s.line.Unlock()
	return s.capture != nil
}

// unrecorded makes a call that is not allowed during a capture.
func (s *stream) unrecorded(name string, f func() error) error {
	return s.call(name, func() error {
		s.line.Lock()
		capture := s.capture
		if capture != nil {
			capture.spoilt = true
		}
		s.line.Unlock()
		if capture != nil {
			return failure(name, captureWrong, "")
		}
		return f()
	})
}

// IsDone reports whether all work is done. The call makes the stream continue
// its work.
func (s *stream) IsDone() (done bool, err error) {
	const name = "cuStreamQuery"
	err = s.unrecorded(name, func() error {
		s.line.Lock()
		defer s.line.Unlock()
		done = s.done == s.put
		s.start(s.put)
		if done {
			return s.ctx.faultAfter(name)
		}
		return nil
	})
	return done && err == nil, err
}

// Synchronize waits until the stream has done its work, or ctx is done.
func (s *stream) Synchronize(ctx context.Context) error {
	const name = "cuStreamSynchronize"
	var last int64
	err := s.unrecorded(name, func() error {
		last = s.demand()
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.waitFor(ctx, last); err != nil {
		return err
	}
	s.ctx.settle()
	return s.ctx.faultAfter(name)
}

// move enqueues a copy or a fill, unless it is empty. Its memory must be
// allocated now, and still be when the stream reaches it.
func (s *stream) move(name string, n uint64, op func(name string) error, at ...cuda.Pointer) error {
	if n == 0 {
		return nil
	}
	return s.call(name, func() error {
		for _, p := range at {
			if _, err := s.ctx.bytes(name, p, n); err != nil {
				return err
			}
			if err := s.ctx.usable(name, p); err != nil {
				return err
			}
		}
		s.enqueue(func() error { return op(name) })
		return nil
	})
}

// usable returns an error for memory that a stream has yet to free.
func (p *primary) usable(call string, at cuda.Pointer) error {
	m := p.memory
	m.mu.Lock()
	b := m.blockAt(at, 0)
	dying := b != nil && b.dying
	m.mu.Unlock()
	if dying {
		p.wrong("%s: memory at %#x, which was freed", call, at)
		return failure(call, InvalidValue, "memory at %#x was freed", at)
	}
	return nil
}

// pinned reports whether bytes are in pinned memory, and returns their address.
func (p *primary) pinned(b []byte) (at cuda.Pointer, is bool) {
	at = cuda.Pointer(uintptr(unsafe.Pointer(&b[0])))
	p.memory.mu.Lock()
	defer p.memory.mu.Unlock()
	found := p.memory.blockAt(at, uint64(len(b)))
	return at, found != nil && found.kind == ofHost
}

// CopyToDevice copies from pinned memory when the stream reaches the call, and
// from Go's memory now.
func (s *stream) CopyToDevice(to cuda.Pointer, from []byte) error {
	const name = "cuMemcpyHtoDAsync"
	if len(from) == 0 {
		return nil
	}
	n := uint64(len(from))
	if at, pinned := s.ctx.pinned(from); pinned {
		return s.move(name, n, func(name string) error {
			return s.ctx.copyWithin(name, to, at, n)
		}, to, at)
	}
	if s.recording() {
		return s.unrecorded(name, nil)
	}
	from = bytes.Clone(from)
	return s.move(name, n, func(name string) error { return s.ctx.copyIn(name, to, from) }, to)
}

// CopyToHost copies to pinned memory when the stream reaches the call. It waits
// for a copy to Go's memory.
func (s *stream) CopyToHost(to []byte, from cuda.Pointer) error {
	const name = "cuMemcpyDtoHAsync"
	if len(to) == 0 {
		return nil
	}
	n := uint64(len(to))
	if at, pinned := s.ctx.pinned(to); pinned {
		return s.move(name, n, func(name string) error {
			return s.ctx.copyWithin(name, at, from, n)
		}, at, from)
	}
	if s.recording() {
		return s.unrecorded(name, nil)
	}
	if err := s.move(name, n, func(name string) error {
		return s.ctx.copyOut(name, to, from)
	}, from); err != nil {
		return err
	}
	_ = s.waitFor(context.Background(), s.demand())
	return s.ctx.faultAfter(name)
}

// Copy copies within the device.
func (s *stream) Copy(to, from cuda.Pointer, n uint64) error {
	return s.move("cuMemcpyDtoDAsync", n, func(name string) error {
		return s.ctx.copyWithin(name, to, from, n)
	}, to, from)
}

// Fill8 sets n bytes.
func (s *stream) Fill8(p cuda.Pointer, value uint8, n uint64) error {
	return s.move("cuMemsetD8Async", n, func(name string) error {
		return s.ctx.fill8(name, p, value, n)
	}, p)
}

// Fill32 sets n words of 32 bits.
func (s *stream) Fill32(p cuda.Pointer, value uint32, n uint64) error {
	if n > 0 && p%4 != 0 {
		return s.call("cuMemsetD32Async", func() error {
			return s.ctx.fill32("cuMemsetD32Async", p, value, 0)
		})
	}
	return s.move("cuMemsetD32Async", 4*n, func(name string) error {
		return s.ctx.fill32(name, p, value, n)
	}, p)
}
