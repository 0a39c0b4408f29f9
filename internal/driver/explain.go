package driver

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/harmony/decompose"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/byrows"
	"github.com/redfoxdb/redfox/runtime/cost"
	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// ExplainOptions are the options of Explain.
type ExplainOptions struct {
	Steps bool // each pass of the optimiser as a diff of the plan
	// Run runs the program and shows rows and times beside the commands.
	Run bool
	// Kernels shows the estimated cost of each kernel, and WhyNotFused the
	// pairs of kernels that are not fused, with reasons. Target is that of the
	// kernels, as for Emit.
	Kernels, WhyNotFused bool
	Target               string
	// JSON writes the predicted times of kernels alone, as JSON.
	JSON bool
	RunOptions
}

// Explain writes the plan as trees, with the optimiser's estimates or the
// measurements of a run, and the kernels that its operators become. A run on
// engine go shows kernels only if an option asks for them. With a nil db the
// optimiser knows nothing of the data.
func (p *Program) Explain(ctx context.Context, w io.Writer, db *Database,
	opts ExplainOptions) error {
	wanted := opts.Outputs
	if wanted == nil {
		wanted = p.wantedByDefault()
	}
	derived, _, err := p.outputs(wanted)
	if err != nil {
		return err
	}
	plan, trace, err := p.rewrite(derived, db, opts.Steps)
	if err != nil {
		return err
	}
	if opts.Steps {
		for _, s := range trace.Steps {
			diff := s.Diff()
			if diff == "" {
				diff = "(unchanged)\n"
			}
			took := s.Time.Round(time.Microsecond)
			if _, err := fmt.Fprintf(w, "== %s (%v)\n%s\n", s.Pass, took, diff); err != nil {
				return err
			}
		}
	}
	late := ""
	if db != nil {
		if plan, late, db, err = explainLate(ctx, plan, db, opts.Threads); err != nil {
			return err
		}
	}
	annotate := estimates(plan, db)
	var ran Stats
	if opts.Run {
		if db == nil {
			return &EnvironmentError{Message: "explaining a run needs facts"}
		}
		opts.RunOptions.Outputs = wanted
		opts.Profile = true
		res, err := p.RunOn(ctx, db, opts.RunOptions)
		if err != nil {
			return err
		}
		ran = res.Stats
		plan = ran.plan
		expected, measured := estimates(plan, db), runtime.Notes(plan, ran.profile)
		annotate = func(x any) string { return cmp.Or(expected(x), measured(x)) }
	}
	text := plan.Tree(annotate)
	if opts.Run {
		text = runtime.Total(ran.Engine, ran.Plan, ran.Compile, ran.Run) + "\n" + text
	}
	text += late
	if len(ran.Reordered) > 0 {
		text += "\n== orders that the run chose again\n"
		for _, r := range ran.Reordered {
			text += r.String() + "\n" + r.Tree + "\n"
		}
	}
	if len(trace.Choices) > 0 {
		text += "\n== choices\n"
		for _, c := range trace.Choices {
			text += c.String() + "\n"
		}
	}
	var stored *store.Database
	if db != nil {
		stored = db.store
	}
	switch {
	case opts.Memory > 0 && opts.Spill != "":
		text += "\n== spilling, if the run does not fit --memory\n" + parts.Explain(plan)
	case opts.Engine == EngineMixed:
		text += "\n== rows that a GPU and the host share\n" +
			byrows.Explain(plan, stored, "on both sides")
	case opts.DeviceMemory > 0:
		text += "\n== batches of rows, if the facts do not fit --device-memory\n" +
			byrows.Explain(plan, stored, "with each batch") +
			"\n== parts, if a batch does not fit either\n" + parts.Explain(plan)
	}
	if opts.JSON {
		return p.explainCosts(ctx, w, plan, db, ran, opts)
	}
	asked := opts.Kernels || opts.WhyNotFused || opts.Target != ""
	if _, err = io.WriteString(w, text); err != nil || opts.Run && ran.target == "" && !asked {
		return err // engine go has no kernels
	}
	return p.explainKernels(ctx, w, plan, db, ran, opts)
}

// explainLate returns the plan over numbers of rows where strings were put off,
// which strings these are, and the database that the plan runs over.
func explainLate(ctx context.Context, plan *queryplan.Plan, db *Database, threads int) (
	*queryplan.Plan, string, *Database, error) {
	if !facts.IsLate(db.store) {
		return plan, "", db, nil
	}
	late, err := facts.Late(plan, db.store, db.catalog())
	if err != nil {
		return nil, "", nil, &InternalError{Phase: "putting off strings", Err: err}
	}
	if late.Refused != nil {
		db, err = db.withStrings(ctx, late.Refused, threads)
		return plan, "", db, err
	}
	text := ""
	for _, v := range plan.Vars {
		for i, from := range late.Outputs[v.Name] {
			if from != nil {
				text += fmt.Sprintf("%s of %s: column %s of %s\n", v.Cols[i].Name, v.Name,
					from.Name(), filepath.Base(from.File()))
			}
		}
	}
	if text != "" {
		text = "\n== strings that are read for the rows of the answer, numbers of rows until then\n" +
			text
	}
	return late.Plan, text, db, nil
}

// estimates annotates operators with the rows that the optimiser expects.
func estimates(plan *queryplan.Plan, db *Database) func(any) string {
	e := stats.NewEstimator(plan, db.catalog())
	return func(x any) string {
		if n, ok := x.(queryplan.Node); ok {
			return fmt.Sprintf("~%.3g rows", e.Rows(n))
		}
		return ""
	}
}

// explainKernels writes the kernels that a plan becomes, their cost in a run,
// and the fusions that were refused.
func (p *Program) explainKernels(ctx context.Context, w io.Writer, plan *queryplan.Plan,
	db *Database, ran Stats, opts ExplainOptions) error {
	t, err := stageTarget(StageHarmony, cmp.Or(opts.Target, ran.target))
	if err != nil {
		return err
	}
	graph, report, err := assemble.Graph(plan, t, p.fusing)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("\n== kernels, for %s\n", t.Name)
	for _, sorted := range p.fusing.Sorted(plan) {
		text += sorted.String() + "\n"
	}
	var costs map[string]*KernelCost
	if opts.Kernels {
		k, err := know(plan, graph, t, db, p.disable)
		if err != nil {
			return err
		}
		shapes, err := process.Machine.Tools.Shape(graph, t, k)
		if err != nil {
			return err
		}
		costs, err = p.costsOf(ctx, plan, graph, t, db, ran, opts)
		if err != nil {
			return err
		}
		text += report.KernelsString(func(name string) string {
			more := shapes.Explain(name)
			if k := costs[name]; k != nil {
				more += "  " + k.String()
			}
			return more
		})
	} else {
		for _, k := range report.Kernels {
			text += fmt.Sprintf("%s: %s\n", k.Name, strings.Join(k.Ops, ", "))
		}
	}
	if !opts.NoDecompose {
		for _, l := range decompose.Find(graph) {
			text += l.String() + " on the cpu engine\n"
		}
	}
	if t.Name == ran.target && len(ran.Kernels) > 0 {
		text += fmt.Sprintf("\n== kernels, as they ran on engine %s\n", ran.Engine)
		for _, k := range ran.Kernels {
			text += fmt.Sprintf("%s in %s: %s", k.Kernel, k.Block, k.Note(ran.Device))
			if c := costs[k.Kernel]; c != nil {
				text += fmt.Sprintf(", hot %s, predicted %s", cost.Short(c.Hot()),
					cost.Short(cmp.Or(c.Predicted, c.Estimated)))
			}
			text += "\n"
		}
	}
	if opts.WhyNotFused {
		text += "\n== kernels that stay apart\n" + report.RefusalsString()
	}
	_, err = io.WriteString(w, text)
	return err
}
