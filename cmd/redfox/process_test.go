package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// write makes a file in a folder and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTimeout checks that --timeout ends a run, as trouble of the environment.
func TestTimeout(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "count.logic", "n(0).\nn(y) <- n(x), x < 2000000000, y = x + 1.\n")
	o := finish(t, redfoxProcess(t, dir, "run", "count.logic", "--timeout", "300ms"))
	if o.code != exitEnvironment || !strings.Contains(o.stderr, "gave up after 300ms") {
		t.Errorf("got %v", o)
	}
}

// TestClosedPipe checks that a reader that has seen enough, such as head, ends
// redfox without a word.
func TestClosedPipe(t *testing.T) {
	cmd := redfoxProcess(t, "../..", "run", "testdata/quickstart/reach.logic",
		"--facts", "testdata/quickstart/facts", "--print", "reach", "--format", "tsv")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil ||
		strings.Count(line, "\t") != 1 {
		t.Errorf("first line %q, %v", line, err)
	}
	out.Close()
	_ = cmd.Wait() // it dies of the signal
	if stderr.Len() > 0 {
		t.Errorf("printed %q", stderr.String())
	}
}

// TestFullOutput holds that every command says so, with exit code 2, if
// standard output takes nothing more.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	dir := t.TempDir()
	write(t, dir, "p.logic", "p(1). p(2).\n_(x) <- p(x).\n")
	for _, line := range []string{"version", "help", "help run", "--help", "engines", "bench list", "explain codes", "explain RF0604",
		"run p.logic", "run p.logic --format json", "run p.logic --format parquet",
		"run p.logic --stats", "check --json p.logic",
		"explain p.logic", "explain --steps p.logic", "compile p.logic",
		"compile --emit harmony p.logic", "fmt p.logic", "completion bash", "man"} {
		cmd := redfoxProcess(t, dir, strings.Fields(line)...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run() // its exit code is looked at below
		if code := cmd.ProcessState.ExitCode(); code != exitEnvironment ||
			!strings.Contains(stderr.String(),
				"cannot write the result: write /dev/stdout: no space left on device") {
			t.Errorf("redfox %s: exit code %d, %q", line, code, stderr.String())
		}
	}
}

// TestSameBytes runs a program twice, with one thread and with several, and
// compares the bytes.
func TestSameBytes(t *testing.T) {
	var first string
	for _, threads := range []string{"1", "3"} {
		o := finish(t,
			redfoxProcess(t, "../..", "run", "testdata/quickstart/reach.logic", "--threads",
				threads,
				"--facts", "testdata/quickstart/facts", "--print", "reach", "--format", "tsv"))
		if o.code != 0 || strings.Count(o.stdout, "\n") != 146120 || o.stderr != "" {
			t.Fatalf("exit code %d, %d lines, %q", o.code, strings.Count(o.stdout, "\n"), o.stderr)
		}
		if first == "" {
			first = o.stdout
		} else if o.stdout != first {
			t.Error("the number of threads changes the bytes")
		}
	}
}

// TestSteps checks that explain --steps names every pass, and that a pass that
// is left out is not among them.
func TestSteps(t *testing.T) {
	o := finish(t,
		redfoxProcess(t, "../..", "explain", "--steps", "testdata/quickstart/reach.logic"))
	for _, p := range driver.Passes() {
		if !strings.Contains(o.stdout, "== "+p.Name+" (") {
			t.Errorf("the steps lack %s", p.Name)
		}
		if p.Required {
			continue
		}
		without := finish(t,
			redfoxProcess(t, "../..", "explain", "--steps", "testdata/quickstart/reach.logic",
				"--disable", p.Name))
		if strings.Contains(without.stdout, "== "+p.Name+" (") || without.code != 0 {
			t.Errorf("--disable %s: exit code %d, and the steps have it: %s", p.Name, without.code,
				without.stderr)
		}
	}
}
