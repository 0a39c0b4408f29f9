package layout

import (
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
)

// TestPack has layouts at the edges of a word.
func TestPack(t *testing.T) {
	all := interval.All
	for _, c := range []struct {
		bounds []interval.Interval
		size   uint64
		form   abi.Form
	}{
		{nil, 1, abi.Hash},
		{[]interval.Interval{interval.None, {Lo: 5, Hi: 5}}, 1, abi.Hash},
		{[]interval.Interval{{Lo: 1, Hi: 3}}, 3, abi.Hash},
		{[]interval.Interval{{Lo: 0, Hi: 4}, {Lo: -1, Hi: 1}}, 5 << 2, abi.Hash},
		{[]interval.Interval{{Lo: 9, Hi: 9}, {Lo: 0, Hi: 4}}, 5, abi.Hash},
		{[]interval.Interval{all}, 0, abi.Hash},
		{[]interval.Interval{all, {Lo: 2, Hi: 2}}, 0, abi.Hash},
		{[]interval.Interval{{Lo: 0, Hi: 1 << 40}, {Lo: 0, Hi: 1 << 22}}, 1<<63 + 1<<23, abi.Hash},
		{[]interval.Interval{all, {Lo: 0, Hi: 1}}, 0, abi.Wide},
	} {
		k := Pack(c.bounds)
		if k.Size != c.size || k.Form != c.form || len(k.Fields) != len(c.bounds) {
			t.Errorf("%v: %+v", c.bounds, k)
		}
	}
}
