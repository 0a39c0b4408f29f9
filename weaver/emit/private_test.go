package emit

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/ptxas"
	"github.com/redfoxdb/redfox/internal/reference/harmonyref"
	"github.com/redfoxdb/redfox/internal/reference/planref"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestPrivateCells says for which groups the threads of a GPU's block have
// cells of their own, in blocks of how many threads, and how many cells of 64
// bits; for others there are atomics.
func TestPrivateCells(t *testing.T) {
	_, err := ptxas.Find()
	assembles := err == nil
	t.Logf("PTX is assembled: %t", assembles)
	const small, price, product, large = 100, 10_000_000, 100_000_000_000, 1 << 40
	for _, c := range []struct {
		name    string
		keys    int64 // values of the key
		accs    string
		vals    string
		threads int // of a block; 0: as ever, with atomics
		cells   int // of a thread and group
		probes  bool
	}{
		{"a sum that tells whether there are rows", 4, "a: int = total(int)", "total(v1)", 256, 1,
			false},
		{"a sum that does not, and what counts rows", 4, "a: int = total(int)", "total(v2)", 256, 2,
			false},
		{"a count", 4, "n: int = count()", "count()", 256, 1, false},
		{"two sums of 32 bits in a word", 4, "a: int = total(int), n: int = count()",
			"total(v0), count()", 256, 1, false},
		{"a sum and a mean of the same operand", 4,
			"a: int = total(int), b: decimal[18,6] = avg(int)", "total(v1), avg(v1)", 256, 2,
			false},
		{"extremes", 4, "a: int = min(int), b: int = max(int)", "min(v2), max(v2)", 256, 3, false},
		{"a product, of whose sum a thread has a part", 4, "a: int = total(int)", "total(v3)", 256,
			1, false},
		{"a sum that may not fit", 4, "a: int = total(int)", "total(v4)", 0, 0, false},
		{"many cells of a thread", 6,
			"a: int = total(int), b: int = total(int), c: int = min(int), d: int = max(int), n: int = count()",
			"total(v1), total(v3), min(v1), max(v1), count()", 256, 5, false},
		{"more cells than leave room for enough blocks", 12,
			"a: int = total(int), b: int = total(int), c: int = min(int), d: int = max(int), n: int = count()",
			"total(v1), total(v3), min(v1), max(v1), count()", 0, 0, false},
		{"more groups than a thread has room for", 100, "a: int = total(int)", "total(v1)", 0, 0,
			false},
		{"groups of rows that are looked up", 4, "a: int = total(int)", "total(v1)", 256, 1, true},
		{"too many groups of such rows", 20, "a: int = total(int)", "total(v1)", 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			probe := ""
			if c.probes {
				probe = "    probe exists e(v1)\n"
			}
			text := fmt.Sprintf("relation r(k: int, a: int, b: int, c: int, d: int) input \"r\"\nindex e exists r(k)\ngroups g(x: int; %s)\nblock b0:\n  build e\n  run k\n    rows r\n"+
				"    v0: int = load k\n    v1: int = load a\n    v2: int = load b\n    v3: int = load c\n    v4: int = load d\n%s    group g [v0] %s\n  halt\n", c.accs, probe, c.vals)
			code := groupsCode(t, text, c.keys, 7, 8,
				[][2]int64{{0, small}, {1, price}, {-price, price}, {1, product}, {0, large}})
			var entry *abi.Entry
			for _, e := range code.Module.Entries {
				if e.Role == abi.Kernel {
					entry = e
				}
			}
			image := ptxOf(t, code, 90)
			if (entry.Dynamic > 0) != (entry.Scratch > target.StaticShared) {
				t.Errorf("%d of %d bytes of shared memory are dynamic", entry.Dynamic,
					entry.Scratch)
			}
			if assembles {
				if _, err := ptxas.Assemble(image, "sm_90"); err != nil {
					t.Error(err)
				}
			}
			ptx := string(image)
			ptx = ptx[strings.Index(ptx, ".entry "+entry.Symbol+"("):]
			if n := len(regexp.MustCompile(`(atom|red)\.shared`).FindAllString(ptx,
				-1)); (n > 0) != (c.threads == 0) {
				t.Errorf("%d atomics on shared memory", n)
			}
			if c.threads == 0 {
				return
			}
			if entry.Threads != c.threads {
				t.Errorf("blocks of %d threads, want %d", entry.Threads, c.threads)
			}
			if want := 8 * c.cells * int(c.keys+1) * c.threads; entry.Scratch != want {
				t.Errorf("%d bytes of shared memory, want %d", entry.Scratch, want)
			}
			if n, want := len(regexp.MustCompile(`st\.shared\.u64`).FindAllString(ptx, -1)),
				c.cells*entry.Items; n < want {
				t.Errorf("%d stores to shared memory, want at least %d", n, want)
			}
		})
	}
}

// groupsCode compiles for sm_90 a program whose one kernel groups in direct
// form: groups groups, numbers of bits bits, columns of width bytes. The bounds
// are those of the kernel's first registers.
func groupsCode(t *testing.T, text string, groups, bits, width int64, bounds [][2]int64) *Code {
	t.Helper()
	p, err := harmony.Parse("test", text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	of := map[*harmony.Reg][2]int64{}
	for _, c := range p.Blocks[0].Cmds {
		if run, ok := c.(*harmony.Run); ok {
			for i, b := range bounds {
				of[harmony.Def(run.Kernel.Stages[i])] = b
			}
		}
	}
	code, err := Program(p, Options{
		Target: target.GPU(90),
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			b, ok := of[r]
			return b[0], b[1], ok
		},
		Fix: func(_ string, p abi.Param) (int64, bool) {
			switch p.Kind {
			case abi.GroupForm, abi.IndexForm:
				return int64(abi.Direct), true
			case abi.GroupSize:
				return groups, true
			case abi.GroupCrowded:
				return 1, true
			case abi.GroupBits:
				return bits, true
			case abi.GroupShift, abi.GroupBase, abi.ColumnBase:
				return 0, true
			case abi.ColumnStep:
				return 1, true
			case abi.ColumnWidth:
				return width, true
			}
			return 0, false
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// TestPrivateBlocks adds rows to the cells of threads in emulated blocks, of
// groups some of which have no rows, and wants harmonyref's answer.
func TestPrivateBlocks(t *testing.T) {
	runtime := blocksRuntime(t)
	const text = `
relation r(k: int, a: int, b: int, c: int) input "r"
relation d(k: int) input "d"
relation s(k: int, n: int, ta: int, tb: int, tc: int, lo: int, hi: int) derived output
relation u(k: int, ta: int) derived output
relation v(k: int, ta: int) derived output
index e exists d(k)
groups g(x: int; n: int = count(), ta: int = total(int), tb: int = total(int), tc: int = total(int), lo: int = min(int), hi: int = max(int))
groups h(x: int; ta: int = total(int))
groups i(x: int; ta: int = total(int))
block b0:
  build e
  run k0
    rows r
    v0: int = load k
    v1: int = load a
    v2: int = load b
    v3: int = load c
    v4: boolean = map gt(v3, 20)
    filter v4
    group g [v0] count(), total(v1), total(v2), total(v3), min(v2), max(v1)
  run k1
    rows r
    v0: int = load k
    v1: int = load a
    group h [v0] total(v1)
  run k2
    rows r
    v0: int = load k
    v1: int = load a
    probe exists e(v0)
    group i [v0] total(v1)
  run k3
    groups g
    v0: int = load x
    v1: int = load n
    v2: int = load ta
    v3: int = load tb
    v4: int = load tc
    v5: int = load lo
    v6: int = load hi
    insert s(v0, v1, v2, v3, v4, v5, v6)
  run k4
    groups h
    v0: int = load x
    v1: int = load ta
    insert u(v0, v1)
  run k5
    groups i
    v0: int = load x
    v1: int = load ta
    insert v(v0, v1)
  merge s
  merge u
  merge v
  halt
`
	for n, v := range []struct {
		variant
		private int // kernels whose threads have cells of their own
	}{
		{variant{name: "256 threads", sm: 90, threads: 256, items: 8}, 3},
		{variant{name: "little shared memory", sm: 80, threads: 64, items: 16}, 1},
		{variant{name: "with queues", sm: 90, threads: 128, items: 4, cut: true}, 1},
	} {
		t.Run(v.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			facts := map[string]planref.Rows{}
			word := func(i int64) scalar.Value { return scalar.OfInt(scalar.IntType, i) }
			for range 3000 {
				k := r.Int64N(5)
				if k == 3 {
					k = 5
				}
				facts["r"] = append(facts["r"],
					[]scalar.Value{word(k), word(1 + r.Int64N(1e7)), word(r.Int64N(1<<35) - 1<<34),
						word(r.Int64N(60))})
			}
			facts["d"] = planref.Rows{{word(1)}, {word(2)}, {word(3)}}
			ir := runGroups(t, runtime, text, v.variant, uint64(n), facts)
			if n := strings.Count(ir, "call void @rf_private_settle("); n != v.private {
				t.Errorf("%d kernels have cells of each thread's own, want %d", n, v.private)
			}
		})
	}
}

// TestGroupsWithoutAccumulators asks whether there are rows: of all rows
// together, and by key.
func TestGroupsWithoutAccumulators(t *testing.T) {
	runtime := blocksRuntime(t)
	const text = `
relation r(k: int, a: int) input "r"
relation s(k: int) derived output
relation u(one: int) derived output
groups g(x: int;)
groups h(;)
block b0:
  run k0
    rows r
    v0: int = load k
    group g [v0]
  run k1
    rows r
    v0: int = load a
    v1: boolean = map gt(v0, 5)
    filter v1
    group h []
  run k2
    groups g
    v0: int = load x
    insert s(v0)
  run k3
    groups h
    insert u(1)
  merge s
  merge u
  halt
`
	word := func(i int64) scalar.Value { return scalar.OfInt(scalar.IntType, i) }
	for n, above := range []int64{4, 7} {
		t.Run(fmt.Sprintf("up to %d", above), func(t *testing.T) {
			facts := map[string]planref.Rows{}
			for i := range int64(3000) {
				facts["r"] = append(facts["r"], []scalar.Value{word(i % 3), word(i % (above + 1))})
			}
			v := variant{sm: 90, threads: 128, items: 4}
			runGroups(t, runtime, text, v, uint64(n), facts)
		})
	}
}

// runGroups runs a program that groups in direct form, its bounds known, in
// emulated blocks that take their turns in an order, wants harmonyref's answer,
// and returns the code.
func runGroups(t *testing.T, runtime, text string, v variant, order uint64,
	facts map[string]planref.Rows) (ir string) {
	t.Helper()
	v.fixed, v.bounds, v.form = true, true, abi.Direct
	p, err := harmony.Parse("test", text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	drops := countDrops(p)
	want, wantErr := harmonyref.Run(p, facts, harmonyref.Options{Observe: drops.observer()})
	b := &readBlocks{blocks: &blocks{runtime: runtime, order: order,
		arena: &arena{data: make([]byte, 64<<20)}}}
	checkRun(t, p, facts, v, b, want, wantErr, drops)
	b.arena.check(t)
	return b.ir
}

// readBlocks are blocks whose code is looked at.
type readBlocks struct {
	*blocks
	ir string
}

func (b *readBlocks) load(t testing.TB, c *Code, v variant) {
	b.ir = c.IR
	b.blocks.load(t, c, v)
}
