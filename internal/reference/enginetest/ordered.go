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
