package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redfoxdb/redfox"
	queries "github.com/redfoxdb/redfox/internal/suite"
)

// tpchQueries measures TPC-H over the Parquet files of -tpch, beside DuckDB's answers
// and times. The bars are those of scale factor 10.
func (s *gpuSuite) tpchQueries(ctx context.Context) error {
	benchmark, _ := queries.Find("tpch")
	all, err := benchmark.Embedded()
	if err != nil {
		return err
	}
	var names []string
	for _, q := range all {
		names = append(names, q.Name)
	}
	if !s.wantsAny(names) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(s.tpch, "lineitem.parquet")); errors.Is(err, fs.ErrNotExist) {
		fmt.Printf("TPC-H is left out: there is no %s\n", filepath.Join(s.tpch, "lineitem.parquet"))
		return nil
	}
	bars := map[string]time.Duration{"q01": 1500 * time.Microsecond, "q06": 500 * time.Microsecond}
	peer, err := startPeer(ctx, s.config, benchmark, s.tpch)
	if err != nil {
		return err
	}
	defer peer.Close()
	for _, q := range all {
		if !s.wants(q.Name, true) {
			continue
		}
		prog, err := compileQuery(ctx, q)
		if err != nil {
			return err
		}
		db, err := prog.Load(ctx, redfox.NewFacts().Dir(s.tpch), redfox.LoadOptions{Threads: s.threads})
		if err != nil {
			return err
		}
		theirs, want, err := peer.Query(q.SQL, min(s.repeat, 3), 0)
		if err != nil {
			s.fail(q.Name, err)
			continue
		}
		items := int64(0)
		for _, f := range db.Report().Files {
			items = max(items, f.Rows)
		}
		j := &job{
			name: q.Name, program: sourcesOf(q), output: "_", rows: items, unit: "items",
			check: func(res *redfox.Result) error { return queries.SameRows(res.Rows("_"), want) },
			peer:  fmt.Sprintf("DuckDB %s, %d threads, this machine: %s ms", peer.Version, s.threads, milli(median(theirs).Seconds())),
		}
		if items > 55e6 && items < 65e6 {
			j.bar = bars[q.Name]
		}
		s.measure(ctx, db, j)
	}
	return nil
}

// smallProgram is what a cold process runs.
var smallProgram = []string{"quickstart", "reach.logic"}

// cold measures the command line in processes of their own, with nothing compiled
// before and with what the process before left on disk. What the driver takes to give a
// process a context is measured by a program that does nothing else; the rest is ours.
func (s *gpuSuite) cold(ctx context.Context) error {
	if s.redfox == "" || !s.wantsAny([]string{"cold", "cold-cached", "context"}) {
		return nil
	}
	// The first process on a machine also reads the driver from disk.
	var contexts []time.Duration
	for range 4 {
		t, err := s.driverContext(ctx)
		if err != nil {
			fmt.Printf("the driver's own time is left out: %v\n", err)
			break
		}
		contexts = append(contexts, t)
	}
	var driver time.Duration
	if len(contexts) > 1 {
		driver = median(contexts[1:])
		s.addTimes("context", contexts[1:], 0)
	}
	empty, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	kept := filepath.Join(empty, "kept")
	var cold, cached []time.Duration
	for i := range min(s.repeat, 5) + 1 {
		for _, dir := range []string{filepath.Join(empty, strconv.Itoa(i)), kept} {
			took, err := s.process(ctx, dir)
			switch {
			case err != nil:
				s.fail("cold", err)
				return nil
			case i == 0:
			case dir == kept:
				cached = append(cached, took)
			default:
				cold = append(cold, took)
			}
		}
	}
	for _, row := range []struct {
		name  string
		times []time.Duration
	}{{"cold", cold}, {"cold-cached", cached}} {
		s.addTimes(row.name, row.times, 600*time.Millisecond)
		if driver > 0 {
			for i := range row.times {
				row.times[i] -= driver
			}
			s.addTimes(row.name+"-ours", row.times, 150*time.Millisecond)
		}
	}
	return nil
}

// addTimes adds a row that is only times.
func (s *gpuSuite) addTimes(name string, times []time.Duration, bar time.Duration) {
	out := &outcome{Work: name}
	for _, t := range times {
		out.Seconds = append(out.Seconds, t.Seconds())
	}
	if s.engine != "gpu" {
		bar = 0
	}
	out.summarise(0, "", bar)
	s.add(out)
}

// process runs a small program in a process of its own, its cache in a folder.
func (s *gpuSuite) process(ctx context.Context, cache string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, s.redfox, "run", testFile(smallProgram...), "--facts", testFile("quickstart", "facts"),
		"--engine", s.engine, "--format", "tsv")
	cmd.Env = append(os.Environ(), "REDFOX_CACHE="+cache, "CUDA_CACHE_PATH="+filepath.Join(cache, "driver"))
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start)
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return 0, err
	}
	if len(strings.TrimSpace(string(out))) == 0 {
		return 0, errors.New("it printed nothing")
	}
	return took, nil
}

// driverContext returns how long the driver takes from being opened to a context.
func (s *gpuSuite) driverContext(ctx context.Context) (time.Duration, error) {
	out, err := exec.CommandContext(ctx, s.python, "bench/driver_context.py").Output()
	if err != nil {
		return 0, err
	}
	t, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return time.Duration(t * float64(time.Second)), err
}
