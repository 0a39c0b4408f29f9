package interval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// types are those with words that have an order or wrap around.
var types = []scalar.Type{
	scalar.BooleanType, scalar.IntOf(8), scalar.IntOf(32), scalar.IntType, scalar.UintOf(8),
	scalar.UintOf(32), scalar.UintType,
	scalar.DecimalOf(0), scalar.DecimalOf(2), scalar.DecimalOf(9), scalar.DatetimeType,
	scalar.FloatType,
	scalar.WideDecimalOf(6), wideWords[0], wideWords[1],
}

// wideWords are the types of the words of a wide decimal.
var wideWords = []scalar.Type{scalar.WideDecimalOf(6).WordOf(scalar.High),
	scalar.WideDecimalOf(6).WordOf(scalar.Low)}

// edges are words at which arithmetic changes.
var edges = []int64{
	math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, -1, 0, 1, 2, -2, 3, 7, 10,
	63, 64, 65, 100, 127, 128, -128, -129, 255, 256,
	math.MinInt32, math.MaxInt32, math.MaxUint32, 1 << 32, 1 << 62, -1 << 62, 1_000_000,
	-1_000_000_000, 86_400_000_000,
}

func randomWord(rng *rand.Rand) int64 {
	switch rng.IntN(3) {
	case 0:
		return edges[rng.IntN(len(edges))]
	case 1:
		return int64(rng.Uint64()) >> rng.IntN(64)
	}
	return rng.Int64N(20) - 10
}

// randomInterval returns a bound of words of a type and the words in it to try.
func randomInterval(rng *rand.Rand, t scalar.Type) (Interval, []int64) {
	full := OfType(t)
	word := func() int64 {
		w := randomWord(rng)
		if t.Kind == scalar.Float {
			return int64(scalar.OfFloat(t, float64(w)/8).Bits())
		}
		return int64(scalar.OfInt(scalar.Type{Kind: kindOfWord(t), Bits: bitsOfWord(t)}, w).Bits())
	}
	a, b := word(), word()
	if t.Kind == scalar.Boolean {
		a, b = a&1, b&1
	}
	r := Interval{min(a, b), max(a, b)}
	words := []int64{r.Lo, r.Hi}
	for range 12 {
		if w := word(); r.Contains(w) && full.Contains(w) {
			words = append(words, w)
		}
	}
	if n := uint64(r.Hi) - uint64(r.Lo); n > 0 && t.Kind != scalar.Float {
		for range 6 {
			words = append(words, r.Lo+int64(rng.Uint64()%n))
		}
	}
	return r, words
}

func kindOfWord(t scalar.Type) scalar.Kind {
	if t.Kind == scalar.Uint {
		return scalar.Uint
	}
	return scalar.Int
}

func bitsOfWord(t scalar.Type) uint8 {
	if t.Kind == scalar.Int || t.Kind == scalar.Uint {
		return t.Bits
	}
	return 64
}

// TestCall tries every function over intervals of all types that it takes: no
// result may be outside of the bound, and none of an exact one may wrap or not
// fit.
func TestCall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tried, narrow := map[string]int{}, map[string]int{}
	for _, f := range scalar.Funcs() {
		if f.Volatile || f.Arity() == 0 || f.Arity() > 3 {
			continue
		}
		for range 2000 {
			args := make([]scalar.Type, f.Arity())
			for i := range args {
				args[i] = types[rng.IntN(len(types))]
				if i > 0 && rng.IntN(2) == 0 {
					args[i] = args[0]
				}
			}
			switch f.Name {
			case "wide":
				args = wideWords
			case "mean":
				args = []scalar.Type{scalar.WideDecimalOf(6), scalar.WideDecimalOf(6),
					scalar.IntType}
			}
			sig, err := scalar.Resolve(f.Name, args)
			if f.Name == "convert" {
				sig = scalar.Signature{Func: f, Params: args, Result: types[rng.IntN(len(types))]}
				err = nil
				if !scalar.CanConvert(args[0], sig.Result) {
					continue
				}
			}
			if err != nil {
				continue
			}
			tryCall(t, rng, sig, tried, narrow)
		}
	}
	for _, name := range []string{"wide", "high", "low", "mean"} {
		if tried[name] < 100 {
			t.Errorf("%s was tried %d times", name, tried[name])
		}
	}
	for _, name := range []string{"add", "sub", "mul", "div", "mod", "neg", "abs", "min", "max",
		"convert", "round", "bitand", "bitor", "bitxor", "shr"} {
		if tried[name] < 100 {
			t.Errorf("%s was tried %d times", name, tried[name])
		}
		if narrow[name] == 0 {
			t.Errorf("%s is never bounded by more than its type", name)
		}
	}
}

// TestWide bounds decimals by their words.
func TestWide(t *testing.T) {
	for _, c := range []struct {
		high, low, want Interval
		exact           bool
	}{
		{Of(0), Interval{math.MinInt64 + 3, math.MinInt64 + 9}, Interval{3, 9}, true},
		{Of(-1), Interval{math.MaxInt64 - 1, math.MaxInt64}, Interval{-2, -1}, true},
		{Interval{-1, 0}, Of(math.MinInt64), All, false},
		{Of(0), All, All, false},
		{Of(5), Of(0), All, false},
		{None, All, None, true},
	} {
		got, exact := Call(scalar.Lookup("wide"), wideWords[0].Joined(), wideWords,
			[]Interval{c.high, c.low})
		if got != c.want || exact != c.exact {
			t.Errorf("the words %v and %v are within %v, exact %v", c.high, c.low, got, exact)
		}
	}
}

func tryCall(t *testing.T, rng *rand.Rand, sig scalar.Signature, tried, narrow map[string]int) {
	t.Helper()
	f := sig.Func
	bounds := make([]Interval, len(sig.Params))
	words := make([][]int64, len(sig.Params))
	for i, p := range sig.Params {
		bounds[i], words[i] = randomInterval(rng, p)
	}
	got, exact := Call(f, sig.Result, sig.Params, bounds)
	tried[f.Name]++
	if got != OfType(sig.Result) {
		narrow[f.Name]++
	}
	for range 40 {
		values := make([]scalar.Value, len(words))
		for i := range words {
			values[i] = scalar.OfBits(sig.Params[i], uint64(words[i][rng.IntN(len(words[i]))]))
		}
		v, ok := f.Eval(sig.Result, values)
		switch {
		case !ok:
		case !v.FitsWord():
			if exact {
				t.Fatalf("%s%v of %v is said to be exact within %v, but is %s", f.Name, values,
					bounds, got, scalar.Literal(v))
			}
		case !got.Contains(int64(v.Bits())):
			t.Fatalf("%s%v of %v in %v is %s, which is not within %v", f.Name, sig.Params, values,
				bounds, scalar.Literal(v), got)
		case exact && wraps(sig, values, v):
			t.Fatalf("%s%v of %v in %v is said to be exact within %v, but wraps to %s", f.Name,
				sig.Params, values, bounds, got, scalar.Literal(v))
		}
	}
}

// wraps reports whether an integer result differs from the true one.
func wraps(sig scalar.Signature, args []scalar.Value, got scalar.Value) bool {
	if k := sig.Result.Kind; k != scalar.Int && k != scalar.Uint {
		return false
	}
	a := args[0].Int128()
	var want scalar.Int128
	var ok bool
	switch sig.Func.Name {
	case "add":
		want, ok = a.Add(args[1].Int128())
	case "sub":
		want, ok = a.Sub(args[1].Int128())
	case "mul":
		want, ok = a.Mul(args[1].Int128())
	case "neg":
		want, ok = a.Neg()
	case "div":
		want, ok = a.Quo(args[1].Int128())
	case "abs":
		if want, ok = a, true; a.Sign() < 0 {
			want, ok = a.Neg()
		}
	default:
		return false
	}
	return !ok || want != got.Int128()
}

// TestCallIsTight pins bounds that are worth having.
func TestCallIsTight(t *testing.T) {
	i, d := scalar.IntType, scalar.DecimalOf
	for _, c := range []struct {
		name   string
		result scalar.Type
		params []scalar.Type
		args   []Interval
		want   Interval
		exact  bool
	}{
		{"add", i, []scalar.Type{i, i}, []Interval{{0, 10}, {-3, 5}}, Interval{-3, 15}, true},
		{"add", i, []scalar.Type{i, i}, []Interval{{0, math.MaxInt64}, {0, 1}}, All, false},
		{"add", i, []scalar.Type{i, i}, []Interval{None, {0, 1}}, None, true},
		{"sub", d(2), []scalar.Type{d(2), d(2)}, []Interval{{100, 100}, {0, 10}}, Interval{90, 100},
			true},
		{"mul", d(4), []scalar.Type{d(2), d(2)}, []Interval{{0, 1e7}, {90, 100}}, Interval{0, 1e9},
			true},
		{"mul", d(4), []scalar.Type{d(2), d(2)}, []Interval{{0, 1e18}, {90, 100}}, All, false},
		{"mul", scalar.IntOf(8), []scalar.Type{scalar.IntOf(8), scalar.IntOf(8)},
			[]Interval{{0, 12}, {0, 12}}, Interval{-128, 127}, false},
		{"div", i, []scalar.Type{i, i}, []Interval{{-7, 100}, {-2, 5}}, Interval{-100, 100}, true},
		{"div", i, []scalar.Type{i, i}, []Interval{{-7, 100}, {0, 0}}, None, true},
		{"div", d(6), []scalar.Type{d(2), d(0)}, []Interval{{0, 500}, {2, 4}},
			Interval{0, 2_500_000}, true},
		{"mod", i, []scalar.Type{i, i}, []Interval{{0, 100}, {-7, 5}}, Interval{0, 6}, true},
		{"mod", i, []scalar.Type{i, i}, []Interval{{-3, 2}, {1, 50}}, Interval{-3, 2}, true},
		{"abs", i, []scalar.Type{i}, []Interval{{-9, 4}}, Interval{0, 9}, true},
		{"neg", i, []scalar.Type{i}, []Interval{{math.MinInt64, 0}}, All, false},
		{"convert", d(2), []scalar.Type{i}, []Interval{{1, 50}}, Interval{100, 5000}, true},
		{"convert", i, []scalar.Type{d(2)}, []Interval{{149, 250}}, Interval{1, 3}, true},
		{"convert", scalar.IntOf(8), []scalar.Type{i}, []Interval{{100, 1000}}, Interval{100, 127},
			true},
		{"convert", scalar.UintType, []scalar.Type{i}, []Interval{{-5, 5}}, Interval{0, 5}, true},
		{"round", d(2), []scalar.Type{d(2)}, []Interval{{149, 250}}, Interval{100, 300}, true},
		{"min", i, []scalar.Type{i, i}, []Interval{{0, 10}, {3, 30}}, Interval{0, 10}, true},
		{"max", scalar.DatetimeType, []scalar.Type{scalar.DatetimeType, scalar.DatetimeType},
			[]Interval{{0, 10}, {3, 30}}, Interval{3, 30}, true},
		{"bitand", i, []scalar.Type{i, i}, []Interval{All, {0, 7}}, Interval{0, 7}, true},
		{"bitor", i, []scalar.Type{i, i}, []Interval{{0, 4}, {0, 9}}, Interval{0, 15}, true},
		{"shr", i, []scalar.Type{i, i}, []Interval{{-8, 64}, {1, 3}}, Interval{-4, 32}, true},
		{"lt", scalar.BooleanType, []scalar.Type{i, i}, []Interval{All, All}, Interval{0, 1}, true},
		{"string:length", i, []scalar.Type{scalar.StringType}, []Interval{{0, 9}},
			Interval{0, math.MaxInt64}, true},
	} {
		got, exact := Call(scalar.Lookup(c.name), c.result, c.params, c.args)
		if got != c.want || exact != c.exact {
			t.Errorf("%s%v of %v is within %v, exact %v, want %v, %v", c.name, c.params, c.args,
				got, exact, c.want, c.exact)
		}
	}
}

// TestDatetimePart tries fields of random datetimes.
func TestDatetimePart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for unit := scalar.Year; unit <= scalar.DayOfYear; unit++ {
		for range 2000 {
			r, words := randomInterval(rng, scalar.DatetimeType)
			bound := DatetimePart(unit, r)
			for _, w := range words {
				if n, ok := scalar.DatetimePart(w, unit); ok && !bound.Contains(n) {
					t.Fatalf("field %d of %d is %d, not within %v", unit, w, n, bound)
				}
			}
		}
		if !DatetimePart(unit, None).Empty() {
			t.Errorf("field %d of no datetime", unit)
		}
	}
}

// TestComparison holds the words for which a comparison holds against scalar's.
func TestComparison(t *testing.T) {
	for _, name := range []string{"eq", "lt", "le", "gt", "ge"} {
		f, mirrored := scalar.Lookup(name), scalar.Lookup(Mirrored(name))
		for _, w := range edges {
			bound, ok := Comparison(name, w)
			if !ok {
				t.Errorf("%s is said to hold of no interval", name)
			}
			for _, x := range edges {
				args := []scalar.Value{scalar.OfInt(scalar.IntType, x),
					scalar.OfInt(scalar.IntType, w)}
				v, _ := f.Eval(scalar.BooleanType, args)
				if v.Bool() != bound.Contains(x) {
					t.Errorf("%d %s %d is %v, but the bound is %v", x, name, w, v.Bool(), bound)
				}
				if m, _ := mirrored.Eval(scalar.BooleanType,
					[]scalar.Value{args[1], args[0]}); m != v {
					t.Errorf("%s mirrored is %s", name, Mirrored(name))
				}
			}
		}
	}
	if _, ok := Comparison("ne", 1); ok {
		t.Error("ne is said to hold of an interval")
	}
}

// TestSets checks the operations on intervals by membership.
func TestSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	for range 20000 {
		a, b := Interval{randomWord(rng), randomWord(rng)}, Interval{randomWord(rng),
			randomWord(rng)}
		union, both := a.Union(b), a.Intersect(b)
		for range 10 {
			w := randomWord(rng)
			if (a.Contains(w) || b.Contains(w)) && !union.Contains(w) {
				t.Fatalf("%d is in %v or %v, and not in %v", w, a, b, union)
			}
			if (a.Contains(w) && b.Contains(w)) != both.Contains(w) {
				t.Fatalf("%v and %v have %v in common", a, b, both)
			}
		}
		if !union.Covers(a) || !a.Covers(both) || a.Empty() != (a.Bits() == 0 && a.Lo != a.Hi) {
			t.Fatalf("%v and %v give %v and %v", a, b, union, both)
		}
		if w := a.Widened(union, All); !a.Empty() && !w.Covers(union) {
			t.Fatalf("%v widens to %v, which does not cover %v", a, w, union)
		}
	}
	for r, want := range map[Interval]string{None: "none", All: "[..]", {-3, 5}: "[-3..5]",
		{0, math.MaxInt64}: "[0..]"} {
		if got := fmt.Sprint(r); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
