package redfox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// RunProgress is where a run is.
type RunProgress = runtime.Progress

// RunOptions says how to run a program.
type RunOptions struct {
	Engine  string // "go", "cpu", or "auto" and "" for the best that the machine has
	Threads int    // 0 means all cores
	Memory  int64  // bound in bytes for facts, relations and indexes; 0 means none
	// Outputs names the predicates that are wanted; the others are computed only
	// as far as these need them. Nil wants every exported predicate and query.
	Outputs []string
	// Progress, if set, is called now and then from one goroutine at a time.
	Progress func(RunProgress)
	// Profile asks for times and rows of each command in Stats.
	Profile bool
	// Load says how Run reads facts; RunOn does not use it. Its Threads and
	// Memory default to those of the run.
	Load LoadOptions
}

// maxViolations bounds how many violating bindings of a constraint are shown.
const maxViolations = 10

// Run loads the facts and runs the program over them. It returns a whole answer
// or an error: *ProgramError when the data is wrong or an integrity constraint
// does not hold, *EnvironmentError, *InternalError, or ctx's cause.
func (p *Program) Run(ctx context.Context, facts *Facts, opts RunOptions) (*Result, error) {
	load := opts.Load
	if load.Threads == 0 {
		load.Threads = opts.Threads
	}
	if load.Memory == 0 {
		load.Memory = opts.Memory
	}
	load.Predicates = append(slices.Clone(load.Predicates), opts.Outputs...)
	if _, _, err := ChooseEngine(opts.Engine); err != nil {
		return nil, err
	}
	db, err := p.Load(ctx, facts, load)
	if err != nil {
		return nil, err
	}
	return p.RunOn(ctx, db, opts)
}

// RunOn runs the program over loaded facts, as Run does.
func (p *Program) RunOn(ctx context.Context, db *Database, opts RunOptions) (_ *Result, err error) {
	chosen, _, err := db.ChooseEngine(opts.Engine)
	if err != nil {
		return nil, err
	}
	eng, err := engine(chosen, p.fusing)
	if err != nil {
		return nil, err
	}
	derived, inputs, err := p.outputs(opts.Outputs)
	if err != nil {
		return nil, err
	}
	defer recoverPhase("the "+eng.Name()+" engine", &err)
	start := time.Now()
	// Rewrites see the wanted outputs and the statistics of the data. From here on
	// the plan is fixed.
	plan, err := p.optimise(derived, db)
	if err != nil {
		return nil, err
	}
	planned := time.Now()
	memory := opts.Memory
	if memory > 0 {
		memory = max(memory-db.bytes, 1)
	}
	answer, err := eng.Run(ctx, &runtime.Request{
		Plan:          plan,
		Facts:         db.store,
		Threads:       opts.Threads,
		Memory:        memory,
		MaxViolations: maxViolations,
		Progress:      opts.Progress,
		Profile:       opts.Profile,
	})
	if err != nil {
		return nil, p.runError(ctx, eng.Name(), err)
	}
	if len(answer.Violations) > 0 {
		return nil, &ProgramError{Diagnostics: violationDiagnostics(answer.Violations)}
	}
	res := &Result{relations: map[string]*relation{}, threads: opts.Threads}
	res.Stats = Stats{
		Engine: eng.Name(), Load: db.time, Plan: planned.Sub(start), Run: time.Since(planned),
		Peak: answer.Peak + db.bytes, Dropped: answer.Dropped, Kernels: answer.Kernels, plan: plan, profile: answer.Profile,
	}
	for _, v := range p.plan.Vars {
		if slices.Contains(derived, v.Name) {
			rel := answer.Outputs[v.Name]
			if rel == nil {
				return nil, &InternalError{Phase: "the " + eng.Name() + " engine", Err: fmt.Errorf("no output for %s", v.Name)}
			}
			res.add(v, rel)
		} else if slices.Contains(inputs, v.Name) {
			res.add(v, db.relation(v))
		}
	}
	return res, nil
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

// outputs resolves the wanted predicates into those that a plan computes and
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
	var names []string
	for _, q := range p.Predicates() {
		names = append(names, q.Name)
	}
	for _, name := range wanted {
		i := slices.IndexFunc(p.plan.Vars, func(v *queryplan.Var) bool { return v.Name == name })
		switch {
		case i < 0 || !slices.Contains(names, name):
			return nil, nil, &EnvironmentError{
				Message: fmt.Sprintf("the program has no predicate %s", name),
				Help:    suggestHelp(name, names),
			}
		case p.plan.Vars[i].Kind == queryplan.Input:
			inputs = append(inputs, name)
		default:
			derived = append(derived, name)
		}
	}
	return derived, inputs, nil
}
