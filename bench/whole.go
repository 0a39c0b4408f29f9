package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/redfoxdb/redfox/bench/suite"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/list"
)

// The systems of the suite whole: redfox run with what earlier processes left
// in the cache folder, and with an empty one.
var wholeSystems = []string{"cached", "nothing cached"}

// benchWhole measures the queries of TPC-H as users of the command line run
// them: each in a process that reads Parquet files, beside a process of Python
// that runs DuckDB over the same files. The systems take turns, so that other
// load of the machine affects all of them. Times are processor times, the least
// of -repeat turns. With -engines gpu they are wall-clock times, because the
// device works, too. Answers must be equal.
func benchWhole(ctx context.Context, c config) error {
	tpch, _ := suite.Find("tpch")
	queries, err := tpch.Embedded()
	if err != nil {
		return err
	}
	bin, remove, err := c.command(ctx)
	if err != nil {
		return err
	}
	defer remove()
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	engine, of, figures := cmp.Or(c.engines, driver.EngineAuto), "processor time", "whole"
	if engine == driver.EngineGPU {
		of, figures = "time", "whole gpu"
	}
	t := comparison{title: tpch.Title + " from Parquet, " + of + " of a process each, " +
		fmt.Sprintf("the least of %d, engine %s, answers equal,", c.repeat, engine),
		labels: []string{"query"}, systems: wholeSystems, figures: figures, total: true}
	for _, q := range queries {
		w := &wholeQuery{config: c, suite: tpch, query: q, bin: bin, engine: engine, dir: dir}
		t.works = append(t.works, work{name: q.Name, run: func() (*entry, error) {
			return w.measure(ctx)
		}})
	}
	return c.compare(t)
}

// wholeQuery is a query that processes run.
type wholeQuery struct {
	config
	suite  *suite.Suite
	query  suite.Query
	bin    string
	engine string
	dir    string // the folder of cache folders
}

// time returns the time, in seconds, of the processes that f waits for.
func (w *wholeQuery) time(f func() error) (float64, error) {
	if w.engine != driver.EngineGPU {
		return processorTime(f)
	}
	start := time.Now()
	err := f()
	return time.Since(start).Seconds(), err
}

// measure returns the least times of -repeat turns.
func (w *wholeQuery) measure(ctx context.Context) (*entry, error) {
	if err := w.check(ctx); err != nil {
		return nil, err
	}
	kept := filepath.Join(w.dir, "cache") // the cache that processes share
	if _, err := w.redfox(ctx, kept); err != nil {
		return nil, err
	}
	e := &entry{}
	var cached, cold, peer []float64
	for range w.repeat {
		took, err := w.redfox(ctx, kept)
		if err != nil {
			return nil, err
		}
		cached = append(cached, took)
		empty, err := os.MkdirTemp(w.dir, "empty")
		if err != nil {
			return nil, err
		}
		if took, err = w.redfox(ctx, empty); err != nil {
			return nil, err
		}
		cold = append(cold, took)
		took, err = w.time(func() error {
			_, e.peerName, err = w.duckDB(ctx)
			return err
		})
		if err != nil {
			return nil, err
		}
		peer = append(peer, took)
	}
	e.times, e.peer = []float64{slices.Min(cached), slices.Min(cold)}, slices.Min(peer)
	return e, nil
}

// redfox runs a process with a cache folder, and returns its seconds.
func (w *wholeQuery) redfox(ctx context.Context, cache string) (float64, error) {
	return w.time(func() error {
		cmd := exec.CommandContext(ctx, w.bin, "run", testFile("tpch", "schema.logic"),
			testFile("tpch", w.query.Name+".logic"), "--facts", w.tpch, "--threads",
			fmt.Sprint(w.threads), "--engine", w.engine)
		cmd.Env = append(os.Environ(), "REDFOX_CACHE="+cache)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
}

// duckDB runs the query in a new process of Python.
func (w *wholeQuery) duckDB(ctx context.Context) (*suite.Answer, string, error) {
	peer, err := suite.StartDuckDB(ctx, w.python, w.threads)
	if err != nil {
		return nil, "", err
	}
	defer peer.Close()
	name := func(t suite.Table) string { return t.Name }
	if err := peer.Name(w.tpch, list.Map(w.suite.Tables, name)...); err != nil {
		return nil, "", err
	}
	_, answer, err := peer.Query(w.query.SQL, 0, 0)
	return answer, "DuckDB " + peer.Version, err
}

// check compares the answer of redfox with that of DuckDB.
func (w *wholeQuery) check(ctx context.Context) error {
	want, _, err := w.duckDB(ctx)
	if err != nil {
		return err
	}
	sources, err := driver.ReadSources(testFile("tpch", "schema.logic"),
		testFile("tpch", w.query.Name+".logic"))
	if err != nil {
		return err
	}
	prog, err := driver.Compile(ctx, sources, driver.Options{})
	if err != nil {
		return err
	}
	res, err := prog.Run(ctx, driver.NewFacts().Dir(w.tpch),
		driver.RunOptions{Threads: w.threads, Engine: w.engine, Outputs: []string{"_"}})
	if err != nil {
		return err
	}
	return suite.SameRows(res.Rows("_"), want)
}
