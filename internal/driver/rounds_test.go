package driver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// unboundedPrograms are recursions of which RF0604 warns. rounds is how many
// each takes, 0 if it never ends. The last one finds nothing.
var unboundedPrograms = []struct {
	name, text string
	rounds     int64
}{
	{"counting", "n(0). n(x + 1) <- n(x).", 0},
	{"growing strings", `s("a"). s(x + "b") <- s(x).`, 0},
	{"two predicates", "a(0). b(x + 1) <- a(x). a(x) <- b(x).", 0},
	{"a cycle that is decomposed", `
edge(0, 1). edge(1, 2). edge(2, 0).
d(x, y, 0) <- edge(x, y).
d(x, z, n + 1) <- d(x, y, n), edge(y, z).`, 0},
	{"steps along a list", `
num(0). num(x + 1) <- num(x), x < 40.
next(x, y) <- num(x), y = x + 1.
at(0, 0).
at(y, i + 1) <- at(x, i), next(x, y).`, 42},
	{"lists of several lengths that are decomposed", `
num(1). num(x + 1) <- num(x), x < 30.
next(l, x, y) <- num(l), num(x), x <= l, y = x + 1.
at(l, 1, 0) <- next(l, _, _).
at(l, y, i + 1) <- at(l, x, i), next(l, x, y).`, 31},
	{"a chain that ends where a test says", `
c(27).
c(int:divide[x, 2]) <- c(x), x != 1, int:mod[x, 2] = 0.
c(3 * x + 1) <- c(x), x != 1, int:mod[x, 2] = 1.`, 112},
}

// derivedSoFar is what a failure says of the tuples of an endless recursion. An
// engine that has divided the loop among workers does not know their number.
var derivedSoFar = regexp.MustCompile(`\n *note: it has derived .* so far`)

// waysToRun lists the engines, with options that matter to loops.
func waysToRun(t *testing.T) []RunOptions {
	ways := []RunOptions{{Engine: "go"}, {Engine: "go", Threads: 1}}
	if _, _, err := ChooseEngine("cpu"); err == nil {
		ways = append(ways, RunOptions{Engine: "cpu", Threads: 1},
			RunOptions{Engine: "cpu", NoDecompose: true})
		changesBefore(t, emulated.Options{Seed: 7}, 2)
		ways = append(ways, RunOptions{Engine: "gpu"}, RunOptions{Engine: "auto"})
	}
	return ways
}

// TestMaxRoundsOfIterations stops an iteration whose values always move, and
// none that takes as many rounds as it may.
func TestMaxRoundsOfIterations(t *testing.T) {
	const text = "lang:iterateUntil[`n] = 0.\nn[1] = 0. n[2] = 7.\n"
	swaps := compileText(t, text+"n[x] = 1 - n[x].", Options{})
	falls := compileText(t, text+"n[x] = int:max[0, n[x] - 1].", Options{})
	for _, opts := range waysToRun(t) {
		for _, tt := range []struct {
			prog *Program
			most int64
			ends bool
		}{{swaps, 9, false}, {falls, 7, false}, {falls, 8, true}} {
			opts.MaxRounds = tt.most
			res, err := tt.prog.Run(context.Background(), NewFacts(), opts)
			switch {
			case tt.ends && err != nil:
				t.Errorf("engine %s: %v", opts.Engine, err)
			case tt.ends:
				if got := resultText(t, res); !strings.Contains(got, "1\t0\n2\t0\n") {
					t.Errorf("engine %s: the answer is\n%s", opts.Engine, got)
				}
			case !isEndless(err) || !strings.Contains(err.Error(),
				fmt.Sprintf("n still moves after %d rounds", tt.most)):
				t.Errorf("engine %s: %v", opts.Engine, err)
			}
		}
	}
}

// TestMaxRounds holds that all engines stop an unbounded recursion after the
// same round, with the same words but for derivedSoFar, and that one which ends
// within its bound is whole.
func TestMaxRounds(t *testing.T) {
	ways := waysToRun(t)
	for _, tt := range short.Part(t, unboundedPrograms, "recursions") {
		t.Run(tt.name, func(t *testing.T) {
			prog := compileText(t, tt.text, Options{})
			if w := prog.Warnings(); len(w) == 0 || w[0].Code != diag.UnboundedRecursion {
				t.Fatalf("the warnings are %v", w)
			}
			for _, most := range []int64{1, 7, 29, 41, 42, 111, 112} {
				want := tt.rounds == 0 || most < tt.rounds
				first := ""
				for _, opts := range ways {
					opts.MaxRounds = most
					res, err := prog.Run(context.Background(), NewFacts(), opts)
					if want != isEndless(err) || !want && err != nil {
						t.Fatalf("engine %s, at most %d rounds: %v", opts.Engine, most, err)
					}
					got := derivedSoFar.ReplaceAllString(fmt.Sprint(err), "")
					if err == nil {
						got = resultText(t, res)
					}
					if first == "" {
						first = got
					}
					if got != first {
						t.Errorf("engine %s, at most %d rounds: got %s, want %s", opts.Engine, most,
							got, first)
					}
				}
			}
		})
	}
}

// isEndless reports whether a run was stopped for its rounds, and the message
// has a place.
func isEndless(err error) bool {
	var program *ProgramError
	return errors.As(err, &program) && program.Diagnostics[0].Code == diag.EndlessRecursion &&
		program.Diagnostics[0].Span.IsValid()
}

// TestMaxRoundsOfRepeatedRuns holds that a run that repeats earlier ones, by
// what they have found out or as a graph, has its own bound.
func TestMaxRoundsOfRepeatedRuns(t *testing.T) {
	if _, _, err := ChooseEngine("cpu"); err != nil {
		t.Skip(err)
	}
	emulateGPU(t, emulated.Options{Seed: 7})
	ctx := context.Background()
	prog := compileText(t,
		"edge(x, y) -> int(x), int(y).\nat(0, 0).\nat(y, i + 1) <- at(x, i), edge(x, y).\n",
		Options{})
	db := loadedEdges(t, prog, "0\t1", "1\t2", "2\t3", "3\t4")
	for _, engine := range []string{"cpu", "gpu"} {
		for i := range 6 {
			if _, err := prog.RunOn(ctx, db, RunOptions{Engine: engine, MaxRounds: 5}); err != nil {
				t.Fatalf("engine %s, run %d: %v", engine, i, err)
			}
			if _, err := prog.RunOn(ctx, db, RunOptions{Engine: engine, MaxRounds: 4}); i > 3 &&
				!isEndless(err) {
				t.Errorf("engine %s, run %d: %v", engine, i, err)
			}
		}
	}
}

// TestDefaultMaxRounds holds that a program that counts ends by itself, that
// one of which no warning is given has no bound, and that a bound can be taken
// away.
func TestDefaultMaxRounds(t *testing.T) {
	short.Skip(t, "no recursion runs a million rounds")
	ctx := context.Background()
	prog := compileText(t, "n(0). n(x + 1) <- n(x).", Options{})
	if _, err := prog.Run(ctx, NewFacts(), RunOptions{Engine: "go"}); !isEndless(err) ||
		!strings.Contains(err.Error(), "1,000,000 rounds") {
		t.Errorf("counting: %v", err)
	}
	if _, err := compileText(t, "n(0). n(x + 1) <- n(x), x < 100.", Options{}).Run(ctx, NewFacts(),
		RunOptions{Engine: "go", MaxRounds: 10}); err != nil {
		t.Errorf("counting to a hundred: %v", err)
	}
	list := compileText(t, unboundedPrograms[4].text, Options{})
	if _, err := list.Run(ctx, NewFacts(),
		RunOptions{Engine: "go", MaxRounds: NoMaxRounds}); err != nil {
		t.Errorf("a list: %v", err)
	}
}

// TestMemoryOfComputedStrings holds that strings count for the bound on memory,
// and that the message names the recursion that makes them.
func TestMemoryOfComputedStrings(t *testing.T) {
	engines := []string{"go"}
	if _, _, err := ChooseEngine("cpu"); err == nil {
		emulateGPU(t, emulated.Options{Seed: 7})
		engines = append(engines, "cpu", "gpu")
	}
	prog := compileText(t, `s("a"). s(x + x) <- s(x).`, Options{})
	for _, engine := range engines {
		_, err := prog.Run(context.Background(), NewFacts(),
			RunOptions{Engine: engine, Memory: 8 << 20})
		var machine *EnvironmentError
		if !errors.As(err, &machine) ||
			!strings.Contains(err.Error(), "the dictionary of computed strings") ||
			!strings.Contains(err.Error(),
				"the recursion of s may never end, because of x + x at p.logic:1:11") {
			t.Errorf("engine %s: %v", engine, err)
		}
	}
}
