package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	goruntime "runtime"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
)

// The bounds of the time to compile a query, in seconds.
const (
	coldBar   = 0.1
	cachedBar = 0.003
)

// The columns of the tables that are not spans of redfox's trace.
const (
	phaseFirst = "first"     // the first compilation of the query
	phaseTotal = "total"     // the median of the others
	phaseLeast = "at best"   // the shortest of the others
	phaseFront = "front end" // of the total
	phaseRest  = "the rest"  // of the total
)

// benchLatency measures the compilation of the queries of both suites from
// LogiQL to PTX, with nothing compiled before and with the PTX in the cache on
// disk. It reports the first compilation of a query separately, because that
// opens libLLVM, or evaluates functions of strings of the facts and digests
// their columns.
func benchLatency(ctx context.Context, c config) error {
	known, unknown := newLatencyTables("the facts known"), newLatencyTables("no facts known")
	for _, s := range suite.Suites() {
		dir := c.folder(s.Name)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			fmt.Printf("%s: %s is not there\n\n", s.Title, dir)
			continue
		}
		r, err := c.runner(s.Name)
		if err != nil {
			return err
		}
		for _, q := range r.Queries {
			// The facts determine which predicates are columns of one table.
			prog, err := r.Program(ctx, q)
			if err != nil {
				return err
			}
			db, err := prog.Load(ctx, driver.NewFacts().Dir(dir),
				driver.LoadOptions{Threads: c.threads})
			if err != nil {
				return err
			}
			name := s.Name + " " + q.Name
			if err := known.measure(ctx, c, name, q, db); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err := unknown.measure(ctx, c, name, q, nil); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	for _, t := range []latencyTables{known, unknown} {
		t.cold.print()
		t.cached.print()
	}
	return nil
}

// latencyTables are the tables of the same queries over the same facts.
type latencyTables struct{ cold, cached *latencyTable }

func newLatencyTables(facts string) latencyTables {
	title := "from LogiQL to PTX for sm_90, " + facts
	return latencyTables{
		cold: &latencyTable{bar: coldBar, slowest: compilation{},
			title: title + ", nothing compiled before, LLVM on all cores",
			columns: []string{phaseFirst, phaseTotal, phaseLeast, phaseFront, driver.TracePlan,
				driver.TraceKernels, driver.TraceFacts, driver.TraceCode, driver.TraceRead,
				driver.TraceOptimise, driver.TraceBackEnd}},
		cached: &latencyTable{bar: cachedBar, slowest: compilation{},
			title:   title + ", compiled before",
			columns: []string{phaseTotal, phaseLeast, phaseFront, phaseRest}},
	}
}

// latencyTable is a table of compilations, a row for each query.
type latencyTable struct {
	title   string
	bar     float64
	columns []string
	rows    []table.Row
	slowest compilation // the largest total and least
	over    int         // queries whose least time is above the bar
}

func (t *latencyTable) add(name string, size int64, c compilation) {
	row := table.Row{name, size}
	for _, p := range t.columns {
		row = append(row, measure.FormatTime(c[p]))
	}
	t.rows = append(t.rows, row)
	for _, p := range []string{phaseTotal, phaseLeast} {
		t.slowest[p] = max(t.slowest[p], c[p])
	}
	if c[phaseLeast] > t.bar {
		t.over++
	}
}

func (t *latencyTable) print() {
	if len(t.rows) == 0 {
		return
	}
	header, last := table.Row{"query", "bytes of PTX"}, table.Row{"slowest", ""}
	for _, p := range t.columns {
		header = append(header, p)
		cell := ""
		if s, ok := t.slowest[p]; ok {
			cell = measure.FormatTime(s)
		}
		last = append(last, cell)
	}
	report(fmt.Sprintf("%s; at best %d of %d take longer than %s", t.title, t.over, len(t.rows),
		measure.FormatTime(t.bar)), header, append(t.rows, last))
}

// compilation holds the seconds of each phase.
type compilation map[string]float64

// medians returns the median of each phase, and the least total.
func medians(list []compilation) compilation {
	phases := map[string][]float64{}
	least := math.Inf(1)
	for _, c := range list {
		for p := range c {
			phases[p] = nil
		}
		least = min(least, c[phaseTotal])
	}
	out := compilation{}
	for p, seconds := range phases {
		for _, c := range list { // a phase that did not happen takes 0
			seconds = append(seconds, c[p])
		}
		out[p] = measure.Median(seconds)
	}
	out[phaseLeast] = least
	return out
}

// cachedRuns is the number of compilations with a filled cache after each cold
// one. The first of them runs with processor caches full of LLVM.
const cachedRuns = 9

// measure compiles a query repeatedly, each time with a new cache on disk and
// then several times with its contents. facts may be nil.
func (t latencyTables) measure(ctx context.Context, c config, name string, q suite.Query,
	facts *driver.Database) error {
	var size int64
	var first compilation
	var cold, cached []compilation
	for i := range c.repeat + 1 {
		var again []compilation
		err := measure.WithCache(func() error {
			goruntime.GC()
			one, n, err := emitPTX(ctx, q, facts)
			if err != nil {
				return err
			}
			if size = n; i == 0 {
				first = one
			} else {
				cold = append(cold, one)
			}
			for range cachedRuns {
				two, same, err := emitPTX(ctx, q, facts)
				if err != nil {
					return err
				}
				if n != same {
					return fmt.Errorf("%d bytes of PTX, and %d from the cache", n, same)
				}
				if _, planned := two[driver.TracePlan]; planned {
					return errors.New("a program that was compiled before is planned again")
				}
				again = append(again, two)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if i > 0 {
			cached = append(cached, again...)
		}
	}
	middle := medians(cold)
	middle[phaseFirst] = first[phaseTotal]
	t.cold.add(name, size, middle)
	t.cached.add(name, size, medians(cached))
	return nil
}

// emitPTX compiles a query and returns the phases and the length of the PTX.
func emitPTX(ctx context.Context, q suite.Query,
	facts *driver.Database) (compilation, int64, error) {
	var trace driver.Tracer
	c := compilation{}
	start := time.Now()
	prog, err := driver.Compile(ctx, measure.Sources(q), driver.Options{})
	if err != nil {
		return nil, 0, err
	}
	c[phaseFront] = time.Since(start).Seconds()
	var size counter
	err = prog.Emit(&size, driver.StagePTX,
		driver.EmitOptions{Facts: facts, Target: "gpu:sm_90", Trace: trace.Add})
	c[phaseTotal] = time.Since(start).Seconds()
	for _, s := range trace.Spans() {
		c[s.Name] += s.Duration.Seconds()
	}
	c[phaseRest] = c[phaseTotal] - c[phaseFront]
	return c, int64(size), err
}

// counter counts the bytes that are written to it.
type counter int64

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
