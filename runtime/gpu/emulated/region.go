package emulated

import (
	"errors"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// region is a range of addresses, the first part of which is backed by memory.
type region struct {
	object
	block *block // all addresses

	line sync.Mutex
	size uint64
	had  []uint64 // sizes before each growth
}

// regionGrain is the granularity of mapping.
const regionGrain = 2 << 20

// Reserve reserves a range of addresses.
func (c *share) Reserve(limit uint64) (driver.Region, error) {
	const name = "cuMemAddressReserve"
	var r *region
	err := c.call(name, func() error {
		if err := c.driver.unsupported(name); err != nil {
			return err
		}
		limit = (limit + regionGrain - 1) / regionGrain * regionGrain
		b, err := c.memory.reserve(limit)
		if err == nil {
			r = &region{object: newObject(c, "region"), block: b}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Base returns the first address.
func (r *region) Base() cuda.Pointer { return r.block.base() }

// Limit returns the size of the range.
func (r *region) Limit() uint64 { return uint64(len(r.block.raw) - guardBytes) }

// Size returns the number of bytes that are backed by memory.
func (r *region) Size() uint64 {
	r.line.Lock()
	defer r.line.Unlock()
	return r.size
}

// Grow backs the first bytes of the range with memory.
func (r *region) Grow(bytes uint64) error {
	const name = "cuMemCreate"
	r.line.Lock()
	defer r.line.Unlock()
	if r.isClosed() {
		return closed(name)
	}
	if bytes <= r.size {
		return nil
	}
	return r.ctx.call(name, func() error {
		size := (bytes + regionGrain - 1) / regionGrain * regionGrain
		if size > r.Limit() || !r.ctx.memory.claim(size-r.size) {
			return failure(name, OutOfMemory, "from %d bytes to %d", r.size, size)
		}
		fill(r.block.raw[guardBytes:][r.size:size], r.ctx.memory.fresh)
		r.had = append(r.had, r.size)
		r.resize(size)
		return nil
	})
}

// resize sets the number of bytes that are backed by memory. The caller holds
// the lock line.
func (r *region) resize(size uint64) {
	m := r.ctx.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	r.size, r.block.bytes = size, size
}

// Shrink unmaps the growths beyond the first bytes.
func (r *region) Shrink(bytes uint64) error {
	const name = "cuMemUnmap"
	r.line.Lock()
	defer r.line.Unlock()
	if r.isClosed() {
		return closed(name)
	}
	return r.ctx.call(name, func() error {
		r.shrink(bytes)
		return nil
	})
}

func (r *region) shrink(bytes uint64) {
	for n := len(r.had) - 1; n >= 0 && r.had[n] >= bytes; n-- {
		fill(r.block.raw[guardBytes:][r.had[n]:r.size], spoiltByte)
		r.ctx.memory.unclaim(r.size - r.had[n])
		r.resize(r.had[n])
		r.had = r.had[:n]
	}
}

// Close frees the memory and the addresses.
func (r *region) Close() error {
	err := r.close("cuMemAddressFree", func() error {
		r.line.Lock()
		defer r.line.Unlock()
		r.shrink(0)
		r.ctx.memory.unreserve(r.block)
		return nil
	})
	if errors.Is(err, cuda.ErrClosed) {
		return nil
	}
	return err
}

// reserve returns a block of addresses that has neither memory nor a guard yet.
func (m *Memory) reserve(limit uint64) (*block, error) {
	raw, err := mapMemory(int(limit) + guardBytes)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &block{raw: raw, kind: ofRegion}
	at, _ := m.search(b.base())
	m.live = slices.Insert(m.live, at, b)
	return b, nil
}

func (m *Memory) unreserve(b *block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, exact := m.search(b.base()); exact {
		m.live = slices.Delete(m.live, at, at+1)
	}
	unmapMemory(b.raw)
}
