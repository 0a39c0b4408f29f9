package codecache

import (
	"bytes"
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// FuzzParseCode holds that no entry of a cache makes the reader panic, and that
// what it reads is written as the same bytes and can be asked of a graph.
func FuzzParseCode(f *testing.F) {
	code := NewCode(&abi.Module{Target: "test",
		Entries: []*abi.Entry{{Symbol: "k0", Of: "k0", Threads: 1, Items: 32}}}, "code")
	f.Add(code.bytes())
	code.asked = questions{
		{entry: "k0", param: abi.Param{Kind: abi.ColumnWidth, Var: "a", Index: 1}},
		{register: 2},
	}
	f.Add(code.bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := parseCode(bytes.Clone(data))
		if !ok {
			return
		}
		again, ok := parseCode(c.bytes())
		if !ok || again.Text != c.Text || again.module != c.module ||
			!bytes.Equal(again.asked.bytes(), c.asked.bytes()) {
			t.Errorf("%q becomes %q", data, c.bytes())
		}
		graph := parse(t, program)
		registers, k := numberRegisters(graph), facts{width: 4, bound: 9, exists: true}.knowledge()
		if c.asked.areFor(registers, k) {
			answered("fuzz", c.asked, k, registers)
		}
	})
}
