package driver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	goruntime "runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/trace"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/answer"
	"github.com/redfoxdb/redfox/runtime/diagnose"
	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/pool"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// RunProgress is how far a run is.
type RunProgress = runtime.Progress

// RunOptions are the options of a run.
type RunOptions struct {
	// Engine is EngineGo, EngineCPU, EngineGPU, EngineMixed or, like "",
	// EngineAuto.
	Engine  string
	Threads int // 0 means all cores
	// Memory bounds facts, relations and indexes, in bytes. 0 means no bound;
	// for a program that RF0604 warns about, it means half of the available
	// memory.
	Memory int64
	// Spill is a folder. If a run does not fit Memory, the go engine evaluates
	// the plan by parts and keeps relations in a file there, which has no name.
	// "" lets the run fail. A run that does not fit the memory of a GPU goes on
	// by parts in any case, on the GPU; "" then keeps relations in the host's
	// memory.
	Spill string
	// Device is the number or the UUID of a GPU, as Devices lists them; "" is
	// the first that can be used. Naming a device implies engine gpu, and the
	// run fails if that GPU cannot be used. With another engine it is an error.
	Device string
	// DeviceMemory bounds, in bytes, what runs and facts take of the GPU's
	// memory; 0 means all of it. Runs with the same bound share it. A run that
	// does not fit goes on by parts. EngineMixed keeps columns in half of it.
	// With an engine that uses no GPU it is an error.
	DeviceMemory int64
	// Outputs names the predicates of the result. Other predicates are computed
	// only as far as these need them. Nil stands for every exported predicate
	// and query.
	Outputs []string
	// Resident leaves the tuples of the result on the GPU that computed them
	// until they are asked for; see Result.Fetch.
	Resident bool
	// KeepGoing returns the result also if constraints do not hold, beside the
	// error that says so. A transaction is then kept.
	KeepGoing bool
	// MaxRounds bounds the rounds of each recursion that RF0604 warns about. 0
	// means the larger of DefaultMaxRounds and the number of facts; NoMaxRounds
	// means no bound. At the bound the run fails with RF1005.
	MaxRounds int64
	// Progress, if set, is called now and then from one goroutine at a time.
	Progress func(RunProgress)
	// NoDecompose runs every loop round by round over all of its tuples, even
	// if a column decomposes it. The answers are the same.
	NoDecompose bool
	// NoTiers makes the cpu engine run all of a program as native code, even
	// the parts that see few rows, and from the beginning. The answers are the
	// same.
	NoTiers bool
	// Profile records times and rows of each command and kernel in Stats. It
	// makes runs on a GPU slower.
	Profile bool
	// Trace, if set, receives what took time. It must be safe for concurrent
	// use, as Tracer.Add is.
	Trace func(Span)
	// Load are the options with which Run and LoadFor read facts; RunOn does
	// not use them. Their Threads and Memory default to those of the run.
	Load LoadOptions
}

// The values of RunOptions.MaxRounds beside numbers of rounds.
const (
	DefaultMaxRounds = runtime.DefaultMaxRounds
	NoMaxRounds      = -1
)

// maxViolations bounds how many violating bindings of a constraint are shown.
const maxViolations = 10

// Run loads the facts and runs the program over them. It returns a whole answer
// or an error: *ProgramError when the data is wrong or an integrity constraint
// does not hold, *EnvironmentError, *InternalError, or ctx's cause.
func (p *Program) Run(ctx context.Context, facts *Facts, opts RunOptions) (*Result, error) {
	opts.Load.Predicates = append(slices.Clone(opts.Load.Predicates), opts.Outputs...)
	opts.Load.Once = true
	if opts.Spill != "" {
		if err := CheckSpill(opts.Spill); err != nil {
			return nil, err
		}
	}
	if _, err := p.choose(process.Machine, nil, opts); err != nil {
		return nil, err
	}
	db, err := p.LoadFor(ctx, facts, opts)
	if err != nil {
		return nil, err
	}
	defer process.Forget(db.store)
	defer db.prefetch.Stop()
	return p.RunOn(ctx, db, opts)
}

// RunOn runs the program over loaded facts, as Run does. A GPU keeps a copy of
// the facts until the Database is garbage or others need the memory.
func (p *Program) RunOn(ctx context.Context, db *Database, opts RunOptions) (*Result, error) {
	q, err := prepareOnce(ctx, p, db, opts)
	if err != nil {
		return nil, err
	}
	res, err := q.Run(ctx, opts)
	if err == nil || !read.IsUnread(err) {
		return res, err
	}
	if db, err = db.whole(ctx); err != nil {
		return nil, err
	}
	if q, err = prepare(process, p, db, opts); err != nil {
		return nil, err
	}
	return q.Run(ctx, opts)
}

// prepareOnce prepares a run over facts of which some may be left out, and
// reads those that it needs.
func prepareOnce(ctx context.Context, p *Program, db *Database, opts RunOptions) (
	q *Prepared, err error) {
	if db.isForOther(p, opts.Outputs) {
		if db, err = db.whole(ctx); err != nil {
			return nil, err
		}
	}
	if q, err = prepare(process, p, db, opts); err != nil {
		return nil, err
	}
	switch {
	case q.lacks():
		db, err = db.whole(ctx)
	case q.late != nil && q.late.Refused != nil:
		db, err = db.withStrings(ctx, q.late.Refused, opts.Threads)
	default:
		return q, nil
	}
	if err != nil {
		return nil, err
	}
	return prepare(process, p, db, opts)
}

// Prepared is a program that is planned for facts. It is immutable and safe for
// concurrent use.
type Prepared struct {
	program *Program
	db      *Database
	pool    *pool.Pool
	engine  machine.Choice
	plan    *queryplan.Plan
	late    *facts.LatePlan // nil if no strings were put off
	derived []string        // the outputs that the plan computes
	inputs  []string        // the outputs that are facts
	makers  []string        // computed only to show the entities of others
	planned time.Duration
	threads int   // of runs whose options have none
	memory  int64 // likewise
	often   bool  // it runs so often that all of it is worth native code
	// exceeded is the memory of a GPU that the facts do not fit, once a run has
	// shown it; else 0.
	exceeded atomic.Int64
}

// prepare chooses an engine for a run and plans it.
func prepare(engines *pool.Pool, p *Program, db *Database, opts RunOptions) (*Prepared, error) {
	start := time.Now()
	chosen, err := p.chooseFor(engines.Machine, db, opts)
	if err != nil {
		return nil, err
	}
	return prepareOn(chosen, start, engines, p, db, opts)
}

// prepareOn plans a run on an engine that was chosen from start on.
func prepareOn(chosen machine.Choice, start time.Time, engines *pool.Pool, p *Program,
	db *Database, opts RunOptions) (q *Prepared, err error) {
	q = &Prepared{program: p, db: db, pool: engines, engine: chosen}
	if q.derived, q.inputs, q.makers, err = p.wantedOf(opts.Outputs); err != nil {
		return nil, err
	}
	// Rewrites see the wanted outputs and the statistics of the data. From here
	// on the plan is fixed.
	switch {
	case chosen.Card == nil:
		q.plan, err = p.optimise(q.derived, db)
		if chosen.Later != nil {
			q.freeCopies()
		}
	case chosen.Name == machine.Mixed: // whose plans are no program's
		q.plan, err = p.optimise(q.derived, db)
		q.freeCopies()
	default:
		err = q.planCard()
	}
	if err == nil {
		err = q.planLate()
	}
	q.planned = time.Since(start)
	trace.Func(opts.Trace).Since(trace.Plan, start)
	return q, err
}

// wantedOf is outputs with the makers of the entities that they show.
func (p *Program) wantedOf(outputs []string) (derived, inputs, makers []string, err error) {
	if derived, inputs, err = p.outputs(outputs); err != nil {
		return nil, nil, nil, err
	}
	wanted := append(slices.Clone(derived), inputs...)
	for _, name := range answer.WithMakers(p.shapes(), wanted)[len(wanted):] {
		makers = append(makers, name)
		if p.isInput(name) {
			inputs = append(inputs, name)
		} else {
			derived = append(derived, name)
		}
	}
	return derived, inputs, makers, nil
}

// planLate makes the plan one over numbers of rows where strings were put off.
func (q *Prepared) planLate() (err error) {
	if q.db == nil || !facts.IsLate(q.db.store) {
		return nil
	}
	if q.late, err = facts.Late(q.plan, q.db.store, q.db.catalog()); err != nil {
		return &InternalError{Phase: "putting off strings", Err: err}
	}
	if q.late.Plan != nil {
		q.plan = q.late.Plan
	}
	return nil
}

// planCard plans a run on a GPU, for which the program may have code.
func (q *Prepared) planCard() error {
	p := q.program
	plan, code, err := p.planFor(machine.SM(q.engine.Card), q.derived, q.db)
	if err != nil {
		return err
	}
	q.plan = plan
	if code != nil {
		q.pool.Shelf.Put(code)
	} else if _, err := q.pool.Machine.Tools.LLVM(); err != nil {
		return p.otherPlan(q.derived)
	}
	q.freeCopies()
	return nil
}

// freeCopies has the copies of the facts on the card freed once the facts are
// garbage.
func (q *Prepared) freeCopies() {
	if free := q.db.keepers.Add(q.pool); free != nil {
		goruntime.AddCleanup(q.db, free, q.db.store)
	}
}

// request returns the request to the engine.
func (q *Prepared) request(opts RunOptions) *runtime.Request {
	memory := cmp.Or(opts.Memory, q.memory)
	if memory == 0 && q.plan.Unbounded() {
		// Each round may derive more than the one before and exhaust the memory
		// long before the bound on rounds. The heap may hold as much garbage
		// again.
		memory = account.Available() / 2
	}
	if memory > 0 {
		memory = max(memory-q.db.held(), 1)
	}
	return &runtime.Request{
		Plan:            q.plan,
		Orders:          q.orders(),
		Facts:           q.db.store,
		Threads:         cmp.Or(opts.Threads, q.threads),
		Memory:          memory,
		MaxViolations:   maxViolations,
		MaxRounds:       opts.MaxRounds,
		NoDecompose:     opts.NoDecompose,
		NoDeviceLoops:   slices.Contains(q.program.disable, loopOnDevice),
		NoBitJoins:      slices.Contains(q.program.disable, joinByBits),
		NoPackedColumns: slices.Contains(q.program.disable, packColumns),
		NoKeptIndexes:   slices.Contains(q.program.disable, KeepIndexes),
		NoTiers:         opts.NoTiers,
		Often:           q.often,
		Adaptive:        q.engine.Adaptive,
		Progress:        opts.Progress,
		Profile:         opts.Profile,
		Trace:           opts.Trace,
		Resident:        opts.Resident && q.late == nil,
	}
}

// orders returns what chooses the orders of joins again in the midst of a run.
func (q *Prepared) orders() func(*queryplan.Plan) runtime.Orders {
	off := q.program.disable
	if slices.Contains(off, ReorderJoins) || slices.Contains(off, "OrderJoins") {
		return nil
	}
	return func(p *queryplan.Plan) runtime.Orders { return rewrite.NewOrders(p, q.db.catalog()) }
}

// with calls f with the engine and words its failures.
func (q *Prepared) with(ctx context.Context, f func(runtime.Engine) error) (err error) {
	defer failure.Recover("the "+q.engine.Name+" engine", &err)
	ran := false
	err = q.pool.With(q.engine, q.program.fusing, func(e runtime.Engine) error {
		ran = true
		return f(e)
	})
	if err != nil && ran {
		return q.program.runError(ctx, q.engine.Name, err)
	}
	return err
}

// Run runs the program, as Program.Run does. The engine and the outputs are
// those of Prepare, whatever the options say.
func (q *Prepared) Run(ctx context.Context, opts RunOptions) (*Result, error) {
	res, err := q.run(ctx, opts)
	if q.engine.Instead == nil || !isOfDevice(err) || ctx.Err() != nil {
		return res, err
	}
	other, failed := prepareOn(*q.engine.Instead, time.Now(), q.pool, q.program, q.db, opts)
	if failed != nil {
		return nil, err
	}
	other.threads, other.memory = q.threads, q.memory
	return other.run(ctx, opts)
}

// run runs the program on the engine of Prepare.
func (q *Prepared) run(ctx context.Context, opts RunOptions) (res *Result, err error) {
	start := time.Now()
	var answered *runtime.Answer
	err = q.with(ctx, func(e runtime.Engine) error {
		req := q.request(opts)
		answered, err = q.evaluate(ctx, e, req, opts)
		return answer.WithFacts(err, cmp.Or(opts.Memory, q.memory), q.db.held())
	})
	if err != nil {
		return nil, err
	}
	var violated error
	if len(answered.Violations) > 0 {
		violated = &ProgramError{Diagnostics: diagnose.Violations(answered.Violations)}
		if !opts.KeepGoing || diagnose.Incomplete(answered.Violations) {
			return nil, violated
		}
	}
	trace.Func(opts.Trace).Since("run on "+q.engine.Name, start)
	reads, err := q.showLate(ctx, answered, opts)
	if err != nil {
		return nil, err
	}
	res, err = q.result(answered, opts, time.Since(start))
	if res != nil {
		res.Stats.Late = reads
	}
	return res, cmp.Or(err, violated)
}

// showLate reads the strings of an answer that were put off.
func (q *Prepared) showLate(ctx context.Context, answered *runtime.Answer, opts RunOptions) (
	[]LateRead, error) {
	if q.late == nil {
		return nil, nil
	}
	var reads []LateRead
	start := time.Now()
	for _, name := range slices.Sorted(maps.Keys(q.late.Outputs)) {
		rel, list, err := q.late.Show(ctx, name, answered.Outputs[name],
			cmp.Or(opts.Threads, q.threads))
		if err != nil && !read.IsUnread(err) {
			err = loadError(ctx, err)
		}
		if err != nil {
			return nil, err
		}
		answered.Outputs[name] = rel
		reads = append(reads, list...)
	}
	trace.Func(opts.Trace).Since("read strings of the answer", start)
	return reads, nil
}

// result turns an engine's answer into a result.
func (q *Prepared) result(answered *runtime.Answer, opts RunOptions,
	took time.Duration) (*Result, error) {
	res := &Result{relations: map[string]*relation{}, owned: map[string]*answer.Relation{}}
	res.Stats = Stats{
		Engine: q.engine.Name, Load: q.db.time, Plan: q.planned,
		Compile: answered.Compile, Run: took - answered.Compile,
		Peak: answered.Peak + q.db.held(), Dropped: answered.Dropped, Kernels: answered.Kernels,
		Device: answered.Device, Segments: answered.Segments, Spill: answered.Spill,
		Reordered: answered.Reordered,
		Cache:     answered.Cache,
		plan:      q.plan, profile: answered.Profile, target: q.engine.Target(),
	}
	threads := cmp.Or(opts.Threads, q.threads)
	for _, v := range q.program.plan.Vars {
		pending, rel := answered.Pending[v.Name], answered.Outputs[v.Name]
		switch {
		case slices.Contains(q.derived, v.Name):
			if rel == nil && pending == nil {
				return nil, &InternalError{Phase: "the " + q.engine.Name + " engine",
					Err: fmt.Errorf("no output for %s", v.Name)}
			}
		case slices.Contains(q.inputs, v.Name):
			rel = q.db.relation(v)
		default:
			if pending != nil { // the plan computes more than is wanted
				pending.Release()
			}
			continue
		}
		names := queryplan.NamesOf(queryplan.JoinedColumns(v.Cols))
		res.owned[v.Name] = answer.New(v, names, rel, pending, threads)
	}
	shown, err := answer.Show(q.program.shapes(), res.owned)
	if err != nil {
		return nil, &InternalError{Phase: "presenting the result", Err: err}
	}
	for _, v := range q.program.plan.Vars {
		if x := shown[v.Name]; x != nil && !slices.Contains(q.makers, v.Name) {
			cols := planColumns(v.Cols)
			for i := range cols {
				if x != res.owned[v.Name] && x.IsEntity(i) {
					cols[i].Type = scalar.StringType
				}
			}
			res.add(v.Name, x, cols, len(planColumns(v.Cols[:v.Keys])))
		}
	}
	answer.Bound(res.owned, cmp.Or(opts.Memory, q.memory), q.db.held(), opts.Spill)
	res.releaseAtEnd()
	return res, nil
}

// isInput reports whether the tuples of a predicate are facts.
func (p *Program) isInput(name string) bool {
	return slices.ContainsFunc(p.plan.Vars, func(v *queryplan.Var) bool {
		return v.Name == name && v.Kind == queryplan.Input
	})
}

// relation returns the facts of an input.
func (db *Database) relation(v *queryplan.Var) *store.Relation {
	if rel := db.store.Relation(v.Source); rel != nil {
		return rel
	}
	s := store.Schema{Name: v.Source, Keys: v.Keys}
	for _, c := range v.Cols {
		s.Args = append(s.Args, store.Field{Name: c.Name, Type: c.Type})
	}
	return store.EmptyRelation(s)
}

// outputs divides the wanted predicates into those that a plan computes and
// those that are facts.
func (p *Program) outputs(wanted []string) (derived, inputs []string, err error) {
	if wanted == nil {
		for _, v := range p.plan.Vars {
			if v.Output {
				derived = append(derived, v.Name)
			}
		}
		return derived, nil, nil
	}
	var names, makers []string
	for _, q := range p.preds {
		if !q.hidden {
			names = append(names, q.Name)
		} else if q.Maker != nil || strings.HasPrefix(q.Name, "+") {
			makers = append(makers, q.Name)
		}
	}
	for _, name := range wanted {
		i := slices.IndexFunc(p.plan.Vars, func(v *queryplan.Var) bool { return v.Name == name })
		switch {
		case i < 0 || !slices.Contains(names, name) && !slices.Contains(makers, name):
			return nil, nil, &EnvironmentError{
				Message: fmt.Sprintf("the program has no predicate %s", name),
				Help:    diag.DidYouMean(name, names),
			}
		case p.plan.Vars[i].Kind == queryplan.Input:
			inputs = append(inputs, name)
		default:
			derived = append(derived, name)
		}
	}
	return derived, inputs, nil
}
