package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// everything is one of each object of a context, with its methods.
type everything struct {
	c      *Context
	stream *Stream
	event  *Event
	timer  *Event
	module *Module
	kernel *Function
	pool   *Pool
	graph  *Graph
	region *Region
	host   *HostMemory
	at     Pointer
}

func newEverything(t testing.TB, c *Context) *everything {
	t.Helper()
	x := &everything{c: c}
	x.stream = must(c.NewStream())(t)
	x.event = must(c.NewEvent())(t)
	x.timer = must(c.NewTimer())(t)
	x.module = must(c.LoadModule(Image{"m", []byte(".version 7.0")}, ModuleOptions{}))(t)
	x.kernel = must(x.module.Function("k"))(t)
	x.pool = must(c.NewPool(PoolOptions{}))(t)
	x.graph = must(x.stream.Capture(func() error { return nil }))(t)
	x.region = must(c.Reserve(1 << 30))(t)
	x.host = must(c.AllocHost(8, HostOptions{}))(t)
	x.at = must(c.Alloc(64))(t)
	return x
}

// method is one way to ask the driver for something.
type method struct {
	name string
	of   string // the object that must be open, beside the context
	call func() error
}

func (x *everything) methods() []method {
	bytes := make([]byte, 8)
	shape := Shape{Grid: Dim{X: 1}, Block: Dim{X: 32}}
	first := func(_ any, err error) error { return err }
	cooperative := shape
	cooperative.Cooperative = true
	return []method{
		{"Context.Synchronize", "", x.c.Synchronize},
		{"Context.Alloc", "", func() error { return first(x.c.Alloc(8)) }},
		{"Context.CopyToDevice", "", func() error { return x.c.CopyToDevice(x.at, bytes) }},
		{"Context.CopyToHost", "", func() error { return x.c.CopyToHost(bytes, x.at) }},
		{"Context.Copy", "", func() error { return x.c.Copy(x.at, x.at+8, 8) }},
		{"Context.Fill8", "", func() error { return x.c.Fill8(x.at, 1, 8) }},
		{"Context.Fill32", "", func() error { return x.c.Fill32(x.at, 1, 2) }},
		{"Context.MemoryInfo", "", func() error { _, _, err := x.c.MemoryInfo(); return err }},
		{"Context.AllocHost", "", func() error { return first(x.c.AllocHost(8, HostOptions{})) }},
		{"Context.NewStream", "", func() error { return first(x.c.NewStream()) }},
		{"Context.NewEvent", "", func() error { return first(x.c.NewEvent()) }},
		{"Context.NewPool", "", func() error { return first(x.c.NewPool(PoolOptions{})) }},
		{"Context.LoadModule", "", func() error {
			return first(x.c.LoadModule(Image{"m", nil}, ModuleOptions{}))
		}},
		{"Context.Link", "", func() error {
			_, err := x.c.Link(ModuleOptions{}, Image{"m", nil})
			return err
		}},
		{"Context.Reserve", "", func() error { return first(x.c.Reserve(8)) }},
		{"Stream.IsDone", "stream", func() error { return first(x.stream.IsDone()) }},
		{"Stream.Synchronize", "stream", func() error {
			return x.stream.Synchronize(context.Background())
		}},
		{"Stream.Record", "stream", func() error { return x.stream.Record(x.event) }},
		{"Stream.Record of an event", "event", func() error { return x.stream.Record(x.event) }},
		{"Stream.Wait", "stream", func() error { return x.stream.Wait(x.event) }},
		{"Stream.Wait for an event", "event", func() error { return x.stream.Wait(x.event) }},
		{"Stream.CopyToDevice", "stream", func() error {
			return x.stream.CopyToDevice(x.at, bytes)
		}},
		{"Stream.CopyToHost", "stream", func() error { return x.stream.CopyToHost(bytes, x.at) }},
		{"Stream.Copy", "stream", func() error { return x.stream.Copy(x.at, x.at+8, 8) }},
		{"Stream.Fill8", "stream", func() error { return x.stream.Fill8(x.at, 1, 8) }},
		{"Stream.Fill32", "stream", func() error { return x.stream.Fill32(x.at, 1, 2) }},
		{"Stream.Free", "stream", func() error {
			return x.stream.Free(must(x.c.Alloc(8))(panicking{}))
		}},
		{"Stream.Capture", "stream", func() error {
			return first(x.stream.Capture(func() error { return nil }))
		}},
		{"Stream.Launch", "stream", func() error {
			return x.stream.Launch(x.kernel, shape, make([]int64, 3))
		}},
		{"Stream.Launch, cooperative", "stream", func() error {
			return x.stream.Launch(x.kernel, cooperative, make([]int64, 3))
		}},
		{"Stream.Launch of a module", "module", func() error {
			return x.stream.Launch(x.kernel, shape, make([]int64, 3))
		}},
		{"Event.IsDone", "event", func() error { return first(x.event.IsDone()) }},
		{"Event.Synchronize", "event", func() error {
			return x.event.Synchronize(context.Background())
		}},
		{"Event.Elapsed", "timer", func() error { return first(x.timer.Elapsed(x.event)) }},
		{"Event.Elapsed from an event", "timer", func() error {
			return first(x.event.Elapsed(x.timer))
		}},
		{"Module.Function", "module", func() error { return first(x.module.Function("k")) }},
		{"Module.Variable", "module", func() error {
			_, _, err := x.module.Variable("v")
			return err
		}},
		{"Function.SetMaxDynamicShared", "module", func() error {
			return x.kernel.SetMaxDynamicShared(1 << 16)
		}},
		{"Function.SetSharedCarveout", "module", func() error {
			return x.kernel.SetSharedCarveout(50)
		}},
		{"Function.BlocksPerMultiprocessor", "module", func() error {
			return first(x.kernel.BlocksPerMultiprocessor(256, 0))
		}},
		{"Function.SuggestBlock", "module", func() error {
			_, _, err := x.kernel.SuggestBlock(0, 0)
			return err
		}},
		{"Pool.Alloc", "pool", func() error { return first(x.pool.Alloc(x.stream, 8)) }},
		{"Pool.Alloc in a stream", "stream", func() error {
			return first(x.pool.Alloc(x.stream, 8))
		}},
		{"Pool.Use", "pool", func() error { return first(x.pool.Use()) }},
		{"Pool.Trim", "pool", func() error { return x.pool.Trim(0) }},
		{"Pool.SetReleaseThreshold", "pool", func() error { return x.pool.SetReleaseThreshold(1) }},
		{"Graph.Launch", "graph", func() error { return x.graph.Launch(x.stream) }},
		{"Graph.Launch in a stream", "stream", func() error { return x.graph.Launch(x.stream) }},
		{"Graph.Upload", "graph", func() error { return x.graph.Upload(x.stream) }},
		{"Region.Grow", "region", func() error { return x.region.Grow(x.region.Size() + 1) }},
		{"Region.Shrink", "region", func() error {
			if err := x.region.Grow(1); err != nil {
				return err
			}
			return x.region.Shrink(0)
		}},
	}
}

// closers are the Close methods of all objects.
func (x *everything) closers() map[string]func() error {
	return map[string]func() error{
		"stream": x.stream.Close, "event": x.event.Close, "timer": x.timer.Close,
		"module": x.module.Close,
		"pool":   x.pool.Close, "graph": x.graph.Close, "region": x.region.Close,
		"host": x.host.Close,
	}
}

// panicking is a test that has no other way out.
type panicking struct{ testing.TB }

func (panicking) Helper()           {}
func (panicking) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// TestMethods calls everything once on a driver that says yes.
func TestMethods(t *testing.T) {
	x := newEverything(t, newFake().start(t))
	for _, m := range x.methods() {
		if err := m.call(); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	for name, close := range x.closers() {
		if err := close(); err != nil {
			t.Errorf("closing the %s: %v", name, err)
		}
	}
}

// TestClosed uses objects after Close: the driver must not hear of it.
func TestClosed(t *testing.T) {
	k := newFake()
	x := newEverything(t, k.start(t))
	for name, close := range x.closers() {
		for range 2 {
			if err := close(); err != nil {
				t.Errorf("closing the %s: %v", name, err)
			}
		}
	}
	for _, name := range []string{"cuStreamDestroy", "cuModuleUnload", "cuMemPoolDestroy",
		"cuGraphExecDestroy", "cuMemAddressFree", "cuMemFreeHost"} {
		calls := k.calls
		if n := len(slices.DeleteFunc(slices.Clone(calls), func(s string) bool {
			return s != name
		})); n != 1 {
			t.Errorf("%d calls of %s", n, name)
		}
	}
	k.took()
	for _, m := range x.methods() {
		if m.of == "" {
			continue
		}
		if err := m.call(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", m.name, err)
		}
		if calls := k.took(); len(calls) > 0 && m.name != "Stream.Free" {
			t.Errorf("%s of what is closed calls %v", m.name, calls)
		}
	}
	if x.host.Bytes() != nil {
		t.Error("host memory after Close")
	}
}

// TestClosedContext uses and closes objects after their context: they went with
// it.
func TestClosedContext(t *testing.T) {
	k := newFake()
	x := newEverything(t, k.start(t))
	methods := slices.DeleteFunc(x.methods(), func(m method) bool {
		return m.name == "Stream.Free"
	})
	for range 2 {
		if err := x.c.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := len(slices.DeleteFunc(k.took(), func(s string) bool {
		return s != "cuDevicePrimaryCtxRelease"
	})); n != 1 {
		t.Errorf("released %d times", n)
	}
	for _, m := range methods {
		if err := m.call(); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	if x.host.Bytes() != nil {
		t.Error("host memory of a closed context")
	}
	for name, close := range x.closers() {
		if err := close(); err != nil {
			t.Errorf("closing the %s: %v", name, err)
		}
	}
	if calls := k.took(); len(calls) > 0 {
		t.Errorf("a closed context calls %v", calls)
	}
}

// TestLost has the device fault: all calls say so without asking the driver
// again, and a new context works if the driver lets it.
func TestLost(t *testing.T) {
	for _, recovers := range []bool{true, false} {
		k := newFake()
		k.resetOK = recovers
		x := newEverything(t, k.start(t))
		methods := slices.DeleteFunc(x.methods(), func(m method) bool {
			return m.name == "Stream.Free"
		})
		k.dead = illegalAddress
		err := x.c.Synchronize()
		if want := "CUDA: cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"; !errors.Is(err, ErrLost) || err.Error() != want {
			t.Errorf("the fault: %v", err)
		}
		k.took()
		for _, m := range methods {
			err := m.call()
			var e *Error
			if !errors.Is(err, ErrLost) || !errors.As(err, &e) || e.Code != illegalAddress ||
				m.name != "Context.Synchronize" && e.Since != "cuCtxSynchronize" {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		if calls := k.took(); len(calls) > 0 {
			t.Errorf("a lost context calls %v", calls)
		}
		if x.c.Lost() == nil {
			t.Error("the context does not know")
		}
		if err := x.c.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
		next, err := x.c.Device().OpenContext()
		if k.resets != 1 {
			t.Errorf("%d resets", k.resets)
		}
		if !recovers {
			if !errors.Is(err, ErrLost) ||
				!strings.Contains(err.Error(), "start the program again") {
				t.Errorf("a driver that does not recover: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.Alloc(8); err != nil {
			t.Errorf("the new context: %v", err)
		}
	}
}

// TestErrors tells kinds of failure apart.
func TestErrors(t *testing.T) {
	kinds := []error{ErrOutOfMemory, ErrLost, ErrInvalidPTX, ErrUnsupportedPTX, ErrNoBinary,
		ErrNotFound, ErrNotReady, ErrCapture, ErrClosed, errors.ErrUnsupported}
	for code, want := range map[Code]error{
		2: ErrOutOfMemory, 218: ErrInvalidPTX, 222: ErrUnsupportedPTX, 209: ErrNoBinary,
		200: ErrNoBinary, 500: ErrNotFound,
		600: ErrNotReady, 900: ErrCapture, 906: ErrCapture, 801: errors.ErrUnsupported,
		missingFunction: errors.ErrUnsupported,
		700:             ErrLost, 702: ErrLost, 710: ErrLost, 716: ErrLost, 719: ErrLost,
		214: ErrLost,
		1:   nil, 701: nil, 720: nil, 999: nil, refusedCall: nil,
	} {
		for _, kind := range kinds {
			if got := errors.Is(fmt.Errorf("wrapped: %w", &Error{Code: code}),
				kind); got != (kind == want) {
				t.Errorf("code %d is %v: %v", code, kind, got)
			}
		}
	}
	k := newFake()
	c := k.start(t)
	k.set("cuMemAlloc", outOfMemory)
	_, err := c.Alloc(1 << 40)
	if want := "CUDA: cuMemAlloc (1099511627776 bytes): CUDA_ERROR_OUT_OF_MEMORY: out of memory"; err == nil || err.Error() != want {
		t.Error(err)
	}
	k.set("cuMemAlloc", 12345) // of a later driver
	if _, err := c.Alloc(1); err == nil ||
		err.Error() != "CUDA: cuMemAlloc (1 bytes): error 12345" {
		t.Error(err)
	}
	if c.Lost() != nil {
		t.Error("a failure is taken for a fault")
	}
}
