package device

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// Staging copies pageable host memory to the device through pinned buffers.
// Several goroutines fill buffers while others are being copied, which is five
// times as fast as the driver's own staging. Buffers are made on demand:
// pinning takes the driver half a millisecond a megabyte and blocks the
// context.
type Staging struct {
	gpu  driver.Context
	idle chan *stageBuffer // the unused buffers among made

	mu   sync.Mutex
	made []*stageBuffer
	full bool // the driver can pin no more memory
}

type stageBuffer struct {
	host driver.HostMemory
	sent driver.Event
}

const (
	// StageBuffers bounds the number of buffers.
	StageBuffers = 8
	// StageBytes is the size of a buffer.
	StageBytes = 4 << 20
	// directBytes is the size up to which the driver's own staging is as fast.
	directBytes = 1 << 20
)

// NewStaging returns a staging without buffers.
func NewStaging(gpu driver.Context) *Staging {
	return &Staging{gpu: gpu, idle: make(chan *stageBuffer, StageBuffers)}
}

// take returns an unused buffer, or nil if no memory can be pinned.
func (g *Staging) take() *stageBuffer {
	g.mu.Lock()
	select {
	case b := <-g.idle:
		g.mu.Unlock()
		return b
	default:
	}
	if !g.full && len(g.made) < StageBuffers {
		if b, err := g.pin(); err == nil {
			g.made = append(g.made, b)
			g.mu.Unlock()
			return b
		}
		g.full = true
	}
	none := len(g.made) == 0
	g.mu.Unlock()
	if none {
		return nil
	}
	return <-g.idle
}

func (g *Staging) pin() (*stageBuffer, error) {
	host, err := g.gpu.AllocHost(StageBytes, cuda.HostOptions{})
	if err != nil {
		return nil, err
	}
	sent, err := g.gpu.NewEvent()
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	return &stageBuffer{host, sent}, nil
}

// isOpen reports whether there are buffers.
func (g *Staging) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.made) > 0
}

// Send enqueues a copy. The caller may change data when Send returns.
func (g *Staging) Send(ctx context.Context, s driver.Stream, to cuda.Pointer, data []byte) error {
	if len(data) <= directBytes && !g.isOpen() {
		return s.CopyToDevice(to, data)
	}
	return g.Fill(ctx, s, to, len(data), 1, 1, func(dst []byte, from, until int) int {
		return copy(dst, data[from:until])
	})
}

// Fill enqueues a copy of n rows that write produces. Each group of rows rows
// takes bytes bytes. write fills dst with the bytes of rows from up to until,
// and returns how many bytes it wrote. Several goroutines call write, but none
// after Fill returns.
func (g *Staging) Fill(ctx context.Context, s driver.Stream, to cuda.Pointer, n, rows, bytes int,
	write func(dst []byte, from, until int) int) error {
	if size := (n + rows - 1) / rows * bytes; size <= directBytes && !g.isOpen() {
		dst := make([]byte, size)
		return s.CopyToDevice(to, dst[:write(dst, 0, n)])
	}
	most := StageBytes / bytes * rows // rows of a chunk
	chunks := (n + most - 1) / most
	var next, failed = make(chan int, chunks), make(chan error, StageBuffers)
	for i := range chunks {
		next <- i
	}
	close(next)
	workers := min(chunks, StageBuffers, max(goruntime.GOMAXPROCS(0)/2, 1))
	for range workers {
		go func() {
			for i := range next {
				err := g.chunk(ctx, s, to+cuda.Pointer(i*(most/rows*bytes)), func(dst []byte) int {
					return write(dst, i*most, min((i+1)*most, n))
				})
				if err != nil {
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

func (g *Staging) chunk(ctx context.Context, s driver.Stream, to cuda.Pointer,
	write func(dst []byte) int) error {
	return g.with(ctx, s, StageBytes, func(dst []byte) error {
		return s.CopyToDevice(to, dst[:write(dst)])
	})
}

// Through enqueues a copy of n bytes that read produces. It is safe for
// concurrent use.
func (g *Staging) Through(ctx context.Context, s driver.Stream, to cuda.Pointer, n int,
	read func(dst []byte) error) error {
	if n <= StageBytes {
		return g.with(ctx, s, n, func(dst []byte) error {
			if err := read(dst); err != nil {
				return err
			}
			return s.CopyToDevice(to, dst)
		})
	}
	data := make([]byte, n)
	if err := read(data); err != nil {
		return err
	}
	return g.Send(ctx, s, to, data)
}

// with calls enqueue to enqueue a copy from a buffer of n bytes, which enqueue
// may write.
func (g *Staging) with(ctx context.Context, s driver.Stream, n int,
	enqueue func(dst []byte) error) error {
	b := g.take()
	if b == nil {
		return enqueue(make([]byte, n))
	}
	defer func() { g.idle <- b }()
	if err := b.sent.Synchronize(ctx); err != nil {
		return err
	}
	if err := enqueue(b.host.Bytes()[:n]); err != nil {
		return err
	}
	return s.Record(b.sent)
}

// Close frees the buffers.
func (g *Staging) Close() error {
	var errs []error
	for _, b := range g.made {
		errs = append(errs, b.sent.Close(), b.host.Close())
	}
	return errors.Join(errs...)
}
