package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
)

// mixedWarm is the number of uncounted runs of each query, in which code is
// compiled, columns are copied, and what the engine measures settles.
const mixedWarm = 6

// mixedShares are the sizes of the mixed engine's cache, as percentages of the
// columns that the queries read.
var mixedShares = []int64{0, 20, 40, 60, 80, 100}

// mixedSuite runs queries through one session after the other, over the same
// facts.
type mixedSuite struct {
	config
	questions []*measure.Question
	programs  []*driver.Program
}

// mixedRun is a system of the table.
type mixedRun struct {
	name    string
	seconds []float64 // the time of each query
	shares  []float64 // the share of each query's rows that a GPU processed
	cache   *driver.CacheStats
}

// benchMixed measures the Star Schema Benchmark on the cpu engine and the gpu
// engine alone, and on the mixed engine with caches of several sizes. The
// queries run in turns, so that they share the cache. All answers must be
// DuckDB's.
func benchMixed(ctx context.Context, c config) error {
	r, err := c.runner("ssb")
	if err != nil {
		return err
	}
	r.Shared = true
	if err := r.Start(ctx); err != nil {
		return err
	}
	defer r.Close()
	s := &mixedSuite{config: c}
	for _, q := range r.Queries {
		question, err := r.Ask(ctx, q)
		if err != nil {
			return err
		}
		prog, err := r.Program(ctx, q)
		if err != nil {
			return err
		}
		s.questions, s.programs = append(s.questions, question), append(s.programs, prog)
	}
	bytes, err := s.bytes(ctx)
	if err != nil {
		return err
	}
	var runs []*mixedRun
	for _, engine := range c.enginesOr(driver.EngineCPU, driver.EngineGPU, driver.EngineMixed) {
		if engine != driver.EngineMixed {
			run, err := s.run(ctx, engine, driver.SessionOptions{Engine: engine})
			if err != nil {
				return fmt.Errorf("engine %s: %w", engine, err)
			}
			runs = append(runs, run)
			continue
		}
		for _, share := range mixedShares {
			// Half of the memory is for columns: a card of one byte holds none.
			// 0 stands for all of the memory, which holds all columns.
			memory := max(2*bytes*share/100, 1)
			if share == 100 {
				memory = 0
			}
			run, err := s.run(ctx, fmt.Sprintf("mixed, %d%%", share),
				driver.SessionOptions{Engine: engine, DeviceMemory: memory})
			if err != nil {
				return fmt.Errorf("engine mixed, %d%% of the columns: %w", share, err)
			}
			runs = append(runs, run)
		}
	}
	s.print(bytes, runs)
	return nil
}

// prepare plans all queries for a session.
func (s *mixedSuite) prepare(ctx context.Context, session *driver.Session) (
	all []*driver.Prepared, err error) {
	for i, q := range s.questions {
		p, err := session.Prepare(ctx, s.programs[i], q.Facts, mixedOptions)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// mixedOptions are the options of all runs.
var mixedOptions = driver.RunOptions{Outputs: []string{"_"}}

// bytes returns the size of the columns that the queries read together.
func (s *mixedSuite) bytes(ctx context.Context) (n int64, err error) {
	session, err := driver.OpenSession(driver.SessionOptions{Engine: driver.EngineGo})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	all, err := s.prepare(ctx, session)
	return driver.FactBytes(all), err
}

// run measures all queries through a session.
func (s *mixedSuite) run(ctx context.Context, name string, opts driver.SessionOptions) (
	out *mixedRun, err error) {
	opts.Threads = s.threads
	session, err := driver.OpenSession(opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	all, err := s.prepare(ctx, session)
	if err != nil {
		return nil, err
	}
	n := len(all)
	out = &mixedRun{name: name, seconds: make([]float64, n), shares: make([]float64, n)}
	took := make([][]float64, n)
	for round := range mixedWarm + s.repeat {
		for i, p := range all {
			start := time.Now()
			res, err := p.Run(ctx, mixedOptions)
			seconds := time.Since(start).Seconds()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.questions[i].Name, err)
			}
			if err := suite.SameRows(res.Rows("_"), s.questions[i].Want); err != nil {
				return nil, fmt.Errorf("%s: %w", s.questions[i].Name, err)
			}
			if round >= mixedWarm {
				took[i] = append(took[i], seconds)
			}
			out.shares[i], out.cache = onGPU(res.Stats), res.Stats.Cache
		}
	}
	for i := range took {
		out.seconds[i] = measure.Median(took[i])
	}
	return out, nil
}

// onGPU returns the share of the rows that a run processed on a GPU, or, for a
// plan that is not divided by rows, the share of the commands.
func onGPU(stats driver.Stats) float64 {
	gpu, all := 0.0, 0.0
	for _, s := range stats.Segments {
		work := float64(s.Commands)
		if s.Of != "" {
			work = float64(s.Until - s.From)
		}
		all += work
		if s.Engine == driver.EngineGPU {
			gpu += work
		}
	}
	if all == 0 {
		return 0
	}
	return gpu / all
}

// print prints the times and what each cache held at the end.
func (s *mixedSuite) print(bytes int64, runs []*mixedRun) {
	header := table.Row{"query"}
	for _, r := range runs {
		header = append(header, r.name)
	}
	var rows []table.Row
	for i, q := range s.questions {
		row := table.Row{q.Name}
		for _, r := range runs {
			cell := measure.FormatTime(r.seconds[i])
			if r.cache != nil {
				cell += fmt.Sprintf(" (%.0f%%)", 100*r.shares[i])
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	total := table.Row{"all"}
	for _, r := range runs {
		sum := 0.0
		for _, t := range r.seconds {
			sum += t
		}
		total = append(total, measure.FormatTime(sum))
	}
	report(fmt.Sprintf("SSB over %.1f MB of columns, answers equal DuckDB's, %d threads; "+
		"the size of the mixed engine's cache, and the rows that the GPU took",
		float64(bytes)/1e6, s.threads), header, append(rows, total))
	for _, r := range runs {
		if r.cache == nil {
			continue
		}
		held := []string{}
		columns := slices.Clone(r.cache.Columns)
		slices.SortStableFunc(columns, func(a, b driver.CachedColumn) int {
			return int(b.Bytes - a.Bytes)
		})
		for _, c := range columns {
			held = append(held, fmt.Sprintf("%s %.0f%%", c.Name,
				100*float64(c.Rows)/float64(c.All)))
		}
		fmt.Printf("%s holds %.1f of %.1f MB: %s\n", r.name, float64(r.cache.Bytes)/1e6,
			float64(r.cache.Budget)/1e6, strings.Join(held, ", "))
	}
}
