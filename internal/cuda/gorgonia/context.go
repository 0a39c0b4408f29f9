package gorgonia

import (
	"errors"
	goruntime "runtime"
	"sync"
	"sync/atomic"

	"gorgonia.org/cu"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// gpu is a share of a device's primary context.
type gpu struct {
	device *device
	handle cu.CUContext

	mu   sync.RWMutex // of the context and all objects: read during calls, written by Close
	gone bool
	lost atomic.Pointer[cuda.Error] // the fault that made the context useless
}

// object is what the driver's objects have in common. Those are freed at most
// once, and not used after that.
type object struct {
	gpu  *gpu
	gone bool // guarded by the context's lock
}

// OpenContext resets a primary context that has been lost to a fault.
func (v *device) OpenContext() (driver.Context, error) {
	c, err := v.retain()
	if errors.Is(err, cuda.ErrLost) {
		if err = failure("cuDevicePrimaryCtxReset", v.handle.ResetPrimaryCtx()); err == nil {
			c, err = v.retain()
		}
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// retain takes a share of the primary context and sees whether it is alive.
func (v *device) retain() (*gpu, error) {
	handle, err := v.handle.RetainPrimaryCtx()
	if err != nil {
		return nil, failure("cuDevicePrimaryCtxRetain", err)
	}
	c := &gpu{device: v, handle: handle}
	if err := c.Synchronize(); err != nil {
		v.handle.ReleasePrimaryCtx()
		return nil, err
	}
	return c, nil
}

func (c *gpu) Device() driver.Device { return c.device }

func (c *gpu) Lost() error {
	if e := c.lost.Load(); e != nil {
		return e
	}
	return nil
}

func (c *gpu) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil
	}
	c.gone = true
	err := failure("cuDevicePrimaryCtxRelease", c.device.handle.ReleasePrimaryCtx())
	if c.lost.Load() != nil && errors.Is(err, cuda.ErrLost) {
		return nil // it says again what its callers know
	}
	return err
}

func (c *gpu) Synchronize() error { return c.call("cuCtxSynchronize", cu.Synchronize) }

// call makes one or several calls of the driver that use some objects.
func (c *gpu) call(name string, f func() error, uses ...*object) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone {
		return closed(name)
	}
	for _, o := range uses {
		if o.gone {
			return closed(name)
		}
	}
	if e := c.lost.Load(); e != nil {
		again := *e
		again.Call, again.Since = name, e.Call
		return &again
	}
	return c.fail(name, c.current(f))
}

// current calls with the context current on the thread.
func (c *gpu) current(f func() error) error {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := cu.SetCurrentContext(c.handle); err != nil {
		return err
	}
	return f()
}

// fail makes the error of a call, and remembers it if the context is lost with
// it.
func (c *gpu) fail(name string, err error) error {
	err = failure(name, err)
	if e, ok := err.(*cuda.Error); ok && errors.Is(e, cuda.ErrLost) {
		fault := *e // callers describe theirs
		c.lost.CompareAndSwap(nil, &fault)
	}
	return err
}

// close frees an object. A context that is closed has freed it already.
func (o *object) close(name string, f func() error) error {
	c := o.gpu
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.gone {
		return nil
	}
	o.gone = true
	if c.gone {
		return nil
	}
	return c.fail(name, c.current(f))
}
