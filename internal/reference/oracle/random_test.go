package oracle

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/short"
)

var (
	firstSeed = flag.Uint64("seed", 0, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 200, "number of random programs")
	keep      = flag.String("keep", "", "folder to write failing random programs to, shrunk")
)

// TestRandomPrograms compares redfox, as it is and without its optional passes,
// with brute force on random programs. A failing program is shrunk and shown;
// with -keep it becomes a folder as testdata/programs has them.
func TestRandomPrograms(t *testing.T) {
	dir := t.TempDir()
	large := 0
	for seed, n := *firstSeed, short.Count(t, *seedCount,
		"random programs"); seed < *firstSeed+n; seed++ {
		p := randprog.New(seed).WithTerms()
		why, err := disagreement(dir, p)
		if errors.Is(err, ErrTooLarge) {
			large++
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Text())
		}
		if why == "" {
			continue
		}
		small := randprog.Shrink(p, func(q *randprog.Program) bool {
			why, err := disagreement(dir, q)
			return err == nil && why != ""
		})
		why, _ = disagreement(dir, small)
		t.Errorf("seed %d: %s\n\n%s%s", seed, why, small.Text(), factText(small))
		if *keep != "" {
			if err := small.Write(filepath.Join(*keep,
				fmt.Sprintf("random-program-%d", seed))); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d of %d programs were too large for brute force", large, *seedCount)
}

func factText(p *randprog.Program) string {
	var b strings.Builder
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "// fact of %s: %s\n", f.Pred, strings.Join(f.Fields, "\t"))
	}
	return b.String()
}

// disagreement says in what redfox and the oracle differ, "" if in nothing. The
// error is of a program that tells nothing: one that is refused or too large.
func disagreement(dir string, p *randprog.Program) (why string, err error) {
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := p.Write(dir); err != nil {
		return "", err
	}
	program, _ := frontend.Compile([]*source.File{source.NewFile("program.logic", p.Text())},
		frontend.Options{})
	if program == nil {
		return "", errors.New("the program is refused")
	}
	facts, err := ReadFacts(filepath.Join(dir, "facts"), program)
	if err != nil {
		return "", err
	}
	want, refusal := RunBounded(program, facts, 300_000)
	if errors.Is(refusal, ErrTooLarge) {
		return "", refusal
	}
	codes := []string{diag.KeyConflict.ID, diag.TotalOverflow.ID}
	if refusal == nil && len(want.Violations) > 0 {
		refusal = errors.New("a constraint is violated")
		codes = []string{diag.ConstraintViolated.ID}
	}
	var optional []string
	for _, pass := range driver.Passes() {
		if !pass.Required {
			optional = append(optional, pass.Name)
		}
	}
	for _, disable := range [][]string{nil, optional} {
		got, err := answers(p.Text(), filepath.Join(dir, "facts"), disable)
		var wrong *driver.ProgramError
		switch {
		case refusal != nil && errors.As(err, &wrong) &&
			slices.Contains(codes, wrong.Diagnostics[0].Code.ID):
			continue
		case refusal != nil:
			return fmt.Sprintf("without passes %v: got %v, want a refusal: %v", disable, err,
				refusal), nil
		case err != nil:
			return fmt.Sprintf("without passes %v: %v", disable, err), nil
		}
		for _, pred := range program.Preds {
			if !pred.Exported {
				continue
			}
			if text := TSV(want.Tuples[pred.Name]); got[pred.Name] != text {
				return fmt.Sprintf("without passes %v, %s differs:\n%s", disable, pred.Name,
					difference(got[pred.Name], text)), nil
			}
		}
	}
	return "", nil
}

// answers runs a program and returns its exported predicates as TSV. A panic
// comes back as an error, so that its program can be shrunk.
func answers(text, facts string, disable []string) (out map[string]string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	ctx := context.Background()
	prog, err := driver.Compile(ctx, []driver.Source{driver.Text("program.logic", text)},
		driver.Options{Disable: disable})
	if err != nil {
		return nil, err
	}
	from := driver.NewFacts()
	tables, err := filepath.Glob(filepath.Join(facts, "*.csv"))
	if err != nil {
		return nil, err
	}
	header := true
	for _, path := range tables {
		from.Add(driver.FactFile{Pred: strings.TrimSuffix(filepath.Base(path), ".csv"), Path: path,
			Header: &header})
	}
	result, err := prog.Run(ctx, from.Dir(facts), driver.RunOptions{})
	if err != nil {
		return nil, err
	}
	out = map[string]string{}
	for _, pred := range result.Predicates() {
		var b bytes.Buffer
		if err := result.Write(&b, pred, driver.TSV, driver.WriteOptions{}); err != nil {
			return nil, err
		}
		out[pred] = b.String()
	}
	return out, nil
}
