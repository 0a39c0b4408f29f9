package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// benchCheck measures redfox check and redfox compile, each in a new process.
func benchCheck(ctx context.Context, c config) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	text := programOfLines(5000)
	file := filepath.Join(filepath.Dir(bin), "large.logic")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return err
	}
	t := comparison{title: "a large program, a process each time",
		labels: []string{"command", "lines", "bytes"}, systems: []string{"time"}}
	for _, command := range []string{"check", "compile"} {
		t.works = append(t.works, work{name: command, run: func() (*entry, error) {
			took, err := repeat(c.repeat, func() error {
				if out, err := exec.CommandContext(ctx, bin, command,
					file).CombinedOutput(); err != nil {
					return fmt.Errorf("%w\n%s", err, out)
				}
				return nil
			})
			return &entry{labels: []any{strings.Count(text, "\n"), len(text)},
				times: []float64{took}}, err
		}})
	}
	return c.compare(t)
}

// benchMemory runs closures, each in a process, and reads the largest resident
// set that the system reports.
func benchMemory(ctx context.Context, c config) error {
	bin, remove, err := buildCommand(ctx)
	if err != nil {
		return err
	}
	defer remove()
	t := comparison{title: "peak resident memory of redfox run, everything included",
		labels:  []string{"graph", "tuples", "peak", "bytes a tuple"},
		systems: []string{"processor time"}}
	for _, g := range graphs {
		t.works = append(t.works, work{name: g.name, onDemand: g.tc <= 50e6 || g.big,
			run: func() (*entry, error) {
				cmd := exec.CommandContext(ctx, bin, "run", testFile("graphs", "tc.logic"),
					"--format", "tsv", "--threads", fmt.Sprint(c.threads),
					"--fact", "edge="+c.graphFile(g.name))
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if err != nil {
					return nil, err
				}
				if got := strings.TrimSpace(string(out)); got != fmt.Sprint(g.tc) {
					return nil, fmt.Errorf("%s tuples, published are %d", got, g.tc)
				}
				state := cmd.ProcessState
				peak, err := peakMemory(state)
				if err != nil {
					return nil, err
				}
				return &entry{labels: []any{g.tc, fmt.Sprintf("%.0f MB", peak/1e6),
					fmt.Sprintf("%.1f", peak/float64(g.tc))},
					times: []float64{(state.UserTime() + state.SystemTime()).Seconds()}}, nil
			}})
	}
	return c.compare(t)
}

// command returns the redfox of -redfox, or builds one. remove deletes what it
// built.
func (c config) command(ctx context.Context) (bin string, remove func(), err error) {
	if c.redfox != "" {
		return c.redfox, func() {}, nil
	}
	return buildCommand(ctx)
}

// buildCommand builds redfox into a temporary folder. remove deletes the
// folder.
func buildCommand(ctx context.Context) (bin string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "redfox-bench")
	if err != nil {
		return "", nil, err
	}
	bin = filepath.Join(dir, "redfox")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin,
		"./cmd/redfox").CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("building redfox: %w\n%s", err, out)
	}
	return bin, func() { os.RemoveAll(dir) }, nil
}

// programOfLines returns a program of about n lines. It consists of groups of
// recursive rules, negation, functional predicates and aggregates, each over
// the group before it.
func programOfLines(n int) string {
	var b strings.Builder
	b.WriteString("edge0(x, y) -> int(x), int(y).\nweight0[x, y] = w -> int(x), int(y), int(w).\n")
	for i, lines := 1, 2; lines < n; i, lines = i+1, lines+10 {
		p := i - 1
		fmt.Fprintf(&b, "// group %d\n", i)
		fmt.Fprintf(&b, "reach%d(x, y) <- edge%d(x, y).\n", i, p)
		fmt.Fprintf(&b, "reach%d(x, z) <- reach%d(x, y), edge%d(y, z), x != z.\n", i, i, p)
		fmt.Fprintf(&b, "heavy%d(x, y) <- reach%d(x, y), weight%d[x, y] > %d.\n", i, i, p, i%100)
		fmt.Fprintf(&b, "light%d(x, y) <- edge%d(x, y), !heavy%d(x, y).\n", i, p, i)
		fmt.Fprintf(&b, "cost%d[x, y] = w + %d <- weight%d[x, y] = w, (light%d(x, y) ; x = y).\n",
			i, i%7, p, i)
		fmt.Fprintf(&b, "degree%d[x] = n <- agg<<n = count()>> light%d(x, _).\n", i, i)
		fmt.Fprintf(&b, "most%d[] = m <- agg<<m = max(n)>> degree%d[x] = n.\n", i, i)
		fmt.Fprintf(&b, "edge%d(x, y) <- light%d(x, y), degree%d[x] <= most%d[].\n", i, i, i, i)
		fmt.Fprintf(&b, "weight%d[x, y] = w <- cost%d[x, y] = w, edge%d(x, y).\n", i, i, i)
	}
	return b.String()
}
