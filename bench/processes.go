package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/redfoxdb/redfox/bench/measure"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/pointergen"
)

// processes is a program of testdata/graphs that each system runs in a process.
// The suite compares processor time, peak memory, and numbers of tuples, which
// must agree.
type processes struct {
	name   string // the name of the program
	of     string // title of the sizes
	works  []string
	demand []string                     // the works that run only if -only names them
	facts  func(work, dir string) error // writes the files of facts of a work
}

func benchCSPA(ctx context.Context, c config) error {
	return c.benchProcesses(ctx, c.pointers("cspa", pointergen.CSPA, "2000", "4000", "8000"))
}

func benchAndersen(ctx context.Context, c config) error {
	return c.benchProcesses(ctx, c.pointers("andersen", pointergen.Andersen, "20000", "40000", "60000"))
}

// pointers is a pointer analysis over facts of several numbers of variables.
// The largest is measured on demand.
func (c config) pointers(name string, generate func(n int, seed uint64) pointergen.Facts,
	small, middle, large string) processes {
	return processes{name: name, of: "variables", works: []string{small, middle},
		demand: []string{large}, facts: func(size, dir string) error {
			n, err := strconv.Atoi(size)
			if err != nil {
				return err
			}
			return generate(n, c.seed).Write(dir)
		}}
}

func benchSG(ctx context.Context, c config) error {
	return c.benchProcesses(ctx, c.graphProcesses("sg", "TG.cedge", "cti", "wiki-Vote"))
}

// pathGraph is a path of 9,000 edges, whose closure is as dense as a relation
// without cycles can be: 40,504,500 pairs.
const pathGraph = "path"

// graphProcesses is a program about the edges of graphs.
func (c config) graphProcesses(name string, graphs ...string) processes {
	return processes{name: name, of: "graph", works: graphs,
		facts: func(graph, dir string) (err error) {
			out, err := os.Create(filepath.Join(dir, "edge.tsv"))
			if err != nil {
				return err
			}
			defer func() {
				if closed := out.Close(); err == nil {
					err = closed
				}
			}()
			if graph == pathGraph {
				for i := range 9000 {
					fmt.Fprintf(out, "%d\t%d\n", i, i+1)
				}
				return nil
			}
			in, err := os.Open(c.graphFile(graph))
			if err != nil {
				return err
			}
			defer in.Close()
			text, err := gzip.NewReader(in)
			if err != nil {
				return err
			}
			_, err = io.Copy(out, text)
			return err
		}}
}

// system is a system that runs in processes.
type system struct {
	name    string
	command []string
	peer    bool
}

// spent is the cost of the processes of a system: the first one, which
// compiles, and the least time and the largest peak of the others.
type spent struct{ first, seconds, peak float64 }

// benchProcesses measures the works on each engine, with cached code, and on
// the commands of -peer, which get the name of the program and the folder of
// the facts as arguments.
func (c config) benchProcesses(ctx context.Context, p processes) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	var rows []table.Row
	for i, work := range slices.Concat(p.works, p.demand) {
		if !c.wants(work, i < len(p.works)) {
			continue
		}
		dir := filepath.Join(filepath.Dir(bin), work)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := p.facts(work, dir); err != nil {
			return err
		}
		var systems []system
		for _, e := range c.measured() {
			systems = append(systems, system{name: e, command: []string{bin, "run",
				testFile("graphs", p.name+".logic"), "--engine", e, "--facts", dir,
				"--format", "tsv", "--threads", fmt.Sprint(c.threads)}})
		}
		for _, peer := range c.peers() {
			systems = append(systems, system{name: filepath.Base(peer), peer: true,
				command: []string{peer, p.name, dir}})
		}
		tuples, costs, err := c.inTurns(ctx, systems, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", work, err)
		}
		rows = append(rows, besides(work, tuples, systems, costs)...)
		times := map[string]float64{}
		for i, s := range systems {
			times[s.name] = costs[i].seconds
		}
		if err := c.record("process/"+p.name+"/"+work, times, nil); err != nil {
			return err
		}
	}
	report(fmt.Sprintf("%s, processor time of a process each, the least of %d after the first, "+
		"%d threads", p.name, c.repeat, c.threads),
		table.Row{p.of, "tuples", "system", "first", "beside", "again", "beside",
			"peak memory", "beside"}, rows)
	return nil
}

// peers returns the commands of -peer.
func (c config) peers() []string {
	if c.peer == "" {
		return nil
	}
	return strings.Split(c.peer, ",")
}

// inTurns runs each system c.repeat+1 times, in turns. It returns the cost of
// each and the output, which must be the same for all.
func (c config) inTurns(ctx context.Context, systems []system,
	dir string) (tuples string, costs []spent, err error) {
	costs = make([]spent, len(systems))
	for turn := range c.repeat + 1 {
		for i, s := range systems {
			took, peak, out, err := processor(ctx, s.command,
				"REDFOX_CACHE="+filepath.Join(dir, "cache-"+s.name))
			if err != nil {
				return "", nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if turn == 0 && i == 0 {
				tuples = out
			}
			if out != tuples {
				return "", nil, fmt.Errorf("%s counts %s, %s counts %s", s.name, out,
					systems[0].name, tuples)
			}
			cost := &costs[i]
			cost.peak = max(cost.peak, peak)
			switch {
			case turn == 0:
				cost.first = took
			case turn == 1 || took < cost.seconds:
				cost.seconds = took
			}
		}
	}
	return tuples, costs, nil
}

// besides returns a row for each system. Its ratios are to the best peer in
// each respect, or to the go engine if there are no peers.
func besides(work, tuples string, systems []system, costs []spent) (rows []table.Row) {
	var base spent
	least := func(to *float64, x float64) {
		if *to == 0 || x < *to {
			*to = x
		}
	}
	peers := len(systems) > 0 && systems[len(systems)-1].peer
	for i, s := range systems {
		if s.peer || !peers && s.name == driver.EngineGo {
			least(&base.first, costs[i].first)
			least(&base.seconds, costs[i].seconds)
			least(&base.peak, costs[i].peak)
		}
	}
	ratio := func(x, base float64) string {
		if base == 0 {
			return ""
		}
		return fmt.Sprintf("%.2f", x/base)
	}
	for i, s := range systems {
		c := costs[i]
		rows = append(rows, table.Row{work, tuples, s.name,
			measure.FormatTime(c.first), ratio(c.first, base.first),
			measure.FormatTime(c.seconds), ratio(c.seconds, base.seconds),
			fmt.Sprintf("%.0f MB", c.peak/1e6), ratio(c.peak, base.peak)})
	}
	return rows
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
