package shape

import (
	"math"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestCut wants queues where few rows are left and much is to do for them, and
// nowhere else.
func TestCut(t *testing.T) {
	const before, after = `relation a(x: int, y: int, z: int) input "a"
relation t(x: int) temp
relation u(x: int, y: int) temp
relation r(x: int, n: int) derived output
index few exists t(x)
index one unique u(x)
index all multi a(x)
groups g(x: int; n: int = total(int))
block b0:
  run few
    rows a
    v0: int = load x
    v1: boolean = map lt(v0, 50)
    filter v1
    v2: int = load y
    store t(v0)
    store u(v0, v2)
  build few
  build one
  build all
  run k
    rows a
    v0: int = load x
    v1: int = load y
`, `    group g [v1] total(v2)
  run out
    groups g
    v0: int = load x
    v1: int = load n
    insert r(v0, v1)
  merge r
  halt
`
	for _, c := range []struct {
		name, stages string
		open, cpu    bool // nothing is known of the facts; for a CPU
		queue        bool
		left         float64
	}{
		{name: "few rows",
			stages: "    v3: boolean = map lt(v0, 50)\n    filter v3\n    v2: int = load z\n",
			queue:  true, left: 0.05},
		{name: "between bounds",
			stages: "    v3: boolean = map ge(v0, 500)\n    v4: boolean = map lt(v0, 550)\n    v5: boolean = map and(v3, v4)\n    filter v5\n    v2: int = load z\n", queue: true, left: 0.05},
		{name: "most rows",
			stages: "    v3: boolean = map lt(v0, 950)\n    filter v3\n    v2: int = load z\n",
			left:   0.95},
		{name: "few keys",
			stages: "    probe exists few(v0)\n    v3: row = probe unique one(v1)\n    v2: int = gather y[v3]\n", queue: true, left: 0.0025},
		{name: "a key twice",
			stages: "    probe exists few(v0)\n    v3: row = probe unique one(v0)\n    v2: int = gather y[v3]\n", queue: true, left: 0.05},
		{name: "no filter", stages: "    v2: int = load z\n", left: 1},
		{name: "matches",
			stages: "    probe exists few(v0)\n    v3: row = probe multi all(v1)\n    v2: int = gather z[v3]\n", left: 0.05},
		{name: "any facts", stages: "    probe exists few(v0)\n    v2: int = load z\n", open: true,
			left: 0.05},
		{name: "a processor", stages: "    probe exists few(v0)\n    v2: int = load z\n", cpu: true,
			left: 0.05},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := harmony.Parse("test.harmony", before+c.stages+after)
			if err == nil {
				err = harmony.Verify(p)
			}
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Target: target.GPU(90), Fix: fixAll,
				Range: func(*harmony.Reg) (lo, hi int64, ok bool) {
					return 0, 999, true
				}}
			if c.open {
				o.Fix = nil
			}
			if c.cpu {
				o.Target = target.CPU()
			}
			shapes, err := Choose(p, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range shapes.Functions {
				if f.Role != abi.Kernel || f.Of != "k" {
					continue
				}
				if (f.Queue != nil) != c.queue {
					t.Errorf("a queue: %t, want %t", f.Queue != nil, c.queue)
				}
				left := shapes.shares.of(f.Kernel.Stages)
				if got := left[len(left)-1]; math.Abs(got-c.left) > 0.002 {
					t.Errorf("a share of %.4f of the rows is left, not %.4f", got, c.left)
				}
			}
		})
	}
}

// fixAll fixes columns of 4 bytes, and keys of 10 bits a column in form Direct.
func fixAll(_ string, p abi.Param) (int64, bool) {
	switch p.Kind {
	case abi.ColumnWidth, abi.ValuesWidth:
		return 4, true
	case abi.ColumnBase, abi.SetBase, abi.IndexBase, abi.GroupBase, abi.GroupShared, abi.SetShared:
		return 0, true
	case abi.ColumnStep:
		return 1, true
	case abi.SetForm, abi.IndexForm, abi.GroupForm:
		return int64(abi.Direct), true
	case abi.SetShift, abi.IndexShift, abi.GroupShift:
		return 10 * int64(p.Index), true
	case abi.SetBits, abi.IndexBits, abi.GroupBits:
		return 10, true
	}
	return 0, false
}
