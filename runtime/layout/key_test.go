package layout

import (
	"reflect"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// TestPackParted wants the column by which tuples are parted above all others.
func TestPackParted(t *testing.T) {
	k := packParted([]interval.Interval{{Lo: 0, Hi: 4}, {Lo: 7, Hi: 7}, {Lo: -1, Hi: 4}}, 2)
	want := &Key{Form: abi.Hash, Size: 6 << 3, Parted: true, Part: 2, Fields: []interval.Field{
		{Bits: 3, Shift: 0, Base: 0}, {Bits: 0, Shift: 0, Base: 7}, {Bits: 3, Shift: 3, Base: -1},
	}}
	if !reflect.DeepEqual(k, want) {
		t.Errorf("%+v, want %+v", k, want)
	}
	for _, p := range []struct {
		kind  abi.Kind
		index int
		fixed bool
	}{{abi.SetForm, 0, false}, {abi.SetBase, 0, true}, {abi.SetBase, 2, false}, {abi.SetShift, 2,
		true}, {abi.SetBits, 2, true}} {
		if _, fixed := k.fix(abi.Param{Kind: p.kind, Index: p.index}); fixed != p.fixed {
			t.Errorf("parameter %v %d is known: %t", p.kind, p.index, fixed)
		}
	}
	if k := packParted([]interval.Interval{interval.All, {Lo: 0, Hi: 9}}, 1); k.Form != abi.Wide ||
		len(k.Fields) != 2 {
		t.Errorf("%+v", k)
	}
}

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

// TestGroups wants fewer groups where each takes much.
func TestGroups(t *testing.T) {
	of := func(fn queryplan.AggFn, in scalar.Type) *harmony.Groups {
		return &harmony.Groups{Accs: []harmony.Acc{{Fn: fn, In: in}}}
	}
	p := Policy{Groups: 1 << 20, GroupBytes: 1 << 20}
	for _, c := range []struct {
		groups *harmony.Groups
		want   uint64
	}{
		{&harmony.Groups{}, 1 << 17},
		{of(queryplan.Count, scalar.IntType), 1 << 16},
		{of(queryplan.Total, scalar.FloatType), (1 << 20) / (8 * (1 + abi.FloatSumWords))},
	} {
		if got := p.groups(c.groups); got != c.want {
			t.Errorf("%d groups, want %d", got, c.want)
		}
	}
	for _, c := range []struct {
		groups *harmony.Groups
		size   uint64
		rows   int
		want   bool
	}{
		{of(queryplan.Count, scalar.IntType), 1 << 20, 1 << 22, true},
		{of(queryplan.Count, scalar.IntType), 1<<20 + 1, 1 << 22, false},
		{of(queryplan.Total, scalar.FloatType), 1 << 15, 1 << 22, false},
	} {
		if got := CPU.dense(c.groups, c.size, c.rows); got != c.want {
			t.Errorf("%d rows of %d groups: %v", c.rows, c.size, got)
		}
	}
	if got := CPU.groups(of(queryplan.Total, scalar.FloatType)); got != 1<<14 {
		t.Errorf("%d groups on a CPU", got)
	}
}

// TestBusyIndex gives a busy index a bit set where a hash table is smaller.
func TestBusyIndex(t *testing.T) {
	pair := interval.Interval{Lo: 0, Hi: 1<<12 - 1} // keys of 24 bits: 2 MiB
	k := Pack([]interval.Interval{pair, pair})
	const rows = 1 << 14
	if got := k.FormFor(harmony.Exists, rows); got != abi.Hash {
		t.Errorf("an index has form %v", got)
	}
	k.Busy = true
	if got := k.FormFor(harmony.Exists, rows); got != abi.Direct {
		t.Errorf("a busy index has form %v", got)
	}
	if got := k.FormFor(harmony.Exists, rows/4); got != abi.Hash {
		t.Errorf("a busy index with few rows has form %v", got)
	}
}
