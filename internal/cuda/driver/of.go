package driver

import (
	"fmt"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// Of returns package cuda's driver behind the interface. The methods that
// neither take nor return another object are package cuda's own; the others,
// Launch among them, add a call and the test of a type, and allocate nothing.
func Of(d *cuda.Driver) Driver { return native{d} }

// The implementation. Each type is one pointer, which an interface holds as it
// is.
type (
	native        struct{ *cuda.Driver }
	nativeDevice  struct{ *cuda.Device }
	nativeContext struct{ *cuda.Context }
	nativeModule  struct{ *cuda.Module }
	nativeStream  struct{ *cuda.Stream }
	nativeEvent   struct{ *cuda.Event }
	nativePool    struct{ *cuda.Pool }
	nativeGraph   struct{ *cuda.Graph }
)

// foreign is the error of a call that is given an object of another
// implementation.
func foreign(call string, object any) error {
	return fmt.Errorf("CUDA: %s: a %T is of another implementation of the driver", call, object)
}

// made returns a new object as an interface, which is nil with an error.
func made[T, I any](object T, err error, as func(T) I) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return as(object), nil
}

func (d native) Name() string { return d.Path() + " through purego" }

func (d native) Devices() []Device {
	var out []Device
	for _, v := range d.Driver.Devices() {
		out = append(out, nativeDevice{v})
	}
	return out
}

func (v nativeDevice) Info() *cuda.DeviceInfo { return &v.DeviceInfo }

func (v nativeDevice) OpenContext() (Context, error) {
	c, err := v.Device.OpenContext()
	return made(c, err, func(c *cuda.Context) Context { return nativeContext{c} })
}

func (c nativeContext) Device() Device { return nativeDevice{c.Context.Device()} }

func (c nativeContext) AllocHost(bytes int, o cuda.HostOptions) (HostMemory, error) {
	m, err := c.Context.AllocHost(bytes, o)
	return made(m, err, func(m *cuda.HostMemory) HostMemory { return m })
}

func (c nativeContext) NewPool(o cuda.PoolOptions) (Pool, error) {
	p, err := c.Context.NewPool(o)
	return made(p, err, func(p *cuda.Pool) Pool { return nativePool{p} })
}

func (c nativeContext) Reserve(limit uint64) (Region, error) {
	r, err := c.Context.Reserve(limit)
	return made(r, err, func(r *cuda.Region) Region { return r })
}

func (c nativeContext) LoadModule(image cuda.Image, o cuda.ModuleOptions) (Module, error) {
	m, err := c.Context.LoadModule(image, o)
	return made(m, err, func(m *cuda.Module) Module { return nativeModule{m} })
}

func (c nativeContext) NewStream() (Stream, error) {
	s, err := c.Context.NewStream()
	return made(s, err, func(s *cuda.Stream) Stream { return nativeStream{s} })
}

func (c nativeContext) NewEvent() (Event, error) { return event(c.Context.NewEvent()) }

func (c nativeContext) NewTimer() (Event, error) { return event(c.Context.NewTimer()) }

func event(e *cuda.Event, err error) (Event, error) {
	return made(e, err, func(e *cuda.Event) Event { return nativeEvent{e} })
}

func (m nativeModule) Function(name string) (Function, error) {
	f, err := m.Module.Function(name)
	return made(f, err, func(f *cuda.Function) Function { return f })
}

func (s nativeStream) Launch(f Function, shape cuda.Shape, params []int64) error {
	kernel, ok := f.(*cuda.Function)
	if !ok {
		return foreign("cuLaunchKernel", f)
	}
	return s.Stream.Launch(kernel, shape, params)
}

func (s nativeStream) Record(e Event) error {
	own, ok := e.(nativeEvent)
	if !ok {
		return foreign("cuEventRecord", e)
	}
	return s.Stream.Record(own.Event)
}

func (s nativeStream) Wait(e Event) error {
	own, ok := e.(nativeEvent)
	if !ok {
		return foreign("cuStreamWaitEvent", e)
	}
	return s.Stream.Wait(own.Event)
}

func (s nativeStream) Capture(f func() error) (Graph, error) {
	g, err := s.Stream.Capture(f)
	return made(g, err, func(g *cuda.Graph) Graph { return nativeGraph{g} })
}

func (e nativeEvent) Elapsed(from Event) (time.Duration, error) {
	own, ok := from.(nativeEvent)
	if !ok {
		return 0, foreign("cuEventElapsedTime", from)
	}
	return e.Event.Elapsed(own.Event)
}

func (p nativePool) Alloc(s Stream, bytes uint64) (cuda.Pointer, error) {
	own, ok := s.(nativeStream)
	if !ok {
		return 0, foreign("cuMemAllocFromPoolAsync", s)
	}
	return p.Pool.Alloc(own.Stream, bytes)
}

func (g nativeGraph) Upload(s Stream) error {
	own, ok := s.(nativeStream)
	if !ok {
		return foreign("cuGraphUpload", s)
	}
	return g.Graph.Upload(own.Stream)
}

func (g nativeGraph) Launch(s Stream) error {
	own, ok := s.(nativeStream)
	if !ok {
		return foreign("cuGraphLaunch", s)
	}
	return g.Graph.Launch(own.Stream)
}
