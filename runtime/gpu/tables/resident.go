package tables

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// columnKey is a column of facts. It does not keep it alive.
type columnKey = weak.Pointer[store.Column]

// Residency keeps columns of facts and indexes over them on the device: those
// that runs use, and others until their memory is wanted or a column is no
// more. Indexes go first, which are made anew at the rate of the device's
// memory and not at that of a bus; of both the least recently used ones.
type Residency struct {
	mem     *device.Memory
	stage   *device.Staging
	Stream  driver.Stream // in which memory is given back
	copies  driver.Stream // in which columns come, beside the work of runs
	mu      sync.Mutex
	cols    map[columnKey]*resident
	indexes map[indexKey]*resident
	clock   int64
	// dropping counts what was taken out of the tables and is about to be
	// freed.
	dropping sync.WaitGroup
}

// resident is a column on the device, or an index.
type resident struct {
	key   columnKey
	index *indexKey     // nil for a column
	data  device.Buffer // of a column
	table machine.Tables[device.Buffer]
	ready driver.Event // when the copy or the build is done
	// arrived says that a run has waited for that, so that no stream needs to.
	arrived atomic.Bool
	users   int   // runs at work
	used    int64 // the clock at the last use
	gone    bool  // a column is no more, or is to be forgotten
	// cleanup drops a column that is no more. It has the engine reachable for
	// as long as the column is on the device, and not for as long as the column
	// is.
	cleanup goruntime.Cleanup
	// made is closed when the copy is under way or has failed.
	made chan struct{}
	err  error
	mark *CopyMark // of a run that has begun to copy it ahead, else nil
}

// NewResidency returns a residency with nothing on the device. It is to be
// closed even if there is an error.
func NewResidency(m *device.Memory) (y *Residency, err error) {
	y = &Residency{mem: m, stage: device.NewStaging(m.GPU), cols: map[columnKey]*resident{},
		indexes: map[indexKey]*resident{}}
	if y.Stream, err = m.GPU.NewStream(); err == nil {
		y.copies, err = m.GPU.NewStream()
	}
	return y, err
}

// bytes is the memory that it takes.
func (x *resident) bytes() int64 {
	n := x.data.Bytes
	for _, b := range buffers(&x.table) {
		n += b.Bytes
	}
	return n
}

// acquire returns a column on the device, for work that comes later in a
// stream. It is the caller's to release. sent is how many bytes had to be
// copied.
func (y *Residency) acquire(ctx context.Context, s driver.Stream, what string,
	c *store.Column) (x *resident, sent int64, err error) {
	x, mine := y.claim(c)
	if mine {
		err := y.fill(x, c, func() error { return y.copy(ctx, what, x, c, s) })
		if err != nil {
			y.discard(x)
			return nil, 0, err
		}
		sent = int64(len(c.Entries()))
	}
	select {
	case <-x.made:
	case <-ctx.Done():
		y.release(x)
		return nil, 0, context.Cause(ctx)
	}
	if x.err != nil { // of who else has tried, which may not concern this run
		y.release(x)
		return y.acquire(ctx, s, what, c)
	}
	if err := x.await(s); err != nil {
		y.release(x)
		return nil, 0, err
	}
	return x, sent, nil
}

// settled returns a column that is on the device without any work under way,
// nil if it is not. It is the caller's to release.
func (y *Residency) settled(c *store.Column) *resident {
	y.mu.Lock()
	defer y.mu.Unlock()
	x := y.cols[weak.Make(c)]
	if x == nil || !x.arrived.Load() {
		return nil
	}
	y.use(x)
	return x
}

// claim begins the use of a column. It is mine, that is the caller's, to fill
// if nobody else has begun to.
func (y *Residency) claim(c *store.Column) (x *resident, mine bool) {
	key := weak.Make(c)
	y.mu.Lock()
	defer y.mu.Unlock()
	x = y.cols[key]
	mine = x == nil
	if mine {
		x = &resident{key: key, made: make(chan struct{})}
		y.cols[key] = x
	}
	y.use(x)
	return x, mine
}

// fill has a column copied, and tells those that wait for it.
func (y *Residency) fill(x *resident, c *store.Column, send func() error) error {
	x.err = send()
	if x.err != nil {
		// A part may be on its way into memory that is about to be freed.
		_ = y.copies.Synchronize(context.Background())
		y.mu.Lock()
		delete(y.cols, x.key) // before others find it again
		y.mu.Unlock()
	}
	if x.err == nil {
		x.cleanup = goruntime.AddCleanup(c, y.Drop, x.key)
	}
	close(x.made)
	return x.err
}

// await has later work of a stream find the resident there.
func (x *resident) await(s driver.Stream) error {
	if x.ready == nil || x.arrived.Load() {
		return nil
	}
	return s.Wait(x.ready)
}

// copy puts a column on the device, for a run with a stream. For nobody, which
// is nil, it makes nothing else leave.
func (y *Residency) copy(ctx context.Context, what string, x *resident, c *store.Column,
	s driver.Stream) (err error) {
	data := c.Entries()
	if len(data) == 0 {
		return nil
	}
	if s == nil {
		x.data, err = y.mem.AllocSpare(y.copies, int64(len(data)))
	} else {
		x.data, err = y.mem.Alloc(y.copies, what, int64(len(data)), s)
	}
	if err != nil {
		return err
	}
	y.mem.Keep(x.data.Bytes)
	err = y.stage.Send(ctx, y.copies, x.data.At, data)
	goruntime.KeepAlive(c)
	if err == nil {
		if x.ready, err = y.mem.GPU.NewEvent(); err == nil {
			err = y.copies.Record(x.ready)
		}
	}
	return err
}

// use begins a run's use of a resident. The caller holds the lock.
func (y *Residency) use(x *resident) {
	if x.users == 0 && x.made != nil {
		select {
		case <-x.made:
			y.mem.Idles(-x.bytes())
		default: // it has no memory yet
		}
	}
	x.users++
	y.clock++
	x.used = y.clock
}

// release ends a run's use of a resident. The run's work is done, or the stream
// in which memory is given back waits for it.
func (y *Residency) release(x *resident) {
	y.mu.Lock()
	x.users--
	unused := x.users == 0
	if unused {
		y.mem.Idles(x.bytes())
	}
	unused = unused && x.gone
	y.mu.Unlock()
	if unused {
		y.free(x)
	}
}

// discard ends the use of a column that could not be copied, and is in no
// table.
func (y *Residency) discard(x *resident) {
	y.mu.Lock()
	x.gone = true
	y.mu.Unlock()
	y.release(x)
}

// free gives the memory of a resident that nobody uses back.
func (y *Residency) free(x *resident) {
	bytes := x.bytes()
	y.mem.Idles(-bytes)
	y.mem.Keep(-bytes)
	// A failure is that of a lost device, whose memory is gone.
	if x.ready != nil {
		if !x.arrived.Load() {
			_ = x.ready.Synchronize(context.Background())
		}
		_ = x.ready.Close()
	}
	_ = y.mem.Free(y.Stream, x.data)
	for _, b := range buffers(&x.table) {
		_ = y.mem.Free(y.Stream, b)
	}
	x.data, x.table = device.Buffer{}, machine.Tables[device.Buffer]{}
	x.cleanup.Stop()
}

// forget takes a resident out of the tables, and reports whether nobody uses
// it. The caller holds the lock.
func (y *Residency) forget(x *resident) (unused bool) {
	if x.index != nil {
		delete(y.indexes, *x.index)
	} else {
		delete(y.cols, x.key)
	}
	x.gone = true
	return x.users == 0
}

// Drop forgets a column and the indexes over it.
func (y *Residency) Drop(key columnKey) {
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

// Close frees everything. No run is at work.
func (y *Residency) Close() error {
	for y.Evict(1 << 62) {
	}
	y.dropping.Wait() // the collector may be at work
	var errs []error
	for _, s := range []driver.Stream{y.copies, y.Stream} {
		if s != nil {
			errs = append(errs, s.Synchronize(context.Background()), s.Close())
		}
	}
	return errors.Join(append(errs, y.stage.Close())...)
}

// Evict frees what no run uses until so many bytes are free. It reports whether
// it has freed any.
func (y *Residency) Evict(bytes int64) bool {
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

// ResidentColumn returns the address of a loaded column.
func (r *State) ResidentColumn(ctx context.Context, what string, c *store.Column) (int64, error) {
	key := weak.Make(c)
	if x := r.found[key]; x != nil {
		return x.data.Word(), nil
	}
	y := r.Resident
	if r.Arena != nil {
		x := y.settled(c)
		if x == nil { // its copy would be part of the graph
			return 0, device.ErrCaptured
		}
		r.residents = append(r.residents, x)
		r.found[key] = x
		r.ResidentBytes += x.data.Bytes
		return x.data.Word(), nil
	}
	end, err := r.Begin(device.TimedSend, "")
	if err != nil {
		return 0, err
	}
	x, sent, err := y.acquire(ctx, r.Lane.Stream, what, c)
	if err != nil {
		return 0, err
	}
	r.residents = append(r.residents, x)
	r.found[key] = x
	if x.mark != nil && x.mark == r.Mark {
		sent = int64(len(c.Entries()))
	}
	r.ToDevice += sent
	if sent == 0 {
		r.ResidentBytes += x.data.Bytes
		return x.data.Word(), nil
	}
	return x.data.Word(), end()
}

// ResidentHeld is what the columns that the run uses take.
func (r *State) ResidentHeld() int64 {
	n := int64(0)
	for _, x := range r.residents {
		n += x.bytes()
	}
	return n
}

// CopyMark tells the columns that a run has begun to copy ahead from those of
// others.
type CopyMark struct{ _ byte }

// Prefetch puts a column on the device before a run asks for it, and returns
// how many bytes had to be copied: none if there is no room but in the place of
// others.
func (y *Residency) Prefetch(ctx context.Context, what string, c *store.Column,
	mark *CopyMark) (sent int64, err error) {
	x, mine := y.claim(c)
	if mine {
		x.mark = mark
		err = y.fill(x, c, func() error { return y.copy(ctx, what, x, c, nil) })
		if err != nil {
			y.discard(x)
			if errors.Is(err, device.ErrNoRoom) {
				err = nil
			}
			return 0, err
		}
		sent = int64(len(c.Entries()))
	}
	y.release(x)
	return sent, nil
}

// Has reports whether a column is on the device or on its way.
func (y *Residency) Has(c *store.Column) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.cols[weak.Make(c)] != nil
}

// Len returns the number of columns on the device or on their way, and that of
// indexes.
func (y *Residency) Len() (columns, indexes int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.cols), len(y.indexes)
}
