package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/store"
)

// orderedCards have tiles of many groups and of a part of one, and lists that
// grow.
var orderedCards = []card{
	{items: 1024},
	{items: 32, small: true, Options: emulated.Options{Seed: 3}},
	{items: 64, small: true, Options: emulated.Options{Seed: 4, Bare: true}},
}

// formsOf returns how many groups of a program have each form.
func formsOf(t *testing.T, e *Engine, plan *queryplan.Plan, db *store.Database) map[abi.Form]int {
	t.Helper()
	prog, kept, err := e.programs.Find(plan, e.opts.Lower)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := kept.bind(t.Context(), prog, &runtime.Request{Facts: db}, e.sizes.policy, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[abi.Form]int{}
	for _, k := range bound.bound.Layouts.Groups {
		forms[k.Form]++
	}
	return forms
}

// TestOrderedGroups compares aggregates by keys that come in order, of groups
// that lie within a tile and across many, in runs that make room and in those
// that have it.
func TestOrderedGroups(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.OrderedGroups, enginetest.OrderedFacts(7))
	for i, c := range orderedCards {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			e, _ := c.open(t)
			for _, profile := range []bool{false, false, false, true} {
				enginetest.Compare(t, "ordered", e,
					runtime.Request{Plan: plan, Facts: db, Profile: profile})
			}
			if forms := formsOf(t, e, plan, db); len(forms) != 1 || forms[abi.Ordered] == 0 {
				t.Errorf("the forms of groups are %v", forms)
			}
		})
	}
}

// TestFolds runs an iteration whose groups are lists, as the run sorts what
// fills them.
func TestFolds(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Folds, enginetest.FoldFacts())
	for i, c := range orderedCards {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			e, _ := c.open(t)
			for range 3 {
				enginetest.Compare(t, "folds", e, runtime.Request{Plan: plan, Facts: db})
			}
			if forms := formsOf(t, e, plan, db); forms[abi.Ordered] != enginetest.FoldedGroups {
				t.Errorf("the forms of groups are %v", forms)
			}
		})
	}
}

// TestOrderedKeys groups by two columns that both ascend, and by one whose
// neighbours it keeps no row of.
func TestOrderedKeys(t *testing.T) {
	const program = `
item[k, n] = v -> int(k), int(n), int(v).
both[k, n] = s, highest[k, n] = z <- agg<<s = total(v), z = max(v)>> item[k, n] = v, v != 5.
one[n] = s <- agg<<s = total(v)>> item[_, n] = v, v < 3.
`
	facts := oracle.Facts{}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range int64(20000) {
		word := func(v int64) scalar.Value { return scalar.OfInt(scalar.IntType, v) }
		facts["item"] = append(facts["item"],
			oracle.Tuple{word(i / 7), word(i * 100), word(rng.Int64N(1 + rng.Int64N(1<<40)))})
	}
	plan, db := enginetest.Stored(t, program, facts)
	for i, c := range orderedCards {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			e, _ := c.open(t)
			for range 3 {
				enginetest.Compare(t, "ordered", e, runtime.Request{Plan: plan, Facts: db})
			}
			if forms := formsOf(t, e, plan, db); forms[abi.Ordered] != 2 {
				t.Errorf("the forms of groups are %v", forms)
			}
		})
	}
}

// TestOrderedFloats keeps exact sums of floats out of lists, but not extremes.
func TestOrderedFloats(t *testing.T) {
	const program = `
item[k, n] = v -> int(k), int(n), float(v).
sum[k] = s <- agg<<s = total(v)>> item[k, _] = v.
least[k] = a, most[k] = z <- agg<<a = min(v), z = max(v)>> item[k, n] = v, v > -3.5f.
`
	facts := oracle.Facts{}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range int64(6000) {
		facts["item"] = append(facts["item"], oracle.Tuple{
			scalar.OfInt(scalar.IntType, i/5*1000), scalar.OfInt(scalar.IntType, i),
			scalar.OfFloat(scalar.FloatType, rng.NormFloat64()*4),
		})
	}
	plan, db := enginetest.Stored(t, program, facts)
	e, _ := card{items: 64, small: true}.open(t)
	enginetest.Compare(t, "floats", e, runtime.Request{Plan: plan, Facts: db})
	if forms := formsOf(t, e, plan, db); forms[abi.Ordered] != 1 || forms[abi.Hash] != 1 {
		t.Errorf("the forms of groups are %v", forms)
	}
}

// TestOrderedOverflow names the first group whose sum does not fit.
func TestOrderedOverflow(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.OrderedGroups, enginetest.Pairs(math.MaxInt64))
	for i, c := range orderedCards {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			e, _ := c.open(t)
			_, err := e.Run(t.Context(), &runtime.Request{Plan: plan, Facts: db})
			var over *runtime.OverflowError
			if !errors.As(err, &over) || over.Group[0].Int() != 4000*1000 {
				t.Errorf("got %v", err)
			}
		})
	}
}
