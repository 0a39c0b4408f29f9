package rewrite

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// TestRandomLookups groups and limits joins of a relation with others by their
// keys, some of which are looked up through one another, by and with any
// columns.
func TestRandomLookups(t *testing.T) {
	changed := map[string]int{}
	n := short.Count(t, 400, "random plans")
	for seed := range n {
		rng := rand.New(rand.NewPCG(seed, 11))
		text := randomLookups(rng)
		rewriteRandom(t, seed, text, nil, changed)
	}
	for _, pass := range []string{"GroupBeforeLookups", "LimitBeforeLookups"} {
		if uint64(changed[pass]) < n/20 {
			t.Errorf("%s changed %d plans only", pass, changed[pass])
		}
	}
}

// randomLookups returns the text of a plan.
func randomLookups(rng *rand.Rand) string {
	tree, cols := "scan base(o, c, n, v)", []string{"o", "c", "n", "v"}
	join := func(on, scan string, more ...string) {
		tree = fmt.Sprintf("unique join %s\n%s\n%s", on, indented(tree), indented(scan))
		cols = append(cols, more...)
	}
	if rng.IntN(4) > 0 {
		join("c", "scan customer(c, a, m)", "a", "m")
		if rng.IntN(2) > 0 {
			join("m", "scan nation(m, l)", "l")
		}
	}
	if rng.IntN(2) > 0 {
		join("n", "scan other(n, w)", "w")
	}
	if rng.IntN(3) == 0 {
		tree = fmt.Sprintf("filter gt(%s, 2)\n%s", cols[rng.IntN(len(cols))], indented(tree))
	}
	rng.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
	cols = cols[:2+rng.IntN(len(cols)-1)]
	if rng.IntN(2) == 0 {
		by, in := cols[1:], cols[0]
		tree = fmt.Sprintf("aggregate [%s] t: int = total(%s), k: int = count()\n%s",
			strings.Join(by, ", "), in, indented(tree))
		cols = append(slices.Clone(by), "t", "k")
	} else {
		tree = fmt.Sprintf("project %s\n%s", strings.Join(cols, ", "), indented(tree))
		if rng.IntN(2) == 0 {
			tree = "dedup\n" + indented(tree)
		}
		tree = fmt.Sprintf("topk %d order [%s]\n%s", 1+rng.IntN(6),
			strings.Join(cols[:rng.IntN(len(cols))], " desc, "), indented(tree))
	}
	var out []string
	for i := range cols {
		out = append(out, fmt.Sprintf("a%d: int", i))
	}
	return `var base(o: int; c: int, n: int, v: int) input "base"
var customer(c: int; a: int, m: int) input "customer"
var nation(m: int; l: int) input "nation"
var other(n: int; w: int) input "other"
var out(` + strings.Join(out, ", ") + `) derived output
block b0:
  insert out
` + indented(indented(tree)) + `
  merge out
  halt
`
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
