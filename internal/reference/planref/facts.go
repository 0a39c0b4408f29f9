package planref

import (
	"math/rand/v2"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// RandomFacts gives the inputs and tables of a plan rows of few values, unique
// in their keys.
func RandomFacts(rng *rand.Rand, p *queryplan.Plan) map[string]Rows {
	facts := map[string]Rows{}
	for _, v := range p.Vars {
		if v.Kind != queryplan.Input && v.Kind != queryplan.Table {
			continue
		}
		stored := v.Stored
		if v.Kind == queryplan.Input {
			for i := range v.Cols {
				stored = append(stored, i)
			}
		}
		seen := map[string]bool{}
		for range rng.IntN(25) {
			// A stored column that the plan leaves out has no value.
			row := make([]scalar.Value, slices.Max(append(stored[:len(stored):len(stored)], -1))+1)
			var key []scalar.Value
			for i, at := range stored {
				if row[at] = randomValue(rng, v.Cols[i].Type); i < v.Keys {
					key = append(key, row[at])
				}
			}
			if k := Key(key); !seen[k] {
				seen[k] = true
				facts[v.Source] = append(facts[v.Source], row)
			}
		}
	}
	return facts
}

func randomValue(rng *rand.Rand, t scalar.Type) scalar.Value {
	n := rng.Int64N(6) - 1
	switch t.Kind {
	case scalar.Boolean:
		return scalar.OfBool(n%2 == 0)
	case scalar.String:
		return scalar.OfString([]string{"a", "b", "BUILDING"}[(n+1)/2])
	case scalar.Float:
		return scalar.OfFloat(t, float64(n)/4)
	case scalar.Decimal:
		return scalar.OfBits(t, uint64(n*3))
	case scalar.Datetime:
		// Around the dates of the queries of TPC-H.
		return scalar.OfDatetime((9130 + n*150) * 86400e6)
	case scalar.Uint:
		return scalar.OfInt(t, n+1)
	}
	return scalar.OfInt(t, n)
}
