package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/ssbgen"
)

// runner returns a Runner over the queries of a suite that -only selects, with
// DuckDB as the peer.
func (c config) runner(name string) (*measure.Runner, error) {
	s, _ := suite.Find(name)
	all, err := s.Embedded()
	if err != nil {
		return nil, err
	}
	r := &measure.Runner{Suite: s, All: all, Dir: c.folder(name), Runs: c.repeat, HotOnly: true,
		Run:     driver.RunOptions{Threads: c.threads, Outputs: []string{"_"}},
		Against: []string{measure.DuckDB}, Python: c.python}
	for _, q := range all {
		if c.wants(q.Name, true) {
			r.Queries = append(r.Queries, q)
		}
	}
	return r, nil
}

// folder returns the folder of a suite's data.
func (c config) folder(name string) string {
	if name == "ssb" {
		return c.ssb
	}
	return c.tpch
}

// benchQueries measures the queries of a suite over loaded columns, on each
// engine and on DuckDB, whose answers must be equal.
func benchQueries(ctx context.Context, c config, name string) error {
	r, err := c.runner(name)
	if err != nil || len(r.Queries) == 0 {
		return err
	}
	if err := r.Start(ctx); err != nil {
		return err
	}
	defer r.Close()
	t := comparison{title: r.Suite.Title + " from loaded columns, answers equal,",
		labels: []string{"query", "rows", "load"}, systems: c.measured(), figures: name,
		total: true}
	for _, q := range r.All {
		t.works = append(t.works, work{name: q.Name, run: func() (*entry, error) {
			question, err := r.Ask(ctx, q)
			if err != nil {
				return nil, err
			}
			e := &entry{peer: question.Peers[0].Median,
				labels: []any{len(question.Want.Rows), measure.FormatTime(question.Load)}}
			for _, r.Run.Engine = range t.systems {
				m, err := r.Measure(ctx, question)
				if err != nil {
					return nil, fmt.Errorf("engine %s: %w", r.Run.Engine, err)
				}
				e.times, e.peerName = append(e.times, m.Hot.Median), m.Checked
			}
			return e, nil
		}})
	}
	return c.compare(t)
}

// benchTPCH measures TPC-H.
func benchTPCH(ctx context.Context, c config) error { return benchQueries(ctx, c, "tpch") }

// ssbFolder is the default folder of the Star Schema Benchmark's data.
const ssbFolder = "bench/data/ssb"

// benchSSB measures the Star Schema Benchmark. If the default folder is empty,
// it first generates data of scale factor 1 there.
func benchSSB(ctx context.Context, c config) error {
	if _, err := os.Stat(filepath.Join(c.ssb, "lineorder.parquet")); errors.Is(err,
		fs.ErrNotExist) && c.ssb == ssbFolder {
		c.out, c.sf = c.ssb, 1
		if err := generateSSB(ctx, c); err != nil {
			return err
		}
	}
	return benchQueries(ctx, c, "ssb")
}

// benchCPU measures the queries and closures in which the engines differ most.
func benchCPU(ctx context.Context, c config) error {
	if c.only == "" {
		c.only = "q01,q03,q06,cti,SF.cedge"
	}
	if err := benchTPCH(ctx, c); err != nil {
		return err
	}
	return benchTC(ctx, c)
}

// generateSSB generates data of the Star Schema Benchmark.
func generateSSB(ctx context.Context, c config) error {
	start := time.Now()
	if err := ssbgen.Generate(ctx, c.out,
		ssbgen.Options{Scale: c.sf, Seed: c.seed, Threads: c.threads}); err != nil {
		return err
	}
	fmt.Printf("%s: the Star Schema Benchmark at scale factor %g, in %s\n", c.out, c.sf,
		measure.FormatTime(time.Since(start).Seconds()))
	return nil
}
