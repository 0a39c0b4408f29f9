package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
)

// kernelCost is a row of the suite costs, and of its JSON.
type kernelCost struct {
	Query string
	driver.KernelCost
	First, Hot time.Duration // measured: the first run, and the median of the others
}

// tolerance is the largest acceptable error of a prediction, relative to the
// measured time.
const tolerance = 0.3

// benchCosts compares the predicted time of each kernel of TPC-H and the Star
// Schema Benchmark with the measured time. It loads all rows.
func benchCosts(ctx context.Context, c config) error {
	engine := driver.EngineGPU
	if !slices.Contains(c.measured(), engine) {
		fmt.Println("there is no GPU: rows are counted on the cpu engine, and nothing is measured")
		engine = driver.EngineCPU
	}
	var all []kernelCost
	for _, name := range []string{"tpch", "ssb"} {
		if _, err := os.Stat(c.folder(name)); err != nil {
			continue
		}
		rows, err := c.costs(ctx, name, engine)
		if err != nil {
			return err
		}
		all = append(all, rows...)
	}
	if c.json != "" {
		text, err := json.MarshalIndent(all, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.json, text, 0o644); err != nil {
			return err
		}
	}
	printCosts(all)
	return nil
}

// costs returns the costs of the kernels of a suite's queries.
func (c config) costs(ctx context.Context, name, engine string) ([]kernelCost, error) {
	r, err := c.runner(name)
	if err != nil || len(r.Queries) == 0 {
		return nil, err
	}
	r.Against, r.Compile.Disable = nil, []string{"SelectRows"}
	if err := r.Start(ctx); err != nil {
		return nil, err
	}
	defer r.Close()
	r.Run.Engine = engine
	runs := 0
	if engine == driver.EngineGPU {
		runs = 1 + c.repeat
	}
	var out []kernelCost
	for _, q := range r.Queries {
		question, err := r.Ask(ctx, q)
		if err != nil {
			return nil, err
		}
		prog, err := r.Program(ctx, q)
		if err != nil {
			return nil, err
		}
		costs, err := prog.KernelCosts(ctx, question.Facts, runs, r.Run)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s is left out: %v\n", q.Name, err)
			continue
		}
		for _, k := range costs {
			row := kernelCost{Query: q.Name, KernelCost: k}
			if len(k.Measured) > 1 {
				row.First, k.Measured = k.Measured[0], k.Measured[1:]
				row.Hot = k.Hot()
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// printCosts prints the predicted and the measured times.
func printCosts(all []kernelCost) {
	var rows []table.Row
	within, logs, measured := 0, 0.0, 0
	for _, k := range all {
		ratio := any("")
		if k.Hot > 0 {
			x := float64(k.Predicted) / float64(k.Hot)
			measured++
			if math.Abs(x-1) <= tolerance {
				within++
			}
			logs += math.Log(x)
			ratio = fmt.Sprintf("%.2f", x)
		}
		rows = append(rows, table.Row{k.Query, k.Kernel, measure.FormatTime(k.Estimated.Seconds()),
			measure.FormatTime(k.Predicted.Seconds()), measure.FormatTime(k.First.Seconds()),
			measure.FormatTime(k.Hot.Seconds()), ratio})
	}
	report("kernels on a GPU: predicted and measured times", table.Row{"query", "kernel",
		"by estimates", "by counts", "first run", "hot", "by counts / hot"}, rows)
	if measured > 0 {
		fmt.Printf("%d of %d kernels are within %.0f%% (%.0f%%), geometric mean of the ratios %.2f\n",
			within, measured, 100*tolerance, 100*float64(within)/float64(measured),
			math.Exp(logs/float64(measured)))
	}
}
