package emulated

import (
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// pool is memory that streams allocate and free in their order. It is accounted
// for in the order of calls: memory that a stream has yet to free can be
// allocated again.
type pool struct {
	object

	line  sync.Mutex
	keep  uint64
	use   cuda.PoolUse
	owned map[cuda.Pointer]uint64
	late  uint64 // bytes that streams have yet to free; trim leaves them
}

// poolGrain is the granularity in which pools reserve memory of the device.
const poolGrain = 64 << 10

// NewPool makes a pool.
func (c *share) NewPool(o cuda.PoolOptions) (driver.Pool, error) {
	const name = "cuMemPoolCreate"
	var p *pool
	err := c.call(name, func() error {
		if err := c.driver.unsupported(name); err != nil {
			return err
		}
		p = &pool{object: newObject(c, "pool"), keep: o.ReleaseThreshold,
			owned: map[cuda.Pointer]uint64{}}
		c.primary.mu.Lock()
		defer c.primary.mu.Unlock()
		c.pools = append(c.pools, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Alloc allocates memory, whose contents the stream overwrites when it reaches
// the call.
func (p *pool) Alloc(other driver.Stream, n uint64) (at cuda.Pointer, err error) {
	const name = "cuMemAllocFromPoolAsync"
	s, ok := other.(*stream)
	if !ok || s.ctx.primary != p.ctx.primary {
		return 0, foreign(name, other)
	}
	if p.isClosed() {
		return 0, closed(name)
	}
	err = s.unrecorded(name, func() error {
		if n == 0 {
			return failure(name, InvalidValue, "0 bytes")
		}
		b, err := p.take(name, n)
		if err != nil {
			return err
		}
		at = b.base()
		s.enqueue(func() error {
			fill(b.data(), p.ctx.memory.fresh)
			return nil
		})
		return nil
	})
	return at, err
}

// take allocates a block of the pool, if the device has the memory.
func (p *pool) take(call string, n uint64) (*block, error) {
	p.line.Lock()
	defer p.line.Unlock()
	size := (n + 255) / 256 * 256
	used := p.use.Used + size
	if used > p.use.Reserved {
		more := (used - p.use.Reserved + poolGrain - 1) / poolGrain * poolGrain
		if !p.ctx.memory.claim(more) {
			return nil, failure(call, OutOfMemory, "%d bytes", n)
		}
		p.use.Reserved += more
		p.use.ReservedHigh = max(p.use.ReservedHigh, p.use.Reserved)
	}
	b, err := p.ctx.memory.take(n, ofPool)
	if err != nil {
		return nil, err
	}
	p.use.Used = used
	p.use.UsedHigh = max(p.use.UsedHigh, used)
	p.owned[b.base()] = size
	return b, nil
}

// Free enqueues freeing memory of a pool.
func (s *stream) Free(at cuda.Pointer) error {
	const name = "cuMemFreeAsync"
	return s.unrecorded(name, func() error {
		b, err := s.ctx.memory.find(at, ofPool)
		if err != nil {
			s.ctx.wrong("%s: %v", name, err)
			return failure(name, InvalidValue, "%v", err)
		}
		s.ctx.memory.mu.Lock()
		b.dying = true
		s.ctx.memory.mu.Unlock()
		freed := func() {}
		for _, p := range s.ctx.poolList() {
			if n := p.forget(at); n > 0 {
				freed = func() { p.arrive(n) }
			}
		}
		s.enqueue(func() error {
			s.ctx.memory.drop(b)
			freed()
			return nil
		})
		return nil
	})
}

func (p *primary) poolList() []*pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*pool(nil), p.pools...)
}

// forget removes memory from the pool's account, if it belongs to the pool. It
// returns its size, which arrive gets when the stream has freed it.
func (p *pool) forget(at cuda.Pointer) uint64 {
	p.line.Lock()
	defer p.line.Unlock()
	n := p.owned[at]
	p.use.Used -= n
	p.late += n
	delete(p.owned, at)
	return n
}

// arrive records that a stream has freed bytes.
func (p *pool) arrive(n uint64) {
	p.line.Lock()
	defer p.line.Unlock()
	p.late -= n
}

// trim frees the pool's memory beyond keep bytes.
func (p *pool) trim(keep uint64) {
	p.line.Lock()
	defer p.line.Unlock()
	left := max(p.use.Used+p.late, keep)
	left = min((left+poolGrain-1)/poolGrain*poolGrain, p.use.Reserved)
	if keep < p.use.Reserved && left < p.use.Reserved {
		p.ctx.memory.unclaim(p.use.Reserved - left)
		p.use.Reserved = left
	}
}

// settle trims all pools to what they keep. It runs after each wait.
func (p *primary) settle() {
	for _, pool := range p.poolList() {
		pool.line.Lock()
		keep := pool.keep
		pool.line.Unlock()
		pool.trim(keep)
	}
}

// SetReleaseThreshold changes how much the pool keeps.
func (p *pool) SetReleaseThreshold(bytes uint64) error {
	return p.call("cuMemPoolSetAttribute", func() error {
		p.line.Lock()
		defer p.line.Unlock()
		p.keep = bytes
		return nil
	})
}

// Trim returns free memory beyond keep bytes to the device.
func (p *pool) Trim(keep uint64) error {
	return p.call("cuMemPoolTrimTo", func() error {
		p.trim(keep)
		return nil
	})
}

// Use returns how much memory the pool holds and uses.
func (p *pool) Use() (use cuda.PoolUse, err error) {
	err = p.call("cuMemPoolGetAttribute", func() error {
		p.line.Lock()
		defer p.line.Unlock()
		use = p.use
		return nil
	})
	if err != nil {
		return cuda.PoolUse{}, err
	}
	return use, nil
}

// Close closes the pool. Memory of it that was not freed is reported as leaked.
func (p *pool) Close() error {
	const name = "cuMemPoolDestroy"
	return p.close(name, func() error {
		p.line.Lock()
		if n := len(p.owned); n > 0 {
			p.ctx.wrong("%s: %d allocations, %d bytes, are not freed", name, n, p.use.Used)
		}
		p.line.Unlock()
		p.trim(0)
		return nil
	})
}
