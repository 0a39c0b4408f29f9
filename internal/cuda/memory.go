package cuda

import "unsafe"

// Pointer is an address on the device. As a parameter of a kernel it is
// int64(p).
type Pointer uint64

// Alloc allocates device memory, aligned to 256 bytes at least. What is in it
// is not defined. It waits for the device where memory must be asked of the
// system; Pool.Alloc does not.
func (c *Context) Alloc(bytes uint64) (Pointer, error) {
	var p Pointer
	err := c.call("cuMemAlloc", func() Code { return c.fn.MemAlloc(&p, bytes) })
	if err != nil {
		return 0, describe(err, "%d bytes", bytes)
	}
	return p, nil
}

// Free gives memory of Alloc back. It waits for work that is under way.
func (c *Context) Free(p Pointer) error {
	return c.call("cuMemFree", func() Code { return c.fn.MemFree(p) })
}

// MemoryInfo returns how many bytes of the device's memory are free, for all
// processes together, and how many there are.
func (c *Context) MemoryInfo() (free, total uint64, err error) {
	err = c.call("cuMemGetInfo", func() Code { return c.fn.MemGetInfo(&free, &total) })
	return free, total, err
}

// CopyToDevice copies bytes to the device and waits for it. It does not wait
// for streams.
func (c *Context) CopyToDevice(to Pointer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	err := c.call("cuMemcpyHtoD", func() Code {
		return c.fn.MemcpyHtoD(to, &from[0], uint64(len(from)))
	})
	return describeCopy(err, len(from))
}

// CopyToHost copies from the device until the slice is full, and waits for it.
func (c *Context) CopyToHost(to []byte, from Pointer) error {
	if len(to) == 0 {
		return nil
	}
	err := c.call("cuMemcpyDtoH", func() Code {
		return c.fn.MemcpyDtoH(&to[0], from, uint64(len(to)))
	})
	return describeCopy(err, len(to))
}

// Copy copies within the device. It may return before it is done.
func (c *Context) Copy(to, from Pointer, bytes uint64) error {
	if bytes == 0 {
		return nil
	}
	err := c.call("cuMemcpyDtoD", func() Code { return c.fn.MemcpyDtoD(to, from, bytes) })
	return describeCopy(err, bytes)
}

// Fill8 sets n bytes. It may return before it is done.
func (c *Context) Fill8(p Pointer, value uint8, n uint64) error {
	if n == 0 {
		return nil
	}
	return c.call("cuMemsetD8", func() Code { return c.fn.MemsetD8(p, value, n) })
}

// Fill32 sets n words of 32 bits, at an address that is a multiple of 4. It may
// return before it is done.
func (c *Context) Fill32(p Pointer, value uint32, n uint64) error {
	if n == 0 {
		return nil
	}
	return c.call("cuMemsetD32", func() Code { return c.fn.MemsetD32(p, value, n) })
}

// CopyToDevice copies bytes to the device. From host memory that AllocHost made
// the copy runs beside other work, and the bytes stay as they are until it is
// done. From Go's memory the driver first copies them to a buffer of its own,
// at a fifth of the rate, and returns.
func (s *Stream) CopyToDevice(to Pointer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	err := s.call("cuMemcpyHtoDAsync", func(h streamHandle) Code {
		return s.ctx.fn.MemcpyHtoDAsync(to, &from[0], uint64(len(from)), h)
	})
	return describeCopy(err, len(from))
}

// CopyToHost copies from the device until the slice is full. Into memory that
// AllocHost made the copy runs beside other work; into Go's memory it is done
// when the method returns.
func (s *Stream) CopyToHost(to []byte, from Pointer) error {
	if len(to) == 0 {
		return nil
	}
	err := s.call("cuMemcpyDtoHAsync", func(h streamHandle) Code {
		return s.ctx.fn.MemcpyDtoHAsync(&to[0], from, uint64(len(to)), h)
	})
	return describeCopy(err, len(to))
}

// Copy copies within the device.
func (s *Stream) Copy(to, from Pointer, bytes uint64) error {
	if bytes == 0 {
		return nil
	}
	err := s.call("cuMemcpyDtoDAsync", func(h streamHandle) Code {
		return s.ctx.fn.MemcpyDtoDAsync(to, from, bytes, h)
	})
	return describeCopy(err, bytes)
}

// Fill8 sets n bytes.
func (s *Stream) Fill8(p Pointer, value uint8, n uint64) error {
	if n == 0 {
		return nil
	}
	return s.call("cuMemsetD8Async", func(h streamHandle) Code {
		return s.ctx.fn.MemsetD8Async(p, value, n, h)
	})
}

// Fill32 sets n words of 32 bits, at an address that is a multiple of 4.
func (s *Stream) Fill32(p Pointer, value uint32, n uint64) error {
	if n == 0 {
		return nil
	}
	return s.call("cuMemsetD32Async", func(h streamHandle) Code {
		return s.ctx.fn.MemsetD32Async(p, value, n, h)
	})
}

// describeCopy says of an error how much was to be copied.
func describeCopy[N int | uint64](err error, bytes N) error {
	if err == nil {
		return nil
	}
	return describe(err, "%d bytes", bytes)
}

// HostOptions say what host memory is for.
type HostOptions struct {
	// WriteCombined memory is faster to copy to the device and very slow to
	// read on the host.
	WriteCombined bool
}

// HostMemory is memory of the host that the device can reach: copies run at the
// full rate of the bus and beside other work, and kernels can use it.
type HostMemory struct {
	object[hostAddress]
	start unsafe.Pointer
	size  int
}

// hostAddress is the address that frees host memory.
type hostAddress uintptr

// AllocHost allocates host memory that stays in place. It is slow, some tenths
// of a second a gigabyte, so it is for buffers that are kept.
func (c *Context) AllocHost(bytes int, o HostOptions) (*HostMemory, error) {
	m := &HostMemory{object: object[hostAddress]{ctx: c}, size: bytes}
	flags := uint32(hostPortable | hostDeviceMap)
	if o.WriteCombined {
		flags |= hostWriteCombined
	}
	err := c.call("cuMemHostAlloc", func() Code {
		return c.fn.MemHostAlloc(&m.start, uint64(max(bytes, 0)), flags)
	})
	if err != nil {
		return nil, describe(err, "%d bytes", bytes)
	}
	m.handle = hostAddress(uintptr(m.start))
	return m, nil
}

// Bytes returns the memory, which is not to be used after Close, its own or its
// context's; nil after either.
func (m *HostMemory) Bytes() []byte {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.handle == 0 || m.ctx.isClosed() {
		return nil
	}
	return unsafe.Slice((*byte)(m.start), m.size)
}

// Pointer returns the address at which kernels find the memory. Addresses are
// the same on both sides.
func (m *HostMemory) Pointer() Pointer { return Pointer(uintptr(m.start)) }

// Close frees the memory.
func (m *HostMemory) Close() error {
	return m.close("cuMemFreeHost", func(hostAddress) Code { return m.ctx.fn.MemFreeHost(m.start) })
}
