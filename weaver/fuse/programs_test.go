package fuse

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/lower"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/reference/testprograms"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
	"github.com/redfoxdb/redfox/queryplan/sortpairs"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 40, "number of random programs")
)

// logiql returns the program below a directive, or that of file=F of the root
// testdata.
func logiql(t *testing.T, d *datadriven.TestData) string {
	if !d.HasArg("file") {
		return d.Input
	}
	var name string
	d.ScanArgs(t, "file", &name)
	text, err := testprograms.Text(filepath.Join("../../testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// lowered compiles a program to kernels, by way of all passes of the optimiser
// if that is asked for. A program with queries yields them alone then. It tells
// which relations get no tuple twice, too.
func lowered(t *testing.T, text string,
	optimise bool) (*core.Program, *harmony.Program, func(*harmony.Relation) bool) {
	t.Helper()
	prog, found := frontend.Compile([]*source.File{source.NewFile("test.logic", text)},
		frontend.Options{})
	if prog == nil {
		t.Fatalf("%s\n%s", found[0].Message, text)
	}
	plan, err := build.Build(prog)
	if err != nil {
		t.Fatal(err)
	}
	planref.HideNumbers(prog, plan)
	if optimise {
		queries := false
		for _, v := range plan.Vars {
			queries = queries || strings.HasPrefix(v.Name, "_")
		}
		for _, v := range plan.Vars {
			if queries && !strings.HasPrefix(v.Name, "_") {
				v.Output, v.OrderBy, v.Limit = false, nil, -1
			}
		}
		if plan, _, err = rewrite.Run(plan, nil, rewrite.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	plan, _ = sortpairs.Apply(plan)
	p, err := lower.Lower(plan)
	if err != nil {
		t.Fatal(err)
	}
	return prog, p, harmony.Distinct(plan)
}

// variants fuses a program in every way that is told apart: as is, for each
// budget, not at all, and with one or several of the pairs that were fused kept
// apart.
func variants(t *testing.T, name string, p *harmony.Program, distinct func(*harmony.Relation) bool,
	rng *rand.Rand, visit func(Options, *harmony.Program)) {
	t.Helper()
	var fused []Fusion
	for _, b := range budgets {
		out, rep := fuseTwice(t, name, p, Options{Budget: b, Distinct: distinct})
		fused = append(fused, rep.Fusions...)
		visit(Options{Budget: b}, out)
	}
	large := Options{Distinct: distinct, Large: 1}
	out, _ := fuseTwice(t, name, p, large)
	visit(large, out)
	off, _ := fuseTwice(t, name, p, Options{Off: true})
	if off.String() != p.String() {
		t.Errorf("%s: fusion is off and changes the program", name)
	}
	if len(fused) == 0 {
		return
	}
	for range 3 {
		opts := Options{Distinct: distinct}
		for range 1 + rng.IntN(2) {
			opts.Keep = append(opts.Keep, fused[rng.IntN(len(fused))].Pair)
		}
		out, rep := fuseTwice(t, name, p, opts)
		for _, x := range rep.Fusions {
			for _, pair := range opts.Keep {
				if x.Pair == pair {
					t.Errorf("%s: %v are kept apart and fused", name, pair)
				}
			}
		}
		visit(opts, out)
	}
}

// maxFacts bounds the programs that the reference runs.
const maxFacts = 100

// TestPrograms fuses the whole programs in all variants and runs them.
func TestPrograms(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/programs/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no programs", err)
	}
	before, after := 0, 0
	for _, dir := range short.Part(t, dirs, "programs") {
		text, err := os.ReadFile(filepath.Join(dir, "program.logic"))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			prog, p, distinct := lowered(t, string(text), true)
			given, err := oracle.ReadFacts(filepath.Join(dir, "facts"), prog)
			if err != nil {
				t.Fatal(err)
			}
			facts, n := map[string]planref.Rows{}, 0
			for name, tuples := range given {
				for _, tuple := range tuples {
					facts[name] = append(facts[name], scalar.SplitRow(tuple))
				}
				n += len(tuples)
			}
			before += len(p.Kernels())
			first := true
			variants(t, dir, p, distinct, rng, func(opts Options, out *harmony.Program) {
				if first {
					after, first = after+len(out.Kernels()), false
				}
				if n > maxFacts {
					return
				}
				if why := harmonyref.Disagreement(facts, p, out, 1); why != "" {
					t.Fatalf("%+v: %s", opts, why)
				}
			})
		})
	}
	t.Logf("%d kernels became %d", before, after)
	if after >= before {
		t.Error("nothing is fused")
	}
}

// TestRandomPrograms fuses random programs in all variants and runs them over
// random facts.
func TestRandomPrograms(t *testing.T) {
	for seed, n := *firstSeed, short.Count(t, *seedCount,
		"random programs"); seed < *firstSeed+n; seed++ {
		rng := rand.New(rand.NewPCG(seed, 3))
		for _, optimise := range []bool{false, true} {
			_, p, distinct := lowered(t, randprog.New(seed).Text(), optimise)
			variants(t, fmt.Sprintf("seed %d", seed), p, distinct, rng,
				func(opts Options, out *harmony.Program) {
					if why := disagreement(rng.Uint64(), p, out); why != "" {
						t.Fatalf("seed %d, %+v: %s", seed, opts, why)
					}
				})
		}
	}
}
