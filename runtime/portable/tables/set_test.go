package tables

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

func TestMixerIsABijection(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for b := range uint(65) {
		m := newMixer(b)
		for range 200 {
			k := rnd.Uint64() & m.mask
			if h := m.hash(k); h&^m.mask != 0 || m.key(h) != k {
				t.Fatalf("%d bits: key %x has hash %x, which has key %x", b, k, h, m.key(h))
			}
		}
	}
}

// TestShardsBecomeBitmap makes a set that few new tuples come to a bitmap,
// which knows the tuples of the shards.
func TestShardsBecomeBitmap(t *testing.T) {
	const rows, bitmap = 3 << 19, 128 << 20
	for tries, want := range map[int]setMode{
		repeated * rows: narrowMode, // too few for the size of the bitmap
		bitmap:          denseMode,
	} {
		r := work.NewRun(context.Background(), 2, 0, work.Sizes{})
		ids := interval.Interval{Lo: 0, Hi: 1<<15 - 1}
		table := New(r.Mem, "t", []interval.Interval{ids, ids}, true)
		keys := make([]uint64, rows)
		for i := range keys {
			keys[i] = uint64(i) * 509
		}
		w := table.Writer(0)
		add := func() int {
			table.Begin(r, true)
			w.Insert(r, keys)
			w.Finish(r, 0)
			return table.TakeNew()
		}
		if n := add(); n != rows || table.set.mode != narrowMode {
			t.Fatalf("%d new tuples, form %d", n, table.set.mode)
		}
		w.tries = tries
		if n := add(); n != 0 || table.set.mode != want {
			t.Errorf("after %d tries: %d new tuples, form %d, not %d", tries, n,
				table.set.mode, want)
		}
	}
}
