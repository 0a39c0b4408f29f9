package enginetest

import (
	"math/rand/v2"

	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// OrderedGroups aggregates facts item by a column that ascends, all rows and
// some.
const OrderedGroups = `
item[k, n] = v -> int(k), int(n), int(v).
all[k] = c, sum[k] = s, mean[k] = m <- agg<<c = count(), s = total(v), m = avg(v)>> item[k, _] = v.
least[k] = a, most[k] = z <- agg<<a = min(v), z = max(v)>> item[k, n] = v, v > 10, n != 3.
few[k] = c <- agg<<c = count()>> item[k, n] = v, v > 995.
`

// OrderedFacts returns facts for OrderedGroups: groups of one row to many
// thousand, of keys far apart, and last as the value of all rows of the last
// group.
func OrderedFacts(last int64) oracle.Facts {
	facts := oracle.Facts{}
	rng := rand.New(rand.NewPCG(1, 2))
	for g := range int64(300) {
		size := int64(1)
		switch {
		case g%97 == 5:
			size = 9000
		case g%3 == 0:
			size = 1 + rng.Int64N(40)
		}
		for n := range size {
			v := rng.Int64N(1000)
			if g == 299 {
				v = last
			}
			facts["item"] = append(facts["item"], item(1000*g-5, n, v))
		}
	}
	return facts
}

// Pairs returns facts for OrderedGroups: groups of two rows, of which those
// with the keys 4000000, 8500000, 13000000 and 17500000 have the given value,
// twice, and others 1.
func Pairs(value int64) oracle.Facts {
	facts := oracle.Facts{}
	for g := range int64(20000) {
		for n := range int64(2) {
			v := int64(1)
			if g%4500 == 4000 {
				v = value
			}
			facts["item"] = append(facts["item"], item(1000*g, n, v))
		}
	}
	return facts
}

func item(k, n, v int64) oracle.Tuple {
	return oracle.Tuple{scalar.OfInt(scalar.IntType, k), scalar.OfInt(scalar.IntType, n),
		scalar.OfInt(scalar.IntType, v)}
}

// Folds iterates over aggregates of what neighbours have, over edges that a run
// sorts.
const Folds = `
edge(x, y) -> int(x), int(y).
lang:iterate[` + "`sum" + `] = 3.
lang:iterate[` + "`wide" + `] = 3.
lang:iterate[` + "`least" + `] = 3.
lang:iterate[` + "`most" + `] = 3.
lang:iterate[` + "`mean" + `] = 3.
lang:iterate[` + "`all" + `] = 3.
sum[x] = 3 * x <- edge(x, _).
wide[x] = 100000000000000 * x <- edge(x, _).
least[x] = x <- edge(x, _).
most[x] = 1.5f <- edge(x, _).
mean[x] = 0.5 <- edge(x, _).
all[x] = 1 <- edge(x, _).
sum[y] = s / 100 <- _sum[y] = s.
_sum[y] = s <- agg<<s = total(v)>> edge(x, y), sum[x] = v.
wide[y] = s - 5 <- _wide[y] = s.
_wide[y] = s <- agg<<s = total(v)>> edge(x, y), wide[x] = u, v = u / 5000.
least[y] = a <- agg<<a = min(v)>> edge(x, y), least[x] = v.
most[y] = z <- agg<<z = max(v)>> edge(x, y), most[x] = u, v = u * 1.25f.
mean[y] = m <- agg<<m = avg(v)>> edge(x, y), mean[x] = u, v = u + 0.25.
all[y] = c <- agg<<c = count()>> edge(x, y), all[x] = _.
lang:iterate[` + "`rank" + `] = 3.
lang:iterate[` + "`far" + `] = 3.
rank[x] = 1f / int:float:convert[x + 3] <- edge(x, _).
rank[y] = s / 7f - 0.01f <- _rank[y] = s.
_rank[y] = s <- agg<<s = total(v)>> edge(x, y), rank[x] = v.
far[x] = float:pow[int:float:convert[x], 9f] <- edge(x, _).
far[y] = s <- agg<<s = total(v)>> edge(x, y), far[x] = u, v = u / 1000f - 1f.
`

// FoldedGroups is the number of groups of Folds that are lists on a GPU: of
// each fold, and to find the largest group. The floats of one have no unit.
const FoldedGroups = 9

// FoldFacts returns facts for Folds: nodes of one edge to many thousand.
func FoldFacts() oracle.Facts {
	facts := oracle.Facts{}
	rng := rand.New(rand.NewPCG(3, 4))
	for y := range int64(400) {
		degree := 1 + rng.IntN(6)
		switch {
		case y == 7 || y == 201:
			degree = 6000
		case y%41 == 0:
			degree = 300
		}
		seen := map[int64]bool{}
		for len(seen) < degree {
			seen[rng.Int64N(10_000)] = true
		}
		for x := range int64(10_000) {
			if seen[x] {
				facts["edge"] = append(facts["edge"], oracle.Tuple{
					scalar.OfInt(scalar.IntType, 10*x), scalar.OfInt(scalar.IntType, 250*y)})
			}
		}
	}
	return facts
}
