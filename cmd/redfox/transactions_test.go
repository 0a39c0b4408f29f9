package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
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

// TestQueriesWhileAnotherWrites wants transactions that only ask to need no
// lock, unless an installed rule changes something.
func TestQueriesWhileAnotherWrites(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "plain.logic", "n(x) -> int(x).\nm(x) <- n(x), x > 1.\n+n(1). +n(2).\n")
	write(t, dir, "counts.logic", "n(x) -> int(x).\n+n(1). asked[] = n -> int(n).\n+asked[] = 0.\n"+
		"^asked[] = n + 1 <- asked@prev[] = n.\n")
	write(t, dir, "ask.logic", "_(y) <- big(y). big(x) <- n(x), x > 0.\n")
	redfox := func(args ...string) outcome {
		return finish(t, redfoxProcess(t, dir, append([]string{"run", "--engine", "go", "--format",
			"tsv"}, args...)...))
	}
	for _, name := range []string{"plain", "counts"} {
		if o := redfox(name+".logic", "--db", name+".rfdb"); o.code != 0 {
			t.Fatal(o)
		}
	}
	asking := []string{"--exec", "ask.logic", "--exec-text", "_(x) <- asked[] = x.",
		"--db", "counts.rfdb"}
	if o := redfox(asking...); o.code != 0 || o.stdout != "1\n2\n" {
		t.Errorf("queries to which a rule reacts give %v", o)
	}
	session, err := driver.OpenSession(driver.SessionOptions{Engine: driver.EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, name := range []string{"plain", "counts"} {
		w, err := session.OpenDatabase(context.Background(), filepath.Join(dir, name+".rfdb"),
			driver.OpenDatabaseOptions{Write: true})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
	}
	if o := redfox("--exec", "ask.logic", "--exec-text", "_(x) <- m(x).",
		"--db", "plain.rfdb"); o.code != 0 || o.stdout != "1\n2\n2\n" {
		t.Errorf("queries while another process writes give %v", o)
	}
	for _, args := range [][]string{asking, {"--exec-text", "+n(3).", "--db", "plain.rfdb"},
		{"--add", "ask.logic", "--db", "plain.rfdb"}} {
		if o := redfox(args...); o.code != 2 ||
			!strings.Contains(o.stderr, "another process is writing") {
			t.Errorf("%v while another process writes gives %v", args, o)
		}
	}
}
