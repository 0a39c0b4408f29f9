package cuda

import (
	"errors"
	"sync"
)

// Region is a range of device addresses with memory behind its first part,
// which grows and shrinks without moving. Addresses cost nothing, so a region
// is reserved for as much as there could ever be.
type Region struct {
	ctx    *Context
	base   Pointer
	limit  uint64
	grain  uint64
	memory memoryProperties

	mu     sync.Mutex
	closed bool
	size   uint64
	pieces []piece // from the base on, without gaps
}

// piece is memory of the device that lies behind a part of a region.
type piece struct {
	handle memoryHandle
	at     Pointer
	size   uint64
}

// Reserve sets addresses aside for up to limit bytes, which it rounds up to
// what the device maps at once, 2 MiB on today's.
func (c *Context) Reserve(limit uint64) (*Region, error) {
	const name = "cuMemAddressReserve"
	if !c.device.Attributes.VirtualMemory {
		return nil, &Error{Call: name, Code: notSupported,
			Text: "the device has no virtual memory management"}
	}
	r := &Region{ctx: c, memory: memoryProperties{
		allocation: allocationPinned,
		location:   memoryLocation{locationDevice, int32(c.device.handle)},
	}}
	err := c.call("cuMemGetAllocationGranularity", func() Code {
		return c.fn.MemGetAllocationGranularity(&r.grain, &r.memory, granularityRecommended)
	})
	if err != nil {
		return nil, err
	}
	r.limit = r.round(limit)
	err = c.call(name, func() Code { return c.fn.MemAddressReserve(&r.base, r.limit, 0, 0, 0) })
	if err != nil {
		return nil, describe(err, "%d bytes of addresses", r.limit)
	}
	return r, nil
}

// round returns bytes as a multiple of what is mapped at once.
func (r *Region) round(bytes uint64) uint64 { return (bytes + r.grain - 1) / r.grain * r.grain }

// Base returns the region's first address.
func (r *Region) Base() Pointer { return r.base }

// Limit returns how far the region can grow, in bytes.
func (r *Region) Limit() uint64 { return r.limit }

// Size returns how many bytes can be used.
func (r *Region) Size() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// Grow puts memory behind at least the first bytes of the region. What is in
// new memory is not defined. A region that cannot grow stays as it was. Each
// growth that is not in place already maps new memory, some hundred
// microseconds of work, so callers grow by a factor.
func (r *Region) Grow(bytes uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return refused("cuMemMap", ErrClosed, "the region is closed")
	case bytes <= r.size:
		return nil
	case bytes > r.limit:
		return refused("cuMemMap", ErrOutOfMemory, "%d bytes are more than the region's %d", bytes,
			r.limit)
	}
	p := piece{at: r.base + Pointer(r.size), size: r.round(bytes) - r.size}
	if err := r.add(&p); err != nil {
		return describe(err, "from %d bytes to %d", r.size, r.size+p.size)
	}
	r.pieces = append(r.pieces, p)
	r.size += p.size
	return nil
}

// add maps a piece, or leaves nothing behind.
func (r *Region) add(p *piece) error {
	fn := r.ctx.fn
	if err := r.ctx.call("cuMemCreate", func() Code {
		return fn.MemCreate(&p.handle, p.size, &r.memory, 0)
	}); err != nil {
		return err
	}
	// An error says why growing failed, not how undoing it went.
	err := r.ctx.call("cuMemMap", func() Code { return fn.MemMap(p.at, p.size, 0, p.handle, 0) })
	if err != nil {
		r.release(p)
		return err
	}
	access := &memoryAccess{location: r.memory.location, flags: accessReadWrite}
	err = r.ctx.call("cuMemSetAccess", func() Code {
		return fn.MemSetAccess(p.at, p.size, access, 1)
	})
	if err != nil {
		r.remove(p)
		return err
	}
	return nil
}

// remove takes the memory of a piece away.
func (r *Region) remove(p *piece) error {
	err := r.ctx.call("cuMemUnmap", func() Code { return r.ctx.fn.MemUnmap(p.at, p.size) })
	if e := r.release(p); err == nil {
		err = e
	}
	return err
}

func (r *Region) release(p *piece) error {
	return r.ctx.call("cuMemRelease", func() Code { return r.ctx.fn.MemRelease(p.handle) })
}

// Shrink gives memory behind the first bytes of the region back, as far as
// growths can be undone as a whole. No work may be under way that uses what is
// given back.
func (r *Region) Shrink(bytes uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return refused("cuMemUnmap", ErrClosed, "the region is closed")
	}
	return r.shrink(bytes)
}

func (r *Region) shrink(bytes uint64) error {
	var err error
	for n := len(r.pieces) - 1; n >= 0 && uint64(r.pieces[n].at-r.base) >= bytes; n-- {
		p := r.pieces[n]
		r.pieces = r.pieces[:n]
		r.size -= p.size
		if e := r.remove(&p); err == nil {
			err = e
		}
	}
	return err
}

// Close gives memory and addresses back. No work may be under way that uses
// them.
func (r *Region) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.shrink(0)
	if e := r.ctx.call("cuMemAddressFree", func() Code {
		return r.ctx.fn.MemAddressFree(r.base, r.limit)
	}); err == nil {
		err = e
	}
	if errors.Is(err, ErrClosed) {
		return nil // the context is, and has taken all with it
	}
	return err
}
