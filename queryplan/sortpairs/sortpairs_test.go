package sortpairs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/linediff"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
)

// TestApply runs testdata: the input of "plan" is a plan, that of "logiql" a
// program. They print what is sorted, and what it changes.
func TestApply(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var p *queryplan.Plan
			switch d.Cmd {
			case "plan":
				var err error
				if p, err = queryplan.Parse("test.plan", d.Input); err == nil {
					err = queryplan.Verify(p)
				}
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
			case "logiql":
				p = optimised(t, d.Input)
			}
			out, sorted := apply(t, p)
			for seed := range uint64(4) {
				compare(t, p, out, rand.New(rand.NewPCG(seed, 1)))
			}
			if len(sorted) == 0 {
				return "as it is\n"
			}
			var b strings.Builder
			for _, s := range sorted {
				fmt.Fprintln(&b, s)
			}
			b.WriteString(linediff.Diff(p.String(), out.String()))
			return b.String()
		})
	})
}

// TestRandomPrograms holds the plans of random programs against what they were.
// Some have folds.
func TestRandomPrograms(t *testing.T) {
	folds := 0
	for seed := range uint64(400) {
		text := randprog.New(seed).Text()
		if !strings.Contains(text, "lang:iterate[") {
			continue
		}
		p := optimised(t, text)
		out, sorted := apply(t, p)
		if len(sorted) == 0 {
			continue
		}
		folds++
		for i := range uint64(3) {
			compare(t, p, out, rand.New(rand.NewPCG(seed, i)))
		}
	}
	if folds < 5 {
		t.Errorf("%d programs have folds", folds)
	}
}

func optimised(t *testing.T, text string) *queryplan.Plan {
	t.Helper()
	prog, found := frontend.Compile([]*source.File{source.NewFile("test.logic", text)},
		frontend.Options{})
	if prog == nil {
		t.Fatalf("%s\n%s", found[0].Message, text)
	}
	p, err := build.Build(prog)
	if err == nil {
		planref.HideNumbers(prog, p)
		p, _, err = rewrite.Run(p, nil, rewrite.Options{Verify: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// apply applies the step, twice: the second time has to give the same text.
func apply(t *testing.T, p *queryplan.Plan) (*queryplan.Plan, []Sorted) {
	t.Helper()
	before := p.String()
	out, sorted := Apply(p)
	if err := queryplan.Verify(out); err != nil {
		t.Fatalf("%v\n%s\n%s", err, p, out)
	}
	if again, _ := Apply(p); again.String() != out.String() || p.String() != before {
		t.Fatalf("applied twice:\n%s\n%s\n%s", before, out, again)
	}
	if (len(sorted) == 0) != (out == p) {
		t.Fatalf("%d variables are sorted in\n%s", len(sorted), out)
	}
	return out, sorted
}

// compare runs both plans over random facts.
func compare(t *testing.T, p, out *queryplan.Plan, rng *rand.Rand) {
	t.Helper()
	facts := planref.RandomFacts(rng, p)
	want, wantErr := planref.Run(p, facts)
	got, gotErr := planref.Run(out, facts)
	if (wantErr == nil) != (gotErr == nil) ||
		wantErr == nil && fmt.Sprint(want) != fmt.Sprint(got) {
		t.Fatalf("%v, %v\nand was %v, %v\n%s\n%s", got, gotErr, want, wantErr, p, out)
	}
}
