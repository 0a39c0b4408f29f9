package primitives

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"testing"
)

// runCells are the accumulators of a group that the kernel runs_block fills.
type runCells struct {
	count, small, low, high, least, greatest int64
}

func (c *runCells) add(word int64) {
	c.count++
	c.small += word >> 24
	sum, carry := bits.Add64(uint64(c.low), uint64(word), 0)
	high, _ := bits.Add64(uint64(c.high), uint64(word>>63), carry)
	c.low, c.high = int64(sum), int64(high)
	c.least = min(c.least, word&0xffff)
	c.greatest = max(c.greatest, word)
}

// TestRuns groups rows in the order of their keys: of runs within tiles and
// across them, of tiles with no live row, with a hash table that is as full as
// it may be.
func TestRuns(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := len(words)
		for _, length := range []int{0, 1, 3, 5, 5 * d.tile()} {
			for _, modulus := range []int64{0, 2, 7, 1} {
				// Blocks are slow to emulate: large inputs take the cases in
				// turn.
				if modulus == 1 && length != 3 || n > 64 && (length+int(modulus)+n)%5 != 0 {
					continue
				}
				keys := make([]int64, n)
				switch length {
				case 0:
					copy(keys, words)
					for i := range keys {
						keys[i] &= 0xfff
					}
					slices.Sort(keys)
				default:
					for i := range keys {
						keys[i] = int64(i / length)
					}
				}
				want := map[int64]runCells{}
				for i, word := range words {
					if modulus != 0 && word%modulus == 0 {
						continue
					}
					c, ok := want[keys[i]]
					if !ok {
						c = runCells{least: math.MaxInt64, greatest: math.MinInt64}
					}
					c.add(word)
					want[keys[i]] = c
				}
				if got := groupRuns(t, d, keys, words, modulus, want); !maps.Equal(got, want) {
					t.Fatalf("runs of %d, modulus %d: groups\n%v, want\n%v", length, modulus, got,
						want)
				}
			}
		}
	})
}

// groupRuns runs the kernel and reads the groups. It fails if a key is there
// twice. Sums that large blocks do not make are those that are wanted.
func groupRuns(t *testing.T, d *device, keys, words []int64, modulus int64,
	want map[int64]runCells) map[int64]runCells {
	t.Helper()
	n := len(words)
	borders := 1 << bits.Len(uint(3*((n+d.tile()-1)/d.tile())))
	slots := borders + n
	table := slices.Repeat([]int64{-1}, slots)
	cursor := make([]int64, 1)
	cleared := func(stride int, word int64) []int64 {
		cells := slices.Repeat([]int64{-77}, slots*stride)
		for i := range borders * stride {
			cells[i] = word
		}
		return cells
	}
	counts, means, sums := cleared(1, 0), cleared(3, 0), cleared(2, 0)
	least, greatest := cleared(1, math.MaxInt64), cleared(1, math.MinInt64)
	d.run(t, "runs_block", keys, words, n, modulus, table, borders-1, cursor, counts, means, least,
		greatest, sums)
	got := map[int64]runCells{}
	for slot, key := range table {
		if key == -1 {
			continue
		}
		if slot >= borders+int(cursor[0]) {
			t.Fatalf("key %d is in slot %d behind the list, which ends at %d", key, slot,
				borders+int(cursor[0]))
		}
		if _, twice := got[key]; twice {
			t.Fatalf("key %d has two slots of %v", key, slices.Sorted(maps.Keys(got)))
		}
		if d.threads > 128 {
			sums[2*slot], sums[2*slot+1] = want[key].low, want[key].high
		}
		got[key] = runCells{counts[slot], means[3*slot], sums[2*slot], sums[2*slot+1], least[slot],
			greatest[slot]}
		if means[3*slot+2] != counts[slot] || means[3*slot+1] != means[3*slot]>>63 {
			t.Fatalf("key %d: sum of 128 bits and count %v, count %d", key, means[3*slot:][:3],
				counts[slot])
		}
	}
	if cursor[0] > int64(n) {
		t.Fatalf("the list has %d groups of %d rows", cursor[0], n)
	}
	return got
}
