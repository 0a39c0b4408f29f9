package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
)

// benchFirst measures the first and the second run of engine auto beside those
// of the go, cpu and gpu engines, each in a process. The first run has an empty
// code cache; the second one has what the first has left. The runs of a program
// take turns, and their answers must be equal.
func benchFirst(ctx context.Context, c config) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	f := &firstRuns{config: c, bin: bin, dir: filepath.Dir(bin), kinds: runKinds}
	if !slices.ContainsFunc(driver.Engines(), func(e driver.EngineInfo) bool {
		return e.Name == driver.EngineGPU && e.Available
	}) {
		f.kinds = slices.DeleteFunc(slices.Clone(runKinds),
			func(k runKind) bool { return k.engine == driver.EngineGPU })
	}
	programs, err := f.programs()
	if err != nil {
		return err
	}
	var rows []table.Row
	for _, p := range programs {
		if !c.wants(p.name, true) {
			continue
		}
		row, err := f.measure(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		rows = append(rows, row)
	}
	header := table.Row{"program", "go", "go, processor"}
	for _, kind := range f.kinds[1:] {
		header = append(header, kind.engine+" "+kind.name)
	}
	report(fmt.Sprintf("first and second runs beside go, as wall / processor time, %d threads",
		c.threads), header, rows)
	return nil
}

// runKind is a run of a program on an engine.
type runKind struct{ engine, name string }

// runKinds are the runs of a program. The runs of an engine share a cache.
var runKinds = []runKind{
	{driver.EngineGo, ""}, {driver.EngineCPU, "first"}, {driver.EngineCPU, "second"},
	{driver.EngineGPU, "first"}, {driver.EngineGPU, "second"},
	{driver.EngineAuto, "first"}, {driver.EngineAuto, "second"},
}

// firstProgram is a program and where its facts are.
type firstProgram struct {
	name string
	args []string // the arguments of redfox run
}

// firstRuns measures processes.
type firstRuns struct {
	config
	bin, dir string
	kinds    []runKind // those of this machine
}

// programs lists a tiny program, closures, an analysis of mutual recursion,
// queries, and a program of thousands of rules.
func (f *firstRuns) programs() ([]firstProgram, error) {
	out := []firstProgram{{name: "quickstart", args: []string{
		testFile("quickstart", "reach.logic"), "--facts", testFile("quickstart", "facts")}}}
	for _, g := range []string{"cti", "SF.cedge"} {
		out = append(out, firstProgram{name: "tc " + g, args: []string{
			testFile("graphs", "tc.logic"), "--fact", "edge=" + f.graphFile(g)}})
	}
	for _, n := range []int{2000, 4000} {
		dir := filepath.Join(f.dir, fmt.Sprint("cspa", n))
		if err := writeCSPA(dir, n, f.seed); err != nil {
			return nil, err
		}
		out = append(out, firstProgram{name: fmt.Sprint("cspa ", n),
			args: []string{testFile("graphs", "cspa.logic"), "--facts", dir}})
	}
	if _, err := os.Stat(f.tpch); err == nil {
		for q := 1; q <= 22; q++ {
			name := fmt.Sprintf("q%02d", q)
			out = append(out, firstProgram{name: "tpch " + name,
				args: []string{testFile("tpch", "schema.logic"), testFile("tpch", name+".logic"),
					"--facts", f.tpch}})
		}
	}
	l := &largeProgram{bin: f.bin, dir: filepath.Join(f.dir, "large")}
	if _, err := l.write(f.seed); err != nil {
		return nil, err
	}
	return append(out, firstProgram{name: "4,000 clauses", args: l.files}), nil
}

// measure runs a program in all kinds, -repeat times, and returns the row of
// medians.
func (f *firstRuns) measure(ctx context.Context, p firstProgram) (table.Row, error) {
	took := make([][]measured, len(f.kinds))
	var want []byte
	for range f.repeat {
		for i, kind := range f.kinds {
			cache := filepath.Join(f.dir, "cache-"+kind.engine)
			if kind.name != "second" {
				if err := os.RemoveAll(cache); err != nil {
					return nil, err
				}
			}
			cmd := exec.CommandContext(ctx, f.bin, slices.Concat([]string{"run", "--engine",
				kind.engine, "--threads", fmt.Sprint(f.threads), "--format", "tsv"}, p.args)...)
			cmd.Env = append(os.Environ(), "REDFOX_CACHE="+cache)
			var m measured
			var answer, messages bytes.Buffer
			cmd.Stdout, cmd.Stderr = &answer, &messages
			wall, err := repeat(1, cmd.Run)
			if err != nil {
				return nil, fmt.Errorf("engine %s: %w\n%s", kind.engine, err, &messages)
			}
			m.wall = wall
			m.processor = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			took[i] = append(took[i], m)
			if want == nil {
				want = answer.Bytes()
			}
			if !bytes.Equal(want, answer.Bytes()) {
				return nil, fmt.Errorf("engine %s has another answer than go", kind.engine)
			}
		}
	}
	median := func(list []measured, of func(measured) float64) float64 {
		slices.SortFunc(list, func(a, b measured) int {
			return int(1e6 * (of(a) - of(b)))
		})
		return of(list[len(list)/2])
	}
	wall := func(m measured) float64 { return m.wall }
	processor := func(m measured) float64 { return m.processor }
	base := measured{median(took[0], wall), median(took[0], processor)}
	row := table.Row{p.name, measure.FormatTime(base.wall), measure.FormatTime(base.processor)}
	for _, list := range took[1:] {
		row = append(row, fmt.Sprintf("%.2f / %.2f", median(list, wall)/base.wall,
			median(list, processor)/base.processor))
	}
	return row, nil
}

// writeCSPA writes facts for testdata/graphs/cspa.logic with a number of
// variables. Some variables have many assignments.
func writeCSPA(dir string, variables int, seed uint64) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, f := range []struct {
		name  string
		share int // the share of the variables, in tenths
	}{{"assign", 6}, {"dereference", 3}} {
		var b strings.Builder
		for range variables * f.share / 10 {
			popular := rng.Float64()
			fmt.Fprintf(&b, "%d\t%d\n", rng.IntN(variables),
				int(float64(variables)*popular*popular))
		}
		if err := os.WriteFile(filepath.Join(dir, f.name+".tsv"), []byte(b.String()),
			0o644); err != nil {
			return err
		}
	}
	return nil
}
