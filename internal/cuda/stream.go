package cuda

import (
	"context"
	"time"
	"unsafe"
)

// Stream is a queue of work for the device. Work of one stream is done in order;
// streams run beside each other.
type Stream struct {
	object[streamHandle]
	done *Event // what a long wait waits for
}

// NewStream makes a stream that does not wait for the driver's default one.
func (c *Context) NewStream() (*Stream, error) {
	done, err := c.newEvent(eventBlockingSync | eventDisableTiming)
	if err != nil {
		return nil, err
	}
	s := &Stream{object: object[streamHandle]{ctx: c}, done: done}
	err = c.call("cuStreamCreate", func() Code { return c.fn.StreamCreate(&s.handle, streamNonBlocking) })
	if err != nil {
		done.Close()
		return nil, err
	}
	return s, nil
}

// Close gives the stream back. Work in it is still done.
func (s *Stream) Close() error {
	err := s.close("cuStreamDestroy", s.ctx.fn.StreamDestroy)
	if e := s.done.Close(); err == nil {
		err = e
	}
	return err
}

// IsDone reports whether all work of the stream is done. An error may be of work
// that was started long before.
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

// pollFor is how long Synchronize asks again and again. A loop's check of its
// counters ends within it; what takes longer can afford to be woken up.
const pollFor = 200 * time.Microsecond

// Synchronize waits until the work that is in the stream now is done, or until ctx
// is, whose error it then returns. The device works on in that case: memory that
// the work uses must stay until the stream is done. For a fifth of a millisecond it
// asks the driver again and again; from then on the thread sleeps.
func (s *Stream) Synchronize(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < pollFor; {
		if done, err := s.IsDone(); done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := s.Record(s.done); err != nil {
		return err
	}
	return s.done.Synchronize(ctx)
}

// Record has the event happen when the work that is in the stream now is done.
func (s *Stream) Record(e *Event) error {
	return s.withEvent("cuEventRecord", e, func(h streamHandle, e eventHandle) Code {
		return s.ctx.fn.EventRecord(e, h)
	})
}

// Wait has work that is put into the stream from now on wait for the event, as it
// was recorded last. It does not hold up the caller.
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
func (c *Context) NewEvent() (*Event, error) {
	return c.newEvent(eventBlockingSync | eventDisableTiming)
}

// NewTimer makes an event that also knows when it happened.
func (c *Context) NewTimer() (*Event, error) { return c.newEvent(eventBlockingSync) }

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

// IsDone reports whether the event has happened since it was recorded last, or was
// never recorded.
func (e *Event) IsDone() (bool, error) {
	return query(&e.object, "cuEventQuery", e.ctx.fn.EventQuery)
}

// Synchronize waits until the event has happened, with the thread asleep, or until
// ctx is done, whose error it then returns.
func (e *Event) Synchronize(ctx context.Context) error {
	wait := func() error { return e.call("cuEventSynchronize", e.ctx.fn.EventSynchronize) }
	if ctx.Done() == nil {
		return wait()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Elapsed returns the time on the device from one timer to another. Both must have
// happened.
func (e *Event) Elapsed(from *Event) (time.Duration, error) {
	const name = "cuEventElapsedTime"
	if e == from {
		return 0, nil
	}
	// All that lock two events lock them in one order, or two of them could wait for
	// each other while Close waits for both.
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
