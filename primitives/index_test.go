package primitives

import (
	"math"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// The forms of tables, as kernels take them.
const (
	formNone   = int(abi.None)
	formDirect = int(abi.Direct)
	formHash   = int(abi.Hash)
	formWide   = int(abi.Wide)
)

var formNames = []string{formNone: "none", formDirect: "direct", formHash: "hash", formWide: "wide"}

// inForm makes keys for tables of a form from words, and the size and the
// number of words that such tables are given: those of direct forms lie in a
// range.
func inForm(form int, words []int64) (keys []int64, size, length int) {
	if form == formHash {
		length = capacityFor(len(words))
		return words, length - 1, length + 1
	}
	size = len(words) + 10
	keys = make([]int64, len(words))
	for i, w := range words {
		keys[i] = w % int64(size)
	}
	return keys, size, size
}

func TestPack(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := len(words)
		second := make([]int64, n)
		for i, w := range words {
			second[i] = w>>7 - 3
		}
		for _, c := range []struct{ shift, base, bits int64 }{
			{20, -3, 12}, {20, -3, 0}, {64, 7, 0}, {0, math.MinInt64, 64},
			{20, math.MaxInt64 - 5, 44}, {1, -100, 63},
		} {
			got, live := make([]int64, n), make([]int64, n)
			d.run(t, "tile_pack", words, second, n, c.shift, c.base, c.bits, got, live)
			for i := range words {
				a, b := uint64(words[i]-100), uint64(second[i]-c.base)
				fits := a < 1<<20 && (c.bits == 64 || b < 1<<c.bits)
				if fits != (live[i] == 1) || fits && uint64(got[i]) != a|b<<c.shift {
					t.Fatalf("(%d, %d) in %+v is %#x, live %d", words[i], second[i], c, got[i],
						live[i])
				}
			}
		}
	})
}

func TestRoom(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		for _, c := range []struct{ cursor, limit, want int64 }{
			{0, 0, 1}, {5, 4, 0}, {4, 5, 1}, {0, math.MinInt64, 0}, {1 << 40, 1<<40 - 1, 0},
			{3, math.MaxInt64, 1},
		} {
			blocks := max(2, d.workers)
			got, want := make([]int64, blocks*d.threads), make([]int64, blocks*d.threads)
			for i := range want {
				got[i], want[i] = -1, c.want
			}
			d.run(t, "block_room", []int64{c.cursor, c.limit}, got)
			equal(t, "room", got, want)
		}
	})
}

func TestAppend(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		for _, limit := range []int64{0, 4, int64(len(words)) / 2, math.MaxInt64} {
			for _, width := range []int{0, 1, 2, 4, 8} {
				const base = -9
				var in, want []int64
				for _, w := range clipped(words, width, base, 1) {
					if in = append(in, w); w < limit {
						want = append(want, w)
					}
				}
				// Entries after those of the live items stay.
				column, cursor := make([]byte, (len(want)+3)*width+8), []int64{2}
				for i := range column {
					column[i] = 0xa5
				}
				d.run(t, "tile_append", in, len(in), limit, column, width, base, cursor)
				equal(t, "cursor", cursor, []int64{int64(len(want)) + 2})
				from, until := 2*width, (len(want)+2)*width
				for i, b := range column {
					if (i < from || i >= until) && b != 0xa5 {
						t.Fatalf("width %d, limit %d: byte %d, outside of %d to %d, was written",
							width, limit, i, from, until)
					}
				}
				got := make([]int64, len(want))
				d.run(t, "tile_load", column[from:], width, base, 1, len(want), got)
				slices.Sort(got)
				slices.Sort(want)
				equal(t, "appended", got, want)
			}
		}
	})
}

func TestSetForms(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		testSetForms(t, d, words, 1)
		if d.workers == 1 {
			testSetForms(t, d, words, 0)
		}
	})
}

func testSetForms(t *testing.T, d *device, words []int64, shared int) {
	n := len(words)
	for _, form := range []int{formNone, formDirect, formHash, formWide} {
		keys, size, length := inForm(form, words)
		table, fresh := make([]uint64, length), make([]int64, n)
		d.run(t, "set_insert", keys, n, form, table, size, fresh, shared)
		times, in := map[int64]int64{}, map[int64]bool{}
		for i, k := range keys {
			times[k] += fresh[i]
			in[k] = true
		}
		if form == formNone || form == formWide {
			// All tuples are new, and there is no table to be found in.
			for i := range fresh {
				if fresh[i] != 1 {
					t.Fatalf("%s: item %d is %d", formNames[form], i, fresh[i])
				}
			}
			equal(t, "table", table, make([]uint64, length))
		} else {
			for k, count := range times {
				if count != 1 {
					t.Fatalf("%s: key %d was new %d times", formNames[form], k, count)
				}
			}
		}
		check := func(what string) {
			probes := append(slices.Clone(keys), 0, 1, 5, -1, int64(size)-1, int64(size), 1<<40)
			for _, k := range keys {
				probes = append(probes, k+1)
			}
			got, want := make([]int64, len(probes)), make([]int64, len(probes))
			for i, p := range probes {
				there := in[p]
				if form == formNone {
					there = uint64(p) < uint64(size) // keys count the rows
				}
				switch {
				case form == formWide:
					want[i] = 1 // everything stays live, absent or not
				case there:
					want[i] = 3
				}
			}
			d.run(t, "set_contains", probes, len(probes), form, table, size, got)
			equal(t, formNames[form]+what, got, want)
		}
		check(" contains")

		// An exists index is the same table.
		clear(table)
		clear(in)
		built := slices.Clone(keys)
		for i := range built {
			if i%5 == 3 {
				built[i] = -1
			} else {
				in[built[i]] = true
			}
		}
		d.run(t, "index_build", built, n, form, table, size, nil, nil, 1)
		check(" index contains")
	}
}

// TestSetFull wants an answer where a set is too small.
func TestSetFull(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		keys := make([]int64, 20)
		for i := range keys {
			keys[i] = int64(i)
		}
		for _, form := range []int{formDirect, formHash} {
			for shared := range 2 {
				got := make([]int64, len(keys))
				d.run(t, "set_insert", keys, len(keys), form, make([]uint64, 9), 7, got, shared)
				if !slices.Contains(got, -1) {
					t.Errorf("%s, shared %d: 20 keys go into a set of 8: %v", formNames[form],
						shared, got)
				}
			}
		}
	})
}

func TestUniqueForms(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		for _, form := range []int{formDirect, formHash, formWide} {
			keys, size, length := inForm(form, words)
			keys = distinct(keys)
			rows := map[int64]int64{}
			for i := range keys {
				if i%7 == 4 {
					keys[i] = -1
				} else {
					rows[keys[i]] = int64(i)
				}
			}
			table := make([]uint64, 2*length)
			d.run(t, "index_build", keys, len(keys), form, table, size, nil, nil, 0)
			probes := append(slices.Clone(words), keys...)
			probes = append(probes, 0, 1, 2, -1, math.MaxInt64, int64(size), 1<<32|7)
			found, want := make([]int64, len(probes)), make([]int64, len(probes))
			for i, p := range probes {
				want[i] = -1
				if row, ok := rows[p]; ok {
					want[i] = row
				}
			}
			d.run(t, "unique_find", probes, len(probes), form, table, size, found)
			equal(t, formNames[form], found, want)
		}
		// The last of several rows of a key stays.
		for _, form := range []int{formDirect, formHash, formWide} {
			keys, size, length := inForm(form, words)
			keys = slices.Clone(keys)
			rows := map[int64]int64{}
			for i := range keys {
				if keys[i] = keys[i*i%len(keys)]; i%7 == 4 || keys[i] == -1 {
					keys[i] = -1
				} else {
					rows[keys[i]] = int64(i)
				}
			}
			table, found := make([]uint64, 2*length), make([]int64, len(keys))
			d.run(t, "index_build", keys, len(keys), form, table, size, nil, nil, 4)
			d.run(t, "unique_find", keys, len(keys), form, table, size, found)
			for i, row := range found {
				if want, ok := rows[keys[i]]; ok && row != want || !ok && row >= 0 {
					t.Fatalf("last, %s: key %d is found in row %d, not %d", formNames[form], keys[i],
						row, want)
				}
			}
		}
		// One of several rows of a key stays.
		for _, form := range []int{formDirect, formHash} {
			keys, size, length := inForm(form, words)
			table, found := make([]uint64, 2*length), make([]int64, len(keys))
			d.run(t, "index_build", keys, len(keys), form, table, size, nil, nil, 0)
			d.run(t, "unique_find", keys, len(keys), form, table, size, found)
			for i, row := range found {
				if row < 0 || keys[row] != keys[i] {
					t.Fatalf("%s: key %d is found in row %d", formNames[form], keys[i], row)
				}
			}
		}
		found := make([]int64, len(words))
		want := make([]int64, len(words))
		for i := range want {
			want[i] = -1
		}
		d.run(t, "unique_find", words, len(words), formDirect, nil, 0, found)
		equal(t, "an index of no rows", found, want)
	})
}

func TestMultiForms(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := len(words)
		for _, form := range []int{formDirect, formHash, formWide} {
			keys, size, length := inForm(form, words)
			keys = slices.Clone(keys)
			want := map[int64][]uint32{}
			for i := range keys {
				if i%11 == 10 {
					keys[i] = -1
				} else {
					want[keys[i]] = append(want[keys[i]], uint32(i))
				}
			}
			table, begins, rows := make([]uint64, length), make([]uint64, length+1), make([]uint32,
				n)
			d.run(t, "index_build", keys, n, form, table, size, begins, rows, 2)
			sum := uint64(0)
			for i, count := range begins[1:] {
				begins[i+1] = sum
				sum += count
			}
			d.run(t, "index_build", keys, n, form, table, size, begins, rows, 3)
			probes := append(slices.Clone(keys), 0, 1, -5, int64(size)-1, int64(size), 1<<50)
			counts, starts, last := make([]int64, len(probes)), make([]int64,
				len(probes)), make([]int64, len(probes))
			d.run(t, "multi_find", probes, len(probes), form, table, size, begins, rows, counts,
				starts, last)
			checked := map[int64]bool{}
			for i, p := range probes {
				if int(counts[i]) != len(want[p]) {
					t.Fatalf("%s: key %d has %d rows, want %d", formNames[form], p, counts[i],
						len(want[p]))
				}
				if counts[i] == 0 {
					if last[i] != -1 {
						t.Fatalf("%s: key %d has no row but matches %d", formNames[form], p,
							last[i])
					}
					continue
				}
				run := rows[starts[i] : starts[i]+counts[i]]
				if !checked[p] {
					checked[p] = true
					sorted := slices.Clone(run)
					slices.Sort(sorted)
					equal(t, formNames[form]+" rows of a key", sorted, want[p])
				}
				if last[i] != int64(run[len(run)-1]) {
					t.Fatalf("%s: row %d of key %d is %d, want %d", formNames[form], len(run)-1, p,
						last[i], run[len(run)-1])
				}
			}
			// Without rows positions are row numbers.
			d.run(t, "multi_find", probes, len(probes), form, table, size, begins, nil, counts,
				starts, last)
			for i := range probes {
				if counts[i] > 0 && last[i] != starts[i]+counts[i]-1 {
					t.Fatalf("position %d is row %d", starts[i]+counts[i]-1, last[i])
				}
			}
		}
		counts, starts, last := make([]int64, n), make([]int64, n), make([]int64, n)
		d.run(t, "multi_find", words, n, formDirect, nil, 0, nil, nil, counts, starts, last)
		equal(t, "an index of no rows", counts, make([]int64, n))
	})
}

// TestExtents adds rows to a multi index in several rounds, and looks at it
// after each of them.
func TestExtents(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		for _, form := range []int{formDirect, formHash} {
			keys, size, length := inForm(form, words)
			for i := range keys {
				switch {
				case i%11 == 10:
					keys[i] = -1
				case i%3 == 0:
					keys[i] = keys[0] // has many rows
				}
			}
			table, extents := make([]uint64, length), make([]uint64, 2*(length+1))
			room := 4*len(keys) + 4
			rows, gauge := make([]uint32, room), []int64{0, int64(room)}
			want := map[int64][]uint32{}
			for from, until := 0, 1; from < len(keys); from, until = until, 3*until+1 {
				until = min(until, len(keys))
				d.run(t, "index_add", keys, until, form, table, size, extents, rows, gauge, from)
				for i, k := range keys[from:until] {
					if k != -1 {
						want[k] = append(want[k], uint32(from+i))
					}
				}
				if gauge[0] > gauge[1] {
					t.Fatalf("%s: %d rows of room for %d", formNames[form], gauge[0], until)
				}
				counts, starts, last := make([]int64, len(keys)), make([]int64, len(keys)),
					make([]int64, len(keys))
				d.run(t, "multi_find", keys, len(keys), form, table, size, extents, rows, counts,
					starts, last, 1)
				checked := map[int64]bool{}
				for i, k := range keys {
					if checked[k] || k == -1 {
						continue
					}
					checked[k] = true
					run := slices.Clone(rows[starts[i]:][:counts[i]])
					slices.Sort(run)
					equal(t, formNames[form]+" rows of a key", run, want[k])
				}
			}
			// Without room the gauge is beyond its limit.
			clear(table)
			clear(extents)
			short := []int64{0, int64(len(want)) / 2}
			few := make([]uint32, len(want)/2+1)
			few[len(want)/2] = 7
			d.run(t, "index_add", keys, len(keys), form, table, size, extents, few, short, 0)
			if short[0] <= short[1] && len(want) > 0 || few[len(want)/2] != 7 {
				t.Fatalf("%s: %d rows of room for %d were enough", formNames[form], short[1],
					len(keys))
			}
		}
	})
}
