package gpu

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// staging copies from the host's ordinary memory through pinned buffers, which the
// driver's own way does at a fifth of the rate: several goroutines fill buffers while
// others are on their way.
type staging struct {
	gpu  driver.Context
	once sync.Once
	idle chan *stageBuffer // nil if there is no pinned memory
	err  error
	host driver.HostMemory
}

type stageBuffer struct {
	bytes []byte
	sent  driver.Event
}

const (
	stageBuffers = 8
	stageBytes   = 4 << 20
	// directBytes is the size up to which the driver stages as fast.
	directBytes = 1 << 20
)

func (g *staging) open() {
	g.host, g.err = g.gpu.AllocHost(stageBuffers*stageBytes, cuda.HostOptions{})
	if errors.Is(g.err, errors.ErrUnsupported) {
		g.host, g.err = nil, nil
		return
	}
	if g.err != nil {
		return
	}
	g.idle = make(chan *stageBuffer, stageBuffers)
	for i := range stageBuffers {
		b := &stageBuffer{bytes: g.host.Bytes()[i*stageBytes:][:stageBytes]}
		if b.sent, g.err = g.gpu.NewEvent(); g.err != nil {
			return
		}
		g.idle <- b
	}
}

// send enqueues a copy; the source may change once it returns.
func (g *staging) send(ctx context.Context, s driver.Stream, to cuda.Pointer, data []byte) error {
	if len(data) > directBytes {
		g.once.Do(g.open)
	}
	if g.err != nil || g.idle == nil {
		return s.CopyToDevice(to, data)
	}
	chunks := (len(data) + stageBytes - 1) / stageBytes
	var next, failed = make(chan int, chunks), make(chan error, stageBuffers)
	for i := range chunks {
		next <- i
	}
	close(next)
	workers := min(chunks, stageBuffers, max(goruntime.GOMAXPROCS(0)/2, 1))
	for range workers {
		go func() {
			for i := range next {
				part := data[i*stageBytes : min((i+1)*stageBytes, len(data))]
				if err := g.chunk(ctx, s, to+cuda.Pointer(i*stageBytes), part); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	var err error
	for range workers {
		if e := <-failed; err == nil {
			err = e
		}
	}
	return err
}

func (g *staging) chunk(ctx context.Context, s driver.Stream, to cuda.Pointer, data []byte) error {
	b := <-g.idle
	defer func() { g.idle <- b }()
	if err := b.sent.Synchronize(ctx); err != nil {
		return err
	}
	copy(b.bytes, data)
	if err := s.CopyToDevice(to, b.bytes[:len(data)]); err != nil {
		return err
	}
	return s.Record(b.sent)
}

func (g *staging) close() error {
	if g.host == nil {
		return nil
	}
	var errs []error
	for range len(g.idle) {
		errs = append(errs, (<-g.idle).sent.Close())
	}
	return errors.Join(append(errs, g.host.Close())...)
}
