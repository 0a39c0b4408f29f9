package service

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"
)

func TestStates(t *testing.T)   { onEach(t, &statesKernel, checkStates) }
func TestStatesOf(t *testing.T) { onEach(t, &statesOfKernel, checkStatesOf) }
func TestFill(t *testing.T)     { onEach(t, &fillKernel, checkFill) }
func TestScan(t *testing.T)     { onEach(t, &scanKernel, checkScan) }
func TestRehash(t *testing.T)   { onEach(t, &rehashKernel, checkRehash) }
func TestMove(t *testing.T)     { onEach(t, &moveKernel, checkMove) }
func TestRowSet(t *testing.T)   { onEach(t, &rowSetKernel, checkRowSet) }
func TestBits(t *testing.T)     { onEach(t, &bitsKernel, checkBits) }
func TestKeys(t *testing.T)     { onEach(t, &keysKernel, checkKeys) }

func TestSort(t *testing.T)  { onEach(t, &sortScatterKernel, checkSort) }
func TestPairs(t *testing.T) { onEach(t, &pairsMoveKernel, checkPairs) }
func TestWords(t *testing.T) { onEach(t, &pairsMoveKernel, checkWords) }

func checkStates(t *testing.T, m machine, n int) {
	const tiles, tile = 1<<40 + 7, 1024
	for _, words := range []int{3, 6, 7} {
		for _, sharing := range []int{1, 3} {
			blocks := n / words
			at := m.put(t, random(n+1))
			m.run(t, States(at, int64(blocks), int64(words), tiles, int64(sharing), tile))
			want := random(n + 1)
			teams := blocks / sharing
			for b := range blocks {
				s := want[b*words:][:words]
				clear(s)
				s[0], s[1], s[2] = uint64(b/sharing), tiles, uint64(teams)
				if b/sharing >= teams { // no team has it
					s[0] = tiles
				}
				if words > 3 {
					output := uint64(b % sharing * tile)
					s[3], s[words-2], s[words-1] = output, output, uint64(sharing*tile)
				}
			}
			same(t, "states", m.get(t, at, n+1), want)
		}
	}
}

// checkStatesOf wants n launches to have the states that States gives each.
func checkStatesOf(t *testing.T, m machine, n int) {
	var launches []Launch
	var at, want []int64
	var table []uint64
	for i := range n {
		blocks, words := int64(i*37%300), int64(3+i%2*3)
		at = append(at, m.put(t, random(int(blocks*words)+1)))
		want = append(want, m.put(t, random(int(blocks*words)+1)))
		launches = append(launches, States(want[i], blocks, words, 1000, int64(1+i%3), 512))
		one := append([]int64{at[i]}, launches[i].Params[1:]...)
		for _, w := range one {
			table = append(table, uint64(w))
		}
	}
	tableAt := m.put(t, table)
	m.run(t, StatesOf(tableAt, int64(n)))
	m.get(t, tableAt, 0)
	for i, l := range launches {
		m.run(t, l)
		words := int(l.Params[1]*l.Params[2]) + 1
		same(t, "states", m.get(t, at[i], words), m.get(t, want[i], words))
	}
}

// Arrays of the following two checks lie between words that must stay as they are.

func checkFill(t *testing.T, m machine, n int) {
	for _, skew := range []int{0, 1} {
		want := random(n + 4)
		at := m.put(t, want)
		m.run(t, Fill(at+8*int64(skew+2), int64(n), -81985529216486896))
		for i := range n {
			want[skew+2+i] = 0xfedcba9876543210
		}
		same(t, "words", m.get(t, at, n+4), want)
	}
}

func checkScan(t *testing.T, m machine, n int) {
	bytes := ScanScratch(int64(n))
	for c := range 6 {
		skew, inclusive := c%2, c/2%2 == 1
		want := random(n + 4)
		words := want[skew+2:][:n]
		for i := range words {
			words[i] >>= 36
			if c >= 4 && words[i]%7 != 0 {
				words[i] = 0
			}
		}
		at, scratch := m.put(t, want), m.put(t, make([]uint64, bytes/8))
		// A second scan finds scratch as the first one left it.
		for range 2 {
			m.run(t, Scan(at+8*int64(skew+2), int64(n), inclusive, scratch))
			sum := uint64(0)
			for i, w := range words {
				if words[i] = sum; inclusive {
					words[i] += w
				}
				sum = sum + w
				// The second sums of many words would be too large.
			}
			if n > 1<<12 {
				break
			}
		}
		same(t, "sums", m.get(t, at, n+4), want)
		same(t, "scratch", m.get(t, scratch, int(bytes/8)), make([]uint64, bytes/8))
	}
}

// The set and the row set as primitives/src has them.

func mix(v uint64) uint64 {
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	v ^= v >> 33
	v *= 0xc4ceb9fe1a85ec53
	return v ^ v>>33
}

// enter puts a key into a set and returns its slot.
func enter(slots []uint64, key uint64) int {
	mask := uint64(len(slots) - 2)
	if key == 0 {
		slots[mask+1] = 1
		return int(mask) + 1
	}
	at := mix(key) & mask
	for slots[at] != 0 && slots[at] != key {
		at = (at + 1) & mask
	}
	slots[at] = key
	return int(at)
}

// isSetOf wants a set to hold keys, all different, and each to be found.
func isSetOf(t testing.TB, slots, keys []uint64) {
	t.Helper()
	n := 0
	for _, s := range slots {
		if s != 0 {
			n++
		}
	}
	if n != len(keys) {
		t.Fatalf("the set has %d keys, want %d", n, len(keys))
	}
	// A key that is not found would be entered and be one more.
	for _, k := range keys {
		enter(slots, k)
	}
	for _, s := range slots {
		if s != 0 {
			n--
		}
	}
	if n != 0 {
		t.Fatalf("%d keys are not where they are looked for", -n)
	}
}

// slotsFor returns the number of slots of a set for n keys.
func slotsFor(n int) int { return 1 << bits.Len(uint(max(3*n/2, 2))) }

func checkRehash(t *testing.T, m machine, n int) {
	for c := range 6 {
		// n is the number of slots, made a power of two.
		from := make([]uint64, 1<<bits.Len(uint(max(n-1, 0)))+1)
		keys := random((len(from) - 1) * 2 / 3)
		for i := range keys {
			switch {
			case i < 2 && c%2 == 0:
				keys[i] = uint64(i)
			case c >= 4:
				keys[i] = uint64(i) + 5
			}
			enter(from, keys[i])
		}
		to := make([]uint64, (len(from)-1)<<(c%3)+1)
		fromAt, toAt, movedAt := m.put(t, from), m.put(t, to), int64(0)
		if c < 5 {
			movedAt = m.put(t, random(len(from)+1))
		}
		m.run(t, Rehash(fromAt, int64(len(from)-2), toAt, int64(len(to)-2), movedAt))
		to = m.get(t, toAt, len(to))
		if c < 5 {
			moved := m.get(t, movedAt, len(from)+1)
			same(t, "word after moved", moved[len(from):], random(len(from) + 1)[len(from):])
			for slot, key := range from {
				switch to64 := int64(moved[slot]); {
				case key == 0 && to64 != -1:
					t.Fatalf("slot %d is free and moved to %d", slot, to64)
				case key == 0:
				case to64 < 0 || to64 >= int64(len(to)) || to[to64] != key || slot == len(from)-1 != (to64 == int64(len(to)-1)):
					t.Fatalf("slot %d of %d, key %#x, moved to %d", slot, len(from), key, to64)
				}
			}
		}
		isSetOf(t, to, keys)
		m.get(t, fromAt, len(from))
	}
}

func checkMove(t *testing.T, m machine, n int) {
	for _, words := range []int{1, 2, 3, 40} {
		if n*words > 1<<26 {
			continue
		}
		// Slots are turned round and spread, every third one is free.
		moved, from, want := make([]uint64, n), random(n*words), random(2*n*words+1)
		toAt := m.put(t, want)
		for s := range n {
			if s%3 == 1 {
				moved[s] = 1<<64 - 1
				continue
			}
			to := 2 * (n - 1 - s)
			moved[s] = uint64(to)
			copy(want[to*words:][:words], from[s*words:])
		}
		movedAt, fromAt := m.put(t, moved), m.put(t, from)
		m.run(t, Move(movedAt, int64(n), int64(words), fromAt, toAt))
		same(t, "cells", m.get(t, toAt, len(want)), want)
		m.get(t, movedAt, n)
		m.get(t, fromAt, len(from))
	}
}

func checkRowSet(t *testing.T, m machine, n int) {
	for width := range 4 {
		rows := n
		if width == 0 {
			rows = min(n, 1)
		}
		columns, at, hash := make([][]uint64, width), make([]uint64, width), make([]uint64, rows)
		for c := range columns {
			columns[c] = random(rows + c)[c:]
			if c+1 < width {
				for r := range columns[c] {
					columns[c][r] %= 5
				}
			} else {
				for r := range columns[c] {
					columns[c][r] = uint64(r * 3)
				}
			}
			for r, w := range columns[c] {
				if c == 0 {
					hash[r] = mix(w)
				} else {
					hash[r] = mix(hash[r]*0x9e3779b97f4a7c15 + w)
				}
			}
			at[c] = uint64(m.put(t, columns[c]))
		}
		slots := make([]uint64, slotsFor(rows))
		mask := uint64(len(slots) - 1)
		slotsAt, columnsAt := m.put(t, slots), m.put(t, at)
		m.run(t, RowSet(slotsAt, int64(mask), columnsAt, int64(width), int64(rows)))
		slots = m.get(t, slotsAt, len(slots))
		entered := 0
		for _, s := range slots {
			if s != 0 {
				entered++
			}
		}
		if entered != rows {
			t.Fatalf("%d rows are entered, of %d", entered, rows)
		}
		for r, h := range hash {
			word := h>>40<<40 | uint64(r+2)
			for i := h & mask; slots[i] != word; i = (i + 1) & mask {
				if slots[i] == 0 {
					t.Fatalf("row %d of %d is not where it is looked for", r, rows)
				}
			}
		}
		m.get(t, columnsAt, width)
		for _, a := range at {
			m.get(t, int64(a), rows)
		}
	}
}

// keyed is a relation of n rows with packed keys: columns of all widths, or of one.
type keyed struct {
	memory []int64
	fields []Field
	keys   []uint64
	size   uint64
}

func newKeyed(t testing.TB, m machine, n int, widths ...int) *keyed {
	k := &keyed{keys: make([]uint64, n), size: 1}
	shift := 0
	for c, width := range widths {
		// So many values as keys differ in, and that fit.
		field := max(1, min(8*width, 20))
		if width == 0 {
			field = 0
		}
		offsets := random(n + c)[c:]
		bytes := make([]uint64, (n*width+7)/8+1)
		base, step := int64(-1000*c), int64(1+c%2*2)
		least := base - 7
		for r := range offsets {
			// Step and least use up some of the field.
			offsets[r] %= max(1, (uint64(1)<<field-7)/uint64(step))
			if width == 0 {
				offsets[r] = 0
			}
			for b := range width {
				i := r*width + b
				bytes[i/8] |= offsets[r] >> (8 * b) & 0xff << (i % 8 * 8)
			}
			k.keys[r] |= uint64(base+step*int64(offsets[r])-least) << shift
		}
		bits := int64(max(field, 3))
		at := m.put(t, bytes)
		k.memory = append(k.memory, at)
		k.fields = append(k.fields, Field{Data: at, Base: base, Step: step, Width: int64(width), Shift: int64(shift), Least: least, Bits: bits})
		shift += int(bits)
		k.size = 1 << shift
	}
	return k
}

func (k *keyed) free(t testing.TB, m machine) {
	for _, at := range k.memory {
		m.get(t, at, 0)
	}
}

// ranges are the rows to take of n.
func ranges(n int) [][2]int { return [][2]int{{0, n}, {n / 2, n}, {min(n, 17), n - n/3}} }

func checkBits(t *testing.T, m machine, n int) {
	for _, widths := range [][]int{{2}, {1, 0, 1}, {4}, {8}} {
		k := newKeyed(t, m, n, widths...)
		fields := words(AppendFields(nil, k.fields))
		fieldsAt := m.put(t, fields)
		for _, r := range ranges(n) {
			r[1] = max(r[0], r[1])
			// Keys at and above size are left out.
			size := k.size - k.size/4
			want := make([]uint64, (k.size+63)/64)
			want[0] = 1
			at := m.put(t, want)
			m.run(t, Bits(at, int64(size), fieldsAt, int64(len(widths)), int64(r[0]), int64(r[1])))
			for _, key := range k.keys[r[0]:r[1]] {
				if key < size {
					want[key/64] |= 1 << (key % 64)
				}
			}
			same(t, "bits", m.get(t, at, len(want)), want)
		}
		m.get(t, fieldsAt, len(fields))
		k.free(t, m)
	}
}

func checkKeys(t *testing.T, m machine, n int) {
	for _, widths := range [][]int{{4}, {1, 2, 0, 4}, {8, 8}} {
		k := newKeyed(t, m, n, widths...)
		fields := words(AppendFields(nil, k.fields))
		fieldsAt := m.put(t, fields)
		for _, r := range ranges(n) {
			r[1] = max(r[0], r[1])
			different := map[uint64]bool{0: true, 77: true}
			for _, key := range k.keys[r[0]:r[1]] {
				different[key] = true
			}
			var keys []uint64
			for key := range different {
				keys = append(keys, key)
			}
			set := make([]uint64, slotsFor(n+2)+1)
			enter(set, 0)
			enter(set, 77)
			at := m.put(t, set)
			m.run(t, Keys(at, int64(len(set)-2), fieldsAt, int64(len(widths)), int64(r[0]), int64(r[1])))
			isSetOf(t, m.get(t, at, len(set)), keys)
		}
		m.get(t, fieldsAt, len(fields))
		k.free(t, m)
	}
}

// words turns words into unsigned ones.
func words(w []int64) []uint64 {
	out := make([]uint64, len(w))
	for i := range w {
		out[i] = uint64(w[i])
	}
	return out
}

func checkSort(t *testing.T, m machine, n int) {
	for _, payloads := range []bool{false, true} {
		// Keys that differ in two bytes, with many that are equal.
		keys, rows := random(n), make([]uint64, n)
		for i := range keys {
			keys[i] = keys[i]%3<<16 | keys[i]>>58<<32 | 0xab<<40
			rows[i] = uint64(i)
		}
		slices.SortStableFunc(rows, func(a, b uint64) int { return cmp.Compare(keys[a], keys[b]) })
		sorted := make([]uint64, n)
		for i, r := range rows {
			sorted[i] = keys[r]
		}
		counts := SortCounts(int64(n))
		countsAt, scratchAt := m.put(t, random(int(counts))), m.put(t, make([]uint64, ScanScratch(counts)/8))
		from, to := [2]int64{m.put(t, keys), 0}, [2]int64{m.put(t, random(n)), 0}
		if payloads {
			numbers := make([]uint64, n)
			for i := range numbers {
				numbers[i] = uint64(i)
			}
			from[1], to[1] = m.put(t, numbers), m.put(t, random(n))
		}
		for _, shift := range []int64{16, 32} {
			m.run(t, SortCount(from[0], int64(n), shift, countsAt))
			m.run(t, Scan(countsAt, counts, false, scratchAt))
			m.run(t, SortScatter(to[0], to[1], from[0], from[1], countsAt, int64(n), shift))
			from, to = to, from
		}
		same(t, "keys", m.get(t, from[0], n), sorted)
		if payloads {
			same(t, "payloads", m.get(t, from[1], n), rows)
			m.get(t, to[1], n)
		}
		for _, at := range []int64{to[0], countsAt, scratchAt} {
			m.get(t, at, 0)
		}
	}
}

// halves packs numbers of 32 bits into words.
func halves(numbers []uint32) []uint64 {
	out := make([]uint64, (len(numbers)+1)/2)
	for i, n := range numbers {
		out[i/2] |= uint64(n) << (i % 2 * 32)
	}
	return out
}

func checkPairs(t *testing.T, m machine, n int) {
	for _, payloads := range []string{"rows", "words", "none", "alone"} {
		// Keys that differ in three bytes, with many that are equal.
		keys, rows := make([]uint32, n), make([]uint32, n)
		for i, r := range random(n) {
			keys[i] = uint32(r%3 | r>>40&0xff<<8 | r>>58<<24)
			rows[i] = uint32(i)
		}
		sorted := slices.Clone(rows)
		slices.SortStableFunc(sorted, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
		want := make([]uint32, n)
		for i, r := range sorted {
			want[i] = keys[r]
		}
		if payloads == "words" {
			for i := range rows {
				rows[i] = rows[i]*7 + 1
			}
			for i, r := range sorted {
				sorted[i] = rows[r]
			}
		}
		words := (n + 1) / 2
		counts := m.put(t, make([]uint64, PairsCounts))
		at, payload := m.put(t, halves(keys)), m.put(t, halves(rows))
		m.run(t, PairsCount(at, int64(n), counts))
		from := payload
		if payloads == "rows" {
			from = 0
		}
		// The first pass puts pairs together, and the last one apart.
		for _, shift := range []int64{0, 8, 24} {
			to, payloadsTo := m.put(t, make([]uint64, n)), int64(Together)
			switch {
			case payloads == "none":
				payloadsTo = 0
			case shift == 24:
				payloadsTo = payload
			}
			scratch, keysTo := m.put(t, make([]uint64, PairsScratch(int64(n))/8)), to
			if payloads == "alone" && shift == 24 {
				keysTo, want = 0, make([]uint32, n)
			}
			m.run(t, PairsMove(keysTo, payloadsTo, at, from, int64(n), shift, counts, scratch))
			m.get(t, scratch, 0)
			m.get(t, at, 0)
			at, from = to, payloadsTo
		}
		same(t, "keys", m.get(t, at, words), halves(want))
		if payloads == "none" {
			sorted = rows // which stay as they are
		}
		same(t, "payloads", m.get(t, payload, words), halves(sorted))
		m.get(t, counts, 0)
	}
}

// checkWords sorts words of 64 bits that differ in bytes of both halves, with many that are
// equal in the upper one.
func checkWords(t *testing.T, m machine, n int) {
	keys := random(n)
	for i, r := range keys {
		keys[i] = r%5<<40 | r>>60<<56 | r>>48&0xff<<24 | r>>8&0xff
	}
	want := slices.Sorted(slices.Values(keys))
	counts, at := m.put(t, make([]uint64, PairsCounts)), m.put(t, keys)
	m.run(t, WordsCount(at, int64(n), counts))
	for _, shift := range []int64{0, 24, 40, 56} {
		to, scratch := m.put(t, make([]uint64, n)), m.put(t, make([]uint64, PairsScratch(int64(n))/8))
		m.run(t, PairsMove(to, Together, at, Together, int64(n), shift, counts, scratch))
		m.get(t, scratch, 0)
		m.get(t, at, 0)
		at = to
	}
	same(t, "words", m.get(t, at, n), want)
	m.get(t, counts, 0)
}
