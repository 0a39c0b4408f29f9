package emit

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestSift emits expansions before an insert and looks for the read of the set
// by which a CPU leaves out tuples that are there. Programs on the cpu engine
// test what it leaves out.
func TestSift(t *testing.T) {
	const (
		probe  = "    v2: row = probe multi i(v1)\n"
		gather = "    v3: int = gather y[v2]\n"
		insert = "    insert d(v0, v3)\n"
	)
	fixed := func(kind abi.Kind, word int64) map[abi.Kind]int64 {
		return map[abi.Kind]int64{abi.SetShift: 8, abi.ColumnWidth: 4, kind: word}
	}
	plain := fixed(abi.SetShift, 8)
	unknown := map[abi.Kind]int64{}
	cpu := target.CPU()
	for name, c := range map[string]struct {
		stages string
		target target.Target
		fixed  map[abi.Kind]int64
		want   bool
	}{
		"a bit set":      {probe + gather + insert, cpu, fixed(abi.SetForm, int64(abi.Direct)), true},
		"any form":       {probe + gather + insert, cpu, plain, true},
		"on a GPU":       {probe + gather + insert, target.GPU(90), plain, false},
		"a hash table":   {probe + gather + insert, cpu, fixed(abi.SetForm, int64(abi.Hash)), false},
		"unknown widths": {probe + gather + insert, cpu, unknown, false},
		"a filter": {probe + gather + "    v4: boolean = map lt(v3, v0)\n    filter v4\n" + insert,
			cpu, plain, false},
		"two inserts": {probe + gather + insert + "    insert e(v0, v3)\n", cpu, plain, false},
		"a constant":  {probe + gather + "    insert d(7, v3)\n", cpu, plain, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := harmony.Parse("test.harmony",
				"relation a(x: int, y: int) input \"a\"\nrelation b(x: int, y: int) input \"b\"\n"+
					"relation d(x: int, y: int) derived\nrelation e(x: int, y: int) derived\n"+
					"index i multi b(x)\nblock b0:\n  build i\n  run k0\n    rows a\n"+
					"    v0: int = load x\n    v1: int = load y\n"+c.stages+
					"  merge d\n  merge e\n  halt\n")
			if err != nil {
				t.Fatal(err)
			}
			code, err := Program(p, Options{Target: c.target,
				Fix: func(_ string, p abi.Param) (int64, bool) {
					word, ok := c.fixed[p.Kind]
					return word, ok
				}})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(code.IR, "load atomic i32"); got != c.want {
				t.Errorf("the set is read: %t, not %t\n%s", got, c.want, code.IR)
			}
		})
	}
}
