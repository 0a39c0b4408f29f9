package emulated

import (
	"context"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// event is an event, which marks a point in a stream's work.
type event struct {
	object
	timed bool

	line sync.Mutex
	last *record // nil: never recorded
}

// record is one recording of an event.
type record struct {
	stream *stream
	at     int64 // its position, counted from 1
	when   time.Time
}

// NewEvent makes an event without a time.
func (c *share) NewEvent() (driver.Event, error) { return c.newEvent(false) }

// NewTimer makes an event that has a time.
func (c *share) NewTimer() (driver.Event, error) { return c.newEvent(true) }

func (c *share) newEvent(timed bool) (driver.Event, error) {
	var e *event
	err := c.call("cuEventCreate", func() error {
		e = &event{object: newObject(c, "event"), timed: timed}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Close closes the event.
func (e *event) Close() error { return e.close("cuEventDestroy", func() error { return nil }) }

// with calls f with an event, if it is an open one of this context.
func (s *stream) with(name string, other driver.Event, f func(e *event)) error {
	e, ok := other.(*event)
	if !ok || e.ctx.primary != s.ctx.primary {
		return foreign(name, other)
	}
	return s.unrecorded(name, func() error {
		if e.isClosed() {
			return closed(name)
		}
		f(e)
		return nil
	})
}

// Record enqueues the event: it happens when the stream reaches it.
func (s *stream) Record(other driver.Event) error {
	return s.with("cuEventRecord", other, func(e *event) {
		r := &record{stream: s}
		e.line.Lock()
		defer e.line.Unlock()
		r.at = s.enqueue(func() error {
			e.line.Lock()
			defer e.line.Unlock()
			r.when = time.Now()
			return nil
		})
		e.last = r
	})
}

// Wait makes later work of the stream wait for the event.
func (s *stream) Wait(other driver.Event) error {
	return s.with("cuStreamWaitEvent", other, func(e *event) {
		if r := e.recorded(); r != nil {
			s.enqueue(func() error {
				r.stream.demandUntil(r.at)
				return r.stream.waitFor(context.Background(), r.at)
			})
		}
	})
}

func (e *event) recorded() *record {
	e.line.Lock()
	defer e.line.Unlock()
	return e.last
}

// happened reports whether the stream has reached the recording.
func (r *record) happened() bool {
	r.stream.line.Lock()
	defer r.stream.line.Unlock()
	return r.stream.done >= r.at
}

// IsDone reports whether the event has happened. The call makes the stream
// continue its work.
func (e *event) IsDone() (done bool, err error) {
	const name = "cuEventQuery"
	err = e.call(name, func() error {
		r := e.recorded()
		if r == nil {
			done = true
			return nil
		}
		done = r.happened()
		r.stream.demandUntil(r.at)
		if done {
			return e.ctx.faultAfter(name)
		}
		return nil
	})
	return done && err == nil, err
}

// Synchronize waits until the event has happened, or ctx is done.
func (e *event) Synchronize(ctx context.Context) error {
	const name = "cuEventSynchronize"
	var r *record
	err := e.call(name, func() error {
		if r = e.recorded(); r != nil {
			r.stream.demandUntil(r.at)
		}
		return nil
	})
	if err != nil || r == nil {
		return err
	}
	if err := r.stream.waitFor(ctx, r.at); err != nil {
		return err
	}
	return e.ctx.faultAfter(name)
}

// Elapsed returns the time between two timers that have happened.
func (e *event) Elapsed(other driver.Event) (took time.Duration, err error) {
	const name = "cuEventElapsedTime"
	from, ok := other.(*event)
	if !ok {
		return 0, foreign(name, other)
	}
	err = e.call(name, func() error {
		a, b := from.recorded(), e.recorded()
		switch {
		case from.isClosed():
			return closed(name)
		case !from.timed || !e.timed || a == nil || b == nil:
			return failure(name, InvalidHandle, "an event without a time")
		case !a.happened() || !b.happened():
			return failure(name, notReady, "")
		}
		from.line.Lock()
		began := a.when
		from.line.Unlock()
		e.line.Lock()
		defer e.line.Unlock()
		took = b.when.Sub(began)
		return nil
	})
	return took, err
}

func (o *object) isClosed() bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.closed
}
