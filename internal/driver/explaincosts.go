package driver

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"math"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// costsOf predicts the kernels of a graph for a GPU, by name: nil without
// facts. After a run on a GPU, another one with kernels apart counts the rows
// of each operator, and hot runs measure the kernels.
func (p *Program) costsOf(ctx context.Context, plan *queryplan.Plan, graph *harmony.Program,
	t assemble.Target, db *Database, ran Stats, opts ExplainOptions) (
	map[string]*KernelCost, error) {
	list, err := p.listCosts(ctx, plan, graph, t, db, ran, opts)
	costs := map[string]*KernelCost{}
	for i := range list {
		costs[list[i].Kernel] = &list[i]
	}
	return costs, err
}

func (p *Program) listCosts(ctx context.Context, plan *queryplan.Plan, graph *harmony.Program,
	t assemble.Target, db *Database, ran Stats, opts ExplainOptions) ([]KernelCost, error) {
	if db == nil || !t.GPU {
		return nil, nil
	}
	if ran.Engine != EngineGPU {
		return p.predict(plan, graph, t, db, deviceOf(ran.Device), nil)
	}
	counted, err := p.count(ctx, db, opts.RunOptions)
	if err != nil {
		return nil, err
	}
	measured, _, err := p.measure(ctx, db, hotRuns, opts.RunOptions)
	if err != nil {
		return nil, err
	}
	list, err := p.predict(plan, graph, t, db, deviceOf(ran.Device), counted)
	for i := range list {
		list[i].Measured = measured[list[i].Kernel]
	}
	return list, err
}

// hotRuns is how often explain repeats a run to measure its kernels.
const hotRuns = 3

// costJSON is a KernelCost as JSON has it. Times are in microseconds.
type costJSON struct {
	Kernel    string       `json:"kernel"`
	Calls     float64      `json:"calls"`
	Rows      float64      `json:"rows"`
	Estimated float64      `json:"by_estimates_us"`
	Predicted float64      `json:"by_counts_us,omitempty"`
	Measured  float64      `json:"measured_us,omitempty"`
	Launch    float64      `json:"launch_us"`
	Bytes     float64      `json:"bytes_in_order"`
	Stream    float64      `json:"in_order_us"`
	Stages    float64      `json:"stages_us"`
	Tiles     float64      `json:"tiles_us"`
	Latency   float64      `json:"latency_us"`
	Groups    float64      `json:"groups_us"`
	Accesses  []accessJSON `json:"accesses"`
}

// accessJSON is a table that a kernel reaches by key or by row number.
type accessJSON struct {
	To    string  `json:"to"`
	Kind  string  `json:"kind"`
	Rows  float64 `json:"rows"`
	Bytes float64 `json:"bytes"`
	Level string  `json:"level"`
	Time  float64 `json:"us"`
}

// explainCosts writes the predicted times of kernels as JSON.
func (p *Program) explainCosts(ctx context.Context, w io.Writer, plan *queryplan.Plan,
	db *Database, ran Stats, opts ExplainOptions) error {
	t, err := stageTarget(StageHarmony, cmp.Or(opts.Target, ran.target))
	if err != nil {
		return err
	}
	if db == nil || !t.GPU {
		return &EnvironmentError{Message: "times are predicted for a GPU and with facts",
			Help: "give --facts, and a target such as " + DefaultGPU}
	}
	graph, err := assemble.Kernels(plan, t, p.fusing)
	if err != nil {
		return err
	}
	list, err := p.listCosts(ctx, plan, graph, t, db, ran, opts)
	if err != nil {
		return err
	}
	out := []costJSON{}
	for _, k := range list {
		out = append(out, k.json())
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func (k *KernelCost) json() costJSON {
	round := func(x float64) float64 { return math.Round(1000*x) / 1000 }
	us := func(seconds float64) float64 { return round(1e6 * seconds) }
	out := costJSON{Kernel: k.Kernel, Calls: k.Calls, Rows: round(k.Rows),
		Estimated: us(k.Estimated.Seconds()), Predicted: us(k.Predicted.Seconds()),
		Launch: us(k.Parts.Launch), Bytes: round(k.Read + k.Written), Stream: us(k.Parts.Stream),
		Stages: us(k.Parts.Stages), Tiles: us(k.Parts.Tiles), Latency: us(k.Parts.Latency),
		Groups: us(k.Parts.Groups), Accesses: []accessJSON{}}
	out.Measured = us(k.Hot().Seconds())
	for i, a := range k.Work.Accesses {
		out.Accesses = append(out.Accesses, accessJSON{To: a.To, Kind: string(a.Kind),
			Rows: round(a.Rows), Bytes: round(a.Bytes), Level: k.device.Level(a),
			Time: us(k.Parts.Accesses[i])})
	}
	return out
}
