package gorgonia

import (
	"context"
	"time"

	"gorgonia.org/cu"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// stream is a queue of work.
type stream struct {
	object
	handle cu.Stream
}

func (c *gpu) NewStream() (driver.Stream, error) {
	s := &stream{object: object{gpu: c}}
	err := c.call("cuStreamCreate", func() (err error) {
		s.handle, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *stream) Close() error {
	handle := s.handle // Destroy clears what others may read
	return s.close("cuStreamDestroy", handle.Destroy)
}

func (s *stream) IsDone() (bool, error) { return s.query("cuStreamQuery", s.handle.Query) }

func (s *stream) Synchronize(ctx context.Context) error {
	return s.wait(ctx, "cuStreamSynchronize", s.handle.Query, s.handle.Synchronize)
}

// query asks whether something is over. That it is not is no failure.
func (o *object) query(name string, ask func() error) (done bool, err error) {
	err = o.gpu.call(name, func() error {
		err := ask()
		if err == cu.NotReady {
			return nil
		}
		done = err == nil
		return err
	}, o)
	return done, err
}

// How wait asks, as package cuda does: all the time at first, then with naps of
// a share of the time waited so far.
const (
	pollFor   = 4 * time.Millisecond
	napShare  = 64
	napAtMost = time.Millisecond
)

// wait asks until something is over or ctx is, and then has finish say how it
// went.
func (o *object) wait(ctx context.Context, name string, ask, finish func() error) error {
	began := time.Now()
	for {
		done := false
		err := o.gpu.call(name, func() error {
			for {
				switch err := ask(); {
				case err == nil:
					done = true
					return finish()
				case err != cu.NotReady:
					return err
				case time.Since(began) > pollFor || ctx.Err() != nil:
					return nil
				}
			}
		}, o)
		if done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		time.Sleep(min(time.Since(began)/napShare, napAtMost))
	}
}

func (s *stream) Record(e driver.Event) error {
	const name = "cuEventRecord"
	own, ok := e.(*event)
	if !ok || own.gpu != s.gpu {
		return foreign(name, e)
	}
	return s.gpu.call(name, func() error {
		return own.handle.Record(s.handle)
	}, &s.object, &own.object)
}

func (s *stream) Wait(e driver.Event) error {
	const name = "cuStreamWaitEvent"
	own, ok := e.(*event)
	if !ok || own.gpu != s.gpu {
		return foreign(name, e)
	}
	return s.gpu.call(name, func() error {
		return s.handle.Wait(own.handle, 0)
	}, &s.object, &own.object)
}

func (s *stream) Free(cuda.Pointer) error { return unsupported("cuMemFreeAsync") }

func (s *stream) Capture(func() error) (driver.Graph, error) {
	return nil, unsupported("cuStreamBeginCapture")
}

// event is a point in a stream's work.
type event struct {
	object
	handle cu.Event
}

func (c *gpu) NewEvent() (driver.Event, error) { return c.newEvent(cu.DisableTiming) }

func (c *gpu) NewTimer() (driver.Event, error) { return c.newEvent(cu.DefaultEvent) }

func (c *gpu) newEvent(flags cu.EventFlags) (driver.Event, error) {
	e := &event{object: object{gpu: c}}
	err := c.call("cuEventCreate", func() (err error) {
		e.handle, err = cu.MakeEvent(flags)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (e *event) Close() error {
	handle := e.handle // DestroyEvent clears what others may read
	return e.close("cuEventDestroy", func() error { return cu.DestroyEvent(&handle) })
}

func (e *event) IsDone() (bool, error) { return e.query("cuEventQuery", e.handle.Query) }

func (e *event) Synchronize(ctx context.Context) error {
	return e.wait(ctx, "cuEventSynchronize", e.handle.Query, e.handle.Synchronize)
}

func (e *event) Elapsed(from driver.Event) (time.Duration, error) {
	const name = "cuEventElapsedTime"
	own, ok := from.(*event)
	if !ok || own.gpu != e.gpu {
		return 0, foreign(name, from)
	}
	var milliseconds float64
	err := e.gpu.call(name, func() (err error) {
		milliseconds, err = own.handle.Elapsed(e.handle)
		return err
	}, &e.object, &own.object)
	return time.Duration(milliseconds * float64(time.Millisecond)), err
}
