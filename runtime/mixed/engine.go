package mixed

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"weak"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/byrows"
	"github.com/redfoxdb/redfox/runtime/cost"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Device is the engine of a GPU that caches columns of facts.
type Device interface {
	runtime.Engine
	// Room returns the bytes of the GPU's memory that runs and facts may take.
	Room() (int64, error)
	// Weigh sets the time that a byte of a column saves. Columns of less weight
	// are evicted first.
	Weigh(c *store.Column, weight float64)
	// Drop frees the copy of a column once no run uses it.
	Drop(c *store.Column)
	// Forget frees all that is kept for facts.
	Forget(facts *store.Database)
}

// Engine runs plans on a GPU and on the host.
type Engine struct {
	device      Device
	host, merge runtime.Engine
	sizes       Sizes

	mu        sync.Mutex
	databases map[weak.Pointer[store.Database]]*database
	cache     cache
}

// Sizes are thresholds, and the GPU that they are for; tests shrink them to
// reach every path with little data.
type Sizes struct {
	// Card is what the model of the GPU's rates knows of it; an H200 if it is
	// empty.
	Card cost.Device
	// Segment is the unit of a segment's size, in rows.
	Segment int
	// Segments bounds the number of segments of a table.
	Segments int
	// Runs is the number of runs after which the cache is planned again.
	Runs int
	// Always runs all rows that the GPU holds there, whatever the model says.
	Always bool
	// Most bounds the segments of a table that run on the GPU; 0 stands for no
	// bound.
	Most int
}

// DefaultSizes are the sizes outside tests. The GPU reads a segment of 65,536
// rows in less time than the launch of a kernel takes.
var DefaultSizes = Sizes{Segment: 1 << 16, Segments: 64, Runs: 64}

// New returns an engine that runs some rows on a device and the others on the
// host, and merges the two results with the engine merge.
func New(device Device, host, merge runtime.Engine, s Sizes) *Engine {
	return &Engine{device: device, host: host, merge: merge, sizes: s,
		databases: map[weak.Pointer[store.Database]]*database{},
		cache:     cache{held: map[columnKey]int{}}}
}

// Name returns runtime.Mixed.
func (e *Engine) Name() string { return runtime.Mixed }

// Close frees what the engines hold.
func (e *Engine) Close() error {
	var errs []error
	for _, one := range []runtime.Engine{e.device, e.host, e.merge} {
		if c, ok := one.(interface{ Close() error }); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Lost reports whether a fault has made the GPU unusable.
func (e *Engine) Lost() bool {
	d, ok := e.device.(interface{ Lost() bool })
	return ok && d.Lost()
}

// Settle waits until the device has compiled the code that runs go on without.
func (e *Engine) Settle(ctx context.Context) error {
	if d, ok := e.device.(interface{ Settle(context.Context) error }); ok {
		return d.Settle(ctx)
	}
	return nil
}

// Device returns the engine of the GPU.
func (e *Engine) Device() Device { return e.device }

// Forget frees all that is kept for facts.
func (e *Engine) Forget(facts *store.Database) {
	e.device.Forget(facts)
	e.drop(weak.Make(facts))
}

// database is the state for one set of facts: the plans over them and their
// tables cut into parts. It must not keep the facts alive.
type database struct {
	plans  map[*queryplan.Plan]*plan
	texts  map[string]*plan // of plans that are the same
	tables map[cutKey]*store.Table
	cut    map[cutKey]*store.Database
}

// cutKey identifies the rows of a table from from up to, but without, until.
type cutKey struct {
	table       *store.Table
	from, until int
}

// mostPlans bounds the plans, and the cut tables, that are kept for one set of
// facts.
const mostPlans = 256

// plan is a plan over facts.
type plan struct {
	steps []*step
	// joined is all steps as one, for runs in which one engine takes them all.
	joined *step
}

// step is a step of a plan with its use.
type step struct {
	*byrows.Step
	joins []*step // that it is in place of
	*use
}

func (e *Engine) drop(key weak.Pointer[store.Database]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.databases[key]
	if d == nil {
		return
	}
	delete(e.databases, key)
	e.forgetPlans(d)
}

// forgetPlans drops the plans over a database. The caller holds the lock.
func (e *Engine) forgetPlans(d *database) {
	for _, p := range d.texts {
		for _, s := range p.steps {
			e.cache.remove(s.use)
		}
	}
	clear(d.plans)
	clear(d.texts)
}

// database returns the state for facts. The caller holds the lock.
func (e *Engine) database(facts *store.Database) *database {
	key := weak.Make(facts)
	d := e.databases[key]
	if d == nil {
		d = &database{plans: map[*queryplan.Plan]*plan{}, texts: map[string]*plan{},
			tables: map[cutKey]*store.Table{}, cut: map[cutKey]*store.Database{}}
		e.databases[key] = d
		goruntime.AddCleanup(facts, e.drop, key)
	}
	return d
}

// plan returns the steps of a request's plan.
func (e *Engine) plan(req *runtime.Request) (*plan, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.database(req.Facts)
	if p := d.plans[req.Plan]; p != nil {
		return p, nil
	}
	if len(d.plans) >= mostPlans {
		e.forgetPlans(d)
	}
	text := req.Plan.String()
	if p := d.texts[text]; p != nil {
		d.plans[req.Plan] = p
		return p, nil
	}
	p := &plan{}
	for i, of := range byrows.Steps(req.Plan, req.Facts, sides) {
		use, err := e.newUse(of, req)
		if err != nil {
			return nil, err
		}
		use.name = fmt.Sprintf("%s\nstep %d", text, i)
		p.steps = append(p.steps, &step{Step: of, use: use})
		e.cache.add(use)
	}
	p.joined = &step{Step: byrows.Whole(req.Plan), joins: p.steps, use: &use{rows: 1}}
	d.plans[req.Plan], d.texts[text] = p, p
	return p, nil
}

// sides are the parts of a divided step: that of the GPU, and that of the host.
const sides = 2

// part returns the facts with one table cut to some of its rows.
func (e *Engine) part(facts *store.Database, key cutKey) *store.Database {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.database(facts)
	if db := d.cut[key]; db != nil {
		return db
	}
	if len(d.cut) >= mostPlans {
		clear(d.cut)
		clear(d.tables)
	}
	t := d.tables[key]
	if t == nil {
		t = byrows.Slice(key.table, key.from, key.until)
		d.tables[key] = t
	}
	db := byrows.With(facts, t, key.table)
	d.cut[key] = db
	return db
}
