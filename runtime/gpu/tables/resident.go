package tables

import (
	"cmp"
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

// columnKey identifies a column of facts, without keeping it alive.
type columnKey = weak.Pointer[store.Column]

// formKey identifies a column of facts in a form: offsets packed to a number of
// bits, or, with 0 bits, as on the host. A slice that begins with the first
// entry has the key of the whole column, so one copy may serve all slices.
type formKey struct {
	columnKey
	bits int
}

func formOf(c *store.Column, bits int) formKey { return formKey{weak.Make(c.Head()), bits} }

// formBytes returns the size of a column in a form, in bytes.
func formBytes(c *store.Column, bits int) int64 {
	if bits > 0 {
		return int64(store.PackedBytes(c.Len(), bits))
	}
	return c.Bytes()
}

// Residency keeps columns of facts, and indexes over them, on the device while
// runs use them, and afterwards until their memory is needed or the column is
// garbage.
//
// It evicts indexes before columns, because rebuilding an index reads device
// memory and copying a column uses the slower bus. Within each kind it evicts
// the least weight first (Weigh), and among equal weights the least recently
// used.
type Residency struct {
	mem     *device.Memory
	stage   *device.Staging
	Stream  driver.Stream // frees memory
	copies  driver.Stream // copies columns, concurrently with runs
	decodes driver.Stream // decodes them
	// Decoding returns the kernels that decode columns (service.Pages). If it
	// is nil, the host decodes columns.
	Decoding func() (map[string]driver.Function, error)
	mu       sync.Mutex
	cols     map[formKey]*resident
	indexes  map[indexKey]*resident
	weights  map[columnKey]float64
	clock    int64
	// dropping counts residents that are out of the maps and about to be freed.
	dropping sync.WaitGroup
}

// resident is a column or an index on the device.
type resident struct {
	key   formKey
	index *indexKey     // nil for a column
	data  device.Buffer // the memory of a column
	rows  int           // the rows of the column
	whole int64         // the size of the column on the host, in bytes
	sent  int64         // the bytes that were copied
	table machine.Tables[device.Buffer]
	ready driver.Event // completes with the copy or the build
	// arrived reports that a run has waited for ready, so streams need not
	// wait.
	arrived atomic.Bool
	users   int   // the number of runs that use it
	used    int64 // the clock at the last use
	gone    bool  // removed from the maps; the last user frees it
	// cleanup drops the resident when its column is garbage. It keeps the
	// engine reachable while the column is on the device, not while the column
	// lives.
	cleanup goruntime.Cleanup
	// made is closed when the copy is under way or has failed.
	made chan struct{}
	err  error
	mark *CopyMark // the mark of the run that prefetched it, or nil
}

// NewResidency returns an empty residency. The caller must close it even after
// an error.
func NewResidency(m *device.Memory) (y *Residency, err error) {
	y = &Residency{mem: m, stage: device.NewStaging(m.GPU), cols: map[formKey]*resident{},
		indexes: map[indexKey]*resident{}, weights: map[columnKey]float64{}}
	for _, s := range []*driver.Stream{&y.Stream, &y.copies, &y.decodes} {
		if *s, err = m.GPU.NewStream(); err != nil {
			break
		}
	}
	return y, err
}

// bytes returns the size of the resident.
func (x *resident) bytes() int64 {
	n := x.data.Bytes
	for _, b := range buffers(&x.table) {
		n += b.Bytes
	}
	return n
}

// acquire returns a column in a form, for later work of a stream. It copies the
// column if it is not resident; sent is the number of bytes copied. The caller
// releases the resident.
func (y *Residency) acquire(ctx context.Context, s driver.Stream, what string,
	c *store.Column, bits int) (x *resident, sent int64, err error) {
	x, mine := y.claim(c, bits)
	if mine {
		err := y.fill(x, c, func() error { return y.copy(ctx, what, x, c, s) })
		if err != nil {
			y.discard(x)
			return nil, 0, err
		}
		sent = x.sent
	}
	select {
	case <-x.made:
	case <-ctx.Done():
		y.release(x)
		return nil, 0, context.Cause(ctx)
	}
	if x.err != nil { // another run failed to copy it; this one may succeed
		y.release(x)
		return y.acquire(ctx, s, what, c, bits)
	}
	if err := x.await(s); err != nil {
		y.release(x)
		return nil, 0, err
	}
	return x, sent, nil
}

// settled returns a column of at least rows rows whose copy is complete, or
// nil. The caller releases it.
func (y *Residency) settled(key formKey, rows int) *resident {
	y.mu.Lock()
	defer y.mu.Unlock()
	x := y.cols[key]
	if x == nil || x.rows < rows || !x.arrived.Load() {
		return nil
	}
	y.use(x)
	return x
}

// claim begins the use of a column. If mine is true, the caller has to fill it;
// otherwise another run does. A resident copy of fewer rows is dropped.
func (y *Residency) claim(c *store.Column, bits int) (x *resident, mine bool) {
	key := formOf(c, bits)
	y.mu.Lock()
	x = y.cols[key]
	var short *resident
	if x != nil && x.rows < c.Len() {
		if y.forget(x) {
			short = x
			y.dropping.Add(1)
		}
		x = nil
	}
	mine = x == nil
	if mine {
		x = &resident{key: key, rows: c.Len(), made: make(chan struct{})}
		y.cols[key] = x
	}
	y.use(x)
	y.mu.Unlock()
	if short != nil {
		y.free(short)
		y.dropping.Done()
	}
	return x, mine
}

// fill copies a column and wakes the runs that wait for it.
func (y *Residency) fill(x *resident, c *store.Column, send func() error) error {
	x.err = send()
	if x.err != nil {
		// A part may still be copied into memory that is about to be freed.
		_ = y.copies.Synchronize(context.Background())
		y.mu.Lock()
		if y.cols[x.key] == x {
			delete(y.cols, x.key) // so that no other run finds it
		}
		y.mu.Unlock()
	}
	if x.err == nil {
		x.cleanup = goruntime.AddCleanup(c.Head(), y.Drop, x.key.columnKey)
	}
	close(x.made)
	return x.err
}

// await makes later work of a stream wait for the resident.
func (x *resident) await(s driver.Stream) error {
	if x.ready == nil || x.arrived.Load() {
		return nil
	}
	return s.Wait(x.ready)
}

// copy copies a column to the device for a run with stream s. If s is nil, it
// evicts nothing.
func (y *Residency) copy(ctx context.Context, what string, x *resident, c *store.Column,
	s driver.Stream) (err error) {
	bytes := formBytes(c, x.key.bits)
	if bytes == 0 {
		return nil
	}
	if s == nil {
		x.data, err = y.mem.AllocSpare(y.copies, bytes)
	} else {
		x.data, err = y.mem.Alloc(y.copies, what, bytes, s)
	}
	if err != nil {
		return err
	}
	y.mem.Keep(x.data.Bytes)
	x.whole, x.sent = c.Bytes(), bytes
	if err = y.send(ctx, what, x, c); err == nil {
		if x.ready, err = y.mem.GPU.NewEvent(); err == nil {
			err = y.copies.Record(x.ready)
		}
	}
	return err
}

// send enqueues the copy of a column in the form of the resident.
func (y *Residency) send(ctx context.Context, what string, x *resident, c *store.Column) error {
	defer goruntime.KeepAlive(c)
	if !c.IsDecoded() && x.key.bits == 0 {
		sent, err := y.sendEncoded(ctx, x, c)
		if err == nil || ctx.Err() != nil {
			x.sent = sent
			return err
		}
		// The host decodes the column or returns the error.
	}
	if err := c.Decode(ctx, goruntime.GOMAXPROCS(0), nil, what); err != nil {
		return err
	}
	if x.key.bits > 0 {
		return y.sendPacked(ctx, x, c)
	}
	return y.stage.Send(ctx, y.copies, x.data.At, c.Entries())
}

// sendPacked enqueues the copy of a column as packed offsets. Kernels may read
// behind the last offset, but do not use what they read.
func (y *Residency) sendPacked(ctx context.Context, x *resident, c *store.Column) error {
	return y.stage.Fill(ctx, y.copies, x.data.At, c.Len(), store.PackedRows,
		store.PackedRows/8*x.key.bits, c.Pack)
}

// use begins a run's use of a resident. The caller holds the lock.
func (y *Residency) use(x *resident) {
	if x.users == 0 && x.made != nil {
		select {
		case <-x.made:
			y.mem.Idles(-x.bytes())
		default: // no memory is allocated yet
		}
	}
	x.users++
	y.clock++
	x.used = y.clock
}

// release ends a run's use of a resident. The run's work must be done, or the
// stream of frees must wait for it.
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

// discard ends the use of a column whose copy failed and which is in no map.
func (y *Residency) discard(x *resident) {
	y.mu.Lock()
	x.gone = true
	y.mu.Unlock()
	y.release(x)
}

// free frees a resident that no run uses.
func (y *Residency) free(x *resident) {
	bytes := x.bytes()
	y.mem.Idles(-bytes)
	y.mem.Keep(-bytes)
	// It fails only on a lost device, whose memory is gone.
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

// forget removes a resident from the maps and reports whether no run uses it.
// The caller holds y.mu.
func (y *Residency) forget(x *resident) (unused bool) {
	if x.index != nil {
		delete(y.indexes, *x.index)
	} else if y.cols[x.key] == x {
		delete(y.cols, x.key)
	}
	x.gone = true
	return x.users == 0
}

// Drop forgets a column and the indexes over it.
func (y *Residency) Drop(key columnKey) {
	var unused []*resident
	y.mu.Lock()
	for at, x := range y.cols {
		if at.columnKey == key && y.forget(x) {
			unused = append(unused, x)
		}
	}
	for _, x := range y.indexes {
		if slices.Contains(x.index.cols[:], key) && y.forget(x) {
			unused = append(unused, x)
		}
	}
	delete(y.weights, key)
	y.dropping.Add(len(unused))
	y.mu.Unlock()
	for _, x := range unused {
		y.free(x)
		y.dropping.Done()
	}
}

// Close frees everything. No run may be in progress.
func (y *Residency) Close() error {
	for y.Evict(1 << 62) {
	}
	y.dropping.Wait() // a garbage column's cleanup may be running
	var errs []error
	for _, s := range []driver.Stream{y.copies, y.decodes, y.Stream} {
		if s != nil {
			errs = append(errs, s.Synchronize(context.Background()), s.Close())
		}
	}
	return errors.Join(append(errs, y.stage.Close())...)
}

// Evict frees unused residents until it has freed bytes. It reports whether it
// freed any.
func (y *Residency) Evict(bytes int64) bool {
	freed := int64(0)
	for freed < bytes {
		y.mu.Lock()
		oldest := leastUsed(y.indexes, nil)
		if oldest == nil {
			oldest = leastUsed(y.cols, y.weights)
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

// leastUsed returns the least recently used among the unused residents of the
// least weight, or nil.
func leastUsed[K comparable](all map[K]*resident, weights map[columnKey]float64) (
	oldest *resident) {
	for _, x := range all {
		if x.users > 0 {
			continue
		}
		if oldest == nil || cmp.Or(cmp.Compare(weights[x.key.columnKey],
			weights[oldest.key.columnKey]), cmp.Compare(x.used, oldest.used)) < 0 {
			oldest = x
		}
	}
	return oldest
}

// Weigh sets the weight of a column: what a byte of it saves on the device,
// relative to other columns. The default is 0.
func (y *Residency) Weigh(c *store.Column, weight float64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if key := weak.Make(c.Head()); weight > 0 {
		y.weights[key] = weight
	} else {
		delete(y.weights, key)
	}
}

// ResidentColumn returns the device address of a loaded column: as packed
// offsets of a number of bits, or as on the host if bits is 0.
func (r *State) ResidentColumn(ctx context.Context, what string, c *store.Column,
	bits int) (int64, error) {
	key := formOf(c, bits)
	if x := r.found[key]; x != nil && x.rows >= c.Len() {
		return x.data.Word(), nil
	}
	y := r.Resident
	if r.Arena != nil {
		x := y.settled(key, c.Len())
		if x == nil { // a copy now would become part of the graph
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
	x, sent, err := y.acquire(ctx, r.Lane.Stream, what, c, bits)
	if err != nil {
		return 0, err
	}
	r.residents = append(r.residents, x)
	r.found[key] = x
	r.ToDevice += sent
	switch {
	case sent > 0:
	case x.mark != nil && x.mark == r.Mark:
		r.AheadBytes += x.sent
		return x.data.Word(), nil
	default:
		r.ResidentBytes += x.data.Bytes
		return x.data.Word(), nil
	}
	return x.data.Word(), end()
}

// ResidentHeld returns the size of the residents that the run uses, in bytes.
func (r *State) ResidentHeld() int64 {
	n := int64(0)
	for _, x := range r.residents {
		n += x.bytes()
	}
	return n
}

// PackedColumns returns the number of packed columns that the run reads, their
// size on the device, and their size on the host, in bytes.
func (r *State) PackedColumns() (columns, bytes, whole int64) {
	for _, x := range r.residents {
		if x.key.bits > 0 {
			columns++
			bytes += x.data.Bytes
			whole += x.whole
		}
	}
	return columns, bytes, whole
}

// CopyMark identifies the columns that one run prefetches.
type CopyMark struct{ _ byte }

// Prefetch copies a column to the device before a run needs it, and returns the
// number of bytes copied. It evicts nothing; if there is no room, it copies
// nothing.
func (y *Residency) Prefetch(ctx context.Context, what string, c *store.Column, bits int,
	mark *CopyMark) (sent int64, err error) {
	x, mine := y.claim(c, bits)
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
		sent = x.sent
	}
	y.release(x)
	return sent, nil
}

// Has reports whether a column is on the device or being copied.
func (y *Residency) Has(c *store.Column) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	for key := range y.cols {
		if key.columnKey == weak.Make(c.Head()) {
			return true
		}
	}
	return false
}

// Len returns the number of columns and of indexes that are on the device or
// being copied.
func (y *Residency) Len() (columns, indexes int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.cols), len(y.indexes)
}
