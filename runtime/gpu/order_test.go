package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// orders are programs that put tuples in order, over r, which has columns of
// all types.
var orders = []struct{ name, text string }{
	{"the first, ascending",
		"top(f, u, i) <- r(i, u, f, _, _, _, _).\nlang:output:orderBy[`top] = \"f, u\".\nlang:output:limit[`top] = 5.\n"},
	{"the first, descending",
		"top(u, d, i, t) <- r(i, u, _, d, _, _, t).\nlang:output:orderBy[`top] = \"u desc, d desc, t\".\nlang:output:limit[`top] = 7.\n"},
	{"the first of strings",
		"top(s, b, i) <- r(i, _, _, _, s, b, _).\nlang:output:orderBy[`top] = \"b desc, s desc\".\nlang:output:limit[`top] = 6.\n"},
	{"many",
		"top(d, i) <- r(i, _, _, d, _, _, _), i > -900.\nlang:output:orderBy[`top] = \"d desc\".\nlang:output:limit[`top] = 40.\n"},
	{"more than there are",
		"top(d, i) <- r(i, _, _, d, _, _, _), i > 3.\nlang:output:orderBy[`top] = \"d desc\".\nlang:output:limit[`top] = 1000.\n"},
	{"many alike",
		"g(b, s) <- r(_, _, _, _, s, b, _).\nh(b, i) <- g(b, _), r(i, _, _, _, _, b, _).\ntop(b, i) <- h(b, i).\nlang:output:orderBy[`top] = \"b\".\nlang:output:limit[`top] = 3.\n"},
	{"numbers", "v(f) <- r(_, _, f, _, _, _, _).\nn[k] = f <- seq<<>> v(f).\n"},
	{"numbers in groups", "v(s, u) <- r(_, u, _, _, s, _, _).\nn[s, k] = u <- seq<<>> v(s, u).\n"},
	{"numbers in groups of floats",
		"v(f, i) <- r(i, _, f, _, _, _, _).\nn[f, k] = i <- seq<<>> v(f, i).\n"},
	{"the first of groups",
		"v(s, u) <- r(_, u, _, _, s, _, _).\nn[s, k] = u <- seq<<>> v(s, u).\nlow(s, u) <- n[s, k] = u, k < 2.\n"},
	{"a key that determines", "k[i] = d <- r(i, _, _, d, _, _, _), i > 0.\n"},
	{"a key that does not", "k[s] = i <- r(i, _, _, _, s, _, _), i < 5.\n"},
}

// whole are programs that put tuples in an order with all that they have in the
// keys, so that no row is looked up: over r, like orders.
var whole = []struct{ name, text string }{
	{"words of 32 bits", "v(i) <- r(i, _, _, _, _, _, _).\nn[k] = i <- seq<<>> v(i).\n"},
	{"words of 64 bits", "v(f) <- r(_, _, f, _, _, _, _).\nn[k] = f <- seq<<>> v(f).\n"},
	{"pairs",
		"v(i, t) <- r(i, _, _, _, _, _, t).\nn(k; i, t) -> int(k), int(i), datetime(t).\nn(k; i, t) <- seq<<>> v(i, t).\n"},
	{"pairs whose first number is different in each",
		"v[i] = t -> int(i), datetime(t).\nv[i] = t <- r(i, _, _, _, _, _, t).\n" +
			"n(k; i, t) -> int(k), int(i), datetime(t).\nn(k; i, t) <- seq<<>> v[i] = t.\n"},
	{"many columns",
		"v(b, s, i) <- r(i, _, _, _, s, b, _).\nn(k; b, s, i) -> int(k), boolean(b), string(s), int(i).\nn(k; b, s, i) <- seq<<>> v(b, s, i).\n"},
	{"all, descending",
		"top(i, t) <- r(i, _, _, _, _, _, t).\nlang:output:orderBy[`top] = \"t desc\".\nlang:output:limit[`top] = 5000.\n"},
	{"half of them",
		"top(i, b) <- r(i, _, _, _, _, b, _).\nlang:output:orderBy[`top] = \"b desc, i\".\nlang:output:limit[`top] = 1200.\n"},
}

const orderedFacts = "r(i, u, f, d, s, b, t) -> int(i), uint(u), float(f), decimal[18,2](d), string(s), boolean(b), datetime(t).\n"

// tuplesOf makes n tuples of r, with values that come often and those at the
// ends of their types.
func tuplesOf(n int) oracle.Facts {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	floats := []float64{0, -1.5, 1e300, -1e300, math.Inf(1), math.Inf(-1), 3.25}
	uints := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 12}
	decimals := []int64{0, -1, 99, -100_000_000_000_000_000, 100_000_000_000_000_000}
	var tuples []oracle.Tuple
	for i := range n {
		f := floats[r.IntN(len(floats))]
		if r.IntN(2) == 0 {
			f = r.NormFloat64()
		}
		tuples = append(tuples, oracle.Tuple{
			scalar.OfInt(scalar.IntType, int64(i)-int64(n)/2),
			scalar.OfInt(scalar.UintOf(64), uints[r.IntN(len(uints))]),
			scalar.OfFloat(scalar.FloatType, f),
			scalar.OfDecimal(2, decimals[r.IntN(len(decimals))]),
			scalar.OfString(fmt.Sprint("s", r.IntN(5))),
			scalar.OfBool(r.IntN(3) == 0),
			scalar.OfDatetime(r.Int64N(1000) * 86400e6),
		})
	}
	return oracle.Facts{"r": tuples}
}

// TestOrders compares orderings of the device with those of the go engine, for
// few rows, for more than are ranked, and for several tiles.
func TestOrders(t *testing.T) {
	for _, c := range orders {
		t.Run(c.name, func(t *testing.T) {
			e, d := card{small: true, stored: true}.open(t)
			for _, n := range []int{1, 2, 9, 17, 100, 2500} {
				plan, db := enginetest.Stored(t, orderedFacts+c.text, tuplesOf(n))
				check(t, fmt.Sprintf("%d tuples", n), e, plan, db)
				if err := d.Check(); err != nil {
					t.Errorf("%d tuples: %v", n, err)
				}
			}
			if e.sorts.functions == nil {
				t.Error("nothing is put in order on the device")
			}
		})
	}
}

// TestWholeOrders compares orderings whose keys tell the tuples with those of
// the go engine, and wants them made of the keys.
func TestWholeOrders(t *testing.T) {
	for _, c := range whole {
		t.Run(c.name, func(t *testing.T) {
			e, d := card{small: true, stored: true}.open(t)
			for _, n := range []int{40, 2500} {
				plan, db := enginetest.Stored(t, orderedFacts+c.text, tuplesOf(n))
				before := d.Runs()
				check(t, fmt.Sprintf("%d tuples", n), e, plan, db)
				if err := d.Check(); err != nil {
					t.Errorf("%d tuples: %v", n, err)
				}
				runs := d.Runs()
				if runs["rf_order_unpack"] == before["rf_order_unpack"] ||
					runs["rf_order_move"] != before["rf_order_move"] {
					t.Errorf("%d tuples: rows are looked up", n)
				}
			}
		})
	}
}

// TestOrdersFail has calls of runs that put tuples in order fail.
func TestOrdersFail(t *testing.T) {
	plan, db := enginetest.Stored(t, orderedFacts+orders[1].text+orders[9].text, tuplesOf(60))
	few := card{small: true}
	e, d := few.open(t)
	before := d.Calls()
	check(t, "without faults", e, plan, db)
	allocations := 0
	for _, call := range emulated.Allocations {
		allocations += d.Calls()[call] - before[call]
	}
	for n := 1; n <= allocations; n += 3 {
		e, d := few.open(t)
		if n%2 == 0 { // with the kernels that sort loaded
			check(t, "without faults", e, plan, db)
		}
		d.Inject(emulated.Fault{Calls: emulated.Allocations, Nth: n, Times: 1,
			Code: emulated.OutOfMemory})
		_, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
		d.Heal()
		var memory *runtime.MemoryError
		var device *runtime.DeviceError
		if err != nil && !errors.As(err, &memory) &&
			!(errors.As(err, &device) && errors.Is(err, cuda.ErrOutOfMemory)) {
			t.Errorf("allocation %d: %v", n, err)
		}
		check(t, fmt.Sprintf("after allocation %d failed", n), e, plan, db)
	}
	for _, call := range []string{"cuModuleLoadDataEx", "cuLaunchKernel"} {
		for n := 1; n < 40; n += 5 {
			few.fault(t, plan, db, call, n, emulated.InvalidValue)
		}
	}
}

// inPlace are programs whose tuples are numbered or ranked where they lie and
// written where they belong: over relations with more than enough different
// words.
var inPlace = []struct {
	name, text string
	made       bool // keys are made of columns, which are not all read as they lie
	kept       int64
}{
	{"pairs",
		"pair[k] = v -> int(k), int(v).\nsorted(i; k, v) -> int(i), int(k), int(v).\nsorted(i; k, v) <- seq<<>> pair[k] = v.\n", false, 2500},
	{"pairs, renamed",
		"pair[k] = v -> int(k), int(v).\nsorted(x; y, z) -> int(x), int(y), int(z).\nsorted(i; b, a) <- seq<<>> pair[b] = a.\n", false, 2500},
	{"identifiers", "id(x) -> int(x).\nsorted[i] = x <- seq<<>> id(x).\n", false, 2500},
	{"words", "word(x) -> uint(x).\nsorted[i] = x <- seq<<>> word(x).\n", false, 2500},
	{"signed words", "word(x) -> int(x).\nsorted[i] = x <- seq<<>> word(x).\n", false, 2500},
	{"the first",
		"pair[k] = v -> int(k), int(v).\ntop(v, k) <- pair[k] = v.\nlang:output:orderBy[`top] = \"v desc\".\nlang:output:limit[`top] = 900.\n", true, 900},
}

// TestOrdersInPlace compares orderings of facts, without a kernel before and
// behind, with those of the go engine.
func TestOrdersInPlace(t *testing.T) {
	for _, c := range inPlace {
		t.Run(c.name, func(t *testing.T) {
			e, d := card{small: true, stored: true}.open(t)
			facts := keyed(2500)
			if c.name == "signed words" {
				for i := range facts["word"] {
					facts["word"][i][0].Type = scalar.IntType
				}
			}
			for name := range facts {
				if !strings.Contains(c.text, name) {
					delete(facts, name)
				}
			}
			plan, db := enginetest.Stored(t, c.text, facts)
			check(t, "in place", e, plan, db)
			apart, _ := card{small: true, apart: true}.open(t)
			check(t, "by kernels that move rows", apart, plan, db)
			if err := d.Check(); err != nil {
				t.Error(err)
			}
			p, err := card{}.lower(plan)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Kernels()) > 0 {
				t.Errorf("there are kernels:\n%s", p)
			}
			answer, err := e.Run(context.Background(),
				&runtime.Request{Plan: plan, Facts: db, Profile: true})
			if err != nil {
				t.Fatal(err)
			}
			if insert := answer.Profile[0]; insert.Kept != c.kept || insert.Device <= 0 {
				t.Errorf("the profile has %+v", insert)
			}
			runs := d.Runs() // of both
			if runs["rf_pairs_move"] == 0 || runs["rf_pairs_count"] != 2 ||
				runs["rf_order_move"] > 0 || (runs["rf_order_keys"] > 0) != c.made {
				t.Errorf("the kernels are %v", runs)
			}
		})
	}
}

// TestOrderWithoutKey numbers rows in the order of a column that goes nowhere.
func TestOrderWithoutKey(t *testing.T) {
	facts := keyed(2500)
	_, db := enginetest.Stored(t, inPlace[0].text, oracle.Facts{"pair": facts["pair"]})
	plan, err := queryplan.Parse("test.plan", `var pair(k: int; v: int) input "pair"
var ranked(i: int; v: int) derived unique output
block b0:
  insert ranked
    project i, v
      seq i order [k, v]
        scan pair(k, v)
  merge ranked
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	e, d := card{small: true, stored: true}.open(t)
	check(t, "without the key", e, plan, db)
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	if runs := d.Runs(); runs["rf_pairs_move"] != 4 || runs["rf_order_unpack"] > 0 ||
		runs["rf_order_keys"] > 0 {
		t.Errorf("the kernels are %v", runs)
	}
}

// keyed makes n pairs whose keys and values fill 32 bits, and words and
// identifiers of 64 and 44.
func keyed(n int64) oracle.Facts {
	r := rand.New(rand.NewPCG(3, 4))
	facts := oracle.Facts{}
	for i := range n {
		word := r.Uint64()
		facts["word"] = append(facts["word"],
			oracle.Tuple{scalar.OfInt(scalar.UintOf(64), int64(word))})
		facts["id"] = append(facts["id"],
			oracle.Tuple{scalar.OfInt(scalar.IntType, int64(word>>20)+7)})
		facts["pair"] = append(facts["pair"], oracle.Tuple{
			scalar.OfInt(scalar.IntType, i*(1<<32/n)),
			scalar.OfInt(scalar.IntType, int64(word>>34)*min(i, 1)),
		})
	}
	return facts
}
