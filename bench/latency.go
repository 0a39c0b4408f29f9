package main

import (
	"context"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox"
)

// benchLatency times the way from LogiQL to PTX: with nothing compiled before, and
// with the kernels in the cache on disk. The first compilation of a process opens
// libLLVM and stands apart.
func benchLatency(ctx context.Context, c config) error {
	old, had := os.LookupEnv("REDFOX_CACHE")
	defer func() {
		if had {
			os.Setenv("REDFOX_CACHE", old)
		} else {
			os.Unsetenv("REDFOX_CACHE")
		}
	}()
	var cold, cached []table.Row
	all, err := tpchNames()
	if err != nil {
		return err
	}
	for _, q := range all {
		if !c.wants(q, true) {
			continue
		}
		// Facts tell the optimiser which predicates are columns of one table.
		prog, err := compile(ctx, tpchFiles(q)...)
		if err != nil {
			return err
		}
		db, err := prog.Load(ctx, redfox.NewFacts().Dir(c.tpch), redfox.LoadOptions{Threads: c.threads})
		if err != nil {
			return err
		}
		for _, facts := range []*redfox.Database{nil, db} {
			m, err := measureLatency(ctx, c, q, facts)
			if err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
			planned := "any facts"
			if facts != nil {
				planned = "these facts"
			}
			first := table.Row{q, planned, m.size}
			cold = append(cold, slices.Concat(first, table.Row{milliseconds(m.first.total)}, m.cold.cells(coldPhases)))
			cached = append(cached, slices.Concat(first, m.cached.cells(cachedPhases)))
		}
	}
	header := table.Row{"query", "compiled for", "bytes of PTX"}
	names := func(phases []string) (row table.Row) {
		for _, p := range phases {
			row = append(row, p)
		}
		return row
	}
	report("from LogiQL to PTX for sm_90, nothing compiled before; what LLVM does on all cores together",
		slices.Concat(header, table.Row{"first", "cold"}, names(coldPhases)), cold)
	report("the same, compiled before", slices.Concat(header, table.Row{"cached"}, names(cachedPhases)), cached)
	return nil
}

// The phases that the tables show.
var (
	coldPhases = []string{phaseFront, redfox.TracePlan, redfox.TraceKernels, redfox.TraceFacts, redfox.TraceCode,
		redfox.TraceRead, redfox.TraceOptimise, redfox.TraceBackEnd}
	cachedPhases = []string{phaseFront, redfox.TracePlan, redfox.TraceKernels, redfox.TraceFacts, phaseRest}
)

const (
	phaseFront = "front end"
	phaseRest  = "rest" // of the time, no phase's: the cache
)

// compilation is how long one took, and its phases.
type compilation struct {
	total  time.Duration
	phases map[string]time.Duration
}

// cells are those of the total and of phases.
func (c compilation) cells(phases []string) table.Row {
	row := table.Row{milliseconds(c.total)}
	for _, p := range phases {
		row = append(row, milliseconds(c.phases[p]))
	}
	return row
}

// medianOf takes the medians of totals and of each phase.
func medianOf(list []compilation) compilation {
	middle := func(of func(compilation) time.Duration) time.Duration {
		var times []time.Duration
		for _, c := range list {
			times = append(times, of(c))
		}
		return median(times)
	}
	out := compilation{total: middle(func(c compilation) time.Duration { return c.total }), phases: map[string]time.Duration{}}
	for _, c := range list {
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

// measureLatency compiles a query repeatedly, each time with a new cache and then
// again with what is in it.
func measureLatency(ctx context.Context, c config, query string, facts *redfox.Database) (m latency, err error) {
	var cold, cached []compilation
	for i := range c.repeat + 1 {
		dir, err := os.MkdirTemp("", "redfox-bench")
		if err != nil {
			return m, err
		}
		os.Setenv("REDFOX_CACHE", dir)
		goruntime.GC()
		one, n, err := emitPTX(ctx, query, facts)
		var two compilation
		var again int64
		if err == nil {
			two, again, err = emitPTX(ctx, query, facts)
		}
		os.RemoveAll(dir)
		switch {
		case err != nil:
			return m, err
		case n != again:
			return m, fmt.Errorf("%d bytes of PTX, and %d from the cache", n, again)
		case i == 0:
			m.first, m.size = one, n
			continue
		}
		cold, cached = append(cold, one), append(cached, two)
	}
	m.cold, m.cached = medianOf(cold), medianOf(cached)
	return m, nil
}

// emitPTX compiles a query of TPC-H and returns what took time and the length of the PTX.
func emitPTX(ctx context.Context, query string, facts *redfox.Database) (compilation, int64, error) {
	var trace redfox.Tracer
	c := compilation{phases: map[string]time.Duration{}}
	start := time.Now()
	prog, err := compile(ctx, tpchFiles(query)...)
	if err != nil {
		return c, 0, err
	}
	c.phases[phaseFront] = time.Since(start)
	var size counter
	err = prog.Emit(&size, redfox.StagePTX, redfox.EmitOptions{Facts: facts, Target: "gpu:sm_90", Trace: trace.Add})
	c.total = time.Since(start)
	for _, s := range trace.Spans() {
		c.phases[s.Name] += s.Duration
	}
	c.phases[phaseRest] = c.total
	for _, p := range cachedPhases[:len(cachedPhases)-1] {
		c.phases[phaseRest] -= c.phases[p]
	}
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
