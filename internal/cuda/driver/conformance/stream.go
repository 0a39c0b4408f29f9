package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
)

func waits(f *fixture) error {
	if err := first(f.busy(f.stream, time.Millisecond), f.sync(), f.busy(f.stream, 20*time.Millisecond)); err != nil {
		return err
	}
	if done, err := f.stream.IsDone(); done || err != nil {
		return fmt.Errorf("done %v while work is under way, %v", done, err)
	}
	began := time.Now()
	if err := f.sync(); err != nil {
		return err
	}
	if waited := time.Since(began); waited < 15*time.Millisecond {
		return fmt.Errorf("waited for %v only", waited)
	}
	if done, err := f.stream.IsDone(); !done || err != nil {
		return fmt.Errorf("done %v after a wait, %v", done, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if err := f.busy(f.stream, 100*time.Millisecond); err != nil {
		return err
	}
	began = time.Now()
	err := wantKind("an interrupted wait", f.stream.Synchronize(ctx), context.DeadlineExceeded)
	if waited := time.Since(began); err == nil && waited > 50*time.Millisecond {
		err = fmt.Errorf("the interrupted wait took %v", waited)
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
	err = first(f.stream.Record(from), f.busy(f.stream, 20*time.Millisecond), f.stream.Record(to))
	if err != nil {
		return err
	}
	_, err = to.Elapsed(from)
	if err := wantKind("the time of what is not done", err, cuda.ErrNotReady); err != nil {
		return err
	}
	if err := to.Synchronize(context.Background()); err != nil {
		return err
	}
	took, err := to.Elapsed(from)
	if err == nil && (took < 19*time.Millisecond || took > 40*time.Millisecond) {
		err = fmt.Errorf("20 ms took %v", took)
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
	err = first(f.busy(f.stream, 20*time.Millisecond), f.stream.Record(e), other.Wait(e))
	if err != nil {
		return err
	}
	if done, err := e.IsDone(); done || err != nil {
		return fmt.Errorf("the event: done %v while work is under way, %v", done, err)
	}
	began := time.Now()
	if err := wait(other); err != nil {
		return err
	}
	if waited := time.Since(began); waited < 15*time.Millisecond {
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
	err = first(g.Upload(f.stream), g.Launch(f.stream), f.stream.CopyToHost(host, p), f.sync(), g.Close())
	if err == nil && (g.Nodes() != 2 || word(host, 0) != 3 || word(host, 1) != 8) {
		err = fmt.Errorf("a graph of %d nodes wrote %d, %d", g.Nodes(), word(host, 0), word(host, 1))
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
	m, err := f.LoadModule(cuda.Image{Name: "small", Code: []byte(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n")}, cuda.ModuleOptions{})
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
