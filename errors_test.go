package redfox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramErrors wants the places of mistakes in programs and in facts.
func TestProgramErrors(t *testing.T) {
	ctx := context.Background()
	_, err := Compile(ctx, []Source{Text("p.logic", "n(1).\nm(x) <- k(x).\nn(x) <- m(y).\n")},
		Options{})
	var wrong *ProgramError
	if !errors.As(err, &wrong) || len(wrong.Diagnostics) < 2 {
		t.Fatalf("%v", err)
	}
	for _, d := range wrong.Diagnostics {
		if d.Code == "" || d.Name == "" || d.Message == "" || d.Place.File != "p.logic" ||
			d.Place.Line < 2 || d.Place.Column < 1 || !strings.Contains(err.Error(), d.String()) {
			t.Errorf("%+v", d)
		}
	}

	file := filepath.Join(t.TempDir(), "n.tsv")
	if err := os.WriteFile(file, []byte("1\nx\n3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := program(t, "n(x) -> int(x).\nm(x) <- n(x).\nn(x) -> x < 3.\n")
	_, err = p.Run(ctx, NewFacts().File("n", file), RunOptions{})
	if !errors.As(err, &wrong) || len(wrong.Diagnostics) != 1 ||
		wrong.Diagnostics[0].Place != (Place{file, 2, 1}) {
		t.Errorf("%+v", wrong)
	}

	res, err := p.Run(ctx, NewFacts().File("n", file),
		RunOptions{KeepGoing: true, Load: LoadOptions{SkipMalformed: true}})
	if !errors.As(err, &wrong) || res == nil {
		t.Fatalf("%v, %v", res, err)
	}
	if got, err := Scan[int](res, "m"); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestEnvironmentErrors wants errors of the call and of the machine to keep
// their advice and their cause.
func TestEnvironmentErrors(t *testing.T) {
	ctx := context.Background()
	p := program(t, "n(x) -> int(x).\nm(x) <- n(x).\n")
	_, engine := p.Run(ctx, nil, RunOptions{Engine: "gp"})
	_, output := p.Run(ctx, nil, RunOptions{Outputs: []string{"k"}})
	_, facts := p.Run(ctx, NewFacts().Rows("nn", []any{1}), RunOptions{})
	_, sources := ReadSources(filepath.Join(t.TempDir(), "none.logic"))
	_, compiled := ReadCompiled("p.rfx", strings.NewReader("x"), Options{})
	_, session := OpenSession(SessionOptions{Engine: "gp"})
	for _, err := range []error{engine, output, facts, sources, compiled, session} {
		var lack *EnvironmentError
		if !errors.As(err, &lack) || lack.Message == "" || lack.OutOfMemory() {
			t.Errorf("%T %v", err, err)
		}
	}
	if !errors.Is(sources, os.ErrNotExist) {
		t.Errorf("%v", sources)
	}

	many := make([]int, 1<<16)
	for i := range many {
		many[i] = i
	}
	pairs := program(t, "n(x) -> int(x).\npair(x, y) <- n(x), n(y).\n")
	_, err := pairs.Run(ctx, NewFacts().Columns("n", many), RunOptions{Memory: 4 << 20})
	var lack *EnvironmentError
	if !errors.As(err, &lack) || !lack.OutOfMemory() {
		t.Errorf("%T %v", err, err)
	}
}
