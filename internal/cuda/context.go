package cuda

import (
	"errors"
	goruntime "runtime"
	"sync"
	"sync/atomic"
)

// Context is what the process has on a device: memory, modules, streams. It is
// the device's primary context, so two of one device see the same memory.
type Context struct {
	device *Device
	fn     *functions
	handle contextHandle

	mu     sync.RWMutex // read during calls, written by Close
	closed bool
	lost   atomic.Pointer[Error] // the fault that made the context useless
}

// OpenContext makes the device ready for work. The first context of a device
// takes some tenths of a second and some hundred megabytes of the device's
// memory. If the device's primary context has been lost to a fault, it is reset
// first; an ErrLost then means that the driver does not recover within this
// process, and its text says to start the program again. Driver 580 does not
// recover. While a stream of the device is captured, it waits.
func (d *Device) OpenContext() (*Context, error) {
	c, err := d.retain()
	if err == nil || !errors.Is(err, ErrLost) {
		return c, err
	}
	fn := &d.driver.fn
	err = fn.failure("cuDevicePrimaryCtxReset", fn.DevicePrimaryCtxReset(d.handle))
	if err == nil {
		c, err = d.retain()
	}
	if errors.Is(err, ErrLost) {
		describe(err, "after a fault on the device; start the program again")
	}
	return c, err
}

// retain takes a share of the primary context and sees whether it is alive.
func (d *Device) retain() (*Context, error) {
	c := &Context{device: d, fn: &d.driver.fn}
	if err := c.fn.failure("cuDevicePrimaryCtxRetain",
		c.fn.DevicePrimaryCtxRetain(&c.handle, d.handle)); err != nil {
		return nil, err
	}
	d.capturing.Lock()
	defer d.capturing.Unlock()
	if err := c.Synchronize(); err != nil {
		c.fn.DevicePrimaryCtxRelease(d.handle)
		return nil, err
	}
	return c, nil
}

// Device returns the context's device.
func (c *Context) Device() *Device { return c.device }

// Lost returns the fault that made the context useless, an *Error, or nil.
func (c *Context) Lost() error {
	if e := c.lost.Load(); e != nil {
		return e
	}
	return nil
}

// Close gives the context back. The driver frees all that was made in it when
// no one else in the process uses the device.
func (c *Context) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	code := c.fn.DevicePrimaryCtxRelease(c.device.handle)
	if c.lost.Load() != nil && code.losesContext() {
		return nil // it says again what its callers know
	}
	return c.fn.failure("cuDevicePrimaryCtxRelease", code)
}

// isClosed reports whether Close was called.
func (c *Context) isClosed() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.closed
}

// Synchronize waits for all work of the context. It cannot be interrupted;
// Stream.Synchronize can.
func (c *Context) Synchronize() error {
	return c.call("cuCtxSynchronize", func() Code { return c.fn.CtxSynchronize() })
}

// call makes one or several calls of the driver with the context current on the
// thread, as the package comment says, and turns the code into an error.
func (c *Context) call(name string, f func() Code) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return refused(name, ErrClosed, "the context is closed")
	}
	if e := c.lost.Load(); e != nil {
		return e.again(name)
	}
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	code := c.fn.CtxSetCurrent(c.handle)
	if code == success {
		code = f()
	}
	if code == success {
		return nil
	}
	return c.fail(name, code)
}

// fail makes the error of a call, and remembers it if the context is lost with
// it.
func (c *Context) fail(name string, code Code) error {
	err := c.fn.failure(name, code)
	if code.losesContext() {
		c.lost.CompareAndSwap(nil, err.(*Error))
		return c.lost.Load().again(name)
	}
	return err
}

// again returns a fault as the error of a later call.
func (e *Error) again(call string) *Error {
	n := &Error{Call: call, Code: e.Code, Name: e.Name, Text: e.Text}
	if call != e.Call {
		n.Since = e.Call
	}
	return n
}

// object is what the driver's objects have in common: a context and a handle,
// with a lock that keeps Close from freeing what a call uses.
type object[H ~uintptr] struct {
	ctx *Context

	mu     sync.RWMutex
	handle H // 0 after Close
}

// Context returns the context that the object belongs to.
func (o *object[H]) Context() *Context { return o.ctx }

// call makes calls of the driver that use the object.
func (o *object[H]) call(name string, f func(H) Code) error {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.handle == 0 {
		return refused(name, ErrClosed, "the object is closed")
	}
	return o.ctx.call(name, func() Code { return f(o.handle) })
}

// close frees the object. A context that is closed has freed it already.
func (o *object[H]) close(name string, f func(H) Code) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	h := o.handle
	if h == 0 {
		return nil
	}
	o.handle = 0
	err := o.ctx.call(name, func() Code { return f(h) })
	if errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}
