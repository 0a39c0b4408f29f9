package device

import (
	"context"
	"errors"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// Large buffers lie in regions of addresses, behind which the driver maps more
// memory: nothing moves when they grow, and mapping takes an eighth of the time
// in which a pool takes as much from the driver. A region that a run has freed
// keeps its memory for the next one.

// regionBytes is the size from which buffers lie in regions.
const regionBytes = 64 << 20

// regions holds the regions of a device.
type regions struct {
	mu   sync.Mutex
	none bool                     // the driver supports no regions
	used map[cuda.Pointer]*region // regions in use, by first address
	idle []*region
}

type region struct {
	driver.Region
	last driver.Stream // of an idle region, whose commands may still use it
	idle driver.Event  // after those commands
}

// GrowsInPlace reports whether a buffer of that size lies in a region.
func (m *Memory) GrowsInPlace(bytes int64) bool {
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	return !m.regions.none && m.Pool != nil && bytes >= m.RegionBytes
}

// regionOf returns the region of a buffer, or nil.
func (m *Memory) regionOf(b Buffer) *region {
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	return m.regions.used[b.At]
}

// allocRegion returns memory that can grow in place, with undefined contents.
// It returns the zero buffer if the driver has no regions.
func (m *Memory) allocRegion(s driver.Stream, what string, bytes int64,
	others ...driver.Stream) (Buffer, error) {
	x, err := m.takeRegion(s, bytes)
	if x == nil || err != nil {
		return Buffer{}, err
	}
	b := Buffer{At: x.Base()}
	if err := m.extend(s, x, &b, what, bytes, others...); err != nil {
		return Buffer{}, errors.Join(err, m.giveRegion(x, s))
	}
	return b, nil
}

// takeRegion returns a region and marks it as used. It takes the smallest idle
// region with enough memory, else the largest one, else a new one. It ignores
// regions that are more than four times too large.
func (m *Memory) takeRegion(s driver.Stream, bytes int64) (*region, error) {
	y := &m.regions
	y.mu.Lock()
	best := -1
	better := func(a, b uint64) bool {
		if want := uint64(bytes); a >= want && b >= want {
			return a < b
		}
		return a > b
	}
	for i, x := range y.idle {
		if x.Size() <= 4*uint64(bytes) && (best < 0 || better(x.Size(), y.idle[best].Size())) {
			best = i
		}
	}
	var x *region
	if best >= 0 {
		x = y.idle[best]
		y.idle = append(y.idle[:best], y.idle[best+1:]...)
	} else {
		made, err := m.GPU.Reserve(uint64(m.limit))
		if err != nil {
			y.none = y.none || errors.Is(err, errors.ErrUnsupported)
			y.mu.Unlock()
			return nil, nil // the caller takes the memory from the pool
		}
		x = &region{Region: made}
	}
	if y.used == nil {
		y.used = map[cuda.Pointer]*region{}
	}
	y.used[x.Base()] = x
	y.mu.Unlock()
	if x.last == nil || x.last == s {
		return x, nil
	}
	return x, s.Wait(x.idle)
}

// giveRegion makes a region idle after the work that is in the stream now.
func (m *Memory) giveRegion(x *region, s driver.Stream) error {
	var err error
	if x.idle == nil {
		x.idle, err = m.GPU.NewEvent()
	}
	if err == nil {
		err = s.Record(x.idle)
	}
	y := &m.regions
	y.mu.Lock()
	defer y.mu.Unlock()
	delete(y.used, x.Base())
	if err != nil { // the device is lost, or nothing signals when the region is free
		return errors.Join(err, x.close())
	}
	x.last = s
	y.idle = append(y.idle, x)
	return nil
}

func (x *region) close() error {
	var err error
	if x.idle != nil {
		err = x.idle.Close()
	}
	return errors.Join(err, x.Close())
}

// extend gives a region's buffer the size of bytes.
func (m *Memory) extend(s driver.Stream, x *region, b *Buffer, what string, bytes int64,
	others ...driver.Stream) error {
	bytes = padded(bytes, alignment)
	more := bytes - b.Bytes
	if more <= 0 {
		return nil
	}
	if err := m.obtainAccounted(what, more, func() error { return x.Grow(uint64(bytes)) },
		append(others, s)...); err != nil {
		return err
	}
	b.Bytes = bytes
	return nil
}

// closeRegions returns the memory of idle regions to the driver.
func (m *Memory) closeRegions() error {
	y := &m.regions
	y.mu.Lock()
	list := y.idle
	y.idle = nil
	y.mu.Unlock()
	var errs []error
	for _, x := range list {
		errs = append(errs, x.idle.Synchronize(context.Background()), x.close())
	}
	return errors.Join(errs...)
}
