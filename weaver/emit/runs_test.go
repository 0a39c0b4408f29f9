package emit

import (
	"fmt"
	"math/rand/v2"
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

// runsProgram groups what a filter leaves by a column, and reads the groups.
const runsProgram = `
relation item(k: int, n: int; v: int) table "item" stored [0, 1, 2]
relation out(k: int, s: int, m: decimal[18,6], a: int, z: int, c: int) derived output
groups g0(k: int; s: int = total(int), m: decimal[18,6] = avg(int), a: int = min(int), z: int = max(int), c: int = count())
block b0:
  run k0
    rows item
    v0: int = load v
    v1: boolean = map gt(v0, 3)
    filter v1
    v2: int = load k
    group g0 [v2] total(v0), avg(v0), min(v0), max(v0), count()
  run k1
    groups g0
    v0: int = load k
    v1: int = load s
    v2: int = load a
    v3: int = load z
    v4: int = load c
    v5: decimal[18,6] = load m
    insert out(v0, v1, v5, v2, v3, v4)
  merge out
  halt
`

// TestRunsOnGPU wants a list of groups without marks, whose kernel finds runs
// in large blocks, and with words of 32 bits where bounds allow it.
func TestRunsOnGPU(t *testing.T) {
	p, err := harmony.Parse("runs.harmony", runsProgram)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	shuffles := map[bool]int{}
	for _, narrow := range []bool{false, true} {
		code, err := Program(p, Options{
			Target: target.GPU(90),
			Range:  func(r *harmony.Reg) (lo, hi int64, ok bool) { return 1, 100, narrow },
			Fix: func(_ string, p abi.Param) (int64, bool) {
				switch p.Kind {
				case abi.GroupForm:
					return int64(abi.Ordered), true
				case abi.GroupShared, abi.ColumnStep:
					return 1, true
				case abi.GroupBits:
					if narrow {
						return 30, true
					}
					return 40, true
				case abi.GroupShift, abi.GroupBase, abi.ColumnBase:
					return 0, true
				case abi.ColumnWidth:
					return 8, true
				}
				return 0, false
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range code.Module.Entries {
			for _, p := range e.Params {
				if p.Kind == abi.GroupOccupied {
					t.Errorf("%s looks at marks of groups", e.Symbol)
				}
			}
		}
		e := code.Module.Entries[0]
		if narrow && e.Threads != 512 {
			t.Errorf("%s has blocks of %d threads, want 512", e.Symbol, e.Threads)
		}
		image := ptxOf(t, code, 90)
		if _, err := ptxas.Find(); err == nil {
			if _, err := ptxas.Assemble(image, "sm_90"); err != nil {
				t.Error(err)
			}
		}
		ptx := string(image)
		ptx = ptx[strings.Index(ptx, ".entry k0("):]
		ptx = ptx[:strings.Index(ptx, "\n}\n")]
		shuffles[narrow] = strings.Count(ptx, "shfl.sync.up") * 8 / e.Items
		if n := strings.Count(ptx, "atom.global.cas"); n != 1 {
			t.Errorf("keys are entered at %d places, want one", n)
		}
	}
	if shuffles[true] == 0 || 2*shuffles[true] > shuffles[false]+10 {
		t.Errorf("%d shuffles of 32-bit words, %d of others", shuffles[true], shuffles[false])
	}
}

// TestRunsInBlocks runs the program in blocks whose threads are fibers, over
// runs within chunks, tiles and across them, rows of which all, some or hardly
// any are live.
func TestRunsInBlocks(t *testing.T) {
	runtime := blocksRuntime(t)
	p, err := harmony.Parse("runs.harmony", runsProgram)
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range []struct {
		rows, length int
		least, most  int64 // of v; those above 3 are live
		tight        bool
	}{
		{9000, 1, 4, 100, false},
		{9000, 4, -50, 1000, true},
		{9000, 100, 0, 1 << 40, false},
		{9000, 5000, -100, 30, true},
		{9000, 3, -10000, 5, false},
		{9000, 7, -5, 3, false},
	} {
		t.Run(fmt.Sprintf("runs of %d", c.length), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(n), 9))
			var rows planref.Rows
			key := int64(-20)
			for i := range c.rows {
				if rng.IntN(c.length) == 0 {
					key += 1 + rng.Int64N(1000)
				}
				word := func(v int64) scalar.Value { return scalar.OfInt(scalar.IntType, v) }
				rows = append(rows,
					[]scalar.Value{word(key), word(int64(i)),
						word(c.least + rng.Int64N(c.most-c.least+1))})
			}
			facts := map[string]planref.Rows{"item": rows}
			want, wantErr := harmonyref.Run(p, facts, harmonyref.Options{})
			v := variant{name: "ordered", sm: 90, threads: 512, items: 8, fixed: true, bounds: true,
				tight: c.tight, form: abi.Ordered}
			b := &blocks{runtime: runtime, order: uint64(n),
				arena: &arena{data: make([]byte, 64<<20)}}
			checkRun(t, p, facts, v, b, want, wantErr, countDrops(p))
			b.arena.check(t)
		})
	}
}
