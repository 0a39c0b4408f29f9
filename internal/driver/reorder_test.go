package driver

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/recursive"
)

// TestReorder wants a run to say which rules got other orders of joins in its
// midst, an explanation to show them, and --disable to keep the first ones.
func TestReorder(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	facts := recursive.Growing(120, 1)
	if err := facts.Write(dir); err != nil {
		t.Fatal(err)
	}
	sources, err := ReadSources("../../testdata/recursive/growing.logic")
	if err != nil {
		t.Fatal(err)
	}
	want := recursive.SolveGrowing(facts)["found"]
	slices.Sort(want)
	for _, disable := range [][]string{nil, {ReorderJoins}, {"OrderJoins"}} {
		prog, err := Compile(ctx, sources, Options{Disable: disable})
		if err != nil {
			t.Fatal(err)
		}
		db, err := prog.Load(ctx, NewFacts().Dir(dir), LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := prog.RunOn(ctx, db, RunOptions{Engine: EngineGo})
		if err != nil {
			t.Fatal(err)
		}
		var found bytes.Buffer
		if err := res.Write(&found, "found", TSV, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(found.String(), "\n"), "\n")
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("without %v: %s", disable, firstDifference(got, want))
		}
		rules := 0
		for _, r := range res.Stats.Reordered {
			if r.Rule == "found" && r.Grown == "comes" && r.Place == "growing.logic:23" {
				rules++
			}
		}
		if (rules > 0) != (disable == nil) {
			t.Errorf("without %v: reordered %v", disable, res.Stats.Reordered)
		}
		var text bytes.Buffer
		if err := prog.Explain(ctx, &text, db, ExplainOptions{Run: true,
			RunOptions: RunOptions{Engine: EngineGo}}); err != nil {
			t.Fatal(err)
		}
		if shown := strings.Contains(text.String(), "== orders that the run chose again\n"+
			"found (growing.logic:23)"); shown != (disable == nil) {
			t.Errorf("without %v: explained as\n%s", disable, &text)
		}
	}
}
