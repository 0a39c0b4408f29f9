package portable

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestOrderedGroups groups rows that come in the order of the groups, of one
// row and of many, all rows and those that a filter and joins leave.
func TestOrderedGroups(t *testing.T) {
	const text = `
var item(k: int, n: int; v: int, f: float) input "item"
var some(n: int) input "some"
var all(k: int; c: int, s: int, m: decimal[18,6], g: float) derived unique output
var few(k: int, z: int; a: int) derived unique output
block b0:
  insert all
    aggregate [k] c: int = count(), s: int = total(v), m: decimal[18,6] = avg(d), g: float = total(f)
      map d = convert:decimal[18,2](v)
        scan item(k, _, v, f)
  merge all
  insert few
    aggregate [k, z] a: int = min(v)
      project n, k, k as z, v
        semi join n
          filter gt(v, 300)
            scan item(k, n, v, _)
          scan some(n)
  merge few
  halt
`
	p, err := queryplan.Parse("test.plan", text)
	if err == nil {
		err = queryplan.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		facts := map[string]planref.Rows{}
		most := int64(1000)
		if seed%4 == 3 {
			most = math.MaxInt64/4 + rng.Int64N(math.MaxInt64/2) // some sums do not fit
		}
		for g := range int64(100) {
			rows := 1 + rng.Int64N(1+rng.Int64N(1+rng.Int64N(80)))
			for n := range rows {
				facts["item"] = append(facts["item"], []scalar.Value{
					scalar.OfInt(scalar.IntType, 3000*g-7), scalar.OfInt(scalar.IntType, n),
					scalar.OfInt(scalar.IntType, rng.Int64N(most)), scalar.OfFloat(scalar.FloatType,
						rng.NormFloat64()),
				})
			}
		}
		for n := range int64(80) {
			if rng.IntN(3) > 0 {
				facts["some"] = append(facts["some"],
					[]scalar.Value{scalar.OfInt(scalar.IntType, n)})
			}
		}
		if err := agree(p, facts); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
