package primitives

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"testing"
)

// capacityFor returns a table's size for n keys: a power of two, more than half
// as large again.
func capacityFor(n int) int { return 1 << bits.Len(uint(n*3/2+1)) }

func distinct(words []int64) []int64 {
	sorted := slices.Clone(words)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func TestSet64(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n, capacity := len(words), capacityFor(len(words))
		slots := make([]uint64, capacity+1)
		fresh, cursor, room := make([]int64, n), make([]int64, 1), []int64{1}
		d.run(t, "set64_insert", words, n, slots, capacity-1, fresh, cursor, room)
		want := distinct(words)
		got := fresh[:min(int(cursor[0]), n)]
		slices.Sort(got)
		equal(t, "new keys", got, want)
		equal(t, "room", room, []int64{1})

		// A second time nothing is new; other keys are, one at a time.
		cursor[0] = 0
		d.run(t, "set64_insert", words, n, slots, capacity-1, fresh, cursor, room)
		equal(t, "new keys again", cursor, []int64{0})

		probes := make([]int64, 2*n)
		flags, wantFlags := make([]int64, 2*n), make([]int64, 2*n)
		for i, w := range words {
			probes[2*i], probes[2*i+1] = w, w+1
		}
		for i, p := range probes {
			if _, in := slices.BinarySearch(want, p); in {
				wantFlags[i] = 7
			}
		}
		d.run(t, "set64_contains", probes, 2*n, slots, capacity-1, flags)
		equal(t, "contains", flags, wantFlags)

		slots = make([]uint64, capacity+1)
		answers := make([]int64, n)
		d.run(t, "set64_insert_each", words, n, slots, capacity-1, answers)
		sum := int64(0)
		for _, a := range answers {
			sum += a
		}
		equal(t, "times it was new", []int64{sum}, []int64{int64(len(want))})
	})
}

// TestFullTables wants an answer, not an endless search.
func TestFullTables(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		keys, answers := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, make([]int64, 10)
		d.run(t, "set64_insert_each", keys, len(keys), make([]uint64, 9), 7, answers)
		count := map[int64]int{}
		for _, a := range answers {
			count[a]++
		}
		// Key 0 has its own place.
		if count[1] != 9 || count[-1] != 1 {
			t.Errorf("inserting 9 keys and 0 into 8 slots: %v", answers)
		}
		room := []int64{1}
		d.run(t, "set64_insert", keys, len(keys), make([]uint64, 9), 7, make([]int64, 16),
			make([]int64, 1), room)
		equal(t, "room", room, []int64{0})
		table := make([]uint64, 18)
		d.run(t, "map_insert", keys[:9], 9, table, 7, 0, 0, 1, answers)
		got := slices.Clone(answers[:9])
		slices.Sort(got)
		equal(t, "map", got, []int64{-1, 1, 1, 1, 1, 1, 1, 1, 1})
		d.run(t, "map_find", []int64{100}, 1, table, 7, 0, 0, 1, answers)
		equal(t, "find in a full map", answers[:1], []int64{-1})
	})
}

func TestRowSet(t *testing.T) {
	type tuple [3]int64
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n, capacity := len(words), capacityFor(len(words))
		in := [3][]int64{make([]int64, n), make([]int64, n), make([]int64, n)}
		want := map[tuple]bool{}
		for i, w := range words {
			v := tuple{w, w % 3, -w / 2}
			want[v] = true
			for c := range in {
				in[c][i] = v[c]
			}
		}
		set := [3][]int64{make([]int64, n+1), make([]int64, n+1), make([]int64, n+1)}
		slots, cursor, answers := make([]uint64, capacity), make([]int64, 1), make([]int64, n)
		d.run(t, "rowset_insert", in[0], in[1], in[2], n, slots, capacity-1, set[0], set[1], set[2],
			cursor, n, answers)
		equal(t, "rows", cursor, []int64{int64(len(want))})
		fresh := map[int64]int{}
		for i, a := range answers {
			row := a / 2
			if row < 0 || row >= cursor[0] || set[0][row] != in[0][i] || set[1][row] != in[1][i] ||
				set[2][row] != in[2][i] {
				t.Fatalf("tuple %d was given row %d", i, row)
			}
			fresh[row] += int(a % 2)
		}
		for row, times := range fresh {
			if times != 1 {
				t.Errorf("row %d was new %d times", row, times)
			}
		}
		found := make([]int64, n)
		d.run(t, "rowset_find", in[0], in[1], in[2], n, slots, capacity-1, set[0], set[1], set[2],
			found)
		for i := range found {
			if found[i] != answers[i]/2 {
				t.Fatalf("tuple %d is found in row %d, want %d", i, found[i], answers[i]/2)
			}
		}
		other := make([]int64, n)
		for i := range other {
			other[i] = in[2][i] + 1
		}
		d.run(t, "rowset_find", in[0], in[1], other, n, slots, capacity-1, set[0], set[1], set[2],
			found)
		for i := range found {
			if v := (tuple{in[0][i], in[1][i], other[i]}); (found[i] >= 0) != want[v] {
				t.Fatalf("tuple %v is found in row %d", v, found[i])
			}
		}
		if half := int64(len(want) / 2); half > 0 {
			// Where the columns are full, the cursor tells of all that were
			// new.
			cursor[0] = 0
			clear(slots)
			d.run(t, "rowset_insert", in[0], in[1], in[2], n, slots, capacity-1, set[0], set[1],
				set[2], cursor, half, answers)
			if cursor[0] < int64(len(want)) {
				t.Errorf("a set without room counted %d rows of %d", cursor[0], len(want))
			}
		}
	})
}

func TestBitset(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := len(words)
		size := int64(n + 100)
		keys := make([]int64, n)
		for i, w := range words {
			keys[i] = w % size
		}
		for seldom := range 2 {
			bitmap, answers := make([]uint32, size/32+1), make([]int64, n)
			d.run(t, "bitset_insert", keys, n, bitmap, seldom, answers)
			times := map[int64]int64{}
			for i, a := range answers {
				times[keys[i]] += a
			}
			for key := range size {
				in := bitmap[key/32]>>(key%32)&1 == 1
				if count, inserted := times[key]; in != inserted || inserted && count != 1 {
					t.Fatalf("bit %d is %v, was new %d times", key, in, count)
				}
			}
			const first = 11
			for absent := range 2 {
				tiles := n/d.tile() + 1
				got, want := make([]uint32, tiles*d.tile()/32), make([]uint32, tiles*d.tile()/32)
				for i, w := range words {
					_, in := times[w-first]
					if (in && w-first < size-20) != (absent == 1) {
						want[i/32] |= 1 << (i % 32)
					}
				}
				d.run(t, "bitset_contains", words, n, bitmap, first, size-20, absent, got)
				equal(t, "selected", got, want)
			}
		}
	})
}

func TestMaps(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		keys := distinct(words)
		n, capacity := len(keys), capacityFor(len(words))
		for kind, name := range []string{"direct", "map64"} {
			const first = 3
			if kind == 0 && n > 0 && keys[n-1] > 1<<20 {
				continue // not dense
			}
			keys := slices.Clone(keys)
			table := make([]uint64, 2*(capacity+1))
			size := int64(0)
			if kind == 0 && n > 0 {
				size = max(0, keys[n-1]-first+1)
				table = make([]uint64, size/2+1)
			}
			answers := make([]int64, len(keys))
			d.run(t, "map_insert", keys, len(keys), table, capacity-1, first, size, kind, answers)
			rows := map[int64]int64{}
			want := make([]int64, len(keys))
			for i, key := range keys {
				want[i] = 1
				if kind == 0 && key < first {
					want[i] = -1
				} else {
					rows[key] = int64(i)
				}
			}
			equal(t, name+" insert", answers, want)
			d.run(t, "map_insert", keys, len(keys), table, capacity-1, first, size, kind, answers)
			for i := range want {
				want[i] = min(want[i], 0)
			}
			equal(t, name+" insert again", answers, want)

			probes := append(slices.Clone(words), keys...)
			probes = append(probes, 0, 1, 2, -1, math.MaxInt64, 1<<32|7)
			found, want := make([]int64, len(probes)), make([]int64, len(probes))
			for i, p := range probes {
				row, ok := rows[p]
				want[i] = row
				if !ok {
					want[i] = -1
				}
			}
			d.run(t, "map_find", probes, len(probes), table, capacity-1, first, size, kind, found)
			equal(t, name+" find", found, want)
		}
	})
}

func TestGroup(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n, capacity := len(words), capacityFor(len(words))
		// Values of both signs whose sums leave 64 bits.
		values, keys, four := make([]int64, n), make([]int64, n), make([]int64, n)
		type totals struct {
			sum      *big.Int
			min, max int64
		}
		want := map[int64]*totals{}
		wantFour := make([]int64, 4)
		for i, w := range words {
			values[i] = (math.MaxInt64 - w) * int64(1-2*(i&1&^(i>>3)))
			keys[i], four[i] = w, w&3
			wantFour[four[i]] += values[i]
			g := want[w]
			if g == nil {
				g = &totals{new(big.Int), math.MaxInt64, math.MinInt64}
				want[w] = g
			}
			g.sum.Add(g.sum, big.NewInt(values[i]))
			g.min, g.max = min(g.min, values[i]), max(g.max, values[i])
		}
		sums := make([]int64, 4)
		d.run(t, "group_registers", four, values, n, sums)
		equal(t, "sums in registers", sums, wantFour)

		check := func(what string, table, sums []uint64, minima, maxima []int64) {
			groups := 0
			for slot, key := range table {
				if key == 0 {
					continue
				}
				groups++
				if slot == capacity {
					key = 0
				}
				g := want[int64(key)]
				if g == nil {
					t.Fatalf("%s: no such group: %d", what, key)
				}
				sum := new(big.Int).Lsh(big.NewInt(int64(sums[2*slot+1])), 64)
				sum.Add(sum, new(big.Int).SetUint64(sums[2*slot]))
				if sum.Cmp(g.sum) != 0 {
					t.Errorf("%s: group %d has sum %v, want %v", what, key, sum, g.sum)
				}
				if minima != nil && (minima[slot] != g.min || maxima[slot] != g.max) {
					t.Errorf("%s: group %d is from %d to %d, want %d to %d", what, key,
						minima[slot], maxima[slot], g.min, g.max)
				}
			}
			if groups != len(want) {
				t.Errorf("%s: %d groups, want %d", what, groups, len(want))
			}
		}
		table, wide := make([]uint64, capacity+1), make([]uint64, 2*(capacity+1))
		minima, maxima, room := make([]int64, capacity+1), make([]int64, capacity+1), []int64{1}
		for i := range minima {
			minima[i], maxima[i] = math.MaxInt64, math.MinInt64
		}
		d.run(t, "group_global", keys, values, n, table, capacity-1, wide, minima, maxima, room)
		check("global", table, wide, minima, maxima)

		// A block's sums have 64 bits.
		for i := range values {
			want[keys[i]].sum.SetInt64(0)
		}
		for i := range values {
			values[i] >>= 20
			want[keys[i]].sum.Add(want[keys[i]].sum, big.NewInt(values[i]))
		}
		table, wide = make([]uint64, capacity+1), make([]uint64, 2*(capacity+1))
		d.run(t, "group_block", keys, values, n, table, capacity-1, wide, room)
		check("block", table, wide, nil, nil)
		equal(t, "room", room, []int64{1})
	})
}
