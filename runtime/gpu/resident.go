package gpu

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"weak"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime/store"
)

// columnKey is a column of facts. It does not keep it alive.
type columnKey = weak.Pointer[store.Column]

// residency keeps columns of facts on the device: those that runs use, and others until
// their memory is wanted, the least recently used ones first, or until the column is
// no more.
type residency struct {
	mem    *memory
	stage  *staging
	stream driver.Stream // in which memory is given back
	mu     sync.Mutex
	cols   map[columnKey]*resident
	clock  int64
}

// resident is a column on the device.
type resident struct {
	key   columnKey
	data  buffer
	ready driver.Event // when the copy is done
	users int          // runs at work
	used  int64        // the clock at the last use
	gone  bool         // the column is no more, or is to be forgotten
	// made is closed when the copy is under way or has failed.
	made chan struct{}
	err  error
}

// bytesOfColumn views the offsets of a column.
func bytesOfColumn(c *store.Column) []byte {
	switch c.Width {
	case 1:
		return c.U8
	case 2:
		return bytesOf(c.U16)
	case 4:
		return bytesOf(c.U32)
	case 8:
		return bytesOf(c.U64)
	}
	return nil
}

// acquire returns a column on the device, for work that comes later in a stream. It is
// the caller's to release. sent is how many bytes had to be copied.
func (y *residency) acquire(ctx context.Context, s driver.Stream, what string, c *store.Column) (x *resident, sent int64, err error) {
	key := weak.Make(c)
	y.mu.Lock()
	x = y.cols[key]
	mine := x == nil
	if mine {
		x = &resident{key: key, made: make(chan struct{})}
		y.cols[key] = x
	}
	x.users++
	y.clock++
	x.used = y.clock
	y.mu.Unlock()
	if mine {
		sent = int64(len(bytesOfColumn(c)))
		x.err = y.copy(ctx, s, what, x, c)
		if x.err != nil {
			// A part may be on its way into memory that is about to be freed.
			_ = s.Synchronize(context.Background())
		}
		close(x.made)
		if x.err == nil {
			goruntime.AddCleanup(c, y.drop, key)
		}
	}
	<-x.made
	if x.err != nil {
		err := x.err
		y.discard(x)
		if !mine && errors.Is(err, context.Canceled) && ctx.Err() == nil {
			return y.acquire(ctx, s, what, c) // it was the other run that was cancelled
		}
		return nil, 0, err
	}
	if x.ready != nil {
		if err := s.Wait(x.ready); err != nil {
			y.release(x)
			return nil, 0, err
		}
	}
	return x, sent, nil
}

// copy puts a column on the device.
func (y *residency) copy(ctx context.Context, s driver.Stream, what string, x *resident, c *store.Column) (err error) {
	data := bytesOfColumn(c)
	if len(data) == 0 {
		return nil
	}
	if x.data, err = y.mem.alloc(s, what, int64(len(data))); err != nil {
		return err
	}
	y.mem.mu.Lock()
	y.mem.resident += x.data.bytes
	y.mem.mu.Unlock()
	err = y.stage.send(ctx, s, x.data.at, data)
	goruntime.KeepAlive(c)
	if err == nil {
		if x.ready, err = y.mem.gpu.NewEvent(); err == nil {
			err = s.Record(x.ready)
		}
	}
	return err
}

// release ends a run's use of a column. The run's work is done.
func (y *residency) release(x *resident) {
	y.mu.Lock()
	x.users--
	idle := x.gone && x.users == 0
	y.mu.Unlock()
	if idle {
		y.free(x)
	}
}

// discard takes a column that could not be copied out of the table.
func (y *residency) discard(x *resident) {
	y.mu.Lock()
	x.gone = true
	if y.cols[x.key] == x {
		delete(y.cols, x.key)
	}
	y.mu.Unlock()
	y.release(x)
}

// free gives the memory of a column that nobody uses back.
func (y *residency) free(x *resident) {
	y.mem.mu.Lock()
	y.mem.resident -= x.data.bytes
	y.mem.mu.Unlock()
	if x.ready != nil {
		_ = x.ready.Close()
	}
	// A failure is that of a lost device, whose memory is gone.
	_ = y.mem.free(y.stream, x.data)
	x.data = buffer{}
}

// drop forgets a column.
func (y *residency) drop(key columnKey) {
	y.mu.Lock()
	x := y.cols[key]
	if x == nil {
		y.mu.Unlock()
		return
	}
	delete(y.cols, key)
	x.gone = true
	idle := x.users == 0
	y.mu.Unlock()
	if idle {
		y.free(x)
	}
}

// evict frees columns that no run uses, the least recently used first, until so many
// bytes are free. It reports whether it has freed any.
func (y *residency) evict(bytes int64) bool {
	freed := int64(0)
	for freed < bytes {
		y.mu.Lock()
		var oldest *resident
		for _, x := range y.cols {
			if x.users == 0 && (oldest == nil || x.used < oldest.used) {
				oldest = x
			}
		}
		if oldest == nil {
			y.mu.Unlock()
			break
		}
		delete(y.cols, oldest.key)
		oldest.gone = true
		y.mu.Unlock()
		freed += max(oldest.data.bytes, 1)
		y.free(oldest)
	}
	return freed > 0
}

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

// residentColumn returns the address of a loaded column.
func (r *run) residentColumn(ctx context.Context, what string, c *store.Column) (int64, error) {
	key := weak.Make(c)
	if x := r.found[key]; x != nil {
		return x.data.word(), nil
	}
	end, err := r.begin(timedSend, "")
	if err != nil {
		return 0, err
	}
	x, sent, err := r.engine.resident.acquire(ctx, r.lane.stream, what, c)
	if err != nil {
		return 0, err
	}
	r.residents = append(r.residents, x)
	r.found[key] = x
	r.toDevice += sent
	if sent == 0 {
		r.residentBytes += x.data.bytes
		return x.data.word(), nil
	}
	return x.data.word(), end()
}

// residentHeld is what the columns that the run uses take.
func (r *run) residentHeld() int64 {
	n := int64(0)
	for _, x := range r.residents {
		n += x.data.bytes
	}
	return n
}
