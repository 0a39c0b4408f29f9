package tables

import (
	"context"
	"math/rand/v2"
	"sync"
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
			table.Begin(r, 0, true)
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

// TestNumberedValues makes a set of few values in one column a bitmap of these
// values, and shards again when many more values come.
func TestNumberedValues(t *testing.T) {
	ids := interval.Interval{Lo: 0, Hi: 1<<15 - 1}
	for _, last := range []bool{false, true} {
		r := work.NewRun(context.Background(), 2, 0, work.Sizes{})
		table := New(r.Mem, "t", []interval.Interval{ids, ids}, true)
		have := map[uint64]bool{}
		insert := func(values uint64, tuples int) {
			t.Helper()
			rnd := rand.New(rand.NewPCG(3, values))
			keys := make([]uint64, tuples)
			before := len(have)
			for i := range keys {
				few, many := rnd.Uint64N(values)*(1<<15/values), rnd.Uint64N(1<<15)
				if last {
					few, many = many, few
				}
				keys[i] = few<<15 | many
				have[keys[i]] = true
			}
			table.Begin(r, 0, true)
			var wait sync.WaitGroup
			for i := range r.Workers {
				w := table.Writer(i)
				wait.Go(func() {
					w.Insert(r, keys[tuples/3*i:]) // some tuples come from both
					w.Finish(r, i)
				})
			}
			wait.Wait()
			if got := table.TakeNew(); got != len(have)-before {
				t.Fatalf("%d new tuples, not %d", got, len(have)-before)
			}
			table.Merge()
		}
		form := func(want setMode, numbers uint32) {
			t.Helper()
			table.Begin(r, 0, true)
			if s := table.set; s.mode != want || s.dense.n != numbers && want == denseMode {
				t.Errorf("form %d with %d numbers, not %d with %d", s.mode, s.dense.n, want,
					numbers)
			}
		}
		insert(16, 1000)
		form(denseMode, 16)
		insert(64, 50_000)
		form(denseMode, 64)
		insert(1<<15, 60_000)
		form(narrowMode, 0)
		insert(1<<15, 1_000)
		if !table.set.spread || table.set.mode != narrowMode {
			t.Errorf("form %d after values came in numbers", table.set.mode)
		}
	}
}
