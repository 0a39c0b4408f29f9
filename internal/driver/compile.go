package driver

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// Type is a primitive type of LogiQL; Value is one value of such a type.
type (
	Type  = scalar.Type
	Value = scalar.Value
)

// Options are the options of a compilation.
type Options struct {
	// Disable names passes of the optimiser to skip; Passes lists them.
	Disable []string
	// NoFuse leaves one kernel for each operator of the plan.
	NoFuse bool
	// KeepApart names pairs of kernels that are not fused, "k1+k2", by their
	// names before fusion. The harmony stage with NoFuse shows these.
	KeepApart []string
	// External names predicates that get facts from outside. The program need
	// not declare them.
	External []string
	// TrustCode runs the code in the file of a compiled program, which can do
	// anything that the process can. Without it, code is made from the plan.
	TrustCode bool
}

// Program is a compiled program. It is immutable and safe for concurrent use.
type Program struct {
	sources  []*source.File // which the plan's spans point into
	syntax   []*ast.File
	core     *core.Program // nil for a program that was not compiled from LogiQL here
	preds    []predicate   // by first appearance
	plan     *queryplan.Plan
	warnings []*Diagnostic
	disable  []string
	fusing   assemble.Fusing
	codes    assemble.Codes // of a compiled program

	mu        sync.Mutex
	optimised map[string]*queryplan.Plan  // by wanted predicates and statistics
	seen      map[*queryplan.Plan]float64 // the rows of rowsOutsideLoops, by optimised plan
	kernels   map[kernelsKey]bool         // whether plans become the kernels of codes
}

// Pass is one named rewrite of the optimiser.
type Pass struct {
	Name, Doc string
	Required  bool // cannot be disabled
}

// Passes lists the optimiser's passes in the order they run.
func Passes() []Pass {
	var out []Pass
	for _, p := range rewrite.Passes() {
		out = append(out, Pass{Name: p.Name, Doc: p.Reason, Required: p.Required})
	}
	return out
}

// Check compiles the sources up to the checked program and returns every
// diagnostic, sorted by place. The error is not about the program: it is the
// cause of ctx, or an *InternalError.
func Check(ctx context.Context, sources []Source, opts Options) ([]*Diagnostic, error) {
	checked, err := check(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	return checked.found, nil
}

// checked is the output of the front end.
type checked struct {
	program *core.Program // nil if there are errors
	syntax  []*ast.File
	found   []*Diagnostic
}

func check(ctx context.Context, sources []Source, opts Options) (_ *checked, err error) {
	defer failure.Recover("the front end", &err)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	external := map[string]bool{}
	for _, name := range opts.External {
		external[name] = true
	}
	program, syntax, found := frontend.CompileTrees(sourceFiles(sources),
		frontend.Options{External: external})
	if program != nil {
		if err := verifyCore(program); err != nil {
			return nil, err
		}
	}
	return &checked{program, syntax, found}, nil
}

// verifyCore checks the invariants that the plan relies on.
func verifyCore(p *core.Program) error {
	if err := core.Verify(p); err != nil {
		return &InternalError{Phase: "the front end", Err: err}
	}
	return nil
}

// Compile checks the sources, which together form one program, and plans them.
// Diagnostics that are errors come back as a *ProgramError; warnings stay with
// the program.
func Compile(ctx context.Context, sources []Source, opts Options) (*Program, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	// Text becomes a checked program. From here on every predicate has types,
	// every variable is bound, and strata are in order.
	res, err := check(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	if res.program == nil {
		return nil, &ProgramError{Diagnostics: res.found}
	}
	return plan(res, opts)
}

// plan plans a checked program.
func plan(res *checked, opts Options) (*Program, error) {
	// Rules become relational algebra; recursion becomes loops over deltas.
	// From here on nothing knows rules or variables.
	plan, err := buildPlan(res.program)
	if err != nil {
		return nil, err
	}
	return &Program{
		sources:  res.program.Files,
		syntax:   res.syntax,
		core:     res.program,
		preds:    checkedPredicates(res.program),
		plan:     plan,
		warnings: res.found,
		disable:  opts.Disable,
		fusing:   opts.fusing(),
	}, nil
}

func buildPlan(p *core.Program) (plan *queryplan.Plan, err error) {
	defer failure.Recover("plan building", &err)
	if plan, err = build.Build(p); err != nil {
		return nil, &InternalError{Phase: "plan building", Err: err}
	}
	return plan, nil
}

// ParsePlan reads a program from the text of a query plan, as Emit writes it.
func ParsePlan(src Source, opts Options) (p *Program, err error) {
	defer failure.Recover("the plan parser", &err)
	if err := opts.check(); err != nil {
		return nil, err
	}
	plan, err := queryplan.Parse(src.Name, src.Text)
	if err == nil {
		err = queryplan.Verify(plan)
	}
	if err != nil {
		return nil, &EnvironmentError{Message: err.Error(),
			Help: "write plans with redfox compile --emit plan", Err: err}
	}
	return &Program{plan: plan, preds: plannedPredicates(plan), disable: opts.Disable,
		fusing: opts.fusing()}, nil
}

// fusing returns what plans do not become.
func (o Options) fusing() assemble.Fusing {
	return assemble.Fusing{Off: o.NoFuse, Apart: o.KeepApart,
		Unsorted:   slices.Contains(o.Disable, sortPairs),
		TwoIndexes: slices.Contains(o.Disable, shareIndexes)}
}

// check returns the error of options that no compilation can follow.
func (o Options) check() error {
	if err := o.fusing().Check(); err != nil {
		return err
	}
	return checkPasses(o.Disable)
}

func checkPasses(names []string) error {
	for _, name := range names {
		var known []string
		found := false
		for _, p := range slices.Concat(Passes(), LoadSteps(), RunSteps()) {
			known = append(known, p.Name)
			if p.Name != name {
				continue
			}
			found = true
			if p.Required {
				return &EnvironmentError{Message: fmt.Sprintf("pass %s cannot be left out", name)}
			}
		}
		if !found {
			return &EnvironmentError{
				Message: fmt.Sprintf("no optimiser pass is called %q", name),
				Help:    diag.DidYouMean(name, known),
			}
		}
	}
	return nil
}

// Warnings returns the program's diagnostics, none of which is an error.
func (p *Program) Warnings() []*Diagnostic { return p.warnings }

// wantedByDefault returns the queries, or without any query all exported
// predicates, and what the program writes to files.
func (p *Program) wantedByDefault() []string {
	var queries, exported []string
	for _, v := range p.plan.Vars {
		if !v.Output {
			continue
		}
		exported = append(exported, v.Name)
		if isQuery(v.Name) {
			queries = append(queries, v.Name)
		}
	}
	if len(queries) == 0 {
		return exported
	}
	for _, x := range p.Exports() {
		if slices.Contains(exported, x.Pred) && !slices.Contains(queries, x.Pred) {
			queries = append(queries, x.Pred)
		}
	}
	return queries
}

// optimise returns the rewritten plan that computes the wanted predicates over
// databases like db. Plans are kept, so a second run plans nothing.
func (p *Program) optimise(wanted []string, db *Database) (*queryplan.Plan, error) {
	wanted = slices.Clone(wanted)
	sort.Strings(wanted)
	key := strings.Join(wanted, "\x00") + "\x00\x00" + db.fingerprint()
	p.mu.Lock()
	defer p.mu.Unlock()
	if plan, ok := p.optimised[key]; ok {
		return plan, nil
	}
	plan, _, err := p.rewrite(wanted, db, false)
	if err != nil {
		return nil, err
	}
	if p.optimised == nil {
		p.optimised = map[string]*queryplan.Plan{}
	}
	p.optimised[key] = plan
	return plan, nil
}

func (p *Program) rewrite(wanted []string, db *Database,
	steps bool) (*queryplan.Plan, *rewrite.Trace, error) {
	return p.rewriteWith(wanted, db.catalog(), steps)
}

func (p *Program) rewriteWith(wanted []string, cat *stats.Catalog,
	steps bool) (*queryplan.Plan, *rewrite.Trace, error) {
	plan := queryplan.Clone(p.plan)
	for _, v := range plan.Vars {
		v.Output = slices.Contains(wanted, v.Name)
		if !v.Output { // only outputs are presented
			v.OrderBy, v.Limit = nil, -1
		}
	}
	plan, trace, err := rewrite.Run(plan, cat,
		rewrite.Options{Disable: withoutSteps(p.disable), KeepSteps: steps, Verify: true})
	if err != nil {
		return nil, nil, &InternalError{Phase: "the optimiser", Err: err}
	}
	return plan, trace, nil
}
