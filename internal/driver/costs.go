package driver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime/cost"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// KernelCost is the predicted and the measured time of a kernel on a GPU.
type KernelCost struct {
	cost.Work                 // by which the time is predicted
	Parts     cost.Prediction // of the prediction
	// Estimated is predicted from the sizes that the optimiser expects, and
	// Predicted from those that a run has counted; 0 if none has.
	Estimated, Predicted time.Duration
	Measured             []time.Duration // in each run
	device               cost.Device
}

// String explains the prediction, in lines.
func (k *KernelCost) String() string {
	text := "predicted "
	switch {
	case k.Predicted > 0:
		text += fmt.Sprintf("%s by counts and %s by estimates", cost.Short(k.Predicted),
			cost.Short(k.Estimated))
	default:
		text += cost.Short(k.Estimated) + " by estimates"
	}
	return text + ": " + cost.Explain(k.Work, k.Parts, k.device)
}

// KernelCosts predicts the time of each kernel that the program becomes for a
// GPU, and measures it in a number of runs; 0 measures nothing. The rows of
// each operator are counted by a run with its kernels apart.
func (p *Program) KernelCosts(ctx context.Context, db *Database, runs int,
	opts RunOptions) ([]KernelCost, error) {
	counted, err := p.count(ctx, db, opts)
	if err != nil {
		return nil, err
	}
	whole := db
	plan, db, err := p.explained(ctx, db, opts)
	if err != nil {
		return nil, err
	}
	measured, ran, err := p.measure(ctx, whole, runs, opts)
	if err != nil {
		return nil, err
	}
	if runs > 0 {
		plan = ran.plan
	}
	t, err := assemble.ParseTarget(cmp.Or(ran.target, DefaultGPU))
	if err != nil {
		return nil, err
	}
	graph, err := assemble.Kernels(plan, t, p.fusing)
	if err != nil {
		return nil, err
	}
	costs, err := p.predict(plan, graph, t, db, deviceOf(ran.Device), counted)
	for i := range costs {
		costs[i].Measured = measured[costs[i].Kernel]
	}
	return costs, err
}

// measure returns the times of each kernel in a number of runs, and the
// statistics of the last.
func (p *Program) measure(ctx context.Context, db *Database, runs int, opts RunOptions) (
	measured map[string][]time.Duration, ran Stats, err error) {
	measured = map[string][]time.Duration{}
	opts.Profile = true
	for range runs {
		res, err := p.RunOn(ctx, db, opts)
		if err != nil {
			return nil, ran, err
		}
		ran = res.Stats
		for _, k := range ran.Kernels {
			measured[k.Kernel] = append(measured[k.Kernel], k.Device)
		}
	}
	return measured, ran, nil
}

// Hot returns the median of the measured times; 0 without any.
func (k *KernelCost) Hot() time.Duration {
	times := slices.Sorted(slices.Values(k.Measured))
	if len(times) == 0 {
		return 0
	}
	return times[len(times)/2]
}

// predict predicts the kernels of a graph, which a plan became for a GPU, by
// estimates and, if it is not nil, by what a run has counted.
func (p *Program) predict(plan *queryplan.Plan, graph *harmony.Program, t assemble.Target,
	db *Database, device cost.Device, counted cost.Sizes) ([]KernelCost, error) {
	works, err := p.works(plan, graph, t, db, nil)
	if err != nil {
		return nil, err
	}
	var out []KernelCost
	for i, parts := range cost.Predict(works, device) {
		out = append(out, KernelCost{Work: works[i], Parts: parts, device: device,
			Estimated: cost.Duration(parts.Total())})
	}
	if counted == nil {
		return out, nil
	}
	if works, err = p.works(plan, graph, t, db, counted); err != nil {
		return nil, err
	}
	for i, parts := range cost.Predict(works, device) {
		out[i].Work, out[i].Parts = works[i], parts
		out[i].Predicted = cost.Duration(parts.Total())
	}
	return out, nil
}

// deviceOf returns what the model takes a GPU for.
func deviceOf(d *DeviceStats) cost.Device {
	if d == nil {
		return cost.H200
	}
	return cost.Device{Name: d.Name, Bandwidth: d.Bandwidth, L2: float64(d.L2),
		Processors: float64(d.Multiprocessors), Clock: d.Clock}
}

// explained returns the plan of the wanted outputs, over numbers of rows where
// strings are put off, and the facts that it runs over.
func (p *Program) explained(ctx context.Context, db *Database, opts RunOptions) (
	*queryplan.Plan, *Database, error) {
	wanted := opts.Outputs
	if wanted == nil {
		wanted = p.wantedByDefault()
	}
	derived, _, err := p.outputs(wanted)
	if err != nil {
		return nil, nil, err
	}
	plan, _, err := p.rewrite(derived, db, false)
	if err != nil {
		return nil, nil, err
	}
	plan, _, db, err = explainLate(ctx, plan, db, opts.Threads)
	return plan, db, err
}

// works returns what the kernels of a graph, which a plan became for a GPU, do
// over a database. Sizes are the estimates of the optimiser, but those of
// counted, which may be nil, where it has them.
func (p *Program) works(plan *queryplan.Plan, graph *harmony.Program, t assemble.Target,
	db *Database, counted cost.Sizes) ([]cost.Work, error) {
	policy := layout.GPU
	policy.Pack = 0 // columns of facts that fit are not packed
	bound, err := woven.Bind(context.Background(), woven.NewProgram(plan, graph), db.store, policy,
		1, nil)
	if err != nil {
		return nil, err
	}
	shapes, err := process.Machine.Tools.Shape(graph, t, bound.Knowledge())
	if err != nil {
		return nil, err
	}
	facts := cost.Facts{
		Layouts: bound.Layouts,
		Loaded: func(r *harmony.Relation) (float64, bool) {
			return float64(bound.Data.Rows(r)), bound.Data.Columns(r) != nil
		},
		Ascends: func(r *harmony.Relation, col int) bool {
			cols := bound.Data.Columns(r)
			return cols != nil && cols[col].Stats.Ascending
		},
		Table:    func(i int) float64 { return float64(bound.Data.Tables[i].Column.Bytes()) },
		NeedsSet: bound.NeedsSet,
	}
	estimator := stats.NewEstimator(p.fusing.Plan(plan), db.catalog())
	sizes := cost.Estimated(graph, facts.Loaded, estimator.Rows)
	for name, f := range counted {
		if old := sizes[name]; f.Out == 0 && f.In > 0 && old.In == old.Out {
			f.Out = f.In // additions to groups are not counted
		}
		sizes[name] = f
	}
	return cost.Works(shapes, facts, sizes), nil
}

// count runs a program without fusion, so that the rows of each of its
// operators are counted.
func (p *Program) count(ctx context.Context, db *Database, opts RunOptions) (cost.Sizes, error) {
	apart := &Program{sources: p.sources, syntax: p.syntax, core: p.core, preds: p.preds,
		plan: p.plan, disable: p.disable, fusing: p.fusing}
	apart.fusing.Off = true
	opts.Profile = true
	res, err := apart.RunOn(ctx, db, opts)
	if err != nil {
		return nil, err
	}
	return cost.Counted(res.Stats.Kernels), nil
}
