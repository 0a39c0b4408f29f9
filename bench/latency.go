package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
	queries "github.com/redfoxdb/redfox/bench/suite"
)

// The times that a compilation of a query is to take at most.
const (
	coldBar   = 100 * time.Millisecond
	cachedBar = 3 * time.Millisecond
)

// benchLatency times the way from LogiQL to PTX for the queries of both suites:
// with nothing compiled before, and with the program's PTX in the cache on
// disk. The first compilation of a process opens libLLVM, and the first one
// over some facts evaluates functions of their strings and digests their
// columns: it stands apart.
func benchLatency(ctx context.Context, c config) error {
	old, had := os.LookupEnv("REDFOX_CACHE")
	defer func() {
		if had {
			os.Setenv("REDFOX_CACHE", old)
		} else {
			os.Unsetenv("REDFOX_CACHE")
		}
	}()
	var known, unknown latencyTables
	for _, s := range queries.Suites() {
		dir := c.tpch
		if s.Name == "ssb" {
			dir = c.ssb
		}
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			fmt.Printf("%s: %s is not there\n\n", s.Title, dir)
			continue
		}
		all, err := s.Embedded()
		if err != nil {
			return err
		}
		for _, q := range all {
			if !c.wants(q.Name, true) {
				continue
			}
			// Facts tell the optimiser which predicates are columns of one
			// table.
			prog, err := compileQuery(ctx, q)
			if err != nil {
				return err
			}
			db, err := prog.Load(ctx, redfox.NewFacts().Dir(dir),
				redfox.LoadOptions{Threads: c.threads})
			if err != nil {
				return err
			}
			name := s.Name + " " + q.Name
			if err := known.measure(ctx, c, name, q, db); err != nil {
				return err
			}
			if err := unknown.measure(ctx, c, name, q, nil); err != nil {
				return err
			}
		}
	}
	known.report("the facts known")
	unknown.report("no facts known")
	return nil
}

// latencyTables are what is shown of several queries.
type latencyTables struct {
	cold, cached         []table.Row
	slowCold, slowCached slowest
}

// slowest is the slowest of several compilations, and how many take longer than
// a bar.
type slowest struct {
	median, least time.Duration
	over          int
}

func (s *slowest) add(c compilation, bar time.Duration) {
	s.median, s.least = max(s.median, c.total), max(s.least, c.least)
	if c.least > bar {
		s.over++
	}
}

// row is the last one of a table whose times stand behind so many columns.
func (s *slowest) row(columns int) table.Row {
	row := table.Row{"slowest"}
	for len(row) < columns {
		row = append(row, "")
	}
	return append(row, milliseconds(s.median), milliseconds(s.least))
}

// measure compiles a query for facts, or for any where there are none.
func (t *latencyTables) measure(ctx context.Context, c config, name string, q queries.Query,
	facts *redfox.Database) error {
	m, err := measureLatency(ctx, c, q, facts)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	t.cold = append(t.cold,
		slices.Concat(table.Row{name, m.size, milliseconds(m.first.total)},
			m.cold.cells(coldPhases)))
	t.cached = append(t.cached,
		slices.Concat(table.Row{name, m.size}, m.cached.cells(cachedPhases)))
	t.slowCold.add(m.cold, coldBar)
	t.slowCached.add(m.cached, cachedBar)
	return nil
}

func (t *latencyTables) report(facts string) {
	if len(t.cold) == 0 {
		return
	}
	names := func(row table.Row, phases []string) table.Row {
		for _, p := range phases {
			row = append(row, p)
		}
		return row
	}
	title := func(what string, bar time.Duration, s slowest) string {
		return fmt.Sprintf("from LogiQL to PTX for sm_90, %s, %s; at best %d of %d take longer than %v",
			facts, what, s.over, len(t.cold), bar)
	}
	report(title("nothing compiled before (what LLVM does on all cores together)", coldBar,
		t.slowCold),
		names(table.Row{"query", "bytes of PTX", "first", "cold", "at best"}, coldPhases),
		append(t.cold, t.slowCold.row(3)))
	report(title("compiled before", cachedBar, t.slowCached),
		names(table.Row{"query", "bytes of PTX", "cached", "at best"}, cachedPhases),
		append(t.cached, t.slowCached.row(2)))
}

// The phases that the tables show.
var (
	coldPhases = []string{phaseFront, redfox.TracePlan, redfox.TraceKernels, redfox.TraceFacts,
		redfox.TraceCode,
		redfox.TraceRead, redfox.TraceOptimise, redfox.TraceBackEnd}
	cachedPhases = []string{phaseFront, phaseRest}
)

const (
	phaseFront = "front end"
	phaseRest  = "cache" // to find the PTX and read it
)

// compilation is how long one took, and its phases. Of several, these are
// medians, and least is the shortest time.
type compilation struct {
	total, least time.Duration
	phases       map[string]time.Duration
}

// cells are those of the total and of phases.
func (c compilation) cells(phases []string) table.Row {
	row := table.Row{milliseconds(c.total), milliseconds(c.least)}
	for _, p := range phases {
		row = append(row, milliseconds(c.phases[p]))
	}
	return row
}

// medianOf takes the medians of totals and of each phase, and the least total.
func medianOf(list []compilation) compilation {
	middle := func(of func(compilation) time.Duration) time.Duration {
		var times []time.Duration
		for _, c := range list {
			times = append(times, of(c))
		}
		return median(times)
	}
	out := compilation{total: middle(func(c compilation) time.Duration {
		return c.total
	}), phases: map[string]time.Duration{}}
	for i, c := range list {
		if i == 0 || c.total < out.least {
			out.least = c.total
		}
		for p := range c.phases {
			out.phases[p] = middle(func(c compilation) time.Duration { return c.phases[p] })
		}
	}
	return out
}

// latency is what was measured of a query.
type latency struct {
	size                int64 // of the PTX
	first, cold, cached compilation
}

// cachedRuns is how often a query is compiled with what one compilation has
// left in the cache on disk. The first of them finds the processor's caches
// full of LLVM.
const cachedRuns = 9

// measureLatency compiles a query repeatedly, each time with a new cache and
// then several times with what is in it.
func measureLatency(ctx context.Context, c config, query queries.Query,
	facts *redfox.Database) (m latency, err error) {
	var cold, cached []compilation
	for i := range c.repeat + 1 {
		dir, err := os.MkdirTemp("", "redfox-bench")
		if err != nil {
			return m, err
		}
		os.Setenv("REDFOX_CACHE", dir)
		goruntime.GC()
		one, n, err := emitPTX(ctx, query, facts)
		var again []compilation
		for range cachedRuns {
			var two compilation
			var same int64
			if err == nil {
				two, same, err = emitPTX(ctx, query, facts)
			}
			if err == nil && n != same {
				err = fmt.Errorf("%d bytes of PTX, and %d from the cache", n, same)
			}
			if _, planned := two.phases[redfox.TracePlan]; err == nil && planned {
				err = errors.New("a program that was compiled before is planned again")
			}
			again = append(again, two)
		}
		os.RemoveAll(dir)
		switch {
		case err != nil:
			return m, err
		case i == 0:
			m.first, m.size = one, n
			continue
		}
		cold, cached = append(cold, one), append(cached, again...)
	}
	m.cold, m.cached = medianOf(cold), medianOf(cached)
	return m, nil
}

// emitPTX compiles a query and returns what took time and the length of the
// PTX.
func emitPTX(ctx context.Context, query queries.Query,
	facts *redfox.Database) (compilation, int64, error) {
	var trace redfox.Tracer
	c := compilation{phases: map[string]time.Duration{}}
	start := time.Now()
	prog, err := compileQuery(ctx, query)
	if err != nil {
		return c, 0, err
	}
	c.phases[phaseFront] = time.Since(start)
	var size counter
	err = prog.Emit(&size, redfox.StagePTX,
		redfox.EmitOptions{Facts: facts, Target: "gpu:sm_90", Trace: trace.Add})
	c.total = time.Since(start)
	for _, s := range trace.Spans() {
		c.phases[s.Name] += s.Duration
	}
	c.phases[phaseRest] = c.total - c.phases[phaseFront]
	return c, int64(size), err
}

// counter counts what is written to it.
type counter int64

var _ io.Writer = (*counter)(nil)

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// milliseconds renders a short time.
func milliseconds(d time.Duration) string { return fmt.Sprintf("%.3g ms", d.Seconds()*1e3) }
