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
func TestExtents(t *testing.T)  { onEach(t, &extentsKernel, checkExtents) }
func TestScan(t *testing.T)     { onEach(t, &scanKernel, checkScan) }
func TestRehash(t *testing.T)   { onEach(t, &rehashKernel, checkRehash) }
func TestMove(t *testing.T)     { onEach(t, &moveKernel, checkMove) }
func TestRowSet(t *testing.T)   { onEach(t, &rowSetKernel, checkRowSet) }

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

// Arrays of the following two checks lie between words that must stay as they
// are.

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

func checkExtents(t *testing.T, m machine, n int) {
	begins, want := random(n+1), make([]uint64, 2*n)
	for i := range begins {
		begins[i] >>= 32
	}
	for i := range n {
		want[2*i], want[2*i+1] = begins[i]|begins[i+1]<<32, begins[i+1]
	}
	from, to := m.put(t, begins), m.put(t, make([]uint64, 2*n+1))
	m.run(t, Extents(from, int64(n), to))
	same(t, "extents", m.get(t, to, 2*n+1), append(want, 0))
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
				case to64 < 0 || to64 >= int64(len(to)) || to[to64] != key ||
					slot == len(from)-1 != (to64 == int64(len(to)-1)):
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

// words turns words into unsigned ones.
func words(w []int64) []uint64 {
	out := make([]uint64, len(w))
	for i := range w {
		out[i] = uint64(w[i])
	}
	return out
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
		slices.SortStableFunc(sorted, func(a, b uint32) int {
			return cmp.Compare(keys[a], keys[b])
		})
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

// checkWords sorts words of 64 bits that differ in bytes of both halves, with
// many that are equal in the upper one.
func checkWords(t *testing.T, m machine, n int) {
	keys := random(n)
	for i, r := range keys {
		keys[i] = r%5<<40 | r>>60<<56 | r>>48&0xff<<24 | r>>8&0xff
	}
	want := slices.Sorted(slices.Values(keys))
	counts, at := m.put(t, make([]uint64, PairsCounts)), m.put(t, keys)
	m.run(t, WordsCount(at, int64(n), counts))
	for _, shift := range []int64{0, 24, 40, 56} {
		to, scratch := m.put(t, make([]uint64, n)), m.put(t,
			make([]uint64, PairsScratch(int64(n))/8))
		m.run(t, PairsMove(to, Together, at, Together, int64(n), shift, counts, scratch))
		m.get(t, scratch, 0)
		m.get(t, at, 0)
		at = to
	}
	same(t, "words", m.get(t, at, n), want)
	m.get(t, counts, 0)
}
