package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
)

// spillFacts writes a random graph whose closures have some millions of pairs.
func spillFacts(t *testing.T, dir string) {
	t.Helper()
	const nodes, edges = 3000, 4200
	f, err := os.Create(filepath.Join(dir, "edge.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	w, rng := bufio.NewWriter(f), rand.New(rand.NewPCG(5, 6))
	for range edges {
		fmt.Fprintf(w, "%d\t%d\n", rng.IntN(nodes), rng.IntN(nodes))
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

const spillClosure = `edge(x, y) -> int(x), int(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), edge(y, z).
n[] = v <- agg<<v = count()>> tc(_, _).
last[] = v <- agg<<v = max(y)>> tc(x, y), edge(y, x).
`

// TestSpill runs a program in less memory than it needs, on both engines of the
// host, and wants what it prints without a bound.
func TestSpill(t *testing.T) {
	dir := t.TempDir()
	spillFacts(t, dir)
	write(t, dir, "p.logic", spillClosure)
	folder := filepath.Join(dir, "scratch")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, engine string, args ...string) (stdout, stderr string, code int,
		peak int64) {
		cmd := redfoxProcess(t, dir, append([]string{"run", "p.logic", "--fact", "edge=edge.tsv",
			"--print", "n", "--print", "last", "--stats", "--engine", engine}, args...)...)
		if engine == "cpu" {
			withLLVM(t, cmd)
		}
		peakFile := filepath.Join(dir, "peak")
		cmd.Env = append(cmd.Env, peakVariable+"="+peakFile)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run() // its exit code is the caller's
		if goruntime.GOOS == "linux" {
			peak = peakOf(t, peakFile)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode(), peak
	}
	want, _, code, _ := run(t, "go")
	if code != exitDone {
		t.Fatalf("exit code %d without a bound", code)
	}
	for engine, bound := range map[string]string{"go": "3M", "cpu": "900K"} {
		t.Run(engine, func(t *testing.T) {
			if _, stderr, code, _ := run(t, engine, "--memory", bound); code != exitEnvironment ||
				!strings.Contains(stderr, "out of memory: ") ||
				!strings.Contains(stderr, "--spill") {
				t.Errorf("exit code %d without a folder, %q", code, stderr)
			}
			got, stderr, code, peak := run(t, engine, "--memory", bound, "--spill", folder)
			if code != exitDone || got != want {
				t.Errorf("exit code %d, %q, %q; want %q", code, got, stderr, want)
			}
			if !strings.Contains(stderr, "spill    tc: ") {
				t.Errorf("no statistics in %q", stderr)
			}
			// libLLVM takes what it takes, beside the bound.
			if engine == "go" && peak > besideBound {
				t.Errorf("%d MiB were resident", peak>>20)
			}
		})
	}
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("%v is left, %v", left, err)
	}
	write(t, dir, "file", "")
	for name, advice := range map[string]string{
		"no":   "make the folder, or name another one with --spill",
		"file": "; name a folder with --spill",
	} {
		_, stderr, code, _ := run(t, "go", "--memory", "3M", "--spill", filepath.Join(dir, name))
		if code != exitEnvironment || !strings.Contains(stderr, "redfox cannot make a file in ") ||
			!strings.Contains(stderr, advice) {
			t.Errorf("exit code %d with --spill %s, %q", code, name, stderr)
		}
	}
	if _, stderr, code, _ := run(t, "go", "--spill", folder); code == exitDone ||
		!strings.Contains(stderr, "give --memory as well") {
		t.Errorf("exit code %d without a bound, %q", code, stderr)
	}
}

// TestSpillAtThePrompt asks a question whose answer needs more than the memory.
func TestSpillAtThePrompt(t *testing.T) {
	dir := t.TempDir()
	spillFacts(t, dir)
	write(t, dir, "p.logic", spillClosure)
	ask := func(code int, args ...string) string {
		t.Helper()
		cmd := redfoxProcess(t, dir, append([]string{"repl", "p.logic", "--fact", "edge=edge.tsv",
			"--engine", "go"}, args...)...)
		cmd.Stdin = strings.NewReader("n[] = v?\n")
		out, _ := cmd.CombinedOutput() // its exit code says whether it failed
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("exit code %d: %s", got, out)
		}
		return string(out)
	}
	want := ask(exitDone)
	if got := ask(exitEnvironment, "--memory", "3M"); !strings.Contains(got, "--spill DIR") {
		t.Errorf("without a folder: %s", got)
	}
	if got := ask(exitDone, "--memory", "3M", "--spill", dir); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSpillExplains asks why a tuple of a recursion holds that needs more than
// the memory.
func TestSpillExplains(t *testing.T) {
	dir := t.TempDir()
	spillFacts(t, dir)
	write(t, dir, "p.logic", spillClosure+"edge(5001, 5002). edge(5002, 5003). edge(5003, 5004).\n")
	explain := func(code int, command, goal string, args ...string) string {
		t.Helper()
		cmd := redfoxProcess(t, dir, append([]string{command, goal, "p.logic", "--fact",
			"edge=edge.tsv"}, args...)...)
		out, _ := cmd.CombinedOutput() // its exit code says whether it failed
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("exit code %d: %s", got, out)
		}
		return string(out)
	}
	const goal = "tc(5001, 5004)"
	want := explain(exitDone, "why", goal)
	if !strings.Contains(want, "tc(5001, 5003)") {
		t.Fatalf("no derivation in %s", want)
	}
	if got := explain(exitEnvironment, "why", goal, "--memory", "3M"); !strings.Contains(got,
		"--spill DIR") {
		t.Errorf("without a folder: %s", got)
	}
	if got := explain(exitDone, "why", goal, "--memory", "3M", "--spill", dir); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	const missing = "tc(5004, 5001)"
	want = explain(exitDone, "why-not", missing, "--depth", "1")
	if got := explain(exitDone, "why-not", missing, "--depth", "1", "--memory", "3M", "--spill",
		dir); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	at := func(code int, args ...string) string {
		t.Helper()
		cmd := redfoxProcess(t, dir, append([]string{"repl", "p.logic", "--fact", "edge=edge.tsv",
			"--engine", "go"}, args...)...)
		cmd.Stdin = strings.NewReader(":why " + goal + "\n")
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Fatalf("exit code %d: %s", got, out)
		}
		return string(out)
	}
	want = at(exitDone)
	if got := at(exitDone, "--memory", "3M", "--spill", dir); got != want ||
		!strings.Contains(got, "tc(5001, 5003)") {
		t.Errorf("got %s, want %s", got, want)
	}
}
