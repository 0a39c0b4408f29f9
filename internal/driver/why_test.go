package driver_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/provenance"
)

// explained runs a program with a goal.
func explained(t *testing.T, text, goal, facts string) *driver.Reasons {
	t.Helper()
	prog, err := driver.Compile(context.Background(),
		[]driver.Source{driver.Text("p.logic", text), driver.GoalSource(goal)}, driver.Options{})
	if err != nil {
		t.Fatalf("%s: %v", goal, err)
	}
	f, header := driver.NewFacts(), true
	if facts != "" {
		f.Dir(facts)
		tables, err := filepath.Glob(filepath.Join(facts, "*.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range tables {
			f.Add(driver.FactFile{Path: path, Header: &header,
				Pred: strings.TrimSuffix(filepath.Base(path), ".csv")})
		}
	}
	preds, err := prog.GoalPredicates()
	if err != nil {
		t.Fatalf("%s: %v in\n%s", goal, err, text)
	}
	db, err := prog.LoadFor(context.Background(), f, driver.RunOptions{Outputs: preds})
	if err != nil {
		t.Fatal(err)
	}
	r, err := prog.Why(context.Background(), db, driver.RunOptions{Threads: 2}, 0)
	if err != nil {
		t.Fatalf("%s: %v in\n%s", goal, err, text)
	}
	return r
}

// levels is the number of rules from a node down to the facts.
func levels(n *provenance.Node) int {
	if n.Fact || n.Tuple == "" {
		return 0
	}
	most := 0
	for _, m := range n.Because {
		most = max(most, levels(m))
	}
	return 1 + most
}

// TestWhyIsShallowest compares the depth of derivations with distances in a
// random graph.
func TestWhyIsShallowest(t *testing.T) {
	const nodes = 30
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	var edges [nodes][nodes]bool
	for range 45 {
		x, y := r.IntN(nodes), r.IntN(nodes)
		edges[x][y] = true
		fmt.Fprintf(&text, "edge(%d, %d). ", x, y)
	}
	text.WriteString("\npath(x, y) <- edge(x, y).\npath(x, z) <- path(x, y), edge(y, z).\n")
	checked := 0
	for range 100 {
		from, to := r.IntN(nodes), r.IntN(nodes)
		distance := distanceIn(edges[:], from, to)
		got := explained(t, text.String(), fmt.Sprintf("path(%d, %d)", from, to), "")
		if got.Holds != (distance > 0) {
			t.Fatalf("path(%d, %d): %t, and the distance is %d", from, to, got.Holds, distance)
		}
		if got.Holds && levels(got.Because[0]) != distance {
			t.Errorf("path(%d, %d): %d levels, and the distance is %d", from, to,
				levels(got.Because[0]), distance)
		}
		if distance > 2 {
			checked++
		}
	}
	if checked < 10 {
		t.Errorf("only %d distances are above 2", checked)
	}
}

// TestWhyOfBestValues explains shortest paths over random graphs with cycles,
// some of them of no length: each distance comes from that of another node,
// which was final when it was used, and never from itself.
func TestWhyOfBestValues(t *testing.T) {
	const text = `
edge(x, y, w) -> int(x), int(y), int(w).
lang:recursiveMin(` + "`dist" + `).
dist[0] = 0.
dist[y] = d + w <- dist[x] = d, edge(x, y, w).
`
	checked := 0
	for seed := range short.Count(t, 12, "graphs") {
		r := rand.New(rand.NewPCG(seed, 11))
		var facts strings.Builder
		for range 40 {
			fmt.Fprintf(&facts, "edge(%d, %d, %d).\n", r.IntN(12), r.IntN(12), r.IntN(3))
		}
		for x := range 12 {
			goal := fmt.Sprintf("dist[%d] = d", x)
			reasons := explained(t, text+facts.String(), goal, "")
			if !reasons.Holds {
				continue
			}
			var walk func(n *provenance.Node, above []string)
			walk = func(n *provenance.Node, above []string) {
				if n.Improved || slices.Contains(above, n.Tuple) {
					t.Errorf("seed %d: %s: %s comes from itself, or from values that improve:\n%s",
						seed, goal, n.Tuple, facts.String())
				}
				for _, b := range n.Because {
					walk(b, append(slices.Clip(above), n.Tuple))
				}
				checked++
			}
			for _, n := range reasons.Because {
				walk(n, nil)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d tuples were explained", checked)
	}
}

// distanceIn is the length of a shortest path of at least one edge; 0 if there
// is none.
func distanceIn[R ~[30]bool](edges []R, from, to int) int {
	at := map[int]bool{from: true}
	for length := 1; length <= len(edges); length++ {
		next := map[int]bool{}
		for x := range at {
			for y, is := range edges[x] {
				if is {
					next[y] = true
				}
			}
		}
		if next[to] {
			return length
		}
		at = next
	}
	return 0
}

// TestWhyOfRandomPrograms explains tuples of random programs that brute force
// derives, and others.
func TestWhyOfRandomPrograms(t *testing.T) {
	held, missing := 0, 0
	count := short.Count(t, 120, "random programs")
	for seed := range count {
		random := randprog.New(4_400_000 + seed)
		dir := t.TempDir()
		if err := random.Write(dir); err != nil {
			t.Fatal(err)
		}
		h, m := explainRandom(t, random.Text(), filepath.Join(dir, "facts"), seed)
		held, missing = held+h, missing+m
	}
	if held < int(count)/2 || missing < int(count)/4 {
		t.Errorf("of %d programs, %d tuples that hold and %d that do not were explained", count,
			held, missing)
	}
}

// explainRandom explains a tuple of some predicates of a program, and a tuple
// that they do not have.
func explainRandom(t *testing.T, text, facts string, seed uint64) (held, missing int) {
	program, _, _ := frontend.CompileTrees([]*source.File{source.NewFile("p.logic", text)},
		frontend.Options{})
	if program == nil {
		t.Fatalf("seed %d does not compile", seed)
	}
	tuples, err := oracle.ReadFacts(facts, program)
	if err != nil {
		t.Fatal(err)
	}
	const steps = 1_000_000
	want, err := oracle.RunBounded(program, tuples, steps)
	if err != nil {
		return 0, 0 // it has no answer, or brute force takes long
	}
	atoms := map[string]bool{}
	var goals []*core.Pred
	for _, p := range program.Preds {
		for _, tuple := range want.Tuples[p.Name] {
			atoms[atomOf(p, tuple)] = true
		}
		everywhere := strings.Contains(text, "lang:defaultValue[`"+p.Name+"]")
		askable := p.Derived && !p.Hidden && p.Makes == nil && !p.Query && p.Limit < 0 &&
			!strings.HasPrefix(p.Name, "_") // which the goal's file would have for itself
		if askable && !everywhere && !p.HasNumbers() && !wide(p) {
			goals = append(goals, p)
		}
	}
	r := rand.New(rand.NewPCG(seed, 7))
	for range min(2, len(goals)) {
		p := goals[r.IntN(len(goals))]
		if n := len(want.Tuples[p.Name]); n > 0 {
			tuple := slices.Clone(want.Tuples[p.Name][r.IntN(n)])
			held += ask(t, text, facts, p, tuple, atoms)
			missing += 1 - ask(t, text, facts, p, other(tuple), atoms)
		}
	}
	return held, missing
}

// ask explains a tuple, which may hold or not, and returns 1 if it holds.
func ask(t *testing.T, text, facts string, p *core.Pred, tuple oracle.Tuple,
	atoms map[string]bool) int {
	t.Helper()
	goal := atomOf(p, tuple)
	got := explained(t, text, goal, facts)
	if got.Holds != atoms[goal] {
		t.Fatalf("%s: holds is %t in\n%s", goal, got.Holds, text)
	}
	if !got.Holds {
		if got.Missing != nil && got.Missing.Fails == nil {
			t.Errorf("%s: nothing fails in\n%s", goal, text)
		}
		return 0
	}
	for _, n := range got.Because {
		inspect(t, n, goal, text, atoms)
	}
	return 1
}

// inspect tests that all tuples of a derivation hold, and that one which a rule
// derives has something below it.
func inspect(t *testing.T, n *provenance.Node, goal, text string, atoms map[string]bool) {
	t.Helper()
	if n.Tuple != "" && !atoms[n.Tuple] && !strings.Contains(n.Tuple, "[") {
		t.Errorf("%s: %s does not hold in\n%s", goal, n.Tuple, text)
	}
	if n.Tuple != "" && n.Rule == nil && !n.Fact {
		t.Errorf("%s: nothing derives %s in\n%s", goal, n.Tuple, text)
	}
	for _, m := range n.Because {
		inspect(t, m, goal, text, atoms)
	}
}

// wide reports whether a predicate has values without an exact literal.
func wide(p *core.Pred) bool {
	return slices.ContainsFunc(p.Args, func(a core.Arg) bool {
		return a.Type.IsWide() || a.Type.Kind == scalar.Float
	})
}

// other returns a tuple that differs in its first number or text.
func other(tuple oracle.Tuple) oracle.Tuple {
	out := slices.Clone(tuple)
	for i, v := range out {
		switch v.Type.Kind {
		case scalar.Int, scalar.Uint:
			out[i] = scalar.OfInt(v.Type, v.Int()^1)
			return out
		case scalar.String:
			out[i] = scalar.OfString(v.Str() + "x")
			return out
		}
	}
	return out
}

// atomOf prints a tuple as LogiQL.
func atomOf(p *core.Pred, tuple oracle.Tuple) string {
	return core.AtomText(p.Name, p.Keys, list.Map(tuple, scalar.KeyLiteral))
}
