package rewrite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// TestRandomGroupComparisons joins a relation with aggregates of itself that
// conditions and other relations restrict, by a column or by two, in the same
// way or another.
func TestRandomGroupComparisons(t *testing.T) {
	defer func(left, saved, scanned float64) {
		mostLeft, leastSaved, leastScanned = left, saved,
			scanned
	}(mostLeft, leastSaved, leastScanned)
	mostLeft, leastSaved, leastScanned = 2, -1e12, 0
	changed := map[string]int{}
	n := short.Count(t, 400, "random plans")
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 12))
		text := randomComparison(rng)
		var disable []string
		if seed%2 == 0 {
			disable = append(disable, "RestrictAggregates")
		}
		rewriteRandom(t, seed, text, disable, changed)
	}
	for _, pass := range []string{"RestrictAggregates", "ScanOnceForGroups"} {
		if uint64(changed[pass]) < n/20 {
			t.Errorf("%s changed %d plans only", pass, changed[pass])
		}
	}
}

// randomComparison returns the text of a plan.
func randomComparison(rng *rand.Rand) string {
	inner := "scan item(_, _, p, q, x)"
	some := func(of ...string) string { return of[rng.IntN(len(of))] }
	if rng.IntN(3) == 0 {
		inner = fmt.Sprintf("map y = add(%s, 1)\n%s", some("p", "x"), indented(inner))
	}
	if rng.IntN(2) == 0 {
		inner = fmt.Sprintf("filter gt(%s, 1)\n%s", some("p", "p", "q", "x"), indented(inner))
	}
	if rng.IntN(3) > 0 {
		inner = fmt.Sprintf("%s p\n%s\n%s", some("join", "join", "anti join", "semi join"),
			indented(inner), indented(some("filter lt(b, 3)\n  scan part(p, b)", "scan part(p, _)",
				"project p\n  scan loose(p, _)")))
	}
	by := some("p", "p", "p, q", "q")
	inner = fmt.Sprintf("aggregate [%s] a: int = %s(x), k: int = count()\n%s", by,
		some("max", "total"), indented(inner))
	if rng.IntN(2) == 0 {
		inner = "filter gt(a, 2)\n" + indented(inner)
	}
	outer := some("scan item(o, n, p, q, e)", "filter lt(e, 4)\n  scan item(o, n, p, q, e)")
	if rng.IntN(3) == 0 {
		outer = fmt.Sprintf("unique join p\n%s\n%s", indented(outer),
			indented(some("filter lt(b, 3)\n  scan part(p, b)", "scan part(p, b)")))
	}
	cols := "o, n, a, k"
	tree := fmt.Sprintf("project %s\n%s", cols,
		indented(fmt.Sprintf("join %s\n%s\n%s", by, indented(outer), indented(inner))))
	if rng.IntN(4) == 0 {
		cols = "o, n, p, e"
		tree = fmt.Sprintf("project %s\n%s", cols,
			indented(fmt.Sprintf("anti join %s\n%s\n%s", by, indented(outer),
				indented("project "+by+"\n"+indented(inner)))))
	}
	return `var item(o: int, n: int; p: int, q: int, e: int) input "item"
var part(p: int; b: int) input "part"
var loose(p: int, z: int) input "loose"
var out(` + strings.ReplaceAll(cols, ",", ": int,") + `: int) derived output
block b0:
  insert out
` + indented(indented(tree)) + `
  merge out
  halt
`
}
