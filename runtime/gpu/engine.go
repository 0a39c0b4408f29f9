package gpu

import (
	"context"
	"errors"
	"math"
	goruntime "runtime"
	"sync"
	"time"
	"weak"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/replay"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// ObjectCache stores machine code on disk for later processes. It is safe for
// concurrent use.
type ObjectCache interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Code is the generated code of a kernel graph.
type Code struct {
	Module *abi.Module
	PTX    string
}

// Options configures an engine.
type Options struct {
	Device driver.Device
	// Version is the newest version of CUDA that the driver knows.
	Version cuda.Version
	// Limit bounds the device memory of runs and resident columns, in bytes. 0
	// means the memory that is free.
	Limit int64
	Cache ObjectCache // for machine code, or nil
	// Lower turns a plan into a verified, fused kernel graph.
	Lower func(*queryplan.Plan) (*harmony.Program, error)
	// Compile generates code for the device's architecture, using what is known
	// of the facts. Before it returns the PTX of all kernels, it may pass PTX
	// of some to early, from any goroutine, so that the driver can start
	// compiling it.
	Compile func(g *harmony.Program, k woven.Knowledge, early func(ptx string)) (*Code, error)
	// Find returns the code that an earlier Compile returned, or nil.
	Find func(g *harmony.Program, k woven.Knowledge) (*Code, error)
}

// Engine runs plans on one GPU. It is safe for concurrent use.
type Engine struct {
	opts         Options
	sizes        sizes
	gpu          driver.Context
	info         *cuda.DeviceInfo
	architecture string // "sm_90"
	version      string // the newest CUDA version that the driver knows
	bandwidth    float64

	// opened is closed once opening the device has succeeded or failed. The
	// fields from here to captures are set by then.
	opened   chan struct{}
	unopened error // why opening failed, or nil
	// began and ended delimit the time that opening took.
	began, ended time.Time
	mem          *device.Memory
	resident     *tables.Residency
	lanes        device.Lanes
	captures     captures
	// loaded is closed once the first lane is made and loading the service
	// kernels has succeeded or failed.
	loaded   chan struct{}
	unloaded error         // why loading failed, or nil
	base     driver.Module // the service kernels
	services map[string]driver.Function
	sorts    onDemand // the sorting kernels
	decodes  onDemand // the kernels that decode columns
	programs woven.Programs[*program]

	mu    sync.Mutex
	users int            // the number of calls in progress
	done  bool           // Close was called
	keeps map[*kept]bool // results that stay on the device
	late  []*loading     // kernels that Settle waits for
}

// Use is the device memory that an engine holds.
type Use = device.Use

var (
	errReleased = errors.New("the result was released")
	errClosed   = errors.New("the gpu engine is closed")
)

// Start returns an engine and opens its device in the background, which takes a
// tenth of a second or more. Runs generate their code meanwhile, and then wait
// for the device. If opening fails, every run returns the error, and the engine
// can only be closed.
func Start(o Options) *Engine {
	e := &Engine{opts: o, sizes: defaults, info: o.Device.Info(), keeps: map[*kept]bool{},
		opened: make(chan struct{})}
	memory := int64(e.info.Memory)
	if o.Limit > 0 {
		memory = min(memory, o.Limit)
	}
	e.sizes.policy, e.sizes.packed = e.sizes.policy.In(memory), memory/2
	e.architecture = e.info.Architecture()
	e.version = o.Version.String()
	e.bandwidth = e.info.PeakBandwidth()
	e.programs = woven.Programs[*program]{
		Make: func(p *woven.Program) *program {
			return &program{codes: woven.Codes[*code]{Drop: (*code).close},
				history: e.openHistory(p.Graph)}
		},
		Drop: (*program).close,
	}
	go func() {
		defer close(e.opened)
		e.began = time.Now()
		if err := e.open(); err != nil {
			e.unopened = e.failure(err)
		}
		e.ended = time.Now()
	}()
	return e
}

// New returns an engine whose device is open. The error is a
// *runtime.DeviceError or the driver's.
func New(o Options) (*Engine, error) {
	e := Start(o)
	if err := e.waitOpen(); err != nil {
		_ = e.Close() // err says what is wrong
		return nil, err
	}
	return e, nil
}

// waitOpen waits for the device, and returns the error of opening it.
func (e *Engine) waitOpen() error {
	<-e.opened
	return e.unopened
}

// open opens the device. It starts loading the service kernels and making the
// first lane in the background.
func (e *Engine) open() (err error) {
	if e.gpu, err = e.opts.Device.OpenContext(); err != nil {
		return err
	}
	// Objects that only runs need are made while code is generated.
	e.loaded = make(chan struct{})
	var beside sync.WaitGroup
	defer func() {
		go func() {
			beside.Wait()
			close(e.loaded)
		}()
	}()
	beside.Go(func() { e.unloaded = e.loadServices() })
	e.lanes.GPU = e.gpu
	if e.mem, err = device.NewMemory(e.gpu, e.opts.Limit); err != nil {
		return err
	}
	e.mem.Evict = e.evict
	if e.resident, err = tables.NewResidency(e.mem); err != nil {
		return err
	}
	e.sorts.kernels, e.decodes.kernels = service.Sorting, service.Pages
	e.resident.Decoding = func() (map[string]driver.Function, error) {
		return e.functionsOf(&e.decodes)
	}
	beside.Go(e.firstLane)
	return nil
}

// firstLane makes the lane of the first run and the first memory of the pool,
// which takes the driver 7 ms. It ignores errors; the first run reports them.
func (e *Engine) firstLane() {
	l, err := e.lanes.Take()
	if err != nil {
		return
	}
	if err := e.mem.First(l.Stream); err != nil {
		_ = l.Close() // work may be pending in its stream
		return
	}
	e.lanes.Give(l)
}

// Name returns runtime.GPU.
func (e *Engine) Name() string { return runtime.GPU }

// Run evaluates the plan.
func (e *Engine) Run(ctx context.Context,
	req *runtime.Request) (answer *runtime.Answer, err error) {
	if answer, done, err := e.fromGraph(ctx, req); done {
		return answer, err
	}
	evaluate := func(r *run, compiled time.Duration) error {
		if err := r.allocate(); err != nil {
			return err
		}
		if req.Profile || req.Trace != nil {
			if err := r.StartTiming(); err != nil {
				return err
			}
		}
		if answer, err = r.walk.Run(ctx); err != nil {
			return err
		}
		r.whole = true
		answer.Compile = compiled
		if compiled > 0 && answer.Device != nil {
			answer.Device.Load = r.code.loaded
		}
		return nil
	}
	if err = e.with(ctx, req, e.opts.Compile, evaluate); errors.Is(err, replay.ErrDiffers) {
		// It waits for counters, without a record.
		err = e.with(ctx, req, e.opts.Compile, evaluate)
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Prepare compiles the code of a request and copies its facts to the device, so
// that a later Run does neither. It waits for the code of loops, too (Settle).
func (e *Engine) Prepare(ctx context.Context, req *runtime.Request) error {
	err := e.with(ctx, req, e.opts.Compile, func(r *run, _ time.Duration) error {
		if err := r.allocate(); err != nil {
			return err
		}
		for _, c := range r.columnsRead() {
			if _, err := r.ResidentColumn(ctx, c.of.Name, c.Column, c.bits); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.Settle(ctx)
}

// with sets up a run, calls evaluate and finishes the run. makes returns the
// code of a kernel graph. compiled is the time that this and loading the code
// took, or 0 if the engine had it. If evaluate is nil, with only gets the code,
// for a run that comes from another engine.
func (e *Engine) with(ctx context.Context, req *runtime.Request, makes maker,
	evaluate func(r *run, compiled time.Duration) error) (err error) {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	r := e.newRun(ctx, req)
	defer r.recovered(&err)
	prog, kept, err := e.programs.Find(req.Plan, e.opts.Lower)
	if err != nil {
		return err
	}
	bound := kept.isBound(req)
	known := bound != nil // then its columns are most likely resident
	if !known {
		if bound, err = kept.bind(ctx, prog, req, e.sizes.policyFor(req), r.walk.Order.Threads,
			account.New(req.Memory)); err != nil {
			return err
		}
	}
	r.follow(bound)
	if evaluate == nil && hasHostLoop(prog) {
		return errHostLoop
	}
	if !known && evaluate != nil {
		go e.recall(bound) // concurrently with compilation
		defer e.recall(bound)
		r.beginCopies()
		defer r.ahead.end()
	}
	compiled := time.Duration(0)
	code, err := kept.codes.Use(r.Bound, func(k woven.Knowledge) (*code, error) {
		c, err := e.compile(req, prog.Graph, k, makes)
		if err == nil {
			compiled = c.made
		}
		return c, err
	})
	if err != nil {
		return e.failure(err)
	}
	defer kept.codes.Release(code)
	if evaluate == nil {
		return nil
	}
	r.code = code.Made
	e.awaits(r.code)
	r.repeat(bound)
	if err := r.open(); err != nil {
		return e.failure(err)
	}
	defer func() { err = r.finish(err) }()
	return evaluate(r, compiled)
}

// newRun returns a run that is not bound to facts.
func (e *Engine) newRun(ctx context.Context, req *runtime.Request) *run {
	threads := req.Threads
	if threads <= 0 {
		threads = goruntime.GOMAXPROCS(0)
	}
	r := &run{engine: e, sizes: e.sizes}
	r.Ctx, r.MinRows, r.Numbers, r.Copies = ctx, e.sizes.rows, r.sync, r.fetch
	r.Unshared = req.NoKeptIndexes
	r.Spare, r.sorter, r.ShortRun = r.Retire, r.newSorter(), e.sizes.run
	r.Places, r.Added = e.sizes.places, e.sizes.added
	r.walk = woven.Walk{Request: req, Machine: r,
		Order: &order.Sorter{Threads: threads, Memory: order.Heap{}}, Running: "preparation"}
	return r
}

// open waits for the device and takes a lane.
func (r *run) open() (err error) {
	if err := r.engine.waitServices(); err != nil {
		return err
	}
	r.Memory, r.Services, r.Resident = r.engine.mem, r.engine.services, r.engine.resident
	r.Lane, err = r.engine.lanes.Take()
	return err
}

// follow binds the run to facts.
func (r *run) follow(bound *boundFacts) {
	r.Bound, r.walk.Bound = bound.bound, bound.bound
	r.facts, r.graphs = bound, &bound.graphs
	// Outputs that stay on the device outlive the run.
	r.Slab.Closed = r.walk.Request.Resident && r.capture == nil
}

// repeat opens the record of the facts. If the record is whole and the request
// is not traced, the run replays it.
func (r *run) repeat(bound *boundFacts) {
	r.engine.recall(bound)
	r.record = bound.record
	r.origin = r.record.Origin()
	r.log, r.Sizes = r.record.Open(&r.State.Run), r.record.Sizes
	if r.walk.Request.Trace == nil { // which wants commands one after the other
		r.log.Replay(r.Fits)
	}
}

// recovered turns a panic into an error. Callers defer it.
func (r *run) recovered(err *error) {
	if p := recover(); p != nil {
		*err = r.walk.Recovered(runtime.GPU, p)
	}
}

// finish waits for the run's work, keeps what later runs can use, frees the
// rest, and returns the error to report.
func (r *run) finish(err error) error {
	if err != nil && r.Ctx.Err() != nil && r.Control.Device.At != 0 {
		if stop := r.Control.Stop(); stop != nil && r.engine.gpu.Lost() != nil {
			err = stop
		} else {
			err = context.Cause(r.Ctx)
		}
	} else if wait := r.Lane.Wait(context.Background()); err == nil || wait == nil {
		// If the record's counters were wrong, err follows from that.
		if wait == nil {
			wait = r.log.Compare()
		}
		if err == nil || wait != nil {
			err = wait
		}
	}
	if err != nil {
		for _, k := range r.keeps {
			k.Release()
		}
	} else {
		r.note()
	}
	if e := r.end(err == nil); err == nil {
		err = e
	}
	if r.Control.Device.At != 0 {
		if e := r.engine.mem.Free(r.Lane.Stream, r.Control.Device); err == nil {
			err = e
		}
	}
	r.engine.lanes.Give(r.Lane)
	if err != nil {
		err = r.engine.failure(err)
	}
	return err
}

func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		return errClosed
	}
	e.users++
	return nil
}

func (e *Engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.users--
}

// pending records whether an output stays on the device.
func (e *Engine) pending(k *kept, stays bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if stays {
		e.keeps[k] = true
	} else {
		delete(e.keeps, k)
	}
}

// failure turns an error of the driver into a *runtime.DeviceError with advice.
// It returns other errors unchanged.
func (e *Engine) failure(err error) error {
	var device *runtime.DeviceError
	var memory *runtime.MemoryError
	if errors.As(err, &device) || errors.As(err, &memory) {
		return err
	}
	switch {
	case errors.Is(err, cuda.ErrLost):
		return &runtime.DeviceError{Message: "the GPU is lost: " + err.Error(), Err: err,
			Try: "run again; if it comes back, use --engine cpu and report it"}
	case errors.Is(err, cuda.ErrOutOfMemory):
		return &runtime.DeviceError{Message: "the GPU is out of memory: " + err.Error(), Err: err,
			Try: "end other programs that use it, take another GPU with --device, or use --engine cpu"}
	case errors.Is(err, errors.ErrUnsupported):
		return &runtime.DeviceError{Message: err.Error(), Err: err,
			Try: "update the NVIDIA driver, or use --engine cpu"}
	}
	return err
}

// Lost reports whether opening the device failed or a fault has made it
// unusable for this engine. The remedy is to close the engine and start another
// one.
func (e *Engine) Lost() bool { return e.waitOpen() != nil || e.gpu.Lost() != nil }

// Use returns the device memory that the engine holds, or zero if the device
// did not open.
func (e *Engine) Use() Use {
	if e.waitOpen() != nil {
		return Use{}
	}
	return e.mem.Use()
}

// Trim returns to the driver what the engine keeps for later runs: free device
// memory, graphs, streams and pinned memory. Facts stay resident.
func (e *Engine) Trim() error {
	if e.waitOpen() != nil || e.mem.Pool == nil {
		return nil
	}
	if err := e.enter(); err != nil {
		return nil // the engine is closed
	}
	defer e.leave()
	e.captures.evict(math.MaxInt64)
	// A pool cannot return memory whose free is pending, or the blocks around
	// it.
	err := errors.Join(e.lanes.Trim(), e.resident.Stream.Synchronize(context.Background()))
	if err == nil {
		err = e.mem.Trim()
	}
	return e.failure(err)
}

// Forget frees the resident columns of facts and the indexes over them. Those
// in use are freed when their runs end. It does not wait for a device that is
// being opened, and has nothing yet.
func (e *Engine) Forget(facts *store.Database) {
	select {
	case <-e.opened:
	default:
		return
	}
	if e.unopened != nil {
		return
	}
	for _, rel := range facts.Relations() {
		for _, c := range rel.Columns() {
			e.resident.Drop(weak.Make(c))
		}
	}
	// Binding copies columns whose strings share a dictionary. Drop the copies,
	// too.
	e.programs.Each(func(p *program) {
		bound := p.forget(weak.Make(facts))
		if bound == nil {
			return
		}
		for _, decl := range bound.Graph.Relations {
			for _, c := range bound.Data.Columns(decl) {
				e.resident.Drop(weak.Make(c))
			}
		}
		for _, t := range bound.Data.Tables {
			e.resident.Drop(weak.Make(t.Column))
		}
	})
}

// Close frees everything, including results that were not fetched. It fails if
// a run is in progress.
func (e *Engine) Close() error {
	e.mu.Lock()
	if e.done || e.users > 0 {
		defer e.mu.Unlock()
		if e.users > 0 {
			return errors.New("the gpu engine is running")
		}
		return nil
	}
	e.done = true
	var left []*kept
	for k := range e.keeps {
		left = append(left, k)
	}
	e.mu.Unlock()
	<-e.opened
	if e.gpu == nil {
		return nil
	}
	if e.loaded != nil {
		<-e.loaded // also waits for the first lane
	}
	for _, k := range left {
		k.Release()
	}
	var errs []error
	e.programs.Close()
	e.captures.evict(math.MaxInt64) // captures whose programs are gone already
	if e.resident != nil {
		errs = append(errs, e.resident.Close())
	}
	errs = append(errs, e.lanes.Close())
	if e.base != nil {
		errs = append(errs, e.base.Close())
	}
	for _, d := range []*onDemand{&e.sorts, &e.decodes} {
		if d.module != nil {
			errs = append(errs, d.module.Close())
		}
	}
	if e.mem != nil {
		errs = append(errs, e.mem.Close())
	}
	err := errors.Join(append(errs, e.gpu.Close())...)
	if errors.Is(err, cuda.ErrLost) {
		return nil // the memory is gone with the context
	}
	return err
}
