package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/reference/recursive"
)

// recursiveWork is a program of testdata/recursive over made-up facts.
type recursiveWork struct {
	title, unit string // of the sizes
	sizes       []int
	programs    []string
	facts       func(size int, seed uint64) recursive.Facts
	// solve is the loop by hand; show turns its result into tuples.
	solve func(recursive.Facts) (show func() map[string][]string)
	size  string // the predicate whose tuples are counted
}

// benchDoop measures Doop's core rules beside a worklist.
func benchDoop(ctx context.Context, c config) error {
	return c.benchRecursive(ctx, recursiveWork{title: "Doop's core rules beside a worklist",
		unit: "packages", sizes: []int{20, 100, 400}, programs: []string{"doop"},
		facts: recursive.Doop, size: "VarPointsTo",
		solve: func(f recursive.Facts) func() map[string][]string {
			return recursive.SolveDoop(f).Tuples
		}})
}

// benchCRDT measures the text of a list CRDT as it is written, and with names
// for the conjunctions that its recursions do not change, beside a walk of the
// tree of insertions.
func benchCRDT(ctx context.Context, c config) error {
	return c.benchRecursive(ctx, recursiveWork{title: "a list CRDT beside a walk of its tree",
		unit: "insertions", sizes: []int{10_000, 50_000},
		programs: []string{"crdt", "crdt-by-hand"}, facts: recursive.CRDT, size: "nextVisible",
		solve: func(f recursive.Facts) func() map[string][]string {
			pairs := recursive.SolveCRDT(f)
			return func() map[string][]string {
				out := map[string][]string{}
				for pred, rows := range pairs {
					out[pred] = recursive.ElementRows(rows)
				}
				return out
			}
		}})
}

// benchRecursive measures work on the go and cpu engines, or those of -engines,
// in processor time. All relations must be equal to those of the loop by hand.
func (c config) benchRecursive(ctx context.Context, w recursiveWork) error {
	engines := []string{driver.EngineGo, driver.EngineCPU}
	if c.engines != "" {
		engines = c.measured()
	}
	var rows []table.Row
	for _, size := range w.sizes {
		if !c.wants(fmt.Sprint(size), true) {
			continue
		}
		facts := w.facts(size, c.seed)
		start := measure.ProcessorTime()
		show := w.solve(facts)
		byHand := (measure.ProcessorTime() - start).Seconds()
		want := show()
		for _, program := range w.programs {
			for _, engine := range engines {
				took, err := c.runRecursive(ctx, program, engine, facts, want)
				if err != nil {
					return fmt.Errorf("%s of %d %s on engine %s: %w", program, size, w.unit,
						engine, err)
				}
				rows = append(rows, table.Row{size, len(want[w.size]), program, engine,
					measure.FormatTime(took), measure.FormatTime(byHand),
					fmt.Sprintf("%.2f", byHand/took)})
			}
		}
	}
	report(fmt.Sprintf("%s, processor time, %d threads", w.title, c.threads),
		table.Row{w.unit, w.size, "program", "engine", "run", "by hand", "by hand/run"}, rows)
	return nil
}

// runRecursive returns the median processor time of a run over loaded facts, in
// seconds, after a first run that makes the code and whose tuples are compared.
func (c config) runRecursive(ctx context.Context, program, engine string,
	facts recursive.Facts, want map[string][]string) (float64, error) {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := facts.Write(dir); err != nil {
		return 0, err
	}
	prog, err := compile(ctx, driver.Options{},
		testFile("recursive", program+".logic"))
	if err != nil {
		return 0, err
	}
	db, err := prog.Load(ctx, driver.NewFacts().Dir(dir), driver.LoadOptions{Threads: c.threads})
	if err != nil {
		return 0, err
	}
	opts := driver.RunOptions{Engine: engine, Threads: c.threads}
	res, err := prog.RunOn(ctx, db, opts)
	if err != nil {
		return 0, err
	}
	for pred, tuples := range want {
		if err := equalRows(res, pred, tuples); err != nil {
			return 0, err
		}
	}
	var seconds []float64
	for range c.repeat {
		start := measure.ProcessorTime()
		if _, err := prog.RunOn(ctx, db, opts); err != nil {
			return 0, err
		}
		seconds = append(seconds, (measure.ProcessorTime() - start).Seconds())
	}
	slices.Sort(seconds)
	return measure.Median(seconds), nil
}
