package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestBuild runs the files of testdata: "build" compiles a program and prints
// its plan, with "spans" also the places of rules. Each plan is also run
// without facts from outside and has to answer what brute force answers.
func TestBuild(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			prog := compile(t, "test.logic", d.Input)
			p, err := Build(prog)
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			again, err := Build(compile(t, "test.logic", d.Input))
			if err != nil || again.String() != p.String() {
				t.Errorf("%s: a second build differs: %v", d.Pos, err)
			}
			checkParse(t, p)
			compareWithOracle(t, prog, p, nil)
			return p.Format(queryplan.FormatOptions{Spans: d.HasArg("spans")})
		})
	})
}

// maxFacts bounds the programs that are run by brute force here.
const maxFacts = 200

// TestPrograms holds the plans of all whole programs against brute force.
func TestPrograms(t *testing.T) {
	files, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	for _, file := range short.Part(t, files, "programs") {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			prog := compile(t, file, readFile(t, file))
			p, err := Build(prog)
			if err != nil {
				t.Fatal(err)
			}
			checkParse(t, p)
			facts, err := oracle.ReadFacts(filepath.Join(dir, "facts"), prog)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, tuples := range facts {
				n += len(tuples)
			}
			if n > maxFacts {
				t.Skipf("too large for brute force: %d facts", n)
			}
			compareWithOracle(t, prog, p, facts)
		})
	}
}

// TestRandomPrograms holds the plans of random programs against brute force.
func TestRandomPrograms(t *testing.T) {
	for seed := range short.Count(t, 300, "random programs") {
		r := randprog.New(seed)
		dir := t.TempDir()
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		prog := compile(t, fmt.Sprintf("seed %d", seed), r.Text())
		p, err := Build(prog)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, r.Text())
		}
		checkParse(t, p)
		facts, err := oracle.ReadFacts(filepath.Join(dir, "facts"), prog)
		if err != nil {
			t.Fatal(err)
		}
		compareWithOracle(t, prog, p, facts)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\n%s", seed, r.Text(), p)
		}
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compile(t *testing.T, name, text string) *core.Program {
	t.Helper()
	prog, found := frontend.Compile([]*source.File{source.NewFile(name, text)}, frontend.Options{})
	if prog == nil {
		for _, d := range found {
			if d.Severity == diag.Error {
				pos := d.Span.Position()
				t.Errorf("%s:%d: %s", name, pos.Line, d.Message)
			}
		}
		t.FailNow()
	}
	return prog
}

// checkParse holds that the text of a plan is the plan.
func checkParse(t *testing.T, p *queryplan.Plan) {
	t.Helper()
	for _, spans := range []bool{false, true} {
		text := p.Format(queryplan.FormatOptions{Spans: spans})
		again, err := queryplan.Parse("plan", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !queryplan.EqualPlan(p, again) {
			t.Errorf("the plan changes when it is printed and parsed:\n%s\n%s", text, again)
		}
	}
}

// compareWithOracle runs the plan in the obvious way and the program by brute
// force: outputs, violations and refusals have to be the same.
func compareWithOracle(t *testing.T, prog *core.Program, p *queryplan.Plan, facts oracle.Facts) {
	t.Helper()
	given := map[string]planref.Rows{}
	for name, tuples := range facts {
		for _, tuple := range tuples {
			given[name] = append(given[name], scalar.SplitRow(tuple))
		}
	}
	want, wantErr := oracle.Run(prog, facts)
	got, err := planref.RunProving(p, given)
	var key *oracle.KeyError
	var overflow *oracle.OverflowError
	switch {
	case errors.As(wantErr, &key):
		at := slices.IndexFunc(p.Vars, func(v *queryplan.Var) bool {
			return v.Name == key.Pred.Name
		})
		if p.Vars[at].Kind == queryplan.Input {
			return // whoever loads the facts refuses them
		}
		if !errors.Is(err, planref.ErrKey) {
			t.Errorf("the plan ends with %v instead of %v", err, wantErr)
		}
		return
	case errors.As(wantErr, &overflow):
		checked := err == nil && slices.ContainsFunc(p.Blocks, func(b *queryplan.Block) bool {
			return slices.ContainsFunc(b.Cmds, func(c queryplan.Command) bool {
				check, ok := c.(*queryplan.Check)
				return ok && check.Result != nil && len(got.Violations[check.About()]) > 0
			})
		})
		if !errors.Is(err, planref.ErrOverflow) && !checked {
			t.Errorf("the plan ends with %v instead of %v", err, wantErr)
		}
		return
	case err != nil || wantErr != nil:
		t.Fatalf("plan: %v, brute force: %v\n%s", err, wantErr, p)
	}
	for _, pred := range prog.Preds {
		if pred.Exported && !pred.HasNumbers() {
			compareRows(t, pred.Name, got.Outputs[pred.Name], want.Tuples[pred.Name])
		}
	}
	found := map[string][]oracle.Tuple{}
	for _, v := range want.Violations {
		found[v.Check.Text] = append(found[v.Check.Text], v.Bindings...)
	}
	for text, tuples := range found {
		slices.SortFunc(tuples, oracle.Compare)
		// A constraint with several conclusions is several checks of one text.
		found[text] = slices.CompactFunc(tuples, func(a, b oracle.Tuple) bool {
			return slices.Equal(a, b)
		})
	}
	for _, c := range prog.Checks {
		compareRows(t, c.Text, got.Violations[c.Text], found[c.Text])
	}
}

func compareRows(t *testing.T, name string, got planref.Rows, want []oracle.Tuple) {
	t.Helper()
	a, b := fmt.Sprintln(len(got)), fmt.Sprintln(len(want))
	for _, r := range got {
		a += oracle.Tuple(scalar.JoinedRow(r)).String() + "\n"
	}
	for _, r := range want {
		b += r.String() + "\n"
	}
	if a != b {
		t.Errorf("%s: the plan gives\n%sinstead of\n%s", name, head(a), head(b))
	}
}

// head cuts long text.
func head(s string) string {
	if lines := strings.SplitAfter(s, "\n"); len(lines) > 30 {
		return strings.Join(lines[:30], "") + "...\n"
	}
	return s
}
