package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProfileOfTransactions wants tracks of its own for each transaction, and
// the same spans on all of them.
func TestProfileOfTransactions(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p.logic", "n(x) -> int(x).\nm(x) <- n(x), x > 1.\n+n(1).\n")
	write(t, dir, "two.logic", "+n(2). _(x) <- m(x).\n")
	o := finish(t, redfoxProcess(t, dir, "run", "p.logic", "--engine", "go", "--exec", "two.logic",
		"--exec-text", "+n(3).", "--print", "m", "--format", "tsv", "--profile", "out.json"))
	if o.code != 0 || o.stdout != "2\n2\n3\n" {
		t.Fatal(o)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		Events []struct {
			Name   string         `json:"name"`
			Thread int            `json:"tid"`
			Args   map[string]any `json:"args"`
		} `json:"traceEvents"`
	}
	if err := json.Unmarshal(text, &profile); err != nil {
		t.Fatal(err)
	}
	tracks, spans := map[int]string{}, map[string]bool{}
	for _, e := range profile.Events {
		if name, ok := e.Args["name"].(string); ok && e.Name == "thread_name" {
			tracks[e.Thread], _, _ = strings.Cut(name, ": ")
		}
	}
	for _, e := range profile.Events {
		spans[tracks[e.Thread]+"/"+e.Name] = true
	}
	for _, run := range []string{"the program", "--exec two.logic", "--exec-text 2", "results"} {
		for _, name := range []string{"compile the program", "load facts", "run on go"} {
			if !spans[run+"/"+name] {
				t.Errorf("%s lacks %q: %v", run, name, spans)
			}
		}
	}
}
