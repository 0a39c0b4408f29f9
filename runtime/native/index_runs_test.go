package native

import (
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// nested finds spans of balanced brackets: the spans of depth n are found in
// round n.
const nested = `
open(x, y) -> int(x), int(y).
close(x, y) -> int(x), int(y).
span(x, z) <- open(x, y), close(y, z).
span(x, z) <- open(x, y), span(y, w), close(w, z).
span(x, z) <- span(x, y), span(y, z).
`

// brackets are n pairs around each other, twice.
func brackets(n int64) oracle.Facts {
	facts := oracle.Facts{}
	add := func(name string, x int64) {
		facts[name] = append(facts[name],
			oracle.Tuple{scalar.OfInt(scalar.IntType, x), scalar.OfInt(scalar.IntType, x+1)})
	}
	for i := range n {
		add("open", i)
		add("close", n+i)
		add("open", 2*n+i)
		add("close", 3*n+i)
	}
	return facts
}

// TestIndexRuns compares a program with indexes over a relation that grows in
// many rounds.
func TestIndexRuns(t *testing.T) {
	plan, db := enginetest.Stored(t, nested, brackets(300))
	for _, e := range []*engine{newEngine(t, 1024, false), newEngine(t, 32, false)} {
		for _, threads := range []int{1, 3} {
			enginetest.Compare(t, "brackets", e,
				runtime.Request{Plan: plan, Facts: db, Threads: threads})
		}
		prog, _, err := e.programs.Find(plan, e.opts.Lower)
		if err != nil {
			t.Fatal(err)
		}
		grow := 0
		for _, x := range prog.Graph.Indexes {
			if machine.GrowsByRuns(prog.Graph, x) {
				grow++
			}
		}
		if grow != 2 {
			t.Errorf("%d indexes grow by runs, not 2:\n%s", grow, prog.Graph)
		}
	}
}

// TestRunsAreFew wants the runs of an index to be as many as the logarithm of
// its rows, and rows to be entered about as often.
func TestRunsAreFew(t *testing.T) {
	m := account.New(0)
	defer m.Close()
	rel := &relation{Versions: machine.Versions{
		Decl: &harmony.Relation{Name: "r", Kind: queryplan.Derived}, What: "r"}, mem: m,
		gauge: &gauge{}}
	x := newIndex(m, &harmony.Index{Kind: harmony.Multi, Of: rel.Decl}, layout.Pack(nil), rel)
	x.growByRuns(8)
	entered, most := 0, 0
	const rounds, each = 3000, 3
	for range rounds {
		rel.Full += int64(each)
		passes, err := x.prepare(x.Decl.Version)
		if err != nil {
			t.Fatal(err)
		}
		entered += int(passes[0].Until - passes[0].From)
		most = max(most, len(x.runs.List))
		at := 0
		for _, y := range x.runs.List {
			if int(y.From) != at {
				t.Fatalf("a run begins at row %d, not %d", y.From, at)
			}
			at = int(y.Until)
		}
		if at != int(rel.Full) || x.runs.At != len(x.runs.List)-1 {
			t.Fatalf("%d of %d rows are in runs", at, rel.Full)
		}
	}
	if most > 8 || entered > 40*rounds*each {
		t.Errorf("%d runs at most, rows are entered %d times", most, entered/(rounds*each))
	}
	if passes, err := x.prepare(x.Decl.Version); err != nil || passes != nil {
		t.Errorf("an index that is built is built again: %v, %v", passes, err)
	}
	rel.Generation++
	passes, err := x.prepare(x.Decl.Version)
	if err != nil || len(x.runs.List) != 1 || passes[0].From != 0 {
		t.Errorf("after the relation changed there are %d runs: %v", len(x.runs.List), err)
	}
}
