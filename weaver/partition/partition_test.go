package partition

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/domain"
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
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/target"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the random programs")
	seedCount = flag.Uint64("seeds", 40, "number of random programs")
)

// TestPartition runs the files of testdata. The directive partition takes a
// kernel graph, and logiql a program, and prints the graph's variables that are
// new and its blocks. The argument host=(f,g) says that these functions need
// the host, and aggregates that all min and max do. Both graphs run over random
// facts and have to agree.
func TestPartition(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var p *harmony.Program
			if d.Cmd == "logiql" {
				_, p = lowered(t, d.Input, true)
			} else {
				var err error
				if p, err = harmony.Parse("test.harmony", d.Input); err == nil {
					err = harmony.Verify(p)
				}
				if err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
			}
			function, aggregate := NeedsHost, isOfNoOrder
			for _, arg := range d.CmdArgs {
				switch arg.Key {
				case "host":
					function = func(m *harmony.Map, _ *domain.Domains) bool {
						return strings.Contains(" "+strings.Join(arg.Vals, " ")+" ",
							" "+m.Func.Name+" ")
					}
				case "aggregates":
					aggregate = allExtremes
				default:
					t.Fatalf("%s: no argument %s", d.Pos, arg.Key)
				}
			}
			before := p.String()
			out := partitionTwice(t, p, function, aggregate)
			if p.String() != before {
				t.Errorf("%s: the program that is partitioned changes", d.Pos)
			}
			for seed := range uint64(8) {
				rng := rand.New(rand.NewPCG(seed, 1))
				if why := harmonyref.Disagreement(randomFacts(rng, p), p, out, seed); why != "" {
					t.Fatalf("%s: %s", d.Pos, why)
				}
			}
			var b strings.Builder
			for line := range strings.Lines(out.String()) {
				if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "block ") ||
					!strings.Contains(before, line) {
					b.WriteString(line)
				}
			}
			return b.String()
		})
	})
}

func allExtremes(g *harmony.Groups, acc int, _ *domain.Domains) bool {
	return isExtreme(g.Accs[acc].Fn)
}

// partitionTwice wants the same text each time, and nothing left that needs the
// host.
func partitionTwice(t *testing.T, p *harmony.Program,
	function func(*harmony.Map, *domain.Domains) bool,
	aggregate func(*harmony.Groups, int, *domain.Domains) bool) *harmony.Program {
	t.Helper()
	out, err := partition(p, function, aggregate)
	if err != nil {
		t.Fatalf("%v\n%s", err, p)
	}
	again, err := partition(p, function, aggregate)
	if err != nil || again.String() != out.String() {
		t.Fatalf("the same program becomes another (%v):\n%s\n%s", err, out, again)
	}
	d := domain.Find(out)
	for _, k := range out.Kernels() {
		for _, s := range k.Stages {
			if m, ok := s.(*harmony.Map); ok && !k.Host && function(m, d) {
				t.Fatalf("%s of kernel %s needs the host:\n%s", m.Func.Name, k.Name, out)
			}
		}
	}
	return out
}

// lowered compiles a program to kernels, and also optimises its plan if that is
// asked for.
func lowered(t *testing.T, text string, optimise bool) (*core.Program, *harmony.Program) {
	t.Helper()
	prog, found := frontend.Compile([]*source.File{source.NewFile("test.logic", text)},
		frontend.Options{})
	if prog == nil {
		t.Fatalf("%s\n%s", found[0].Message, text)
	}
	plan, err := build.Build(prog)
	if err == nil {
		planref.HideNumbers(prog, plan)
	}
	if err == nil && optimise {
		plan, _, err = rewrite.Run(plan, nil, rewrite.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Lower(plan)
	if err != nil {
		t.Fatal(err)
	}
	return prog, p
}

// randomFacts returns few rows for a program's inputs.
func randomFacts(rng *rand.Rand, p *harmony.Program) map[string]planref.Rows {
	return harmonyref.RandomFacts(rng, p, func(t scalar.Type) scalar.Value {
		return randomValue(rng, t)
	})
}

// randomValue returns a value of few, some of which functions have no value
// for.
func randomValue(rng *rand.Rand, t scalar.Type) scalar.Value {
	switch t.Kind {
	case scalar.String:
		return scalar.OfString([]string{"", "a", "b%", "ab", "7", "12", "2020-01-02"}[rng.IntN(7)])
	case scalar.Float:
		return scalar.OfFloat(t, float64(rng.IntN(7)-2)/2)
	case scalar.Boolean:
		return scalar.OfBool(rng.IntN(2) == 0)
	case scalar.Decimal:
		return scalar.OfBits(t, uint64([]int64{0, 1, 150, -700, 1 << 62}[rng.IntN(5)]))
	case scalar.Datetime:
		return scalar.OfDatetime(rng.Int64N(4) * 40_000_000_000_000)
	}
	return scalar.OfInt(t, rng.Int64N(7)-2)
}

// whole returns the text of every program of the project by its file, with
// -short of each eighth.
func whole(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := testprograms.Find("../../testdata", "programs/*/program.logic", "tpch/*.logic",
		"ssb/*.logic", "fusion/*.logic", "graphs/*.logic", "quickstart/reach.logic")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range short.Part(t, files, "programs") {
		if out[file], err = testprograms.Text(file); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// maxFacts bounds the programs that the reference runs.
const maxFacts = 60

// TestPrograms partitions the whole programs as they are, and with arbitrary
// functions and all least and greatest values taken for the host's, and runs
// them over their facts, fused and not.
func TestPrograms(t *testing.T) {
	hosts := 0
	for file, text := range whole(t) {
		prog, p := lowered(t, text, true)
		facts := map[string]planref.Rows{}
		n := 0
		if dir := filepath.Join(filepath.Dir(file), "facts"); strings.HasSuffix(file,
			"program.logic") {
			given, err := oracle.ReadFacts(dir, prog)
			if err != nil {
				t.Fatal(err)
			}
			for name, tuples := range given {
				for _, tuple := range tuples {
					facts[name] = append(facts[name], scalar.SplitRow(tuple))
				}
				n += len(tuples)
			}
		} else {
			facts = randomFacts(rand.New(rand.NewPCG(1, 1)), p)
		}
		hosts += checkAll(t, file, p, func(uint64) map[string]planref.Rows {
			if n > maxFacts {
				return nil
			}
			return facts
		})
	}
	// With -short, the few programs left may not have a function of the host.
	if hosts == 0 && !testing.Short() {
		t.Error("nothing needs the host")
	}
}

// TestRandomPrograms does so with random programs.
func TestRandomPrograms(t *testing.T) {
	for seed, n := *firstSeed, short.Count(t, *seedCount,
		"random programs"); seed < *firstSeed+n; seed++ {
		_, p := lowered(t, randprog.New(seed).Text(), seed%2 == 0)
		checkAll(t, fmt.Sprintf("seed %d", seed), p, func(again uint64) map[string]planref.Rows {
			return randomFacts(rand.New(rand.NewPCG(seed, again)), p)
		})
	}
}

// checkAll partitions a program in several ways and returns how many kernels
// the host gets if nothing is taken for its own that is not.
func checkAll(t *testing.T, name string, p *harmony.Program,
	facts func(seed uint64) map[string]planref.Rows) (hosts int) {
	t.Helper()
	for seed := range uint64(4) {
		function, aggregate := NeedsHost, isOfNoOrder
		if seed > 0 {
			function = func(m *harmony.Map, _ *domain.Domains) bool {
				h := fnv.New64a()
				fmt.Fprint(h, seed, m.Func.Name, m.Out.Type)
				return h.Sum64()%4 < seed
			}
			aggregate = allExtremes
		}
		whole := p
		if seed%2 == 1 {
			// Kernels that are fused before have more stages to cut between.
			var err error
			if whole, _, err = fuse.Fuse(p, fuse.Options{Budget: target.CPU().Budget}); err != nil {
				t.Fatal(err)
			}
		}
		out := partitionTwice(t, whole, function, aggregate)
		for _, k := range out.Kernels() {
			if seed == 0 && k.Host {
				hosts++
			}
		}
		fused, _, err := fuse.Fuse(out, fuse.Options{Budget: target.GPU(90).Budget})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		given := facts(seed)
		if given == nil {
			continue
		}
		for _, after := range []*harmony.Program{out, fused} {
			if why := harmonyref.Disagreement(given, p, after, seed); why != "" {
				t.Fatalf("%s, %d: %s", name, seed, why)
			}
		}
	}
	return hosts
}
