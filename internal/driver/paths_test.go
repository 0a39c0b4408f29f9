package driver

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestPathsAreCountedByEdges counts paths of two and three edges of a graph of
// skewed degrees: with AggregateBeforeJoins paths are not made, and every
// engine gives the number that the go engine finds by making them.
func TestPathsAreCountedByEdges(t *testing.T) {
	ctx := context.Background()
	const declared = "edge(x, y) -> int(x), int(y).\n"
	names := []string{"go"}
	if _, _, err := ChooseEngine("cpu"); err == nil {
		emulateGPU(t, emulated.Options{Seed: 3})
		names = append(names, "cpu", "gpu")
	}
	for _, query := range []string{
		"_[] = n <- agg<<n = count()>> edge(x, y), edge(y, z).",
		"_[] = n <- agg<<n = count()>> edge(x, y), edge(y, z), edge(z, w).",
		"_[w] = n <- agg<<n = count()>> edge(x, y), edge(y, z), edge(z, w), w < 50.",
		"_[z] = s <- agg<<s = total(x)>> edge(x, y), edge(y, z).",
	} {
		prog := compileText(t, declared+query, Options{})
		without := compileText(t, declared+query,
			Options{Disable: []string{"AggregateBeforeJoins"}})
		db, err := prog.Load(ctx,
			NewFacts().File("edge", filepath.Join("../../testdata", "graphs", "wiki-Vote.tsv.gz")),
			LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := prog.optimise(prog.wantedByDefault(), db)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(plan.String(), "aggregate ") < 2 {
			t.Errorf("%s: nothing is aggregated before the joins:\n%s", query, plan)
		}
		rows := func(p *Program, engine string) []string {
			res, err := p.RunOn(ctx, db, RunOptions{Engine: engine})
			if err != nil {
				t.Fatalf("%s, engine %s: %v", query, engine, err)
			}
			defer res.Release()
			var out []string
			for row := range res.Rows("_") {
				out = append(out, fmt.Sprint(row))
			}
			return out
		}
		want := rows(without, "go")
		for _, engine := range names {
			if got := rows(prog, engine); !slices.Equal(got, want) {
				t.Errorf("%s, engine %s: %d rows, not the %d that there are without the pass",
					query, engine, len(got), len(want))
			}
		}
	}
}

// TestLongPathsAreProjectedEarly runs rules whose variables have more bindings
// than any engine could make: 1.6 times as many with each edge.
func TestLongPathsAreProjectedEarly(t *testing.T) {
	ctx := context.Background()
	names := []string{"go"}
	if _, _, err := ChooseEngine("cpu"); err == nil {
		emulateGPU(t, emulated.Options{Seed: 3})
		names = append(names, "cpu", "gpu")
	}
	chain := func(n int) string {
		atoms := make([]string, n)
		for i := range atoms {
			atoms[i] = fmt.Sprintf("edge(x%d, x%d)", i, i+1)
		}
		return strings.Join(atoms, ", ")
	}
	prog := compileText(t, "edge(1, 2). edge(2, 1). edge(1, 1). edge(3, 1).\n"+
		"_(x0, x64) <- "+chain(64)+".\n", Options{})
	const want = "[[1 1] [1 2] [2 1] [2 2] [3 1] [3 2]]"
	for _, engine := range names {
		res, err := prog.Run(ctx, NewFacts(), RunOptions{Engine: engine})
		if err != nil {
			t.Fatalf("engine %s: %v", engine, err)
		}
		var got []string
		for row := range res.Rows("_") {
			got = append(got, fmt.Sprint(row))
		}
		res.Release()
		if text := fmt.Sprint(got); text != want {
			t.Errorf("engine %s: %s, want %s", engine, text, want)
		}
	}
}
