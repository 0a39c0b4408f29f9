package lower

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
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/reference/testprograms"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/build"
	"github.com/redfoxdb/redfox/queryplan/rewrite"
)

// TestLower runs the files of testdata. The directives are
//
//	plan     lowers the plan text below
//	logiql   lowers the optimised plan of the program below, or of file=F of the
//	         root testdata
//
// and print the kernel graph, with lifetimes if that is asked for. Every graph
// is run on random facts and has to agree with its plan.
func TestLower(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
				var p *queryplan.Plan
				switch d.Cmd {
				case "plan":
					var err error
					p, err = queryplan.Parse("test.plan", d.Input)
					if err == nil {
						err = queryplan.Verify(p)
					}
					if err != nil {
						t.Fatalf("%s: %v", d.Pos, err)
					}
				case "logiql":
					text := d.Input
					if d.HasArg("file") {
						var name string
						d.ScanArgs(t, "file", &name)
						var err error
						text, err = testprograms.Text(filepath.Join("../../testdata", name))
						if err != nil {
							t.Fatal(err)
						}
					}
					_, p = compile(t, text)
					p = optimise(t, p)
				default:
					t.Fatalf("%s: no directive %s", d.Pos, d.Cmd)
				}
				out := lowered(t, p)
				for seed := range uint64(5) {
					compareRuns(t, p, out,
						planref.RandomFacts(rand.New(rand.NewPCG(seed, 1)), p), seed)
				}
				return out.Format(harmony.FormatOptions{Lifetimes: d.HasArg("lifetimes"),
					Ops: d.HasArg("ops")})
			})
		})
	}
}

// compile returns a program and its plan, which yields the queries alone if
// there are any.
func compile(t *testing.T, text string) (*core.Program, *queryplan.Plan) {
	t.Helper()
	prog, found := frontend.Compile([]*source.File{source.NewFile("test.logic", text)},
		frontend.Options{})
	if prog == nil {
		t.Fatalf("%s\n%s", found[0].Message, text)
	}
	p, err := build.Build(prog)
	if err != nil {
		t.Fatal(err)
	}
	planref.HideNumbers(prog, p)
	return prog, p
}

func optimise(t *testing.T, p *queryplan.Plan) *queryplan.Plan {
	t.Helper()
	p = queryplan.Clone(p)
	queries := false
	for _, v := range p.Vars {
		queries = queries || strings.HasPrefix(v.Name, "_")
	}
	for _, v := range p.Vars {
		if queries && !strings.HasPrefix(v.Name, "_") {
			v.Output, v.OrderBy, v.Limit = false, nil, -1
		}
	}
	p, _, err := rewrite.Run(p, nil, rewrite.Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lowered lowers and verifies, twice: the second time has to give the same
// text.
func lowered(t *testing.T, p *queryplan.Plan) *harmony.Program {
	t.Helper()
	out, err := Lower(p)
	if err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	if err := harmony.Verify(out); err != nil {
		t.Fatalf("%v\n%s\n%s", err, p, out)
	}
	text := out.String()
	again, err := Lower(p)
	if err != nil || again.String() != text {
		t.Fatalf("lowering twice differs: %v\n%s\n%s", err, text, again)
	}
	parsed, err := harmony.Parse("again.harmony", text)
	if err != nil || parsed.String() != text || harmony.Verify(parsed) != nil {
		t.Fatalf("the text reads differently: %v\n%s\n%s", err, text, parsed)
	}
	return out
}

// compareRuns holds a kernel graph against its plan, with rows in their order
// and shuffled.
func compareRuns(t *testing.T, p *queryplan.Plan, out *harmony.Program,
	facts map[string]planref.Rows, seed uint64) {
	t.Helper()
	want, wantErr := planref.Run(p, facts)
	for _, shuffle := range []*rand.Rand{nil, rand.New(rand.NewPCG(seed, 2))} {
		got, gotErr := harmonyref.Run(out, facts, harmonyref.Options{Shuffle: shuffle})
		if (wantErr == nil) != (gotErr == nil) {
			t.Fatalf("seed %d, shuffled %v: error %v, was %v\n%s\n%s", seed, shuffle != nil, gotErr,
				wantErr, p, out)
		}
		if wantErr == nil && fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("seed %d, shuffled %v: the result is\n%v\nand was\n%v\n%s\n%s", seed,
				shuffle != nil, got, want, p, out)
		}
	}
}

// maxFacts bounds the programs that the references run.
const maxFacts = 500

// TestPrograms lowers the plans of the whole programs, as built and optimised,
// and runs them.
func TestPrograms(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/programs/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no programs", err)
	}
	tooLarge := 0
	for _, dir := range short.Part(t, dirs, "programs") {
		text, err := os.ReadFile(filepath.Join(dir, "program.logic"))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			prog, p := compile(t, string(text))
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
			for _, p := range []*queryplan.Plan{p, optimise(t, p)} {
				out := lowered(t, p)
				if n > maxFacts {
					tooLarge++
					continue
				}
				compareRuns(t, p, out, facts, 1)
			}
		})
	}
	t.Logf("%d plans have more than %d facts and were lowered, but not run", tooLarge, maxFacts)
}

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 40, "number of random programs")
)

// TestRandomPrograms lowers the plans of random programs and runs them over
// random facts.
func TestRandomPrograms(t *testing.T) {
	uneven := 0
	for seed, n := *firstSeed, short.Count(t, *seedCount,
		"random programs"); seed < *firstSeed+n; seed++ {
		_, p := compile(t, randprog.New(seed).Text())
		numbered := planref.ThroughPositions(p)
		for _, p := range []*queryplan.Plan{p, optimise(t, p), numbered, optimise(t, numbered)} {
			out := lowered(t, p)
			for i := range uint64(2) {
				compareRuns(t, p, out, planref.RandomFacts(rand.New(rand.NewPCG(seed, i)), p), seed)
			}
			if p := queryplan.Clone(p); makeUneven(p) {
				facts := planref.RandomFacts(rand.New(rand.NewPCG(seed, 2)), p)
				compareRuns(t, p, lowered(t, p), facts, seed)
				uneven++
			}
		}
	}
	if uneven == 0 && !testing.Short() {
		t.Error("no plan has a multijoin")
	}
}

// makeUneven makes the multijoins of a plan uneven, and reports whether there
// are any.
func makeUneven(p *queryplan.Plan) (found bool) {
	for _, c := range p.Commands() {
		n := queryplan.CommandNode(c)
		if n == nil {
			continue
		}
		queryplan.Walk(n, func(n queryplan.Node) {
			if m, ok := n.(*queryplan.MultiJoin); ok {
				m.Uneven, found = true, true
			}
		})
	}
	return found
}

// TestPositions lowers a plan that numbers the tuples of a set, as it is and
// optimised, and runs it.
func TestPositions(t *testing.T) {
	p, err := queryplan.Parse("positions.plan", planref.Positions)
	if err != nil {
		t.Fatal(err)
	}
	for i, nodes := range []int64{0, 1, 5, 12} {
		facts := map[string]planref.Rows{"edge": planref.PositionsEdges(nodes, 3)}
		compareRuns(t, p, lowered(t, p), facts, uint64(i))
		if _, err := planref.RunProving(p, facts); err != nil {
			t.Fatal(err)
		}
		best := optimise(t, p)
		compareRuns(t, best, lowered(t, best), facts, uint64(i))
	}
}
