package oracle

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

var rewrite = flag.Bool("rewrite", false, "write what the oracle answers into the expected folders")

// programs is the folder of whole programs.
const programs = "../../../testdata/programs"

// Nested loops take too long beyond these sizes.
const (
	maxFacts    = 2000  // tuples of facts
	maxExpected = 12000 // tuples of expected relations
	maxShort    = 1100  // tuples of expected relations, with -short
)

// TestPrograms holds the expected answers of the whole programs against brute
// force. Answers of programs too large for it were computed otherwise; engines
// are tested with them.
func TestPrograms(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(programs, "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no programs in %s: %v", programs, err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { testProgram(t, dir) })
	}
}

func testProgram(t *testing.T, dir string) {
	p := compileFile(t, filepath.Join(dir, "program.logic"))
	facts, err := ReadFacts(filepath.Join(dir, "facts"), p)
	if err != nil {
		t.Fatal(err)
	}
	_, missing := os.Stat(filepath.Join(dir, "expected.err"))
	refused := missing == nil
	expected, rows := readExpected(t, p, filepath.Join(dir, "expected"))
	given := 0
	for _, tuples := range facts {
		given += len(tuples)
	}
	if testing.Short() && rows > maxShort {
		t.Skipf("-short: %d expected tuples, at most %d", rows, maxShort)
	}
	if given > maxFacts || rows > maxExpected {
		t.Skipf("too large for brute force: %d tuples of facts (at most %d), %d expected (at most %d)", given, maxFacts, rows, maxExpected)
	}
	result, err := Run(p, facts)
	if refused {
		compareRefusal(t, filepath.Join(dir, "expected.err"), result, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range result.Violations {
		t.Errorf("constraint violated: %s by %v", v.Check.Text, v.Bindings)
	}
	compareExpected(t, dir, p, result, expected)
}

// compareRefusal wants the code of the refusal in the expected message, and the
// values that it speaks of. The rest of the wording is the driver's.
func compareRefusal(t *testing.T, file string, result *Result, err error) {
	t.Helper()
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		t.Fatal(readErr)
	}
	var want []string
	var key *KeyError
	var overflow *OverflowError
	switch {
	case errors.As(err, &key):
		want = append(want, diag.KeyConflict.ID, key.Pred.Name)
		for _, v := range key.First[:key.Pred.Keys] {
			want = append(want, scalar.Literal(v))
		}
	case errors.As(err, &overflow):
		want = append(want, diag.TotalOverflow.ID)
		for _, v := range overflow.Group {
			want = append(want, scalar.Literal(v))
		}
	case err != nil:
		t.Fatal(err)
	case len(result.Violations) == 0:
		t.Fatal("nothing is refused")
	default:
		for _, violation := range result.Violations {
			want = append(want, diag.ConstraintViolated.ID,
				fmt.Sprintf("%d binding", len(violation.Bindings)))
			if len(violation.Bindings) == 1 {
				want[len(want)-1] = "one binding"
			}
			for i, binding := range violation.Bindings {
				if i == maxShown {
					want = append(want, fmt.Sprintf("and %d more", len(violation.Bindings)-i))
					break
				}
				parts := make([]string, len(binding))
				for c, v := range binding {
					name, _, _ := strings.Cut(violation.Check.Vars[c].Name, "$") // of a wildcard
					parts[c] = name + " = " + scalar.Literal(v)
				}
				want = append(want, "note: "+strings.Join(parts, ", ")+"\n")
			}
		}
	}
	for _, w := range want {
		if !strings.Contains(string(text), w) {
			t.Errorf("expected.err does not say %q:\n%s", w, text)
		}
	}
}

// maxShown is how many bindings of a violated constraint redfox shows.
const maxShown = 10

func compareExpected(t *testing.T, dir string, p *core.Program, result *Result,
	expected map[string]string) {
	t.Helper()
	for _, pred := range p.Preds {
		if !pred.Exported {
			continue
		}
		got := TSV(result.Tuples[pred.Name])
		want, ok := expected[pred.Name]
		delete(expected, pred.Name)
		if *rewrite {
			if err := os.MkdirAll(filepath.Join(dir, "expected"), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "expected", pred.Name+".tsv"), []byte(got),
				0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if !ok {
			t.Errorf("there is no expected/%s.tsv; the answer is\n%s", pred.Name, got)
		} else if got != want {
			t.Errorf("%s:\n%s", pred.Name, difference(got, want))
		}
	}
	for name := range expected {
		t.Errorf("expected/%s.tsv is of no exported predicate", name)
	}
}

// difference lists the lines that are in one text alone.
func difference(got, want string) string {
	var b strings.Builder
	only := func(sign, a, in string) {
		for line := range strings.Lines(a) {
			if !strings.Contains("\n"+in, "\n"+line) {
				fmt.Fprintf(&b, "%s %s\n", sign, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	only("got", got, want)
	only("want", want, got)
	if b.Len() == 0 {
		fmt.Fprintf(&b, "the order or the number of lines differs; got\n%swant\n%s", got, want)
	}
	return b.String()
}

func compileFile(t testing.TB, file string) *core.Program {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, filepath.Base(file), string(text))
}

func compile(t testing.TB, name, text string) *core.Program {
	t.Helper()
	program, found := frontend.Compile([]*source.File{source.NewFile(name, text)},
		frontend.Options{})
	if program == nil {
		var b strings.Builder
		for _, d := range found {
			if d.Severity == diag.Error {
				at := d.Span.Position()
				fmt.Fprintf(&b, "%s:%d:%d: %s\n", at.File, at.Line, at.Column, d.Message)
			}
		}
		t.Fatalf("the program is refused:\n%s", b.String())
	}
	return program
}

// readExpected returns the texts of the expected files and how many lines they
// have together.
func readExpected(t *testing.T, p *core.Program,
	dir string) (texts map[string]string, lines int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".tsv")
		if findPred(p, name) == nil {
			name = strings.ReplaceAll(name, "_", ":")
		}
		texts[name] = string(text)
		lines += strings.Count(string(text), "\n")
	}
	return texts, lines
}
