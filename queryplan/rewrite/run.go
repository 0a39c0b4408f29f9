package rewrite

import (
	"fmt"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/internal/linediff"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// Options chooses which passes run, and what the trace records.
type Options struct {
	// Disable names passes that do not run.
	Disable []string
	// KeepSteps records the plan's text around each pass.
	KeepSteps bool
	// Verify checks the plan at the end or, with KeepSteps, after every pass,
	// which costs about as much as the passes. If the final plan is broken, the
	// passes run again with a check after each one, so that the error names the
	// pass that broke it.
	Verify bool
}

// Trace records what each pass did, in the order in which they ran.
type Trace struct {
	Steps []Step
	// Choices are the choices that passes have made by estimates.
	Choices []Choice
}

// Step is one run of a pass.
type Step struct {
	Pass string
	Time time.Duration
	// Before and After are the plan's texts, with Options.KeepSteps.
	Before, After string
}

// Diff returns the step as a line diff; "" if it changed nothing.
func (s *Step) Diff() string { return linediff.Diff(s.Before, s.After) }

// PassError is a pass that broke the plan or crashed: a bug of the optimiser.
type PassError struct {
	Pass  string
	Err   error
	Stack string // of a crash
	Plan  string // the text of the plan that the pass was given
}

// Error names the pass.
func (e *PassError) Error() string {
	return fmt.Sprintf("internal error in pass %s: %v; try --disable %s", e.Pass, e.Err, e.Pass)
}

// Unwrap returns the cause.
func (e *PassError) Unwrap() error { return e.Err }

// Run rewrites a plan by all passes that are not disabled. The given plan is
// not changed. If the catalogue is nil, estimates use defaults, and rewrites
// that depend on the data do not happen.
func Run(p *queryplan.Plan, cat *stats.Catalog, opts Options) (*queryplan.Plan, *Trace, error) {
	for _, name := range opts.Disable {
		if pass := lookup(name); pass == nil || pass.Required {
			return nil, nil, &UnknownPassError{Name: name, Required: pass != nil}
		}
	}
	out, trace, err := run(p, cat, opts)
	if err == nil && opts.Verify && !opts.KeepSteps {
		if bad := queryplan.Verify(out); bad != nil {
			err = &PassError{Pass: sequence[len(sequence)-1], Err: bad}
		}
	}
	if err != nil && !opts.KeepSteps {
		// Passes are deterministic, so the second run fails at the pass that
		// broke the plan, and has the text that the pass was given.
		opts.KeepSteps = true
		if _, _, first := run(p, cat, opts); first != nil {
			err = first
		}
	}
	if err != nil {
		return nil, trace, err
	}
	return out, trace, nil
}

// run runs the passes.
func run(
	p *queryplan.Plan, cat *stats.Catalog, opts Options,
) (*queryplan.Plan, *Trace, *PassError) {
	prog := &program{Plan: queryplan.Clone(p), catalog: cat}
	trace := &Trace{}
	text := ""
	if opts.KeepSteps {
		text = prog.String()
	}
	for _, name := range sequence {
		if slices.Contains(opts.Disable, name) {
			continue
		}
		start := time.Now()
		err := runPass(lookup(name), prog)
		step := Step{Pass: name, Time: time.Since(start), Before: text}
		if err == nil && opts.Verify && opts.KeepSteps {
			if bad := queryplan.Verify(prog.Plan); bad != nil {
				err = &PassError{Pass: name, Err: bad}
			}
		}
		if err != nil {
			err.Plan = text
			return nil, trace, err
		}
		if opts.KeepSteps {
			text = prog.String()
			step.After = text
		}
		trace.Steps = append(trace.Steps, step)
	}
	trace.Choices = prog.choices
	return prog.Plan, trace, nil
}

// runPass turns a crash into an error, so that it names the pass.
func runPass(pass *Pass, prog *program) (failure *PassError) {
	defer func() {
		if r := recover(); r != nil {
			stack := make([]byte, 16<<10)
			stack = stack[:goruntime.Stack(stack, false)]
			failure = &PassError{Pass: pass.Name, Err: fmt.Errorf("panic: %v", r),
				Stack: string(stack)}
		}
	}()
	if err := pass.run(prog); err != nil {
		return &PassError{Pass: pass.Name, Err: err}
	}
	return nil
}

// outsideLoops replaces each conjunction outside of loops, inner ones first, by
// the result of f. f may append commands to before, which then run before the
// current command.
func (p *program) outsideLoops(
	before *[]queryplan.Command, f func(n queryplan.Node, at joins.Site) queryplan.Node,
) {
	loop := loops.Changed(p.Plan)
	for _, b := range p.Blocks {
		if loop[b] != nil {
			continue
		}
		for i := 0; i < len(b.Cmds); i++ {
			c := b.Cmds[i]
			n := queryplan.CommandNode(c)
			if n == nil {
				continue
			}
			*before = nil
			if m := joins.EachConjunction(n, joins.RootSite(c), f); m != n {
				b.Cmds[i] = queryplan.WithNode(c, m)
			}
			b.Cmds = slices.Insert(b.Cmds, i, *before...)
			i += len(*before)
		}
	}
}

// rewriteTrees replaces the operator tree of every command by the result of f.
// f gets the block and the command of the tree.
func (p *program) rewriteTrees(
	f func(b *queryplan.Block, c queryplan.Command, n queryplan.Node) queryplan.Node,
) {
	for _, b := range p.Blocks {
		for i, c := range b.Cmds {
			if n := queryplan.CommandNode(c); n != nil {
				if m := f(b, c, n); m != n {
					b.Cmds[i] = queryplan.WithNode(c, m)
				}
			}
		}
	}
}
