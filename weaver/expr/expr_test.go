package expr

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// sampleTypes returns types of every kind, of widths and of scales.
func sampleTypes() []scalar.Type {
	out := []scalar.Type{
		scalar.BooleanType, scalar.IntOf(8), scalar.IntOf(32), scalar.IntType, scalar.UintOf(8),
		scalar.UintOf(32), scalar.UintType,
		{Kind: scalar.Float, Bits: 32}, scalar.FloatType, scalar.DecimalOf(0), scalar.DecimalOf(2),
		scalar.DecimalOf(18),
		scalar.WideDecimalOf(6), scalar.WideDecimalOf(6).WordOf(scalar.High),
		scalar.WideDecimalOf(6).WordOf(scalar.Low),
		scalar.DatetimeType, scalar.StringType,
	}
	if *exhaustive {
		out = append(out, scalar.IntOf(16), scalar.UintOf(16), scalar.DecimalOf(5),
			scalar.WideDecimalOf(25))
	}
	return out
}

// overload is a function with its types.
type overload struct {
	fn     *scalar.Func
	params []scalar.Type
	result scalar.Type
}

func (o overload) String() string {
	return fmt.Sprintf("%s %v = %s", o.fn.Name, o.params,
		o.result)
}

// overloads returns all overloads of a function over the sample types.
func overloads(f *scalar.Func) []overload {
	var out []overload
	seen := map[string]bool{}
	add := func(o overload) {
		if !seen[o.String()] {
			seen[o.String()] = true
			out = append(out, o)
		}
	}
	if f.Name == "convert" {
		for _, from := range sampleTypes() {
			for _, to := range sampleTypes() {
				if scalar.CanConvert(from, to) {
					add(overload{f, []scalar.Type{from}, to})
				}
			}
		}
		return out
	}
	var fill func(args []scalar.Type)
	fill = func(args []scalar.Type) {
		if len(args) == f.Arity() {
			if sig, err := scalar.Resolve(f.Name, args); err == nil {
				add(overload{f, sig.Params, sig.Result})
			}
			return
		}
		for _, t := range sampleTypes() {
			// Words of wide decimals are only joined; else they are decimals as
			// others are.
			if t.Word != scalar.Whole && f.Name != "wide" {
				continue
			}
			// Three arguments and more are of one type each, which others widen
			// to, but for the sums of words.
			if f.Arity() > 2 && f.Name != "mean" &&
				!slices.Contains([]scalar.Type{scalar.IntType, scalar.DatetimeType,
					scalar.StringType}, t) {
				continue
			}
			fill(append(slices.Clone(args), t))
		}
	}
	fill(nil)
	return out
}

// unitNames are those of unit literals, the last one no unit.
var unitNames = []string{"years", "quarter", "months", "weeks", "day", "hours", "minutes", "second",
	"milliseconds", "microseconds", "dayofweek", "dayofyear", "era"}

// intervals are bounds to try, from those of bytes to almost those of words.
var intervals = [][2]int64{
	{0, 9}, {-3, 120}, {-30_000, 30_000}, {0, math.MaxInt32}, {math.MinInt32, math.MaxInt32},
	{-1e6, 4e9}, {1, 1e12}, {-1e17, 3e15}, {math.MinInt64 + 1, math.MaxInt64},
}

// literals are constants of programs.
var literals = []int64{0, 1, -1, 2, 7, 100, -12345}

// bound bounds an argument, as far as its type has such words.
func (a *argument) bound(b [2]int64) {
	a.lo, a.hi, a.bounded = b[0], b[1], true
	if t := a.Type; t.Kind == scalar.Uint || t.Kind == scalar.Int && t.Bits < 64 {
		lo, hi := scalar.OfInt(t, b[0]).Int(), scalar.OfInt(t, b[1]).Int()
		if t.Kind == scalar.Uint {
			lo = 0
		}
		a.lo, a.hi = min(lo, hi), max(lo, hi)
	}
}

var exhaustive = flag.Bool("exhaustive", false, "try all types, bounds and literals")

// turns returns which of n cases an overload is tested with: all of them, or
// one, so that a function's overloads together see most.
func turns(turn, n int) []int {
	if *exhaustive {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	return []int{turn % n}
}

// calls returns the calls to test of an overload, which is the function's
// turn-th.
func calls(o overload, turn int, next func() string) []*call {
	var out []*call
	add := func(set func(i int, a *argument)) {
		c := &call{name: next(), fn: o.fn, result: o.result}
		for i, t := range o.params {
			a := argument{Type: t}
			if t.Kind != scalar.String {
				set(i, &a)
			}
			c.args = append(c.args, a)
		}
		out = append(out, c)
	}
	add(func(int, *argument) {})
	add(func(_ int, a *argument) { a.absent = true })
	numeric := func(t scalar.Type) bool {
		return t.Kind != scalar.Boolean && t.Kind != scalar.Float
	}
	if slices.ContainsFunc(o.params, numeric) {
		for _, n := range turns(turn, len(intervals)) {
			add(func(i int, a *argument) {
				if !numeric(a.Type) {
					return
				}
				// Arguments have different bounds, those of a type's words.
				a.bound(intervals[(n+2*i)%len(intervals)])
				a.absent = n%4 == 3
			})
		}
	}
	if len(o.params) == 2 && numeric(o.params[1]) {
		for _, n := range turns(turn, len(literals)) {
			w := literals[n]
			v := scalar.OfInt(o.params[1], w)
			if o.params[1].Kind == scalar.Decimal {
				v = scalar.OfBits(o.params[1], uint64(w))
			}
			add(func(i int, a *argument) {
				switch {
				case i == 1:
					a.literal = &v
				case n%2 == 0 && numeric(a.Type):
					a.bound(intervals[(turn+n)%len(intervals)])
				}
			})
		}
	}
	decimal := func(t scalar.Type) bool {
		return t.Kind == scalar.Decimal && t.Word == scalar.Whole
	}
	if slices.ContainsFunc(o.params, decimal) {
		for _, which := range []int{0, 1, 2} {
			if which > 0 && (len(o.params) < 2 || !decimal(o.params[1])) {
				continue
			}
			add(func(i int, a *argument) {
				a.wide = decimal(a.Type) && (which == 2 || i == which)
				a.absent = which == 1
			})
		}
	}
	at, ok := LiteralArg(o.fn)
	if !ok {
		return out
	}
	var units []*call
	for _, c := range out {
		for i, name := range unitNames {
			unit := scalar.OfString(name)
			d := *c
			d.name = fmt.Sprintf("%s_%d", c.name, i)
			d.args = slices.Clone(c.args)
			d.args[at].literal = &unit
			units = append(units, &d)
		}
	}
	return units
}

// fillRows makes rows of edges and of random values, and of words that do not
// count.
func fillRows(c *call, r *rand.Rand) (data *rows, values [][]scalar.Value, present [][]bool) {
	addRow := func(row []scalar.Value, there []bool) {
		values = append(values, row)
		present = append(present, there)
	}
	var sets [][]scalar.Value
	product := 1
	for _, a := range c.args {
		set := edges(a)
		if a.literal != nil {
			set = []scalar.Value{*a.literal}
		}
		sets = append(sets, set)
		product *= len(set)
	}
	presence := func() []bool {
		there := make([]bool, len(c.args))
		for i, a := range c.args {
			there[i] = !a.absent || r.IntN(3) > 0
		}
		return there
	}
	const most = 3000
	for k := range min(product, most) {
		row := make([]scalar.Value, len(c.args))
		at := k
		if product > most {
			at = r.IntN(product)
		}
		for i, set := range sets {
			row[i] = set[at%len(set)]
			at /= len(set)
		}
		addRow(row, presence())
	}
	for range 300 {
		row := make([]scalar.Value, len(c.args))
		for i, a := range c.args {
			row[i] = a.random(r)
			if !a.admits(row[i]) {
				row[i] = sets[i][r.IntN(len(sets[i]))]
			}
		}
		addRow(row, presence())
	}
	// Rows that are no longer live have any words, also for bounded arguments.
	for range 200 {
		addRow(nil, nil)
	}
	n := len(values)
	r.Shuffle(n, func(i, j int) {
		values[i], values[j] = values[j], values[i]
		present[i], present[j] = present[j], present[i]
	})
	data = newRows(n, len(c.args))
	for i, row := range values {
		for k := range c.args {
			lo, hi := int64(r.Uint64()), int64(r.Uint64())
			if r.IntN(2) == 0 {
				lo = edgeWords[r.IntN(len(edgeWords))]
			}
			switch {
			case c.args[k].literal != nil:
				// A literal is a parameter, the same for all rows.
				lo = int64(c.args[k].literal.Bits())
			case row != nil && present[i][k]:
				lo, hi = int64(row[k].Bits()), row[k].Int128().Hi
				data.present[k*n+i] = 1
			}
			data.in[2*k*n+i], data.in[(2*k+1)*n+i] = lo, hi
		}
	}
	return data, values, present
}

// check runs a call and compares its results with the function's meaning.
func check(t *testing.T, k *compiled, c *call, r *rand.Rand) {
	data, values, present := fillRows(c, r)
	k.run(c, data)
	n := data.n
	for i, row := range values {
		if row == nil {
			continue
		}
		var want scalar.Value
		ok := true
		for k := range c.args {
			ok = ok && present[i][k]
		}
		switch {
		case ok:
			want, ok = c.fn.Eval(c.result, row)
		case c.fn.Name == "holds":
			want, ok = scalar.OfBool(false), true
		}
		fail := func(format string, args ...any) {
			var words []string
			for k, v := range row {
				switch {
				case !present[i][k]:
					words = append(words, "absent")
				case v.Type.Kind == scalar.Decimal:
					words = append(words, v.Int128().Text(int(v.Type.Scale)))
				default:
					words = append(words, scalar.Literal(v))
				}
			}
			t.Errorf("%s: of %s: %s", c, strings.Join(words, ", "), fmt.Sprintf(format, args...))
		}
		if got := data.flags[i]&1 != 0; got != ok {
			fail("present is %t, want %t", got, ok)
			return
		}
		if fits := ok && want.FitsWord(); fits != (data.flags[i]&2 != 0) {
			fail("fits is %t, want %t", !fits, fits)
			return
		}
		if !ok {
			continue
		}
		high := int64(0)
		if c.result.Kind == scalar.Decimal {
			high = want.Int128().Hi
		}
		lo, hi := data.out[i], data.out[n+i]
		if lo != int64(want.Bits()) || hi != high {
			fail("got %#x %#x, want %#x %#x", uint64(hi), uint64(lo), uint64(high), want.Bits())
			return
		}
		if narrow := data.out[2*n+i]; narrow != lo {
			fail("the narrowed word is %#x, want %#x", narrow, lo)
			return
		}
		if c.made.Bounded && (lo < c.made.Lo || lo > c.made.Hi) {
			fail("%d is not within %d..%d", lo, c.made.Lo, c.made.Hi)
			return
		}
	}
}

// TestFunctions compares native code of every overload with scalar.Func.Eval.
func TestFunctions(t *testing.T) {
	library(t)
	for _, f := range scalar.Funcs() {
		t.Run(f.Name, func(t *testing.T) {
			var all []*call
			count := 0
			for turn, o := range overloads(f) {
				if Supported(f, o.result, o.params) {
					all = append(all, calls(o, turn, func() string {
						count++
						return fmt.Sprintf("f%d", count)
					})...)
				}
			}
			if len(all) == 0 {
				return
			}
			k := compile(t, all)
			r := rand.New(rand.NewPCG(1, 2))
			for _, c := range all {
				check(t, k, c, r)
			}
		})
	}
}

// TestUnsupported lists the functions that have overloads without a native
// form, so that the list changes knowingly. Those of strings alone are left
// out.
func TestUnsupported(t *testing.T) {
	var got []string
	for _, f := range scalar.Funcs() {
		none, all := true, true
		for _, o := range overloads(f) {
			if o.result.Kind == scalar.String || slices.Contains(o.params, scalar.StringType) {
				continue
			}
			none = none && !Supported(f, o.result, o.params)
			all = all && Supported(f, o.result, o.params)
		}
		switch _, unit := LiteralArg(f); {
		case unit || strings.HasPrefix(f.Name, "string:") || f.Name == "datetime:format" ||
			f.Name == "datetime:parse":
		case !all && !none:
			got = append(got, f.Name+" in part")
		case !all:
			got = append(got, f.Name)
		}
	}
	want := []string{
		"datetime:now", "float:arccos", "float:arcsin", "float:arctan", "float:cos", "float:exp",
		"float:log", "float:log10", "float:pow",
		"float:sin", "float:tan",
	}
	if !slices.Equal(got, want) {
		t.Errorf("without native form are\n%q\nwant\n%q", got, want)
	}
	for name := range functions {
		if f := scalar.Lookup(name); f == nil || f.Name != name {
			t.Errorf("there is no function %s", name)
		}
	}
	for _, name := range []string{"datetime:part", "datetime:add", "datetime:subtract"} {
		for _, o := range overloads(scalar.Lookup(name)) {
			if !Supported(o.fn, o.result, o.params) {
				t.Errorf("%s is not supported", o)
			}
		}
	}
}
