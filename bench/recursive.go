package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/reference/recursive"
)

// recursiveWork is a program of testdata/recursive over generated facts.
type recursiveWork struct {
	name        string // the name of the suite
	title, unit string // the title and the unit of the sizes
	sizes       []int
	programs    []string
	facts       func(size int, seed uint64) recursive.Facts
	// solve is the loop by hand. show turns its result into tuples.
	solve func(recursive.Facts) (show func() map[string][]string)
	size  string // the predicate whose tuples are counted
}

// benchDoop measures Doop's core rules beside a worklist.
func benchDoop(ctx context.Context, c config) error {
	return c.benchRecursive(ctx, recursiveWork{name: "doop", title: "Doop's core rules beside a worklist",
		unit: "packages", sizes: []int{20, 100, 400}, programs: []string{"doop"},
		facts: recursive.Doop, size: "VarPointsTo",
		solve: func(f recursive.Facts) func() map[string][]string {
			return recursive.SolveDoop(f).Tuples
		}})
}

// benchGrowing measures a recursion whose largest relation is almost empty at
// the start.
func benchGrowing(ctx context.Context, c config) error {
	return c.benchRecursive(ctx, recursiveWork{name: "growing",
		title: "a relation that grows from one tuple", unit: "walkers", sizes: []int{300, 600},
		programs: []string{"growing"}, facts: recursive.Growing, size: "comes",
		solve: func(f recursive.Facts) func() map[string][]string {
			out := recursive.SolveGrowing(f)
			return func() map[string][]string { return out }
		}})
}

// benchCRDT measures the text of a list CRDT beside a walk of the tree of
// insertions. The program crdt-by-hand names the conjunctions
// that the recursions of crdt do not change.
func benchCRDT(ctx context.Context, c config) error {
	return c.benchRecursive(ctx, recursiveWork{name: "crdt", title: "a list CRDT beside a walk of its tree",
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

// benchRecursive measures work on the go and cpu engines, or those of -engines.
// All relations must equal those of the loop by hand. The figures are
// wall-clock times of the first program.
func (c config) benchRecursive(ctx context.Context, w recursiveWork) error {
	engines := c.enginesOr(driver.EngineGo, driver.EngineCPU)
	var rows []table.Row
	for _, size := range w.sizes {
		if !c.wants(fmt.Sprint(size), true) {
			continue
		}
		facts := w.facts(size, c.seed)
		clock := startClock()
		show := w.solve(facts)
		byHand := clock.taken()
		want := show()
		seconds := map[string]float64{"by hand": byHand.wall}
		for _, program := range w.programs {
			for _, engine := range engines {
				took, err := c.runRecursive(ctx, program, engine, facts, want)
				if err != nil {
					return fmt.Errorf("%s of %d %s on engine %s: %w", program, size, w.unit,
						engine, err)
				}
				if program == w.programs[0] {
					seconds[engine] = took.wall
				}
				rows = append(rows, table.Row{size, len(want[w.size]), program, engine, took,
					byHand, fmt.Sprintf("%.2f / %.2f", byHand.wall/took.wall,
						byHand.processor/took.processor)})
			}
		}
		if err := c.record(fmt.Sprintf("%s/%d", w.name, size), seconds, nil); err != nil {
			return err
		}
	}
	report(fmt.Sprintf("%s, wall / processor time, %d threads", w.title, c.threads),
		table.Row{w.unit, w.size, "program", "engine", "run", "by hand", "by hand/run"}, rows)
	return nil
}

// cost is the time that a work takes, in seconds.
type cost struct{ wall, processor float64 }

// String prints both times, in units.
func (t cost) String() string {
	return measure.FormatTime(t.wall) + " / " + measure.FormatTime(t.processor)
}

// stopwatch holds the times at which a work began.
type stopwatch struct {
	wall      time.Time
	processor time.Duration
}

func startClock() stopwatch { return stopwatch{time.Now(), measure.ProcessorTime()} }

func (w stopwatch) taken() cost {
	return cost{time.Since(w.wall).Seconds(), (measure.ProcessorTime() - w.processor).Seconds()}
}

// runRecursive returns the median times of a run over loaded facts. An
// uncounted first run compiles the code, and its tuples are compared.
func (c config) runRecursive(ctx context.Context, program, engine string,
	facts recursive.Facts, want map[string][]string) (took cost, err error) {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return took, err
	}
	defer os.RemoveAll(dir)
	if err := facts.Write(dir); err != nil {
		return took, err
	}
	prog, err := compile(ctx, driver.Options{},
		testFile("recursive", program+".logic"))
	if err != nil {
		return took, err
	}
	db, err := prog.Load(ctx, driver.NewFacts().Dir(dir), driver.LoadOptions{Threads: c.threads})
	if err != nil {
		return took, err
	}
	took, res, err := c.medianRun(ctx, prog, db,
		driver.RunOptions{Engine: engine, Threads: c.threads})
	if err != nil {
		return took, err
	}
	for pred, tuples := range want {
		if err := equalRows(res, pred, tuples); err != nil {
			return took, err
		}
	}
	return took, nil
}
