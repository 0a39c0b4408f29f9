package rewrite

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/redfoxdb/redfox/queryplan/stats"
)

// comparedOrAsked makes the groups of randomComparison, or the pairs of
// askedPairs.
func comparedOrAsked(rng *rand.Rand) (string, *stats.Catalog) {
	if rng.IntN(2) == 0 {
		return randomComparison(rng), nil
	}
	return askedPairs(rng), nil
}

// otherOrAsked makes the rules of otherValue, or the pairs of askedPairs, some
// of which are for few tuples when the pass runs again.
func otherOrAsked(rng *rand.Rand) string {
	if rng.IntN(2) == 0 {
		return otherValue(rng)
	}
	return askedPairs(rng)
}

// askedPairs asks for tuples whether there is another one of a kind, by a
// predicate that joins pairs, or in place.
func askedPairs(rng *rand.Rand) string {
	some := oneOf(rng)
	pairs := func() string {
		return some("g[o, n] = p, g[o, m] = t, t != p", "g[o, n] = p, g[o, m] = t, h[o, m] < t",
			"g[o, n] = p, h[m, n] = p, m != o", "g[o, n] = p, e(p, m), e(m, n)",
			"g[o, n] = p, h[o, n] = t, e(t, m), e(m, p)", "g[o, n] = p, e(o, m), e(m, _)")
	}
	var b strings.Builder
	b.WriteString("g[o, n] = p -> int(o), int(n), int(p).\nh[o, n] = p -> int(o), int(n), int(p).\n" +
		"e(x, y) -> int(x), int(y).\nr(x) -> int(x).\n")
	var first string
	body := []string{"g[o, n] = p", some("r(p)", "r(o)", "h[o, n] > 1", "h[o, n] = q, r(q)", "p > 2")}
	for i := range 1 + rng.IntN(2) {
		name := fmt.Sprint("v", i)
		head := some("(o, n)", "(o, n)", "(o, p)", "(n, p, o)", "(o)")
		fmt.Fprintf(&b, "%s%s <- %s.\n", name, head, pairs())
		if i == 0 {
			first = head
		}
		not := some("", "!")
		if rng.IntN(4) == 0 {
			body = append(body, "!(g[o, m] != p"+some("", ", h[o, m] > 2", ", e(m, n)")+")")
			name = ""
		}
		if name != "" {
			body = append(body, not+name+head)
		}
	}
	head := some("_(o, n)", "_(o, n)", "_(p)", "_(o, p)")
	if rng.IntN(3) == 0 {
		head, body[0] = "_[o] = c", "agg<<c = count()>> "+body[0]
	}
	fmt.Fprintf(&b, "%s <- %s.\n", head, strings.Join(body, ", "))
	if rng.IntN(4) == 0 {
		b.WriteString("_(o) <- r(o), v0" + first + ".\n")
	}
	return b.String()
}
