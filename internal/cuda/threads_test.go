//go:build linux

package cuda

import (
	"sync"
	"syscall"
	"testing"
)

// TestThreads has goroutines use two devices at once: each call must find its
// own context on the thread that makes it, however goroutines move.
func TestThreads(t *testing.T) {
	k := newFake()
	k.devices = 2
	var current sync.Map // thread → context
	wrong := make(chan string, 1)
	k.fn.CtxSetCurrent = func(c contextHandle) Code {
		current.Store(syscall.Gettid(), c)
		return success
	}
	k.fn.EventCreate = func(e *eventHandle, _ uint32) Code {
		c, _ := current.Load(syscall.Gettid())
		*e = eventHandle(c.(contextHandle))
		return success
	}
	k.fn.EventQuery = func(e eventHandle) Code {
		if c, _ := current.Load(syscall.Gettid()); c != contextHandle(e) {
			select {
			case wrong <- "a call found another context":
			default:
			}
		}
		return success
	}
	d, err := k.open()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		c := must(d.Devices()[i%2].OpenContext())(t)
		e := must(c.NewEvent())(t)
		all.Go(func() {
			for range 500 {
				e.IsDone()
			}
		})
	}
	all.Wait()
	select {
	case s := <-wrong:
		t.Error(s)
	default:
	}
}

// TestContextFirst has each method make its context current before it asks for
// anything else.
func TestContextFirst(t *testing.T) {
	k := newFake()
	x := newEverything(t, k.start(t))
	for _, m := range x.methods() {
		k.took()
		first := ""
		k.onCall = func(name string) {
			if first == "" {
				first = name
			}
		}
		ok(t, m.call())
		if k.onCall = nil; first != "cuCtxSetCurrent" {
			t.Errorf("%s: calls %s first", m.name, first)
		}
	}
}
