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

// Device is the engine of a GPU, which keeps copies of columns of facts.
type Device interface {
	runtime.Engine
	// Room is how many bytes of the GPU's memory runs and facts may take.
	Room() (int64, error)
	// Weigh says what a byte of a column saves, so that columns of less weight
	// make room for others.
	Weigh(c *store.Column, weight float64)
	// Drop gives back the copy of a column, once no run uses it.
	Drop(c *store.Column)
	// Forget gives back what is kept of facts.
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
	// Segment is what the rows of a segment are a multiple of.
	Segment int
	// Segments is how many segments a table has at most.
	Segments int
	// Runs is the number of runs after which the cache is planned again.
	Runs int
	// Always has the GPU take the rows that it holds, whatever that costs.
	Always bool
	// Most bounds the segments of a table that the GPU takes; 0 for no bound.
	Most int
}

// DefaultSizes are those that users have. A segment of 65,536 rows takes the
// GPU less than starting a kernel does.
var DefaultSizes = Sizes{Segment: 1 << 16, Segments: 64, Runs: 64}

// New returns an engine that runs rows on a device and the others on the host,
// and merges their results.
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

// Lost reports whether the GPU is lost to a fault.
func (e *Engine) Lost() bool {
	d, ok := e.device.(interface{ Lost() bool })
	return ok && d.Lost()
}

// Settle waits for code that the device compiles while runs go on without it.
func (e *Engine) Settle(ctx context.Context) error {
	if d, ok := e.device.(interface{ Settle(context.Context) error }); ok {
		return d.Settle(ctx)
	}
	return nil
}

// Device returns the engine of the GPU.
func (e *Engine) Device() Device { return e.device }

// Forget frees what is kept of facts.
func (e *Engine) Forget(facts *store.Database) {
	e.device.Forget(facts)
	e.drop(weak.Make(facts))
}

// database is what is kept of facts: the plans over them, and their tables cut
// into parts. It must not keep the facts reachable.
type database struct {
	plans  map[*queryplan.Plan]*plan
	texts  map[string]*plan // of plans that are the same
	tables map[cutKey]*store.Table
	cut    map[cutKey]*store.Database
}

// cutKey is the rows of a table from up to, but without, until.
type cutKey struct {
	table       *store.Table
	from, until int
}

// mostPlans bounds the plans that are kept of facts, and their parts.
const mostPlans = 256

// plan is a plan over facts.
type plan struct {
	cuts  *segments.Cuts
	steps []*step
	// joined is all steps in one, for runs in which one engine has them all.
	joined *step
}

// step is pieces of a plan that run together.
type step struct {
	from, until int  // pieces
	all         bool // they are the whole plan
	seg         *segments.Segment
	// rows is how the step is divided, by the rows of a table; nil if it runs
	// as a whole, for the reason in whole.
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

// forgetPlans forgets the plans over a database. The caller holds the lock.
func (e *Engine) forgetPlans(d *database) {
	for _, p := range d.texts {
		for _, s := range p.steps {
			e.cache.remove(s.use)
		}
	}
	clear(d.plans)
	clear(d.texts)
}

// database returns what is kept of facts. The caller holds the lock.
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

// cut finds the steps of a plan: one, if all of it can be divided, and else the
// pieces that can be divided and what lies between them.
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

// divide finds out by which rows the pieces of a step can be divided.
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

// tables returns where the rows of variables are stored. What facts lack is a
// table for each source.
func tables(facts *store.Database) func(*queryplan.Var) parts.Stored {
	return func(v *queryplan.Var) parts.Stored {
		if t := prepare.TableOf(facts, variable(v)); t != nil {
			return parts.Stored{Table: t, Rows: t.Rows}
		}
		return parts.Stored{Table: v.Source,
			Derived: strings.HasPrefix(v.Source, segments.Source(""))}
	}
}

// Explain says, for people, how a plan over facts is divided; nil stands for
// facts that are not known.
func Explain(p *queryplan.Plan, facts *store.Database) string {
	return parts.ExplainRows(p, tables(facts))
}

func variable(v *queryplan.Var) prepare.Variable {
	return prepare.Variable{Name: v.Name, Kind: v.Kind, Cols: v.Cols, Source: v.Source,
		Stored: v.Stored}
}

// part returns facts in which a table has some of its rows only.
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
