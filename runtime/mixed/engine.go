package mixed

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"weak"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/prepare"
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

// Sizes are thresholds; tests shrink them to reach every path with little data.
type Sizes struct {
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
	cuts  *segments.Cuts
	steps []*step
	// joined is all steps as one, for runs in which one engine takes them all.
	joined *step
}

// step is pieces of a plan that run together.
type step struct {
	from, until int  // pieces
	all         bool // they are the whole plan
	seg         *segments.Segment
	// rows says how the step is divided by the rows of a table. It is nil if
	// the step cannot be divided; whole is then the reason.
	rows  *parts.Rows
	whole string
	table *store.Table
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
	p := &plan{cuts: segments.Cut(req.Plan)}
	p.cut(req.Facts)
	for i, s := range p.steps {
		s.all = len(p.steps) == 1
		if s.seg = (&segments.Segment{Plan: req.Plan}); !s.all {
			s.seg = p.cuts.Segment(s.from, s.until)
		}
		use, err := e.newUse(s, req)
		if err != nil {
			return nil, err
		}
		s.use, use.name = use, fmt.Sprintf("%s\nstep %d", text, i)
		e.cache.add(use)
	}
	p.joined = &step{until: len(p.cuts.Pieces), all: true, joins: p.steps,
		seg: &segments.Segment{Plan: req.Plan}, use: &use{rows: 1}}
	d.plans[req.Plan], d.texts[text] = p, p
	return p, nil
}

// cut makes the steps of a plan: a single one if all of the plan can be
// divided, else one for each piece that can be divided and one for each run of
// pieces between them.
func (p *plan) cut(facts *store.Database) {
	all := &step{until: len(p.cuts.Pieces)}
	if all.until == 0 {
		return
	}
	if all.divide(p.cuts, facts); all.rows != nil {
		p.steps = []*step{all}
		return
	}
	last := -1 // step that goes on as a whole
	for at := range p.cuts.Pieces {
		s := &step{from: at, until: at + 1}
		s.divide(p.cuts, facts)
		if s.rows == nil && last >= 0 {
			p.steps[last].until = at + 1
			continue
		}
		if p.steps = append(p.steps, s); s.rows == nil {
			last = len(p.steps) - 1
		} else {
			last = -1
		}
	}
}

// divide chooses the table by whose rows a step can be divided.
func (s *step) divide(cuts *segments.Cuts, facts *store.Database) {
	plan := cuts.Segment(s.from, s.until).Plan // of variables of its own
	if s.rows, s.whole = parts.ByRows(plan, 2, tables(facts)); s.rows == nil {
		return
	}
	if s.table = prepare.TableOf(facts, variable(s.rows.Of)); s.table == nil || s.table.Rows < 2 {
		s.rows, s.table = nil, nil
		s.whole = "it has no facts"
	}
}

// tables maps variables to the tables that store them. A variable that is not
// among the facts has a table for its source.
func tables(facts *store.Database) func(*queryplan.Var) parts.Stored {
	return func(v *queryplan.Var) parts.Stored {
		if t := prepare.TableOf(facts, variable(v)); t != nil {
			return parts.Stored{Table: t, Rows: t.Rows}
		}
		return parts.Stored{Table: v.Source,
			Derived: strings.HasPrefix(v.Source, segments.Source(""))}
	}
}

// Explain describes, for people, how a plan over facts is divided. Facts may be
// nil if they are not known.
func Explain(p *queryplan.Plan, facts *store.Database) string {
	return parts.ExplainRows(p, tables(facts))
}

func variable(v *queryplan.Var) prepare.Variable {
	return prepare.Variable{Name: v.Name, Kind: v.Kind, Cols: v.Cols, Source: v.Source,
		Stored: v.Stored}
}

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
		t = &store.Table{Name: key.table.Name, Names: key.table.Names,
			Rows: key.until - key.from}
		for _, c := range key.table.Columns {
			t.Columns = append(t.Columns, c.Slice(key.from, key.until))
		}
		d.tables[key] = t
	}
	db := store.NewDatabase()
	for _, rel := range facts.Relations() {
		if rel.Table == key.table {
			some := *rel
			some.Table = t
			rel = &some
		}
		db.Put(rel)
	}
	d.cut[key] = db
	return db
}
