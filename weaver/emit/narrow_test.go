package emit

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestNarrow emits probes by a key of two columns, the first in the low bits,
// and wants narrow keys where the difference of every word from its base fits
// them, without a look at the bounds where all words are within.
func TestNarrow(t *testing.T) {
	type bounds struct{ lo, hi int64 }
	const (
		wide = iota
		checked
		inside
	)
	first := bounds{5, 12} // of 3 bits from base 5
	for _, c := range []struct {
		name       string
		x, y       bounds
		base, bits int64 // of y
		size       int64
		form       abi.Form
		want       int
	}{
		{"inside", first, bounds{100, 163}, 100, 6, 64 << 3, abi.Direct, inside},
		{"inside, negative base", first, bounds{-50, 13}, -50, 6, 64 << 3, abi.Direct, inside},
		{"inside, the least base", first, bounds{math.MinInt64, math.MinInt64 + 63}, math.MinInt64,
			6, 64 << 3, abi.Direct, inside},
		{"row numbers", first, bounds{100, 163}, 100, 6, 64 << 3, abi.None, inside},
		{"below the base", first, bounds{99, 163}, 100, 6, 64 << 3, abi.Direct, checked},
		{"above the bits", first, bounds{100, 164}, 100, 6, 64 << 3, abi.Direct, checked},
		{"above the size", first, bounds{100, 163}, 100, 6, 63 << 3, abi.Direct, checked},
		{"another column's", bounds{5, 13}, bounds{100, 163}, 100, 6, 64 << 3, abi.Direct, checked},
		{"far, and within 30 bits", first, bounds{101 - 1<<30, 99 + 1<<30}, 100, 6, 64 << 3,
			abi.Direct, checked},
		{"30 bits below", first, bounds{100 - 1<<30, 163}, 100, 6, 64 << 3, abi.Direct, wide},
		{"30 bits above", first, bounds{100, 100 + 1<<30}, 100, 6, 64 << 3, abi.Direct, wide},
		{"overflow below", first, bounds{math.MinInt64, 163}, 100, 6, 64 << 3, abi.Direct, wide},
		{"overflow above", first, bounds{-100, math.MaxInt64}, -100, 6, 64 << 3, abi.Direct, wide},
		{"31 bits", first, bounds{100, 163}, 100, 28, 1 << 31, abi.Direct, wide},
		{"a size that divides a column", first, bounds{100, 163}, 100, 6, 64<<3 - 1, abi.Direct,
			wide},
		{"no key", first, bounds{100, 163}, 100, 6, 0, abi.Direct, wide},
		{"a hash table", first, bounds{100, 163}, 100, 6, 64 << 3, abi.Hash, wide},
	} {
		for _, probe := range []struct{ index, text, primitive string }{
			{"exists", "probe exists", "rf_tile_find_bits"},
			{"exists", "probe absent", "rf_tile_find_bits"},
			{"unique", "v2: row = probe unique", "rf_tile_find_rows"},
		} {
			text := "relation a(x: int, y: int) input \"a\"\nrelation b(x: int, y: int) input \"b\"\nrelation t(x: int) temp\n" +
				"index i " + probe.index +
				" b(x, y)\nblock b0:\n  build i\n  run k0\n    rows a\n" +
				"    v0: int = load x\n    v1: int = load y\n    " + probe.text +
				" i(v0, v1)\n    store t(v0)\n  halt\n"
			p, err := harmony.Parse("test.harmony", text)
			if err != nil {
				t.Fatal(err)
			}
			stages := p.Kernels()[0].Stages
			o := Options{
				Target: target.GPU(90),
				Fix: func(_ string, p abi.Param) (int64, bool) {
					switch p.Kind {
					case abi.IndexForm:
						return int64(c.form), true
					case abi.IndexSize:
						return c.size, true
					case abi.IndexBase:
						return []int64{5, c.base}[p.Index], true
					case abi.IndexBits:
						return []int64{3, c.bits}[p.Index], true
					case abi.IndexShift:
						return []int64{0, 3}[p.Index], true
					}
					return 0, false
				},
				Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
					switch r {
					case harmony.Def(stages[0]):
						return c.x.lo, c.x.hi, true
					case harmony.Def(stages[1]):
						return c.y.lo, c.y.hi, true
					}
					return 0, 0, false
				},
			}
			code, err := Program(p, o)
			if err != nil {
				t.Fatal(err)
			}
			got := wide
			if strings.Contains(code.IR, "trunc i64") && strings.Contains(code.IR, "shl i32") {
				got = inside
				if strings.Contains(code.IR, "icmp ult i32") {
					got = checked
				}
			}
			name := fmt.Sprintf("%s, %s", c.name, probe.text)
			if got != c.want {
				t.Errorf("%s: code of kind %d, want %d\n%s", name, got, c.want,
					definitions(code.Units[0]))
			}
			if calls := strings.Contains(code.IR, "@"+probe.primitive); calls != (c.want != wide &&
				c.form == abi.Direct) {
				t.Errorf("%s: that %s is called is %t", name, probe.primitive, calls)
			}
		}
	}
}
