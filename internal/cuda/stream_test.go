package cuda

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestWait waits for work that takes a while, is interrupted, fails, and never
// ends.
func TestWait(t *testing.T) {
	k := newFake()
	c := k.start(t)
	s, e := must(c.NewStream())(t), must(c.NewEvent())(t)
	for name, waiter := range map[string]struct {
		query, sync string
		wait        func(context.Context) error
	}{
		"stream": {"cuStreamQuery", "cuStreamSynchronize", s.Synchronize},
		"event":  {"cuEventQuery", "cuEventSynchronize", e.Synchronize},
	} {
		k.took()
		ok(t, waiter.wait(t.Context()))
		if calls := k.took(); !slices.Equal(calls, []string{waiter.query, waiter.sync}) {
			t.Errorf("%s: calls %v", name, calls)
		}
		// It ends while it naps, and while it still asks.
		for _, after := range []time.Duration{pollFor / 4, 20 * pollFor} {
			k.set(waiter.query, notReady)
			began := time.Now()
			timer := time.AfterFunc(after, func() { k.set(waiter.query, success) })
			ok(t, waiter.wait(t.Context()))
			if waited := time.Since(began); waited < after {
				t.Errorf("%s: waited %v of %v", name, waited, after)
			}
			timer.Stop()
		}
		k.set(waiter.query, notReady)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if err := waiter.wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if err := waiter.wait(ctx); err != ctx.Err() {
			t.Errorf("%s, interrupted before: %v", name, err)
		}
		k.set(waiter.query, success)
		if err := waiter.wait(ctx); err != nil {
			t.Errorf("%s, done but interrupted: %v", name, err)
		}
		k.set(waiter.query, 999)
		if err := waiter.wait(t.Context()); err == nil ||
			err.Error() != "CUDA: "+waiter.sync+": error 999" {
			t.Errorf("%s: %v", name, err)
		}
		k.set(waiter.query, success)
	}
	k.set("cuStreamQuery", notReady)
	if done, err := s.IsDone(); done || err != nil {
		t.Errorf("busy: %v, %v", done, err)
	}
	k.set("cuStreamQuery", 999)
	if done, err := s.IsDone(); done || err == nil {
		t.Errorf("failed: %v, %v", done, err)
	}
}

// TestCloseWaits has Close of a stream wait for a call that uses it.
func TestCloseWaits(t *testing.T) {
	k := newFake()
	c := k.start(t)
	s := must(c.NewStream())(t)
	inside, leave := make(chan bool), make(chan bool)
	c.fn.StreamQuery = func(streamHandle) Code { inside <- true; <-leave; return success }
	var closed atomic.Bool
	var all sync.WaitGroup
	all.Go(func() { s.IsDone() })
	<-inside
	all.Go(func() { s.Close(); closed.Store(true) })
	time.Sleep(5 * time.Millisecond)
	if closed.Load() {
		t.Error("closed while in use")
	}
	close(leave)
	all.Wait()
	if !closed.Load() {
		t.Error("not closed")
	}
}

// TestElapsed compares events in both orders while they are closed.
func TestElapsed(t *testing.T) {
	k := newFake()
	c := k.start(t)
	a, b := must(c.NewTimer())(t), must(c.NewTimer())(t)
	c.fn.EventElapsedTime = func(ms *float32, from, to eventHandle) Code {
		*ms = float32(to) - float32(from)
		return success
	}
	want := time.Duration(b.handle-a.handle) * time.Millisecond
	if d, err := b.Elapsed(a); d != want || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := a.Elapsed(b); d != -want || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	if d, err := a.Elapsed(a); d != 0 || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	var all sync.WaitGroup
	for _, pair := range [][2]*Event{{a, b}, {b, a}, {a, b}, {b, a}} {
		all.Go(func() {
			for {
				if _, err := pair[0].Elapsed(pair[1]); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	time.Sleep(time.Millisecond)
	ok(t, a.Close())
	ok(t, b.Close())
	all.Wait()
}
