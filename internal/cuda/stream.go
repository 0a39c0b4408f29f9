package cuda

import (
	"context"
	"time"
	"unsafe"
)

// Stream is a queue of work for the device. Work of one stream is done in
// order; streams run beside each other.
type Stream struct{ object[streamHandle] }

// NewStream makes a stream that does not wait for the driver's default one.
func (c *Context) NewStream() (*Stream, error) {
	s := &Stream{object[streamHandle]{ctx: c}}
	err := c.call("cuStreamCreate", func() Code {
		return c.fn.StreamCreate(&s.handle, streamNonBlocking)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close gives the stream back. Work in it is still done.
func (s *Stream) Close() error { return s.close("cuStreamDestroy", s.ctx.fn.StreamDestroy) }

// IsDone reports whether all work of the stream is done. An error may be of
// work that was started long before.
func (s *Stream) IsDone() (bool, error) {
	return query(&s.object, "cuStreamQuery", s.ctx.fn.StreamQuery)
}

// query asks whether something is over. That it is not is no failure.
func query[H ~uintptr](o *object[H], name string, ask func(H) Code) (done bool, err error) {
	err = o.call(name, func(h H) Code {
		code := ask(h)
		if code == notReady {
			return success
		}
		done = code == success
		return code
	})
	return done, err
}

// How wait asks: all the time at first, because a loop's check of its counters
// ends within that time, and so do most queries; then with naps of a fixed
// share of the time waited so far, to which the system adds some 50
// microseconds. RATIONALE.md says why the driver's own waits do not serve.
const (
	pollFor   = 4 * time.Millisecond
	napShare  = 64
	napAtMost = time.Millisecond
)

// wait asks until something is over or ctx is, and then has finish make of it
// what the driver makes of a wait of its own.
func wait[H ~uintptr](ctx context.Context, o *object[H], name string, ask,
	finish func(H) Code) error {
	began := time.Now()
	for {
		done := false
		err := o.call(name, func(h H) Code {
			for {
				switch code := ask(h); {
				case code == success:
					done = true
					return finish(h)
				case code != notReady:
					return code
				case time.Since(began) > pollFor || ctx.Err() != nil:
					return success
				}
			}
		})
		if done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		nap(min(time.Since(began)/napShare, napAtMost))
	}
}

// Synchronize waits until all work of the stream is done, or until ctx is,
// whose error it then returns. The device works on in that case: memory that
// the work uses must stay until the stream is done.
func (s *Stream) Synchronize(ctx context.Context) error {
	// Pools learn what is free from a wait, and not from a question.
	return wait(ctx, &s.object, "cuStreamSynchronize", s.ctx.fn.StreamQuery,
		s.ctx.fn.StreamSynchronize)
}

// Record has the event happen when the work that is in the stream now is done.
func (s *Stream) Record(e *Event) error {
	return s.withEvent("cuEventRecord", e, func(h streamHandle, e eventHandle) Code {
		return s.ctx.fn.EventRecord(e, h)
	})
}

// Wait has work that is put into the stream from now on wait for the event, as
// it was recorded last. It does not hold up the caller.
func (s *Stream) Wait(e *Event) error {
	return s.withEvent("cuStreamWaitEvent", e, func(h streamHandle, e eventHandle) Code {
		return s.ctx.fn.StreamWaitEvent(h, e, 0)
	})
}

func (s *Stream) withEvent(name string, e *Event, f func(streamHandle, eventHandle) Code) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.handle == 0 {
		return refused(name, ErrClosed, "the event is closed")
	}
	return s.call(name, func(h streamHandle) Code { return f(h, e.handle) })
}

// Event is a point in a stream's work that can be waited for.
type Event struct{ object[eventHandle] }

// NewEvent makes an event that streams and callers can wait for.
func (c *Context) NewEvent() (*Event, error) { return c.newEvent(eventDisableTiming) }

// NewTimer makes an event that also knows when it happened.
func (c *Context) NewTimer() (*Event, error) { return c.newEvent(0) }

func (c *Context) newEvent(flags uint32) (*Event, error) {
	e := &Event{object[eventHandle]{ctx: c}}
	err := c.call("cuEventCreate", func() Code { return c.fn.EventCreate(&e.handle, flags) })
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Close gives the event back.
func (e *Event) Close() error { return e.close("cuEventDestroy", e.ctx.fn.EventDestroy) }

// IsDone reports whether the event has happened since it was recorded last, or
// was never recorded.
func (e *Event) IsDone() (bool, error) {
	return query(&e.object, "cuEventQuery", e.ctx.fn.EventQuery)
}

// Synchronize waits until the event has happened, or until ctx is done, whose
// error it then returns.
func (e *Event) Synchronize(ctx context.Context) error {
	return wait(ctx, &e.object, "cuEventSynchronize", e.ctx.fn.EventQuery,
		e.ctx.fn.EventSynchronize)
}

// Elapsed returns the time on the device from one timer to another. Both must
// have happened.
func (e *Event) Elapsed(from *Event) (time.Duration, error) {
	const name = "cuEventElapsedTime"
	if e == from {
		return 0, nil
	}
	// All that lock two events lock them in one order, or two of them could
	// wait for each other while Close waits for both.
	first, second := e, from
	if uintptr(unsafe.Pointer(e)) > uintptr(unsafe.Pointer(from)) {
		first, second = from, e
	}
	first.mu.RLock()
	defer first.mu.RUnlock()
	second.mu.RLock()
	defer second.mu.RUnlock()
	if e.handle == 0 || from.handle == 0 {
		return 0, refused(name, ErrClosed, "the event is closed")
	}
	var milliseconds float32
	err := e.ctx.call(name, func() Code {
		return e.ctx.fn.EventElapsedTime(&milliseconds, from.handle, e.handle)
	})
	return time.Duration(float64(milliseconds) * float64(time.Millisecond)), err
}
