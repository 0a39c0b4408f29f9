package bounds

import (
	"math"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// counter adds the successor of each number below a limit.
type counter struct{ below int64 }

func (c counter) Added(cols Columns[string], visit func(v string, added []interval.Interval)) {
	in := cols["n"][0].Intersect(interval.Interval{Lo: math.MinInt64, Hi: c.below - 1})
	if !in.Empty() {
		visit("n", []interval.Interval{{Lo: in.Lo + 1, Hi: in.Hi + 1}})
	}
}

func (counter) Widest(string, int) interval.Interval { return interval.All }

// TestSolve counts to limits before and behind the point where bounds are
// widened: both are found, the second by narrowing.
func TestSolve(t *testing.T) {
	for _, below := range []int64{0, 5, maxGrowths, 1000} {
		loaded := Columns[string]{"n": {interval.Of(0)}, "empty": None(2)}
		cols := Solve(counter{below}, loaded)
		if want := (interval.Interval{Lo: 0, Hi: below}); cols["n"][0] != want {
			t.Errorf("below %d: got %v, want %v", below, cols["n"][0], want)
		}
		if !cols["empty"][1].Empty() {
			t.Errorf("a column without rows has bound %v", cols["empty"][1])
		}
		if loaded["n"][0] != interval.Of(0) {
			t.Error("Solve changed its argument")
		}
	}
}

func function(t *testing.T, name string) *scalar.Func {
	f := scalar.Lookup(name)
	if f == nil {
		t.Fatalf("no function %s", name)
	}
	return f
}

func TestImplied(t *testing.T) {
	five, half := scalar.OfInt(scalar.IntType, 5), scalar.OfFloat(scalar.FloatType, 0.5)
	column := func(t scalar.Type) Operand { return Operand{Type: t} }
	constant := func(v scalar.Value) Operand { return Operand{Type: v.Type, Const: &v} }
	for _, c := range []struct {
		name  string
		args  []Operand
		place int
		want  interval.Interval
		ok    bool
	}{
		{"lt", []Operand{column(scalar.IntType), constant(five)}, 0,
			interval.Interval{Lo: math.MinInt64, Hi: 4}, true},
		{"lt", []Operand{constant(five), column(scalar.IntType)}, 1,
			interval.Interval{Lo: 6, Hi: math.MaxInt64}, true},
		{"eq", []Operand{constant(five), column(scalar.IntType)}, 1, interval.Of(5), true},
		{"ne", []Operand{column(scalar.IntType), constant(five)}, 0, interval.Interval{}, false},
		{"eq", []Operand{constant(five), constant(five)}, 0, interval.Interval{}, false},
		{"eq", []Operand{column(scalar.IntType), column(scalar.IntType)}, 0, interval.Interval{},
			false},
		{"lt", []Operand{column(scalar.FloatType), constant(half)}, 0, interval.Interval{}, false},
		{"neg", []Operand{constant(five)}, 0, interval.Interval{}, false},
	} {
		place, bound, ok := Implied(function(t, c.name), c.args)
		if ok != c.ok || ok && (place != c.place || bound != c.want) {
			t.Errorf("%s: got argument %d %v %v, want %d %v %v", c.name, place, bound, ok, c.place,
				c.want, c.ok)
		}
	}
}

// A decimal that may exceed 64 bits spoils the bounds of decimals computed from
// it, and not those of comparisons.
func TestCallOfWhatDoesNotFit(t *testing.T) {
	d := scalar.DecimalOf(2)
	large := Operand{Value: Value{interval.All, false}, Type: d}
	one := Operand{Value: Value{interval.Of(100), true}, Type: d}
	if v := Call(function(t, "add"), d, []Operand{large, one}); v.Fits {
		t.Errorf("the sum is %v", v)
	}
	if v := Call(function(t, "lt"), scalar.BooleanType, []Operand{large, one}); !v.Fits ||
		v.Bound != (interval.Interval{Lo: 0, Hi: 1}) {
		t.Errorf("the comparison is %v", v)
	}
	if v := Call(function(t, "add"), d, []Operand{one, one}); !v.Fits ||
		v.Bound != interval.Of(200) {
		t.Errorf("the sum of small ones is %v", v)
	}
}

func TestStrings(t *testing.T) {
	var s Strings
	p := make([]*Place, 6)
	for i := range p {
		p[i] = s.New()
	}
	p[4].Meet(p[3])
	p[5].Meet(p[4])
	p[2].Meet(p[0])
	p[0].Meet(p[2])
	if got, want := s.Sets(), []*Place{p[0], p[1], p[3]}; !slices.Equal(got, want) {
		t.Fatalf("%d sets, want %d", len(got), len(want))
	}
	for i, root := range []int{0, 1, 0, 3, 3, 3} {
		if p[i].Set() != p[root] {
			t.Errorf("place %d is not in the set of %d", i, root)
		}
	}
}
