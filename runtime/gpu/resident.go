package gpu

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime/store"
)

// columnKey is a column of facts. It does not keep it alive.
type columnKey = weak.Pointer[store.Column]

// residency keeps columns of facts and indexes over them on the device: those that runs
// use, and others until their memory is wanted or a column is no more. Indexes go
// first, which are made anew at the rate of the device's memory and not at that of a
// bus; of both the least recently used ones.
type residency struct {
	mem     *memory
	stage   *staging
	stream  driver.Stream // in which memory is given back
	mu      sync.Mutex
	cols    map[columnKey]*resident
	indexes map[indexKey]*resident
	clock   int64
	// dropping counts what was taken out of the tables and is about to be freed.
	dropping sync.WaitGroup
}

// resident is a column on the device, or an index.
type resident struct {
	key   columnKey
	index *indexKey // nil for a column
	data  buffer    // of a column
	table indexTable
	ready driver.Event // when the copy or the build is done
	// arrived says that a run has waited for that, so that no stream needs to.
	arrived atomic.Bool
	users   int   // runs at work
	used    int64 // the clock at the last use
	gone    bool  // a column is no more, or is to be forgotten
	// made is closed when the copy is under way or has failed.
	made chan struct{}
	err  error
}

// bytes is the memory that it takes.
func (x *resident) bytes() int64 {
	n := x.data.bytes
	for _, b := range x.table.buffers() {
		n += b.bytes
	}
	return n
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
	y.use(x)
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
	if err := x.await(s); err != nil {
		y.release(x)
		return nil, 0, err
	}
	return x, sent, nil
}

// await has later work of a stream find the resident there.
func (x *resident) await(s driver.Stream) error {
	if x.ready == nil || x.arrived.Load() {
		return nil
	}
	return s.Wait(x.ready)
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
	y.mem.keep(x.data.bytes)
	err = y.stage.send(ctx, s, x.data.at, data)
	goruntime.KeepAlive(c)
	if err == nil {
		if x.ready, err = y.mem.gpu.NewEvent(); err == nil {
			err = s.Record(x.ready)
		}
	}
	return err
}

// use begins a run's use of a resident. The caller holds the lock.
func (y *residency) use(x *resident) {
	if x.users == 0 && x.made != nil {
		select {
		case <-x.made:
			y.mem.idles(-x.bytes())
		default: // it has no memory yet
		}
	}
	x.users++
	y.clock++
	x.used = y.clock
}

// release ends a run's use of a resident. The run's work is done, or the stream in which
// memory is given back waits for it.
func (y *residency) release(x *resident) {
	y.mu.Lock()
	x.users--
	unused := x.users == 0
	if unused {
		y.mem.idles(x.bytes())
	}
	unused = unused && x.gone
	y.mu.Unlock()
	if unused {
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

// free gives the memory of a resident that nobody uses back.
func (y *residency) free(x *resident) {
	bytes := x.bytes()
	y.mem.idles(-bytes)
	y.mem.keep(-bytes)
	if x.ready != nil {
		_ = x.ready.Close()
	}
	// A failure is that of a lost device, whose memory is gone.
	_ = y.mem.free(y.stream, x.data)
	for _, b := range x.table.buffers() {
		_ = y.mem.free(y.stream, b)
	}
	x.data, x.table = buffer{}, indexTable{}
}

// forget takes a resident out of the tables, and reports whether nobody uses it. The
// caller holds the lock.
func (y *residency) forget(x *resident) (unused bool) {
	if x.index != nil {
		delete(y.indexes, *x.index)
	} else {
		delete(y.cols, x.key)
	}
	x.gone = true
	return x.users == 0
}

// drop forgets a column and the indexes over it.
func (y *residency) drop(key columnKey) {
	var unused []*resident
	y.mu.Lock()
	if x := y.cols[key]; x != nil && y.forget(x) {
		unused = append(unused, x)
	}
	for _, x := range y.indexes {
		if slices.Contains(x.index.cols[:], key) && y.forget(x) {
			unused = append(unused, x)
		}
	}
	y.dropping.Add(len(unused))
	y.mu.Unlock()
	for _, x := range unused {
		y.free(x)
		y.dropping.Done()
	}
}

// close frees everything. No run is at work.
func (y *residency) close() error {
	for y.evict(1 << 62) {
	}
	y.dropping.Wait() // the collector may be at work
	var err error
	if y.stream != nil {
		err = errors.Join(y.stream.Synchronize(context.Background()), y.stream.Close())
	}
	return errors.Join(err, y.stage.close())
}

// evict frees what no run uses until so many bytes are free. It reports whether it has
// freed any.
func (y *residency) evict(bytes int64) bool {
	freed := int64(0)
	for freed < bytes {
		y.mu.Lock()
		oldest := leastUsed(y.indexes)
		if oldest == nil {
			oldest = leastUsed(y.cols)
		}
		if oldest == nil {
			y.mu.Unlock()
			break
		}
		y.forget(oldest)
		y.mu.Unlock()
		freed += max(oldest.bytes(), 1)
		y.free(oldest)
	}
	return freed > 0
}

// leastUsed returns what no run uses and was used the longest ago, or nil.
func leastUsed[K comparable](all map[K]*resident) (oldest *resident) {
	for _, x := range all {
		if x.users == 0 && (oldest == nil || x.used < oldest.used) {
			oldest = x
		}
	}
	return oldest
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
		n += x.bytes()
	}
	return n
}
