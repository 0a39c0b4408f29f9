package emit

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestLargeTables says for how many groups with numbers a GPU's block has a
// place each, in how many bytes, and in blocks of how many threads.
func TestLargeTables(t *testing.T) {
	const small, price, large = 100, 10_000_000, 1 << 40
	for _, c := range []struct {
		name    string
		groups  int64
		accs    string
		vals    string
		threads int // of a block; 0: it searches, or leaves all to the groups of all blocks
		bytes   int
		sharing int    // blocks that have the same rows
		more    string // stages behind the loads
	}{
		{"a sum of two digits that tells whether there are rows", 10_000, "a: int = total(int)",
			"total(v1)", 512, 80_000, 0, ""},
		{"a sum that does not, and what counts rows", 10_000, "a: int = total(int)", "total(v2)",
			1024, 120_000, 0, ""},
		{"a count", 10_000, "n: int = count()", "count()", 256, 40_000, 0, ""},
		{"as many counts as there is room for", 57_000, "n: int = count()", "count()", 1024,
			228_000, 0, ""},
		{"extremes", 9_999, "a: int = max(int)", "max(v1)", 1024, 12 * 10_000, 0, ""},
		{"as many sums as there is room for", 28_000, "a: int = total(int)", "total(v1)", 1024,
			224_000, 0, ""},
		{"more, in two shares", 29_000, "a: int = total(int)", "total(v1)", 1024, 8 * 14_500, 2,
			""},
		{"in four", 100_000, "a: int = total(int)", "total(v1)", 1024, 8 * 25_000, 4, ""},
		{"as many as there are shares for", 224_000, "a: int = total(int)", "total(v1)", 1024,
			8 * 28_000, 8, ""},
		{"more than that", 240_000, "a: int = total(int)", "total(v1)", 0, 0, 0, ""},
		{"more, of some of the rows", 100_000, "a: int = total(int)", "total(v1)", 0, 0, 0,
			"    v4: boolean = map lt(v1, 5)\n    filter v4\n"},
		{"few groups with many accumulators", 2000,
			"a: int = total(int), b: int = total(int), c: int = max(int), d: int = min(int)",
			"total(v1), total(v3), max(v1), min(v3)", 512, 2000 * (8 + 12 + 8 + 8), 0, ""},
		{"rows that are looked up", 10_000, "a: int = total(int)", "total(v1)", 0, 0, 0,
			"    probe exists e(v1)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf("relation r(k: int, a: int, b: int, c: int) input \"r\"\nindex e exists r(k)\ngroups g(x: int; %s)\nblock b0:\n  build e\n  run k\n    rows r\n"+
				"    v0: int = load k\n    v1: int = load a\n    v2: int = load b\n    v3: int = load c\n%s    group g [v0] %s\n  halt\n", c.accs, c.more, c.vals)
			code := groupsCode(t, text, c.groups, 16, 4,
				[][2]int64{{0, c.groups - 1}, {1, small}, {-price, price}, {1, large}})
			for _, e := range code.Module.Entries {
				if e.Role != abi.Kernel {
					continue
				}
				if n := strings.Count(code.IR, "call void @rf_own_settle(ptr null"); n == 0 &&
					c.threads != 0 || n != 0 && c.threads == 0 {
					t.Fatalf("%d tables without words", n)
				}
				if e.Sharing != c.sharing {
					t.Errorf("%d blocks have shares, want %d", e.Sharing, c.sharing)
				}
				if c.threads == 0 {
					continue
				}
				if e.Threads != c.threads || e.Scratch < c.bytes || e.Scratch > c.bytes+64 {
					t.Errorf("blocks of %d threads and %d bytes, want %d and %d", e.Threads,
						e.Scratch, c.threads, c.bytes)
				}
			}
		})
	}
}

// TestLargeBlocks adds rows to large tables in emulated blocks, of groups most
// of which have no rows, and wants harmonyref's answer.
func TestLargeBlocks(t *testing.T) {
	runtime := blocksRuntime(t)
	const text = `
relation r(k: int, a: int, b: int, f: float) input "r"
relation s(k: int, n: int, ta: int, tb: int, lo: int, hi: int) derived output
relation u(k: int, ta: int) derived output
relation v(k: int, tb: int) derived output
relation w(k: int, f: float) derived output
groups g(x: int; n: int = count(), ta: int = total(int), tb: int = total(int), lo: int = min(int), hi: int = max(int))
groups h(x: int; ta: int = total(int))
groups i(x: int; tb: int = total(int))
groups j(x: int; f: float = max(float))
block b0:
  run k0
    rows r
    v0: int = load k
    v1: int = load a
    v2: int = load b
    group g [v0] count(), total(v1), total(v2), min(v2), max(v1)
  run k1
    rows r
    v0: int = load k
    v1: int = load a
    group h [v0] total(v1)
  run k2
    rows r
    v0: int = load k
    v1: int = load b
    group i [v0] total(v1)
  run k3
    rows r
    v0: int = load k
    v1: float = load f
    group j [v0] max(v1)
  run k4
    groups g
    v0: int = load x
    v1: int = load n
    v2: int = load ta
    v3: int = load tb
    v4: int = load lo
    v5: int = load hi
    insert s(v0, v1, v2, v3, v4, v5)
  run k5
    groups h
    v0: int = load x
    v1: int = load ta
    insert u(v0, v1)
  run k6
    groups i
    v0: int = load x
    v1: int = load tb
    insert v(v0, v1)
  run k7
    groups j
    v0: int = load x
    v1: float = load f
    insert w(v0, v1)
  merge s
  merge u
  merge v
  merge w
  halt
`
	for n, v := range []struct {
		variant
		large  int // kernels with such tables
		shared int // of these, kernels whose blocks have shares
		spread int64
	}{
		{variant{name: "as much shared memory as there is", sm: 90, threads: 256, items: 8,
			groupBits: 12}, 4, 0, 1},
		{variant{name: "little shared memory", sm: 80, threads: 64, items: 4, groupBits: 12}, 3, 0,
			1},
		{variant{name: "two shares", sm: 80, threads: 64, items: 4, groupBits: 12, crowded: true},
			4, 1, 1},
		{variant{name: "three shares", sm: 90, threads: 64, items: 4, groupBits: 14, crowded: true},
			4, 2, 4},
	} {
		t.Run(v.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			facts := map[string]planref.Rows{}
			word := func(i int64) scalar.Value { return scalar.OfInt(scalar.IntType, i) }
			for range 6000 {
				k := r.Int64N(60) * 53
				if r.IntN(4) == 0 {
					k = 4000
				}
				facts["r"] = append(facts["r"],
					[]scalar.Value{word(k * v.spread), word(1 + r.Int64N(1e7)),
						word(r.Int64N(1<<35) - 1<<34),
						scalar.OfFloat(scalar.FloatType, r.NormFloat64())})
			}
			ir := runGroups(t, runtime, text, v.variant, uint64(n), facts)
			if n := strings.Count(ir, "call void @rf_own_settle(ptr null"); n != v.large {
				t.Errorf("%d kernels have a place for each group, want %d", n, v.large)
			}
			if n := strings.Count(ir, "urem i64"); n != v.shared {
				t.Errorf("the blocks of %d kernels have shares, want %d", n, v.shared)
			}
		})
	}
}
