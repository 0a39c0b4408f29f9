package emit

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/ptxas"
)

// TestPrivateCells says for which groups the threads of a GPU's block have cells of their
// own, in blocks of how many threads, and how many cells of 64 bits; for others there
// are atomics.
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
		{"a sum that tells whether there are rows", 4, "a: int = total(int)", "total(v1)", 256, 1, false},
		{"a sum that does not, and what counts rows", 4, "a: int = total(int)", "total(v2)", 256, 2, false},
		{"a count", 4, "n: int = count()", "count()", 256, 1, false},
		{"two sums of 32 bits in a word", 4, "a: int = total(int), n: int = count()", "total(v0), count()", 256, 1, false},
		{"a sum and a mean of the same operand", 4, "a: int = total(int), b: decimal[18,6] = avg(int)", "total(v1), avg(v1)", 256, 2, false},
		{"extremes", 4, "a: int = min(int), b: int = max(int)", "min(v2), max(v2)", 256, 3, false},
		{"a product, of whose sum a thread has a part", 4, "a: int = total(int)", "total(v3)", 256, 1, false},
		{"a sum that may not fit", 4, "a: int = total(int)", "total(v4)", 0, 0, false},
		{"many cells of a thread", 6, "a: int = total(int), b: int = total(int), c: int = min(int), d: int = max(int), n: int = count()",
			"total(v1), total(v3), min(v1), max(v1), count()", 256, 5, false},
		{"more cells than leave room for enough blocks", 12, "a: int = total(int), b: int = total(int), c: int = min(int), d: int = max(int), n: int = count()",
			"total(v1), total(v3), min(v1), max(v1), count()", 0, 0, false},
		{"more groups than a thread has room for", 100, "a: int = total(int)", "total(v1)", 0, 0, false},
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
			p, err := harmony.Parse("test", text)
			if err == nil {
				err = harmony.Verify(p)
			}
			if err != nil {
				t.Fatal(err)
			}
			bounds := map[*harmony.Reg][2]int64{}
			for _, c := range p.Blocks[0].Cmds {
				if run, ok := c.(*harmony.Run); ok {
					for i, b := range [][2]int64{{0, small}, {1, price}, {-price, price}, {1, product}, {0, large}} {
						bounds[harmony.Def(run.Kernel.Stages[i])] = b
					}
				}
			}
			code, err := Program(p, Options{
				Target: GPU(90),
				Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
					b, ok := bounds[r]
					return b[0], b[1], ok
				},
				Fix: func(_ string, p abi.Param) (int64, bool) {
					switch p.Kind {
					case abi.GroupForm, abi.IndexForm:
						return int64(abi.Direct), true
					case abi.GroupSize:
						return c.keys, true
					case abi.GroupBits:
						return 7, true
					case abi.GroupShift, abi.GroupBase, abi.ColumnBase:
						return 0, true
					case abi.ColumnStep:
						return 1, true
					case abi.ColumnWidth:
						return 8, true
					}
					return 0, false
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			var entry *abi.Entry
			for _, e := range code.Module.Entries {
				if e.Role == abi.Kernel {
					entry = e
				}
			}
			image := ptxOf(t, code, 90)
			if (entry.Dynamic > 0) != (entry.Scratch > mostStatic) {
				t.Errorf("%d of %d bytes of shared memory are dynamic", entry.Dynamic, entry.Scratch)
			}
			if assembles {
				if _, err := ptxas.Assemble(image, "sm_90"); err != nil {
					t.Error(err)
				}
			}
			ptx := string(image)
			ptx = ptx[strings.Index(ptx, ".entry "+entry.Symbol+"("):]
			if n := len(regexp.MustCompile(`(atom|red)\.shared`).FindAllString(ptx, -1)); (n > 0) != (c.threads == 0) {
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
			if n, want := len(regexp.MustCompile(`st\.shared\.u64`).FindAllString(ptx, -1)), c.cells*entry.Items; n < want {
				t.Errorf("%d stores to shared memory, want at least %d", n, want)
			}
		})
	}
}
