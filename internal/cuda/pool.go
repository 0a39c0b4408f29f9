package cuda

// PoolOptions say how a pool keeps memory.
type PoolOptions struct {
	// ReleaseThreshold is how many bytes the pool keeps when its memory is free
	// and a stream is waited for; the rest goes back to the system. With 0 it
	// keeps nothing, and each wait makes the next allocation slow.
	ReleaseThreshold uint64
}

// Pool hands out device memory in the order of a stream's work, without waiting
// for the device: what one step frees the next one takes.
type Pool struct{ object[poolHandle] }

// PoolUse says what a pool holds, in bytes.
type PoolUse struct {
	Used, UsedHigh         uint64 // handed out now, and at most so far
	Reserved, ReservedHigh uint64 // taken from the system
}

// NewPool makes an empty pool on the context's device.
func (c *Context) NewPool(o PoolOptions) (*Pool, error) {
	const name = "cuMemPoolCreate"
	if !c.device.Attributes.MemoryPools {
		return nil, &Error{Call: name, Code: notSupported, Text: "the device has no memory pools"}
	}
	properties := &poolProperties{
		allocation: allocationPinned,
		location:   memoryLocation{locationDevice, int32(c.device.handle)},
	}
	p := &Pool{object[poolHandle]{ctx: c}}
	if err := c.call(name, func() Code {
		return c.fn.MemPoolCreate(&p.handle, properties)
	}); err != nil {
		return nil, err
	}
	if err := p.SetReleaseThreshold(o.ReleaseThreshold); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// SetReleaseThreshold changes how much the pool keeps, see PoolOptions.
func (p *Pool) SetReleaseThreshold(bytes uint64) error {
	return p.call("cuMemPoolSetAttribute", func(h poolHandle) Code {
		return p.ctx.fn.MemPoolSetAttribute(h, poolReleaseThreshold, &bytes)
	})
}

// Alloc allocates memory that work in the stream can use from here on.
func (p *Pool) Alloc(s *Stream, bytes uint64) (Pointer, error) {
	var at Pointer
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.handle == 0 {
		return 0, refused("cuMemAllocFromPoolAsync", ErrClosed, "the pool is closed")
	}
	err := s.call("cuMemAllocFromPoolAsync", func(h streamHandle) Code {
		return p.ctx.fn.MemAllocFromPoolAsync(&at, bytes, p.handle, h)
	})
	if err != nil {
		return 0, describe(err, "%d bytes", bytes)
	}
	return at, nil
}

// Free gives memory of a pool back once the work that is in the stream now is
// done.
func (s *Stream) Free(p Pointer) error {
	return s.call("cuMemFreeAsync", func(h streamHandle) Code {
		return s.ctx.fn.MemFreeAsync(p, h)
	})
}

// Trim gives free memory back to the system until the pool holds no more than
// keep bytes. Memory that a stream is yet to free is not free.
func (p *Pool) Trim(keep uint64) error {
	return p.call("cuMemPoolTrimTo", func(h poolHandle) Code {
		return p.ctx.fn.MemPoolTrimTo(h, keep)
	})
}

// Use returns what the pool holds.
func (p *Pool) Use() (PoolUse, error) {
	var u PoolUse
	for _, field := range []struct {
		attribute int32
		to        *uint64
	}{
		{poolUsed, &u.Used}, {poolUsedHigh, &u.UsedHigh},
		{poolReserved, &u.Reserved}, {poolReservedHigh, &u.ReservedHigh},
	} {
		err := p.call("cuMemPoolGetAttribute", func(h poolHandle) Code {
			return p.ctx.fn.MemPoolGetAttribute(h, field.attribute, field.to)
		})
		if err != nil {
			return PoolUse{}, err
		}
	}
	return u, nil
}

// Close frees the pool, once all that it has handed out is freed.
func (p *Pool) Close() error { return p.close("cuMemPoolDestroy", p.ctx.fn.MemPoolDestroy) }
