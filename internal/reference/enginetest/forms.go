package enginetest

import (
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/store"
)

// everyTable fills a set, groups, and indexes of every kind, in a loop and
// outside of it, all over keys of two columns.
const everyTable = `
r(a, b, c) -> int(a), int(b), int(c).
f[a, b] = c -> int(a), int(b), int(c).
t(a, b, c) <- r(a, b, c).
t(a, b, c) <- r(b, a, c).
tag("one", a, "two", b, c) <- r(a, b, c).
multi(a, b, c, d) <- t(a, b, c), r(b, a, d).
unique(a, b, c) <- r(a, b, _), f[b, a] = c.
exists(a, b) <- t(a, b, _), r(b, a, _).
absent(a, b) <- t(a, b, _), !r(a, b, _).
n[a, b] = v <- agg<<v = count()>> t(a, b, _).
sum[a] = v <- agg<<v = total(c)>> r(a, _, b), c = int:mod[b, 1000].
least[a, b] = v <- agg<<v = min(c)>> t(a, b, c).
mean[b] = v <- agg<<v = avg(c)>> r(_, b, a), c = int:mod[a, 1000].
walk(a, b) <- r(a, b, _), int:mod[a, 2] = 0.
walk(b, c) <- walk(a, b), r(b, c, _), !absent(b, c).
pair(a, c) <- walk(a, b), walk(b, c).
pair(a, c) <- pair(a, b), pair(b, c).
first[b] = t <- agg<<t = min(u)>> r(a, b, _), u = int:string:convert[a].
last[b] = t <- agg<<t = max(u)>> r(a, b, _), u = int:string:convert[a].
floats[b] = t <- agg<<t = total(u)>> r(a, b, _), u = int:float:convert[a] / 3f.
back(a, b) <- r(a, b, _), int:mod[b, 3] = 0.
back(a, c) <- back(a, b), r(b, c, _), back(c, _).
`

// Forms calls f with a program that has every kind of table, over numbers of
// few and of many bits, so that tables are direct, hashed and wide, empty,
// small and grown.
func Forms(t *testing.T, f func(spread int64, rows int, plan *queryplan.Plan, db *store.Database)) {
	t.Helper()
	prog, plan := PlanOf(t, everyTable)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []int64{0, 13, 40, 61} {
		for _, rows := range []int{0, 1, 700} {
			// Few nodes that lie far apart.
			node := func() scalar.Value {
				return scalar.OfInt(scalar.IntType, int64(rng.IntN(rows/2+2)-3)<<spread)
			}
			facts := oracle.Facts{}
			keys := map[[2]int64]bool{}
			for range rows {
				a, b := node(), node()
				facts["r"] = append(facts["r"], oracle.Tuple{a, b, node()})
				if k := [2]int64{a.Int(), b.Int()}; !keys[k] {
					keys[k] = true
					facts["f"] = append(facts["f"], oracle.Tuple{a, b, node()})
				}
			}
			db, err := Database(prog, facts)
			if err != nil {
				t.Fatal(err)
			}
			f(spread, rows, plan, db)
		}
	}
}

// Closure is the transitive closure of edges.
const Closure = `
edge(x, y) -> int(x), int(y).
tc(x, y) <- edge(x, y).
tc(x, z) <- tc(x, y), edge(y, z).
`

// Line is a path of n edges, whose closure has n(n+1)/2 pairs.
func Line(n int64) oracle.Facts {
	var edges []oracle.Tuple
	for i := range n {
		edges = append(edges,
			oracle.Tuple{scalar.OfInt(scalar.IntType, i), scalar.OfInt(scalar.IntType, i+1)})
	}
	return oracle.Facts{"edge": edges}
}

// Product counts the triples of edges, which takes long and little memory.
const Product = `
edge(x, y) -> int(x), int(y).
n[] = v <- agg<<v = count()>> edge(a, _), edge(b, _), edge(c, _), a + b + c > 0.
`

// Overflowing is a program whose totals do not fit int for groups (b), (c) and
// (d).
func Overflowing(t testing.TB) (*queryplan.Plan, *store.Database) {
	t.Helper()
	const text = `
in(g, n, v) -> string(g), int(n), int(v).
out[g] = t <- agg<<t = total(v)>> in(g, _, v).
`
	var rows []oracle.Tuple
	for i, g := range []string{"d", "b", "c", "a", "b", "c", "d", "e"} {
		v := int64(1 << 62)
		if g == "a" || g == "e" {
			v = 1
		}
		rows = append(rows,
			oracle.Tuple{scalar.OfString(g), scalar.OfInt(scalar.IntType, int64(i)),
				scalar.OfInt(scalar.IntType, v)})
	}
	return Stored(t, text, oracle.Facts{"in": rows})
}
