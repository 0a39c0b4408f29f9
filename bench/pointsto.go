package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/pointergen"
	"github.com/redfoxdb/redfox/internal/reference/pointsto"
)

// pointers is a pointer analysis: a program of testdata/graphs and facts of
// several numbers of variables.
type pointers struct {
	name  string
	make  func(n int, seed uint64) pointergen.Facts
	sizes []int
}

func benchCSPA(ctx context.Context, c config) error {
	return c.benchPointers(ctx, pointers{"cspa", pointergen.CSPA, []int{2000, 4000}})
}

func benchAndersen(ctx context.Context, c config) error {
	return c.benchPointers(ctx, pointers{"andersen", pointergen.Andersen, []int{20_000, 40_000}})
}

// benchPointers measures processor time and peak memory of a process for each
// engine, with its code cached, and of the command of -peer, which is called
// with the name of the analysis and the folder of the facts. All must print the
// same numbers of tuples.
func (c config) benchPointers(ctx context.Context, p pointers) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	engines := c.measured()
	var rows []table.Row
	for _, n := range p.sizes {
		if !c.wants(fmt.Sprint(n), true) {
			continue
		}
		dir := filepath.Join(filepath.Dir(bin), fmt.Sprint(n))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := p.make(n, c.seed).Write(dir); err != nil {
			return err
		}
		commands := map[string][]string{}
		names := engines
		for _, e := range engines {
			commands[e] = []string{bin, "run", testFile("graphs", p.name+".logic"), "--engine", e,
				"--facts", dir, "--format", "tsv", "--threads", fmt.Sprint(c.threads)}
		}
		if c.peer != "" {
			names = append(names[:len(names):len(names)], "peer")
			commands["peer"] = []string{c.peer, p.name, dir}
		}
		more, err := c.besides(ctx, n, names, commands, filepath.Join(dir, "cache"))
		if err != nil {
			return fmt.Errorf("%d variables: %w", n, err)
		}
		rows = append(rows, more...)
	}
	report(fmt.Sprintf("%s, a process each, the least of %d runs with cached code, %d threads",
		p.name, c.repeat, c.threads), table.Row{"variables", "tuples", "system", "processor time",
		"beside " + driver.EngineGo, "peak memory", "beside " + driver.EngineGo}, rows)
	return nil
}

// besides runs commands in turns and returns a row for each. The first turn
// fills the code cache.
func (c config) besides(ctx context.Context, n int, names []string, commands map[string][]string,
	cache string) (rows []table.Row, err error) {
	tuples := ""
	times, peaks := map[string]float64{}, map[string]float64{}
	for turn := range c.repeat + 1 {
		for _, name := range names {
			took, peak, out, err := processor(ctx, commands[name], "REDFOX_CACHE="+cache)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if tuples == "" {
				tuples = out
			}
			if out != tuples {
				return nil, fmt.Errorf("%s counts %s, %s counts %s", name, out, names[0], tuples)
			}
			if turn > 0 && (times[name] == 0 || took < times[name]) {
				times[name] = took
			}
			peaks[name] = max(peaks[name], peak)
		}
	}
	ratio := func(m map[string]float64, name string) string {
		if m[driver.EngineGo] == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", m[name]/m[driver.EngineGo])
	}
	for _, name := range names {
		rows = append(rows, table.Row{n, tuples, name, measure.FormatTime(times[name]),
			ratio(times, name), fmt.Sprintf("%.0f MB", peaks[name]/1e6), ratio(peaks, name)})
	}
	return rows, nil
}

// processor runs a command and returns its processor time in seconds, its peak
// memory in bytes, and the numbers that it prints.
func processor(ctx context.Context, command []string, env string) (seconds, peak float64,
	out string, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return 0, 0, "", err
	}
	peak, err = peakMemory(cmd.ProcessState)
	state := cmd.ProcessState
	return (state.UserTime() + state.SystemTime()).Seconds(), peak,
		strings.Join(strings.Fields(string(text)), " "), err
}

// pointsToSizes are the numbers of facts for which programs are made.
var pointsToSizes = []int{20_000, 100_000, 1_000_000}

// benchPointsTo measures the points-to analysis of testdata/pointsto on the
// go engine, or those of -engines, beside a solver with a worklist. All
// relations of both must be equal.
func benchPointsTo(ctx context.Context, c config) error {
	engines := []string{driver.EngineGo}
	if c.engines != "" {
		engines = c.measured()
	}
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
	for i := range sources { // the files of facts lie beside the program
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
