package emulated

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// share is one user's reference to a device's primary context.
type share struct {
	*primary

	mu     sync.RWMutex
	closed bool
}

var _ driver.Context = (*share)(nil)

// call counts a call of the driver, and makes it unless the context is closed
// or lost, or a fault is injected.
func (c *share) call(name string, f func() error) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closed {
		return closed(name)
	}
	if err := c.enter(name); err != nil {
		return err
	}
	return f()
}

// Device returns the context's device.
func (c *share) Device() driver.Device { return c.device }

// Lost returns the fault that has destroyed the context, or nil.
func (c *share) Lost() error {
	if e := c.lost.Load(); e != nil {
		return e
	}
	return nil
}

// Synchronize waits until all streams have done their work.
func (c *share) Synchronize() error {
	const name = "cuCtxSynchronize"
	err := c.call(name, func() error { return nil })
	if err != nil {
		return err
	}
	c.synchronize()
	return c.faultAfter(name)
}

// faultAfter returns the fault that a wait has revealed, or nil.
func (p *primary) faultAfter(call string) error {
	if lost := p.lost.Load(); lost != nil {
		return again(lost, call)
	}
	return nil
}

// Close releases the context. When the last user has closed it, everything that
// was made in it ends.
func (c *share) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.device.release(c.primary)
	return nil
}

// object is the common part of modules, streams, events, pools, regions and
// graphs.
type object struct {
	ctx  *share
	kind string

	mu     sync.RWMutex
	closed bool
}

func newObject(c *share, kind string) object {
	c.count(kind, 1)
	return object{ctx: c, kind: kind}
}

// call makes a call that uses the object.
func (o *object) call(name string, f func() error) error {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.closed {
		return closed(name)
	}
	return o.ctx.call(name, f)
}

// close makes the call that closes the object. Closing the context has closed
// it, too.
func (o *object) close(name string, f func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	o.ctx.count(o.kind, -1)
	err := o.ctx.call(name, f)
	if errors.Is(err, cuda.ErrClosed) {
		return nil
	}
	return err
}

// MemoryInfo returns the free and the total memory of the device.
func (c *share) MemoryInfo() (free, total uint64, err error) {
	err = c.call("cuMemGetInfo", func() error {
		c.memory.mu.Lock()
		defer c.memory.mu.Unlock()
		free, total = c.memory.total-c.memory.used, c.memory.total
		return nil
	})
	return free, total, err
}

// Alloc allocates memory.
func (c *share) Alloc(bytes uint64) (p cuda.Pointer, err error) {
	const name = "cuMemAlloc"
	err = c.call(name, func() error {
		switch {
		case bytes == 0:
			return failure(name, InvalidValue, "0 bytes")
		case !c.memory.claim(bytes):
			return failure(name, OutOfMemory, "%d bytes", bytes)
		}
		b, err := c.memory.take(bytes, ofContext)
		if err != nil {
			c.memory.unclaim(bytes)
			return err
		}
		p = b.base()
		return nil
	})
	return p, err
}

// Free frees memory once all streams have done their work.
func (c *share) Free(p cuda.Pointer) error {
	const name = "cuMemFree"
	return c.call(name, func() error {
		b, err := c.memory.find(p, ofContext)
		if err != nil {
			c.wrong("%s: %v", name, err)
			return failure(name, InvalidValue, "%v", err)
		}
		c.synchronize()
		c.memory.drop(b)
		c.memory.unclaim(b.bytes)
		return nil
	})
}

// bytes returns the memory of an argument of a call, or the call's error.
func (p *primary) bytes(call string, at cuda.Pointer, n uint64) ([]byte, error) {
	data, err := p.memory.Bytes(at, n)
	if err != nil {
		p.wrong("%s: %v", call, err)
		return nil, failure(call, InvalidValue, "%v", err)
	}
	return data, nil
}

// CopyToDevice copies synchronously.
func (c *share) CopyToDevice(to cuda.Pointer, from []byte) error {
	return c.move("cuMemcpyHtoD", len(from), func(name string) error {
		return c.copyIn(name, to, from)
	})
}

// CopyToHost copies synchronously.
func (c *share) CopyToHost(to []byte, from cuda.Pointer) error {
	return c.move("cuMemcpyDtoH", len(to), func(name string) error {
		return c.copyOut(name, to, from)
	})
}

// Copy copies synchronously.
func (c *share) Copy(to, from cuda.Pointer, bytes uint64) error {
	return c.move("cuMemcpyDtoD", int(bytes), func(name string) error {
		return c.copyWithin(name, to, from, bytes)
	})
}

// Fill8 fills synchronously.
func (c *share) Fill8(p cuda.Pointer, value uint8, n uint64) error {
	return c.move("cuMemsetD8", int(n), func(name string) error {
		return c.fill8(name, p, value, n)
	})
}

// Fill32 fills synchronously.
func (c *share) Fill32(p cuda.Pointer, value uint32, n uint64) error {
	return c.move("cuMemsetD32", int(n), func(name string) error {
		return c.fill32(name, p, value, n)
	})
}

// move makes a call unless there is nothing to do.
func (c *share) move(name string, n int, f func(name string) error) error {
	if n == 0 {
		return nil
	}
	return c.call(name, func() error { return f(name) })
}

func (p *primary) copyIn(call string, to cuda.Pointer, from []byte) error {
	data, err := p.bytes(call, to, uint64(len(from)))
	copy(data, from)
	return err
}

func (p *primary) copyOut(call string, to []byte, from cuda.Pointer) error {
	data, err := p.bytes(call, from, uint64(len(to)))
	copy(to, data)
	return err
}

func (p *primary) copyWithin(call string, to, from cuda.Pointer, n uint64) error {
	src, err := p.bytes(call, from, n)
	if err != nil {
		return err
	}
	dst, err := p.bytes(call, to, n)
	copy(dst, src)
	return err
}

func (p *primary) fill8(call string, at cuda.Pointer, value uint8, n uint64) error {
	data, err := p.bytes(call, at, n)
	fill(data, value)
	return err
}

func (p *primary) fill32(call string, at cuda.Pointer, value uint32, n uint64) error {
	if at%4 != 0 {
		p.wrong("%s: address %#x", call, at)
		return failure(call, InvalidValue, "address %#x", at)
	}
	data, err := p.bytes(call, at, 4*n)
	for i := 0; i < len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], value)
	}
	return err
}

// hostMemory is pinned memory.
type hostMemory struct {
	object
	block *block
}

// AllocHost allocates pinned memory, which does not count against the device's
// memory.
func (c *share) AllocHost(bytes int, _ cuda.HostOptions) (driver.HostMemory, error) {
	const name = "cuMemHostAlloc"
	var m *hostMemory
	err := c.call(name, func() error {
		if err := c.driver.unsupported(name); err != nil {
			return err
		}
		if bytes <= 0 {
			return failure(name, InvalidValue, "%d bytes", bytes)
		}
		b, err := c.memory.take(uint64(bytes), ofHost)
		if err == nil {
			m = &hostMemory{newObject(c, "host memory"), b}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Bytes returns the memory.
func (m *hostMemory) Bytes() []byte {
	m.mu.RLock()
	defer m.mu.RUnlock()
	m.ctx.mu.RLock()
	defer m.ctx.mu.RUnlock()
	if m.closed || m.ctx.closed {
		return nil
	}
	return m.block.data()[:m.block.bytes:m.block.bytes]
}

// Pointer returns its address.
func (m *hostMemory) Pointer() cuda.Pointer { return m.block.base() }

// Close frees the memory. Operations on it that are still queued in a stream
// fail.
func (m *hostMemory) Close() error {
	return m.close("cuMemFreeHost", func() error {
		m.ctx.memory.drop(m.block)
		return nil
	})
}
