package emulated

import (
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// pool is memory that is handed out in the order of streams. It is accounted
// for in the order of calls: what a stream is yet to free can be handed out
// again.
type pool struct {
	object

	line  sync.Mutex
	keep  uint64
	use   cuda.PoolUse
	owned map[cuda.Pointer]uint64
	late  uint64 // what streams are yet to free, which a trim leaves
}

// poolGrain is what pools ask the device for at a time.
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

// Alloc hands out memory, whose contents the stream spoils when it comes here.
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

// take makes a block of the pool's, for which the device has memory.
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

// Free has the stream give memory of a pool back.
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

// forget takes memory from the pool's account, if it is the pool's, and returns
// its size, for arrive to be told when the stream comes to it.
func (p *pool) forget(at cuda.Pointer) uint64 {
	p.line.Lock()
	defer p.line.Unlock()
	n := p.owned[at]
	p.use.Used -= n
	p.late += n
	delete(p.owned, at)
	return n
}

// arrive notes that a stream has freed bytes.
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

// settle gives back what no pool keeps, after a wait.
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

// Trim gives free memory back.
func (p *pool) Trim(keep uint64) error {
	return p.call("cuMemPoolTrimTo", func() error {
		p.trim(keep)
		return nil
	})
}

// Use returns what the pool holds.
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

// Close ends the pool. What it has handed out and was not freed has leaked.
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
