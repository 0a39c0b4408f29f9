package emulated

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// primary is a device's primary context, which all contexts of the device
// share.
type primary struct {
	device *device
	driver *Driver
	memory *Memory
	users  int // guarded by device.mu
	lost   atomic.Pointer[cuda.Error]

	mu      sync.Mutex
	streams []*stream
	pools   []*pool
	open    map[string]int // objects that are not closed, by kind
	work    sync.WaitGroup // goroutines of streams
}

func newPrimary(v *device) *primary {
	return &primary{device: v, driver: v.driver, memory: newMemory(v.driver),
		open: map[string]int{}}
}

// enter begins a call.
func (p *primary) enter(call string) error {
	if lost := p.lost.Load(); lost != nil {
		return again(lost, call)
	}
	err := p.driver.enter(call)
	if e, ok := err.(*cuda.Error); ok && e.Is(cuda.ErrLost) {
		p.lose(e)
	}
	return err
}

// lose makes the context unusable. Queued operations of its streams are not
// done.
func (p *primary) lose(e *cuda.Error) { p.lost.CompareAndSwap(nil, e) }

// wrong records a wrong use of the context, unless the context is lost: then
// errors are expected.
func (p *primary) wrong(format string, args ...any) {
	if p.lost.Load() == nil {
		p.driver.wrong(format, args...)
	}
}

// count counts an object that was made or closed.
func (p *primary) count(kind string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[kind] += n
}

// synchronize waits until all streams are done.
func (p *primary) synchronize() {
	p.mu.Lock()
	streams := append([]*stream(nil), p.streams...)
	p.mu.Unlock()
	for _, s := range streams {
		_ = s.waitFor(context.Background(), s.demand())
	}
	p.settle()
}

// end frees everything that is left of the context.
func (p *primary) end() {
	p.synchronize()
	p.work.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	lost := p.lost.Load() != nil
	for _, kind := range []string{"module", "stream", "event", "pool", "region", "graph"} {
		if n := p.open[kind]; n > 0 && !lost {
			p.driver.wrong("%d objects of kind %s were never closed", n, kind)
		}
	}
	p.memory.end(lost)
}
