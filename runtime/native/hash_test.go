package native

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestKeyTable grows a table and looks for every key in the place where a probe
// that starts at its home finds it.
func TestKeyTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := newMemory(0)
	defer m.close()
	var table keyTable
	if err := table.make(m, "keys", 64); err != nil {
		t.Fatal(err)
	}
	known := map[uint64]bool{}
	for n := range 200000 {
		key := rng.Uint64() >> (rng.IntN(60))
		if n == 10 {
			key = 0
		}
		if len(known)+1 > roomOf(&table.region, table.mask) {
			before := map[uint64]int{}
			table.each(func(slot int, key uint64) { before[key] = slot })
			slots := words(&table.region)
			if err := table.resize("keys", 2*int(table.mask+1), func(from, to int) {
				if key := slots[from]; from < len(slots)-1 && before[key] != from {
					t.Fatalf("key %d moves from %d, not %d", key, from, before[key])
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		slots := words(&table.region)
		if at := table.slot(slots, key); (slots[at] != 0) != known[key] {
			t.Fatalf("key %d is known: %v", key, known[key])
		}
		known[key] = true
		table.put(slots, key)
	}
	count := 0
	table.each(func(slot int, key uint64) {
		count++
		if !known[key] || table.slot(words(&table.region), key) != slot {
			t.Fatalf("key %d is in slot %d", key, slot)
		}
	})
	if count != len(known) {
		t.Errorf("%d keys, not %d", count, len(known))
	}
	table.free()
	if m.held.Load() != 0 || len(m.regions) != 0 {
		t.Errorf("%d bytes and %d regions are held", m.held.Load(), len(m.regions))
	}
}

func TestRowTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	m := newMemory(0)
	defer m.close()
	const rows = 5000
	cols := [][]int64{make([]int64, rows), make([]int64, rows), make([]int64, rows)}
	for i := range rows {
		cols[0][i], cols[1][i], cols[2][i] = int64(i), rng.Int64N(3), int64(rng.Uint64())
	}
	var table rowTable
	if err := table.build(m, "rows", slotsFor(rows), cols, rows); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if row, _, _ := table.find(words(&table.region), cols, cols, i); row != i {
			t.Fatalf("row %d is found at %d", i, row)
		}
	}
	other := [][]int64{{7}, {9}, {0}}
	if row, slot, _ := table.find(words(&table.region), cols, other, 0); row >= 0 || words(&table.region)[slot] != 0 {
		t.Errorf("a tuple that is not there is found at %d", row)
	}
}

// TestRegion grows regions across the size from which they are mapped, and moves
// them.
func TestRegion(t *testing.T) {
	m := newMemory(0)
	defer m.close()
	var r region
	if err := r.alloc(m, "words", 8); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 1<<20; n *= 4 {
		if err := r.grow("words", 8*n); err != nil {
			t.Fatal(err)
		}
		w := words(&r)
		if i := slices.IndexFunc(w[n/4:], func(v uint64) bool { return v != 0 }); i >= 0 {
			t.Fatalf("word %d of %d new ones is not 0", i, n)
		}
		for i := range n / 4 {
			if w[i] != uint64(i)+1 {
				t.Fatalf("word %d is lost at size %d", i, n)
			}
		}
		for i := range w[:n] {
			w[i] = uint64(i) + 1
		}
		if uintptr(unsafe.Pointer(&w[0]))%16 != 0 {
			t.Errorf("%d words are not aligned", n)
		}
		if m.held.Load() != int64(8*n) {
			t.Errorf("%d bytes are held for %d words", m.held.Load(), n)
		}
	}
	s := region{mem: m}
	s.move(&r)
	if r.data != nil || words(&s)[5] != 6 {
		t.Error("a moved region is not what it was")
	}
	s.free()
	if m.held.Load() != 0 || len(m.regions) != 0 {
		t.Errorf("%d bytes and %d regions are held", m.held.Load(), len(m.regions))
	}
}
