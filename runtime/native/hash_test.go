package native

import (
	"github.com/redfoxdb/redfox/runtime/account"
	"math/rand/v2"
	"testing"
)

// TestKeyTable grows a table and looks for every key in the place where a probe
// that starts at its home finds it.
func TestKeyTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := account.New(0)
	defer m.Close()
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
		if len(known)+1 > roomOf(&table.Region, table.mask) {
			before := map[uint64]int{}
			table.each(func(slot int, key uint64) { before[key] = slot })
			slots := account.Words(&table.Region)
			if err := table.resize("keys", 2*int(table.mask+1), func(from, to int) {
				if key := slots[from]; from < len(slots)-1 && before[key] != from {
					t.Fatalf("key %d moves from %d, not %d", key, from, before[key])
				}
			}); err != nil {
				t.Fatal(err)
			}
		}
		slots := account.Words(&table.Region)
		if at := table.slot(slots, key); (slots[at] != 0) != known[key] {
			t.Fatalf("key %d is known: %v", key, known[key])
		}
		known[key] = true
		table.put(slots, key)
	}
	count := 0
	table.each(func(slot int, key uint64) {
		count++
		if !known[key] || table.slot(account.Words(&table.Region), key) != slot {
			t.Fatalf("key %d is in slot %d", key, slot)
		}
	})
	if count != len(known) {
		t.Errorf("%d keys, not %d", count, len(known))
	}
	table.Free()
	if m.Held() != 0 || m.Mapped() != 0 {
		t.Errorf("%d bytes and %d regions are held", m.Held(), m.Mapped())
	}
}

func TestRowTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	m := account.New(0)
	defer m.Close()
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
		if row, _, _ := table.find(account.Words(&table.Region), cols, cols, i); row != i {
			t.Fatalf("row %d is found at %d", i, row)
		}
	}
	other := [][]int64{{7}, {9}, {0}}
	if row, slot, _ := table.find(account.Words(&table.Region), cols, other, 0); row >= 0 ||
		account.Words(&table.Region)[slot] != 0 {
		t.Errorf("a tuple that is not there is found at %d", row)
	}
}
