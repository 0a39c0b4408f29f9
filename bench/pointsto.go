package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/reference/pointsto"
)

// pointsToSizes are the numbers of facts of the generated programs.
var pointsToSizes = []int{20_000, 100_000, 1_000_000}

// benchPointsTo measures the points-to analysis of testdata/pointsto on the go
// engine, or those of -engines, beside a solver with a worklist. All relations
// of both must be equal.
func benchPointsTo(ctx context.Context, c config) error {
	engines := c.enginesOr(driver.EngineGo)
	var rows []table.Row
	for _, size := range pointsToSizes {
		if c.only != "" && !slices.Contains(strings.Split(c.only, ","), fmt.Sprint(size)) {
			continue
		}
		facts := pointsto.Generate(size, c.seed)
		start := time.Now()
		want := pointsto.Solve(facts)
		solver := time.Since(start).Seconds()
		for _, engine := range engines {
			load, run, err := runPointsTo(ctx, c, engine, facts, want)
			if err != nil {
				return fmt.Errorf("%d facts on engine %s: %w", facts.Count(), engine, err)
			}
			rows = append(rows, table.Row{facts.Count(), len(want["VarPointsTo"]), engine,
				measure.FormatTime(load), measure.FormatTime(run), measure.FormatTime(solver)})
		}
	}
	report(fmt.Sprintf("context-sensitive points-to analysis, %d threads", c.threads),
		table.Row{"facts", "VarPointsTo", "engine", "load", "run", "worklist"}, rows)
	return nil
}

// runPointsTo runs the analysis once, compares what it derives, and returns how
// many seconds the facts took to load and the program to run.
func runPointsTo(
	ctx context.Context, c config, engine string, facts pointsto.Facts,
	want map[string][]string,
) (load, run float64, err error) {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	if err := facts.Write(dir); err != nil {
		return 0, 0, err
	}
	files, err := filepath.Glob(testFile("pointsto", "*.logic"))
	if err != nil {
		return 0, 0, err
	}
	sources, err := driver.ReadSources(files...)
	if err != nil {
		return 0, 0, err
	}
	for i := range sources { // the files of facts are beside the program
		sources[i].Name = filepath.Join(dir, filepath.Base(sources[i].Name))
	}
	prog, err := driver.Compile(ctx, sources, driver.Options{})
	if err != nil {
		return 0, 0, err
	}
	s, err := driver.OpenSession(driver.SessionOptions{Engine: engine})
	if err != nil {
		return 0, 0, err
	}
	defer s.Close()
	start := time.Now()
	db, err := s.Load(ctx, prog, driver.NewFacts().Dir(dir),
		driver.LoadOptions{Threads: c.threads})
	if err != nil {
		return 0, 0, err
	}
	load = time.Since(start).Seconds()
	start = time.Now()
	res, err := s.Run(ctx, prog, db, driver.RunOptions{Threads: c.threads})
	if err != nil {
		return 0, 0, err
	}
	run = time.Since(start).Seconds()
	for pred, rows := range want {
		if err := equalRows(res, pred, rows); err != nil {
			return 0, 0, err
		}
	}
	return load, run, nil
}

// equalRows returns an error if a relation of a result does not have the given
// rows.
func equalRows(res *driver.Result, pred string, want []string) error {
	var b bytes.Buffer
	if err := res.Write(&b, pred, driver.TSV, driver.WriteOptions{}); err != nil {
		return err
	}
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if b.Len() == 0 {
		got = nil
	}
	slices.Sort(got)
	want = slices.Clone(want)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s has %d tuples and is not the worklist's, which has %d",
			pred, len(got), len(want))
	}
	return nil
}
