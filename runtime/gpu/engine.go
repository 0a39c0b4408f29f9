package gpu

import (
	"cmp"
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
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// ObjectCache keeps machine code between processes. It is safe for concurrent
// use.
type ObjectCache interface {
	Get(key string) ([]byte, bool)
	Put(key string, object []byte)
}

// Code is generated code.
type Code struct {
	Module *abi.Module
	PTX    string
}

// Options configures an engine.
type Options struct {
	Device driver.Device
	// Version is the newest version of CUDA that the driver knows.
	Version cuda.Version
	// Limit bounds the device memory of runs and resident columns, in bytes; 0
	// stands for the free memory.
	Limit int64
	Cache ObjectCache // of machine code, or nil
	// Lower turns a plan into a verified kernel graph, and fuses its kernels.
	Lower func(*queryplan.Plan) (*harmony.Program, error)
	// Compile generates code for the device's architecture and what is known of
	// the facts. It may pass PTX of some kernels to early, from any goroutine,
	// before it returns that of all: the driver compiles it meanwhile.
	Compile func(g *harmony.Program, k woven.Knowledge, early func(ptx string)) (*Code, error)
}

// Engine runs plans on one GPU. It is safe for concurrent use.
type Engine struct {
	opts         Options
	sizes        sizes
	gpu          driver.Context
	info         *cuda.DeviceInfo
	architecture string // "sm_90"
	version      string // of CUDA, that the driver knows
	bandwidth    float64

	// opened is closed when the device is open, or cannot be opened for the
	// reason in unopened. The other fields are set by then.
	opened   chan struct{}
	unopened error
	// began and ended say when that was.
	began, ended time.Time
	mem          *device.Memory
	resident     *tables.Residency
	lanes        device.Lanes
	captures     captures
	// loaded is closed when a lane is made and the service kernels are loaded,
	// or cannot be loaded for the reason in unloaded.
	loaded   chan struct{}
	unloaded error         // why they cannot be
	base     driver.Module // the service kernels
	services map[string]driver.Function
	sorts    onDemand // kernels that sort
	decodes  onDemand // kernels that decode columns
	programs woven.Programs[*program]

	mu    sync.Mutex
	users int // runs at work
	done  bool
	keeps map[*kept]bool
	late  []*loading // that Settle waits for
}

// sizes are thresholds; tests shrink them to reach every path with little data.
type sizes struct {
	policy layout.Policy
	rows   int64 // that a relation has room for at least
	// expect bounds the tuples for which there is room at first although a
	// kernel may have none.
	expect int64
	output int64 // rows from which an output keeps the bounds that are known
	order  int64 // rows from which the device sorts; fewer are copied and sorted sooner
	ranked int64 // rows that are put in order by looking at each pair
	// ordered is how many tuples of a result the device orders at least; fewer
	// the host orders sooner.
	ordered int64
	// looped is how many rows a delta has at most while a block of the device
	// runs rounds by itself.
	looped int64
	// run is how many rows of an index that grows are always one run.
	run int64
	// places is how many places the extents of an index without rows may take,
	// and added how many rows at most are added to extents rather than making
	// them again.
	places, added int64
	// packed is the size in bytes from which facts are packed. Reading packed
	// columns takes as long as reading others, and for some queries longer.
	packed int64
	// replays is how many runs in succession have replayed the whole record
	// before one is captured.
	replays int
}

// policyFor returns the policy of a run.
func (s *sizes) policyFor(req *runtime.Request) layout.Policy {
	p := s.policy
	if req.NoPackedColumns || s.packed > 0 && columnBytes(req.Facts) < s.packed {
		p.Pack = 0
	}
	return p
}

var defaults = sizes{policy: layout.GPU, rows: 4096, expect: 1 << 22, output: 1 << 16,
	order: 1 << 12, ranked: 1 << 11, ordered: 1 << 9,
	looped: 1 << 13, run: 1 << 17, places: 1 << 20, added: 1 << 16, replays: 1}

// onDemand are service kernels that load when they are first needed, since few
// programs need them.
type onDemand struct {
	kernels   *service.Module
	mu        sync.Mutex
	module    driver.Module
	functions map[string]driver.Function
}

// program is what the engine keeps of a plan.
type program struct {
	codes   woven.Codes[*code]
	history *replay.History // or nil

	mu     sync.Mutex
	sizes  *replay.Sizes // of runs over facts that the program is not bound to, or nil
	bounds []*boundFacts // most recently used first
	known  bool          // the program was bound to facts that stay
}

// boundFacts is a program bound to facts, for the next run over the same.
type boundFacts struct {
	facts   weak.Pointer[store.Database]
	whole   bool              // no column is packed, as the request asked
	cleanup goruntime.Cleanup // of the facts
	bound   *woven.Bound
	record  *replay.Record
	graphs  graphs

	history   *replay.History
	identity  replay.Facts  // without their digest until digested is closed
	digested  chan struct{} // or nil if the facts are not digested
	recalling sync.Once
}

// keptBounds is the number of databases to which a program stays bound.
const keptBounds = 2

// Use is what an engine holds of the device's memory.
type Use = device.Use

var (
	errReleased = errors.New("the result was released")
	errClosed   = errors.New("the gpu engine is closed")
)

// Start returns an engine whose device is being opened, which takes a tenth of
// a second or more. Runs generate their code meanwhile, and then wait. If
// opening fails, every run returns the error, and the engine can only be
// closed.
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
// *runtime.DeviceError, or the driver's.
func New(o Options) (*Engine, error) {
	e := Start(o)
	if err := e.isOpen(); err != nil {
		_ = e.Close() // err says what is wrong
		return nil, err
	}
	return e, nil
}

// isOpen waits for the device, and returns the error of opening it.
func (e *Engine) isOpen() error {
	<-e.opened
	return e.unopened
}

// open opens the device.
func (e *Engine) open() (err error) {
	if e.gpu, err = e.opts.Device.OpenContext(); err != nil {
		return err
	}
	// Objects that only runs need are made concurrently with the program's
	// code.
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
// which takes the driver 7 ms. Errors are ignored here; the first run reports
// them.
func (e *Engine) firstLane() {
	l, err := e.lanes.Take()
	if err != nil {
		return
	}
	if err := e.mem.First(l.Stream); err != nil {
		_ = l.Close() // its stream has work left
		return
	}
	e.lanes.Give(l)
}

// loadServices loads the service kernels.
func (e *Engine) loadServices() (err error) {
	e.base, e.services, err = e.loadService(service.Base)
	return err
}

// loadService loads kernels of package service. There may be a module that
// lacks one.
func (e *Engine) loadService(s *service.Module) (m driver.Module, f map[string]driver.Function,
	err error) {
	if m, err = e.loadMachine(s); err != nil {
		// A driver that is older than the machine code compiles the PTX.
		if m = e.cached(s.Name, s.PTX); m == nil {
			m, err = e.build(&runtime.Request{}, s.Name, s.PTX)
			if err != nil {
				return nil, nil, err
			}
		}
	}
	f = map[string]driver.Function{}
	for _, k := range s.Kernels {
		if f[k.Name], err = m.Function(k.Name); err == nil && k.Shared > 0 {
			err = f[k.Name].SetMaxDynamicShared(k.Shared)
		}
		switch {
		case errors.Is(err, errors.ErrUnsupported): // the driver lets no block have so much
			delete(f, k.Name)
		case err != nil:
			return m, nil, err
		}
	}
	return m, f, nil
}

// loadMachine loads machine code of service kernels, if there is some for the
// device.
func (e *Engine) loadMachine(s *service.Module) (driver.Module, error) {
	code := s.Machine(e.info.Attributes.Major)
	if code == nil {
		return nil, cuda.ErrNoBinary
	}
	return e.gpu.LoadModule(cuda.Image{Name: s.Name, Code: code}, cuda.ModuleOptions{})
}

// functionsOf returns kernels that load on demand.
func (e *Engine) functionsOf(d *onDemand) (map[string]driver.Function, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.functions != nil {
		return d.functions, nil
	}
	m, f, err := e.loadService(d.kernels)
	if err != nil {
		if m != nil {
			_ = m.Close() // err says what is wrong
		}
		return nil, err
	}
	d.module, d.functions = m, f
	return f, nil
}

// ready waits for the service kernels, and tries again if they could not be
// loaded.
func (e *Engine) ready() error {
	<-e.loaded
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unloaded == nil {
		return nil
	}
	if e.base != nil {
		_ = e.base.Close() // what failed was something else
		e.base = nil
	}
	e.unloaded = e.loadServices()
	return e.unloaded
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
	if err = e.with(ctx, req, evaluate); errors.Is(err, replay.ErrDiffers) {
		err = e.with(ctx, req, evaluate) // which waits
	}
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Prepare makes the code of a request and copies its facts to the device.
func (e *Engine) Prepare(ctx context.Context, req *runtime.Request) error {
	err := e.with(ctx, req, func(r *run, _ time.Duration) error {
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

// with sets up a run, which evaluate carries out.
func (e *Engine) with(ctx context.Context, req *runtime.Request,
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
	known := bound != nil // and the facts most likely there
	if !known {
		if bound, err = kept.bind(ctx, prog, req, e.sizes.policyFor(req), r.walk.Order.Threads,
			account.New(req.Memory)); err != nil {
			return err
		}
	}
	r.follow(bound)
	if !known {
		go e.recall(bound) // beside the making and loading of code
		defer e.recall(bound)
		r.beginCopies()
		defer r.ahead.end()
	}
	compiled := time.Duration(0)
	code, err := kept.codes.Use(r.Bound, func(k woven.Knowledge) (*code, error) {
		c, err := e.compile(req, prog.Graph, k)
		if err == nil {
			compiled = c.made
		}
		return c, err
	})
	if err != nil {
		return e.failure(err)
	}
	defer kept.codes.Release(code)
	r.code = code.Made
	r.repeat(bound)
	if err := r.open(); err != nil {
		return e.failure(err)
	}
	defer func() { err = r.finish(err) }()
	return evaluate(r, compiled)
}

// newRun returns a run that is not bound to facts yet.
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

// open waits for the device, and takes a lane.
func (r *run) open() (err error) {
	if err := r.engine.ready(); err != nil {
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
	r.Slab.Closed = r.walk.Request.Resident && r.capture == nil // outputs outlive the run
}

// repeat has the run replay the record of earlier runs over its facts.
func (r *run) repeat(bound *boundFacts) {
	r.engine.recall(bound)
	r.record = bound.record
	r.origin = r.record.Origin()
	r.log, r.Sizes = r.record.Open(&r.State.Run), r.record.Sizes
	if r.walk.Request.Trace == nil { // which wants commands one after the other
		r.log.Replay(r.Fits)
	}
}

// recovered turns a panic into an error. It is deferred.
func (r *run) recovered(err *error) {
	if p := recover(); p != nil {
		*err = r.walk.Recovered(runtime.GPU, p)
	}
}

// finish returns what the run has taken, and explains its error.
func (r *run) finish(err error) error {
	if err != nil && r.Ctx.Err() != nil && r.Control.Device.At != 0 {
		if stop := r.Control.Stop(); stop != nil && r.engine.gpu.Lost() != nil {
			err = stop
		} else {
			err = context.Cause(r.Ctx)
		}
	} else if wait := r.Lane.Wait(context.Background()); err == nil || wait == nil {
		// An error may stem from an earlier state.
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

// bind binds the program to the facts of a request. Memory accounts for the
// dictionaries that it makes.
func (p *program) bind(
	ctx context.Context, prog *woven.Program, req *runtime.Request, policy layout.Policy,
	threads int,
	memory prepare.Memory,
) (*boundFacts, error) {
	facts, whole := req.Facts, req.NoPackedColumns
	key := weak.Make(facts)
	bound, err := woven.Bind(ctx, prog, facts, policy, threads, memory)
	if err != nil {
		return nil, err
	}
	made := &boundFacts{facts: key, whole: whole, bound: bound, history: p.history}
	for _, decl := range prog.Graph.Relations {
		made.identity.Rows += int64(bound.Data.Rows(decl))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !bound.Data.Constant() || facts == nil || req.NoKeptIndexes {
		if p.sizes == nil {
			p.sizes = cmp.Or(p.history.Hints(made.identity.Rows), replay.NewSizes())
		}
		made.record = replay.NewRecordOfSizes(p.sizes)
		return made, nil
	}
	if found := p.boundTo(key, whole); found != nil { // another run was faster
		return found, nil
	}
	made.record = replay.NewRecord(prog.Graph, p.history.Hints(made.identity.Rows))
	if p.history != nil && !p.known {
		// An earlier process may have had the first facts of this one.
		made.digest(facts, threads)
	}
	p.known = true
	p.bounds = append([]*boundFacts{made}, p.bounds...)
	if len(p.bounds) > keptBounds {
		p.bounds[keptBounds].leave()
		p.bounds[keptBounds] = nil
		p.bounds = p.bounds[:keptBounds]
	}
	made.cleanup = goruntime.AddCleanup(facts, func(p *program) { p.forget(key) }, p)
	return made, nil
}

// isBound returns the program bound to the facts of a request, or nil.
func (p *program) isBound(req *runtime.Request) *boundFacts {
	if req.NoKeptIndexes {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.boundTo(weak.Make(req.Facts), req.NoPackedColumns)
}

// boundTo returns the program bound to facts, with or without packed columns,
// or nil. The caller holds the lock.
func (p *program) boundTo(key weak.Pointer[store.Database], whole bool) *boundFacts {
	for i, b := range p.bounds {
		if b.facts == key && b.whole == whole {
			copy(p.bounds[1:i+1], p.bounds[:i])
			p.bounds[0] = b
			return b
		}
	}
	return nil
}

// forget drops the program bound to facts, and returns it, or nil.
func (p *program) forget(key weak.Pointer[store.Database]) *woven.Bound {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, b := range p.bounds {
		if b.facts == key {
			p.bounds = append(p.bounds[:i:i], p.bounds[i+1:]...)
			b.leave()
			return b.bound
		}
	}
	return nil
}

// close drops everything that is kept of an unused program.
func (p *program) close() {
	p.mu.Lock()
	for _, b := range p.bounds {
		b.leave()
	}
	p.bounds = nil
	p.mu.Unlock()
	p.codes.Close()
}

// leave drops a binding to facts, which may live on.
func (b *boundFacts) leave() {
	b.cleanup.Stop()
	b.graphs.doom()
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

// pending notes whether an output stays on the device.
func (e *Engine) pending(k *kept, stays bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if stays {
		e.keeps[k] = true
	} else {
		delete(e.keeps, k)
	}
}

// failure explains the driver's errors.
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

// Lost reports whether the device could not be opened, or a fault has made it
// useless for this engine. Close it and make another.
func (e *Engine) Lost() bool { return e.isOpen() != nil || e.gpu.Lost() != nil }

// Use returns the memory that the engine holds.
func (e *Engine) Use() Use {
	if e.isOpen() != nil {
		return Use{}
	}
	return e.mem.Use()
}

// Trim returns to the driver what is kept for later runs: device memory,
// graphs, streams and pinned memory. Facts stay.
func (e *Engine) Trim() error {
	if e.isOpen() != nil || e.mem.Pool == nil {
		return nil
	}
	if err := e.enter(); err != nil {
		return nil // it is closed
	}
	defer e.leave()
	e.captures.evict(math.MaxInt64)
	// A pool keeps memory that a stream has yet to free, and the blocks beside
	// it.
	err := errors.Join(e.lanes.Trim(), e.resident.Stream.Synchronize(context.Background()))
	if err == nil {
		err = e.mem.Trim()
	}
	return e.failure(err)
}

// Forget frees the columns of facts and the indexes over them, those in use
// when their runs end.
func (e *Engine) Forget(facts *store.Database) {
	if e.isOpen() != nil {
		return
	}
	for _, rel := range facts.Relations() {
		for _, c := range rel.Columns() {
			e.resident.Drop(weak.Make(c))
		}
	}
	// Strings of several columns get one dictionary, and then some columns
	// copies.
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

// Close frees everything, also results that were not fetched. No run may be in
// progress.
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
		<-e.loaded // the first lane, too, is there
	}
	for _, k := range left {
		k.Release()
	}
	var errs []error
	e.programs.Close()
	e.captures.evict(math.MaxInt64) // of programs that were not kept
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
