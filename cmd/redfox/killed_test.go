package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redfoxdb/redfox/internal/atomicfile"
)

// killAt, when set, ends the process by SIGKILL before it changes the file
// system for that time, counted from 0.
const killAt = "REDFOX_TEST_KILL_AT"

// dieAsAsked obeys killAt.
func dieAsAsked() {
	text, set := os.LookupEnv(killAt)
	if !set {
		return
	}
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	var steps atomic.Int64
	atomicfile.Step = func(string) {
		if steps.Add(1)-1 == at {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {} // until the process ends
		}
	}
}

// contents reads the files of a folder, leftovers aside.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range strings.Fields(list(t, dir)) {
		if match, _ := filepath.Match(atomicfile.Leftovers, filepath.Base(name)); match {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

// restore makes a folder hold the files.
func restore(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, text)
	}
}

// TestKilled kills redfox before each change that it makes to the file system.
// After each, every earlier file is whole: the old one, byte for byte, or the
// new one.
func TestKilled(t *testing.T) {
	const measure = "bench ssb --sf 0.001 --generate --data ssb --queries q11 --runs 1 --engine go --out report"
	program := map[string]string{
		"p.logic": "p(1). p(2).\nq(x)<-p(x).\nr(x,y) <- p(x),y=x+1.\n",
		"x.logic": "a(1). a(2).\nb(x) -> int(x).\nb(x) <- a(x).\n" +
			"lang:physical:filePath[`b] = \"b.csv\".\nlang:physical:fileMode[`b] = \"export\".\n",
	}
	tests := []struct {
		line string
		old  []string // the files that are there before
		llvm bool
		each int // of so many changes the process is killed at one
		// varies says that the new contents differ from run to run.
		varies bool
	}{
		{line: "run p.logic --out results", old: []string{"results/q.tsv", "results/r.tsv"}},
		{line: "run p.logic --out results --format parquet",
			old: []string{"results/q.parquet", "results/r.parquet"}},
		{line: "run p.logic --profile p.json", old: []string{"p.json"}, varies: true},
		{line: "run x.logic --allow-path .", old: []string{"b.csv"}},
		{line: "compile p.logic -o p.rfx --target gpu:sm_80", old: []string{"p.rfx"}, llvm: true},
		{line: "compile p.logic -o p.plan", old: []string{"p.plan"}},
		{line: "compile p.logic --emit harmony -o p.harmony", old: []string{"p.harmony"}},
		{line: "fmt -w p.logic x.logic"},
		{line: measure,
			old: []string{"report/ssb-sf0.001-go.json", "report/ssb-sf0.001-go.md",
				"report/ssb-sf0.001-go.svg"},
			each: 4, varies: true},
		{line: measure + " --each-pass-off",
			old: []string{"report/ssb-sf0.001-go-passes.md"}, each: 17, varies: true},
		{line: "run p.logic --engine cpu --print q", llvm: true},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			before := map[string]string{}
			for name, text := range program {
				before[name] = text
			}
			process := func(dir string) *exec.Cmd {
				cmd := redfoxProcess(t, dir, strings.Fields(tt.line)...)
				if tt.llvm {
					withLLVM(t, cmd)
				}
				cmd.Env = append(cmd.Env, "REDFOX_CACHE="+filepath.Join(dir, "cache"))
				return cmd
			}
			full := t.TempDir()
			restore(t, full, before)
			if o := finish(t, process(full)); o.code != exitDone {
				t.Fatalf("%v", o)
			}
			after := contents(t, full)
			for _, name := range tt.old {
				if _, ok := after[name]; !ok {
					t.Fatalf("it makes no %s, but %s", name, list(t, full))
				}
				before[name] = "an earlier " + name
			}
			dir := t.TempDir()
			each := max(tt.each, 1)
			if testing.Short() {
				t.Log("left out: -short: three of four changes")
				each *= 4
			}
			for n := 0; ; n += each {
				restore(t, dir, before)
				cmd := process(dir)
				cmd.Env = append(cmd.Env, killAt+"="+strconv.Itoa(n))
				o := finish(t, cmd)
				if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok ||
					!status.Signaled() {
					if o.code != exitDone || n == 0 {
						t.Fatalf("after %d changes: %v", n, o)
					}
					break
				}
				for name, text := range contents(t, dir) {
					old, had := before[name]
					whole := text == after[name] || tt.varies && isWhole(name, text, after[name]) ||
						strings.HasPrefix(name, "cache/") && len(text) == len(after[name])
					if whole || had && text == old {
						continue
					}
					t.Errorf("killed before change %d: %s holds %.80q", n, name, text)
				}
			}
			if left := leftoversBelow(t, dir); left != "" {
				t.Errorf("the last run has left\n%s", left)
			}
		})
	}
}

// isWhole reports whether a file whose contents vary ends as a whole one does.
func isWhole(name, text, like string) bool {
	if strings.HasSuffix(name, ".json") {
		return json.Valid([]byte(text))
	}
	if strings.HasSuffix(name, ".svg") {
		return strings.HasSuffix(text, "</svg>\n")
	}
	return strings.Count(text, "\n") == strings.Count(like, "\n")
}

// leftoversBelow lists unfinished files below a folder.
func leftoversBelow(t *testing.T, dir string) string {
	t.Helper()
	var out bytes.Buffer
	for _, name := range strings.Fields(list(t, dir)) {
		if match, _ := filepath.Match(atomicfile.Leftovers, filepath.Base(name)); match {
			out.WriteString(name + "\n")
		}
	}
	return out.String()
}
