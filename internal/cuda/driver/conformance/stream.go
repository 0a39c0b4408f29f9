package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// work is how long a kernel keeps a stream busy. Checks of what holds meanwhile
// measure the time since before the launch, and want nothing if that is longer:
// a busy host may look late.
const work = 20 * time.Millisecond

func waits(f *fixture) error {
	if err := first(f.busy(f.stream, time.Millisecond), f.sync()); err != nil {
		return err
	}
	began := time.Now()
	if err := f.busy(f.stream, work); err != nil {
		return err
	}
	if done, err := f.stream.IsDone(); done && time.Since(began) < work || err != nil {
		return fmt.Errorf("done %v while work is under way, %v", done, err)
	}
	if err := f.sync(); err != nil {
		return err
	}
	if waited := time.Since(began); waited < work {
		return fmt.Errorf("waited for %v only", waited)
	}
	if done, err := f.stream.IsDone(); !done || err != nil {
		return fmt.Errorf("done %v after a wait, %v", done, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), work/4)
	defer cancel()
	began = time.Now()
	if err := f.busy(f.stream, 5*work); err != nil {
		return err
	}
	err := f.stream.Synchronize(ctx)
	if err != nil || time.Since(began) < 5*work {
		err = wantKind("an interrupted wait", err, context.DeadlineExceeded)
	}
	if done, doneErr := f.stream.IsDone(); err == nil &&
		(done && time.Since(began) < 5*work || doneErr != nil) {
		err = fmt.Errorf("done %v after an interrupted wait, %v", done, doneErr)
	}
	return first(err, f.sync(), f.Synchronize())
}

func timers(f *fixture) (err error) {
	from, err := f.NewTimer()
	if err != nil {
		return err
	}
	defer func() { err = first(err, from.Close()) }()
	to, err := f.NewTimer()
	if err != nil {
		return err
	}
	defer func() { err = first(err, to.Close()) }()
	began := time.Now()
	err = first(f.stream.Record(from), f.busy(f.stream, work), f.stream.Record(to))
	if err != nil {
		return err
	}
	_, err = to.Elapsed(from)
	if err != nil || time.Since(began) < work {
		if err := wantKind("the time of what is not done", err, cuda.ErrNotReady); err != nil {
			return err
		}
	}
	if err := to.Synchronize(context.Background()); err != nil {
		return err
	}
	took, err := to.Elapsed(from)
	// The clock of a card is not the host's.
	if most := time.Since(began) + time.Millisecond; err == nil &&
		(took < work*19/20 || took > most) {
		err = fmt.Errorf("%v took %v by the events, and at most %v by the host", work, took, most)
	}
	return err
}

// events has a stream wait for another's event.
func events(f *fixture) (err error) {
	other, err := f.NewStream()
	if err != nil {
		return err
	}
	defer func() { err = first(err, other.Close()) }()
	e, err := f.NewEvent()
	if err != nil {
		return err
	}
	defer func() { err = first(err, e.Close()) }()
	if done, err := e.IsDone(); !done || err != nil {
		return fmt.Errorf("an event that was never recorded: done %v, %v", done, err)
	}
	began := time.Now()
	err = first(f.busy(f.stream, work), f.stream.Record(e), other.Wait(e))
	if err != nil {
		return err
	}
	if done, err := e.IsDone(); done && time.Since(began) < work || err != nil {
		return fmt.Errorf("the event: done %v while work is under way, %v", done, err)
	}
	if err := wait(other); err != nil {
		return err
	}
	if waited := time.Since(began); waited < work {
		return fmt.Errorf("the other stream waited for %v only", waited)
	}
	if done, err := e.IsDone(); !done || err != nil {
		return fmt.Errorf("the event: done %v, %v", done, err)
	}
	return nil
}

func graph(f *fixture) (err error) {
	p, err := f.Alloc(16)
	if err != nil {
		return err
	}
	defer func() { err = first(err, f.Free(p)) }()
	g, err := f.stream.Capture(func() error {
		return first(f.stream.Fill8(p, 0, 16), f.launch("line", shape(1, 32), int64(p), 2, 5, 3))
	})
	if err != nil {
		return err
	}
	host := make([]byte, 16)
	err = first(g.Upload(f.stream), g.Launch(f.stream), f.stream.CopyToHost(host, p), f.sync(),
		g.Close())
	if err == nil && (g.Nodes() != 2 || word(host, 0) != 3 || word(host, 1) != 8) {
		err = fmt.Errorf("a graph of %d nodes wrote %d, %d", g.Nodes(), word(host, 0),
			word(host, 1))
	}
	if err != nil {
		return err
	}
	if err := wantKind("launching a closed graph", g.Launch(f.stream), cuda.ErrClosed); err != nil {
		return err
	}
	_, err = f.stream.Capture(f.sync)
	return wantKind("waiting in a capture", err, cuda.ErrCapture)
}

// useAfterClose closes each kind of object and uses it.
func useAfterClose(f *fixture) error {
	s, err := f.NewStream()
	if err != nil {
		return err
	}
	e, err := f.NewEvent()
	if err != nil {
		return err
	}
	m, err := f.LoadModule(cuda.Image{Name: "small",
		Code: []byte(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n")}, cuda.ModuleOptions{})
	if err != nil {
		return err
	}
	k, err := m.Function("k")
	if err != nil {
		return err
	}
	c, err := f.Device().OpenContext()
	if err != nil {
		return err
	}
	for range 2 {
		if err := errors.Join(s.Close(), e.Close(), m.Close(), c.Close()); err != nil {
			return err
		}
	}
	_, absent := m.Function("k")
	_, alloc := c.Alloc(8)
	return first(
		wantKind("a stream", wait(s), cuda.ErrClosed),
		wantKind("an event", f.stream.Record(e), cuda.ErrClosed),
		wantKind("a module", absent, cuda.ErrClosed),
		wantKind("a kernel", f.stream.Launch(k, one, nil), cuda.ErrClosed),
		wantKind("a context", alloc, cuda.ErrClosed),
		f.launch("empty", one), // the other context lives on
		f.sync(),
	)
}
