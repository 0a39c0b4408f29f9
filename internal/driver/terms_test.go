package driver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const termsProgram = `
e(x) -> .
of[n] = x -> int(n), e(x).
pair[x, y] = z -> e(x), e(y), e(z).
lang:constructor(` + "`" + `of).
lang:constructor(` + "`" + `pair).
p(x, n) -> e(x), int(n).
f[x] = n -> e(x), int(n).
all(x, n) <- p(x, n).
all(x, n) <- f[x] = n.
`

// TestFieldsThatAreNoTerms leaves out the rows whose fields are no terms, or
// fails at the first one.
func TestFieldsThatAreNoTerms(t *testing.T) {
	ctx := context.Background()
	p, err := Compile(ctx, []Source{Text("program.logic", termsProgram)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "p.tsv")
	if err := os.WriteFile(file, []byte("of[1]\t1\n"+"of[]\t2\n"+"pair[of[1], of[2]]\t3\n"+
		"of[1]\tx\n"+"pair[of[7], of[8]\t3\n"+"of[1]\t4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	facts := NewFacts().File("p", file).Rows("f", []any{"of[ 1 ]", 5}, []any{"of[2]", 5},
		[]any{"of[1]", 5})
	db, err := p.Load(ctx, facts, LoadOptions{SkipMalformed: true})
	if err != nil {
		t.Fatal(err)
	}
	f := db.Report().Files[0]
	if f.Rows != 3 || f.Skipped != 3 || len(f.Examples) != 3 {
		t.Errorf("%d rows, %d skipped, %d examples", f.Rows, f.Skipped, len(f.Examples))
	}
	for i, line := range []int64{4, 2, 5} {
		if e := f.Examples[i]; e.Line != line || i > 0 && e.Column != 1 {
			t.Errorf("example %d is at %s", i, e.Place())
		}
	}
	res, err := p.RunOn(ctx, db, RunOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tuples(res)["all"],
		"of[1]1; of[1]4; of[1]5; of[2]5; pair[of[1], of[2]]3"; got != want {
		t.Errorf("all is %s, want %s", got, want)
	}
	if err := os.WriteFile(file, []byte("of[1]\t1\nof[]\t2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = p.Load(ctx, facts, LoadOptions{})
	var wrong *ProgramError
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	d := wrong.Diagnostics[0]
	if d.Data.Line != 2 || d.Data.Column != 1 || d.Data.File != file || len(d.Helps) != 1 ||
		!strings.Contains(d.Helps[0], "for example of[0]") {
		t.Errorf("%+v", d)
	}
}

// TestFactsThatNameNoEntities gives terms to predicates that take none.
func TestFactsThatNameNoEntities(t *testing.T) {
	ctx := context.Background()
	const loads = "+p(x, 0) <- of[_] = x.\n"
	for _, tt := range []struct {
		program string
		facts   *Facts
		want    string
	}{
		{strings.Split(termsProgram, "f[x]")[0], NewFacts().Rows("p", []any{"of[1]", 2}),
			"without rules"},
		{termsProgram, NewFacts().Rows("of", []any{1, "of[1]"}), "of is a constructor"},
	} {
		p, err := Compile(ctx, []Source{Text("program.logic", tt.program+loads)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Load(ctx, tt.facts, LoadOptions{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("the error is %v", err)
		}
	}
}
