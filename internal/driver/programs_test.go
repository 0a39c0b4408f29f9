package driver_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/short"
)

var rewriteErrors = flag.Bool("rewrite", false, "rewrite expected.err of testdata/programs")

// variant is one way to compile and run a program; all must give the same
// tuples.
type variant struct {
	name    string
	disable []string
	noFuse  bool
	run     driver.RunOptions
	session *driver.Session // that runs it, if not nil
}

// variants lists a plain run, runs with other numbers of threads, runs of the
// cpu engine and of the gpu engine where there are any, and a run without each
// pass that can be left out and without all of them.
func variants(t *testing.T) []variant {
	out := []variant{
		{name: "default"},
		{name: "one thread", run: driver.RunOptions{Threads: 1}},
		{name: "seven threads", run: driver.RunOptions{Threads: 7}},
	}
	if quick := driver.QuickSession(t); quick != nil {
		out = append(out,
			variant{name: "cpu", run: driver.RunOptions{Engine: "cpu"}},
			variant{name: "cpu without fusion", noFuse: true, run: driver.RunOptions{Threads: 3},
				session: quick})
	}
	if _, _, err := driver.ChooseEngine("gpu"); err == nil {
		out = append(out,
			variant{name: "gpu", run: driver.RunOptions{Engine: "gpu"}},
			variant{name: "gpu without fusion", noFuse: true,
				run: driver.RunOptions{Engine: "gpu", Resident: true}})
	}
	var all []string
	for _, p := range driver.Passes() {
		if p.Required {
			continue
		}
		all = append(all, p.Name)
		out = append(out, variant{name: "without " + p.Name, disable: []string{p.Name}})
	}
	return append(out, variant{name: "without any optional pass", disable: all})
}

// runOver loads facts and runs a program of the variant.
func (v variant) runOver(ctx context.Context, prog *driver.Program,
	facts *driver.Facts) (*driver.Result, error) {
	if v.session == nil {
		return prog.Run(ctx, facts, v.run)
	}
	db, err := v.session.Load(ctx, prog, facts, driver.LoadOptions{})
	if err != nil {
		return nil, err
	}
	return v.session.Run(ctx, prog, db, v.run)
}

// TestPrograms runs every program of testdata/programs in every variant and
// compares all its exported predicates, as text, with expected/, or the failure
// with expected.err.
func TestPrograms(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil || len(dirs) < 60 {
		t.Fatalf("%d programs found: %v", len(dirs), err)
	}
	all, quick := variants(t), driver.QuickSession(t)
	if testing.Short() {
		t.Log("left out: -short: most programs on the cpu and gpu engines, and without one pass")
	}
	for i, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			for j, v := range all {
				if isLeftOut(v, i+j) {
					continue
				}
				if v.name == "cpu" && i%4 > 0 && !short.Every() {
					v.session = quick // plain go test has LLVM optimise each fourth program
				}
				got, runErr := runProgram(file, filepath.Join(dir, "facts"), v)
				if _, err := os.Stat(filepath.Join(dir, "expected")); err == nil {
					if runErr != nil {
						t.Fatalf("%s: %v", v.name, runErr)
					}
					comparePredicates(t, v.name, filepath.Join(dir, "expected"), got)
					continue
				}
				compareFailure(t, v.name, filepath.Join(dir, "expected.err"), runErr)
			}
		})
	}
}

// isLeftOut reports whether a variant of the n-th combination of a program and
// a variant is left out: with -short, code of LLVM but for every twentieth, and
// the lack of one pass but for every tenth; without it, the lack of one pass
// but for every third, unless every case runs.
func isLeftOut(v variant, n int) bool {
	part := 3
	if testing.Short() {
		part = 10
	}
	switch {
	case v.session != nil || v.run.Engine != "":
		return testing.Short() && n%20 != 0
	case len(v.disable) == 1:
		return !short.Every() && n%part != 0
	}
	return false
}

// runProgram returns each exported predicate as sorted TSV.
func runProgram(file, facts string, v variant) (map[string]string, error) {
	ctx := context.Background()
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	prog, err := driver.Compile(ctx, []driver.Source{driver.Text("program.logic", string(text))},
		driver.Options{Disable: v.disable, NoFuse: v.noFuse})
	if err != nil {
		return nil, err
	}
	res, err := v.runOver(ctx, prog, driver.FactsIn(facts))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, pred := range res.Predicates() {
		var b bytes.Buffer
		if err := res.Write(&b, pred, driver.TSV, driver.WriteOptions{}); err != nil {
			return nil, fmt.Errorf("writing %s: %w", pred, err)
		}
		out[pred] = b.String()
	}
	return out, nil
}

func comparePredicates(t *testing.T, variant, dir string, got map[string]string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no expected results in %s: %v", dir, err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".tsv")
		text, ok := got[name]
		if !ok {
			text, ok = got[strings.ReplaceAll(name, "_", ":")]
		}
		if !ok {
			t.Fatalf("%s: no predicate %s in the result", variant, name)
		}
		if text != string(want) {
			t.Fatalf("%s: %s differs\ngot:\n%s\nwant:\n%s", variant, name, head(text),
				head(string(want)))
		}
	}
}

func compareFailure(t *testing.T, variant, file string, err error) {
	t.Helper()
	var wrong *driver.ProgramError
	if !errors.As(err, &wrong) {
		t.Fatalf("%s: expected a *ProgramError, got %v", variant, err)
	}
	// Files of facts have their place below the root of the module.
	got := strings.ReplaceAll(wrong.Error(), "../../testdata/", "testdata/") + "\n"
	if *rewriteErrors && variant == "default" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Fatalf("%s:\ngot:\n%s\nwant:\n%s", variant, got, want)
	}
}

func head(s string) string {
	const most = 2000
	if len(s) > most {
		return s[:most] + "...\n"
	}
	return s
}
