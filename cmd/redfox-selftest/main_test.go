package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
)

// run executes a command line and returns its output and exit code.
func run(args ...string) (string, int) {
	var out strings.Builder
	code := execute(append(args, "-data", "../../testdata"), &out, &out)
	return out.String(), code
}

// TestSelf runs a few programs on each engine that the machine has.
func TestSelf(t *testing.T) {
	for _, e := range driver.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			if !e.Available {
				t.Skip(e.Detail)
			}
			out, code := run("-engine", e.Name, "-only", "constraint", "-random", "5", "-runs", "4",
				"-v")
			if code != 0 || !strings.Contains(out, " 0 failures") ||
				!strings.Contains(out, "test random/5\n") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
		})
	}
}

// TestMadeUp has facts in every predicate of a program without any.
func TestMadeUp(t *testing.T) {
	out, code := run("-engine", "go", "-only", "fusion/")
	if code != 0 || !strings.Contains(out, "6 programs, 12 runs on engine go, 0 failures") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	ctx := context.Background()
	sources, err := driver.ReadSources("../../testdata/fusion/joins.logic")
	if err != nil {
		t.Fatal(err)
	}
	s, err := driver.OpenSession(driver.SessionOptions{Engine: "go"})
	if err != nil {
		t.Fatal(err)
	}
	prog, db, err := load(ctx, s, sources, func(p *driver.Program) *driver.Facts {
		return madeUp(p, 500)
	})
	if err != nil {
		t.Fatal(err)
	}
	res, err := prog.RunOn(ctx, db, driver.RunOptions{})
	if err != nil || res.Len("_") != 1 {
		t.Errorf("the joins lead nowhere: %v", err)
	}
}

// TestWrongCalls holds what is said of command lines that cannot be run.
func TestWrongCalls(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"programs"}, "takes flags only"},
		{[]string{"-runs", "0"}, "at least 1"},
		{[]string{"-parallel", "0"}, "at least 1"},
		{[]string{"-every", "0s"}, "-every above 0"},
		{[]string{"-only", "no such program"}, `has "no such program" in its name`},
		{[]string{"-engine", "gpo"}, "did you mean go?"},
	} {
		if out, code := run(tt.args...); code != 2 || !strings.Contains(out, tt.want) {
			t.Errorf("%v: exit code %d, %s", tt.args, code, out)
		}
	}
	var out strings.Builder
	if code := execute([]string{"-data", "nowhere"}, &out, &out); code != 2 ||
		!strings.Contains(out.String(), "-data names") {
		t.Errorf("a folder that is not there: exit code %d, %s", code, &out)
	}
}

// TestDifferences compares results that differ in one way each.
func TestDifferences(t *testing.T) {
	ctx := context.Background()
	result := func(text string) *driver.Result {
		t.Helper()
		prog, err := driver.Compile(ctx, []driver.Source{driver.Text("p.logic", text)},
			driver.Options{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := prog.Run(ctx, driver.NewFacts(), driver.RunOptions{Engine: "go"})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	want := result("p(1, \"a\"). p(3, \"b\").\nq(x, s) <- p(x, s).\n")
	for text, why := range map[string]string{
		"p(1, \"a\"). p(3, \"b\").\nq(x, s) <- p(x, s).\n":             "",
		"p(1, \"a\"). p(3, \"c\").\nq(x, s) <- p(x, s).\n":             "q differs: tuple 2 is",
		"p(1, \"a\").\nq(x, s) <- p(x, s).\n":                          "is missing; there are 1 and should be 2",
		"p(1, \"a\"). p(3, \"b\"). p(4, \"\").\nq(x, s) <- p(x, s).\n": "is too many; there are 3 and should be 2",
		"p(1, \"a\"). p(3, \"b\").\nr(x, s) <- p(x, s).\n":             "the predicates are",
	} {
		got := difference(want, result(text))
		if why == "" && got != "" || !strings.Contains(got, why) {
			t.Errorf("%s: %q, want %q", text, got, why)
		}
	}
}

// TestKeep shrinks a random program that fails, here because its runs never end
// in time.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	tested, err := newTester(ctx, config{data: "../../testdata", runs: 1, timeout: 1, keep: dir,
		session: driver.SessionOptions{Engine: "go"}}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer tested.close()
	tested.test(ctx, randomCase(randprog.New(3)))
	if tested.failures != 1 {
		t.Errorf("%d failures", tested.failures)
	}
	if _, err := os.Stat(filepath.Join(dir, "random-program-3", "program.logic")); err != nil {
		t.Error(err)
	}
}
