package primitives

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"testing"
)

// narrow stores words as offsets of a width, as a column does.
func narrow(words []int64, width int, base, step int64) []byte {
	out := make([]byte, 0, len(words)*width+1)
	for _, w := range words {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64((w-base)/step))
		out = append(out, b[:width]...)
	}
	return out
}

// clipped bounds words so that they fit a width.
func clipped(words []int64, width int, base, step int64) []int64 {
	out := make([]int64, len(words))
	for i, w := range words {
		offset := uint64(w)
		if width < 8 {
			offset &= 1<<(8*width) - 1
		} else {
			offset /= uint64(step)
		}
		out[i] = base + step*int64(offset)
	}
	return out
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d entries, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: entry %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

func TestTileLoadAndStore(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := len(words)
		for _, width := range []int{0, 1, 2, 4, 8} {
			base, step := int64(-5), int64(3)
			inColumn := clipped(words, width, base, step)
			column := narrow(inColumn, width, base, step)
			got := make([]int64, n)
			d.run(t, "tile_load", column, width, base, step, n, got)
			equal(t, "tile_load", got, inColumn)

			want := clipped(words, width, base, 1)
			stored := make([]byte, n*width+8)
			d.run(t, "tile_store", want, width, base, n, stored)
			equal(t, "tile_store", stored, append(narrow(want, width, base, 1), make([]byte, 8)...))

			rows, gathered := make([]int64, n), make([]int64, n)
			for i := range rows {
				rows[i] = int64(n - 1 - i)
			}
			d.run(t, "tile_gather", rows, n, column, width, base, step, gathered, n/2)
			back := make([]int64, n)
			for i, r := range rows {
				back[i] = -1
				if r < int64(n/2) {
					back[i] = inColumn[r]
				}
			}
			equal(t, "tile_gather", gathered, back)
		}
	})
}

// pack stores words as packed offsets, and the words that loads may read behind
// them.
func pack(words []int64, n int, base, step int64) []byte {
	out := make([]uint32, (len(words)*n+31)/32+4)
	for i, w := range words {
		offset := uint64((w - base) / step)
		for b := range n {
			at := i*n + b
			out[at/32] |= uint32(offset>>b&1) << (at % 32)
		}
	}
	column := make([]byte, 0, 4*len(out))
	for _, w := range out {
		column = binary.LittleEndian.AppendUint32(column, w)
	}
	return column
}

// TestPackedColumn reads offsets of all numbers of bits by all primitives that
// read columns.
func TestPackedColumn(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := min(len(words), d.tile()+5)
		for width := 1; width < 64; width++ {
			base, step := int64(-5), int64(1)
			if width <= 60 {
				step = 3
			}
			want, some, rows, back := make([]int64, n), make([]int64, n), make([]int64, n),
				make([]int64, n)
			for i := range n {
				want[i] = base + step*int64(uint64(words[i])&(1<<width-1))
				some[i] = -1
				if i%d.tile()/8%2 == 0 {
					some[i] = want[i]
				}
			}
			for i := range rows {
				rows[i], back[i] = int64(n-1-i), -1
				if rows[i] < int64(n/2) {
					back[i] = want[rows[i]]
				}
			}
			column := pack(want, width, base, step)
			got := [4][]int64{}
			for i := range got {
				got[i] = make([]int64, n)
			}
			d.run(t, "tile_load", column, 64+width, base, step, n, got[0])
			equal(t, "tile_load", got[0], want)
			d.run(t, "tile_load_bits", column, width, base, step, n, got[1], got[2])
			equal(t, "tile_load_bits", got[1], want)
			equal(t, "tile_load_bits_live", got[2], some)
			d.run(t, "tile_gather", rows, n, column, 64+width, base, step, got[3], n/2)
			equal(t, "tile_gather", got[3], back)
		}
	})
}

// TestSumOfPackedColumn reads offsets whose number of bits is a constant.
func TestSumOfPackedColumn(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		for kernel, width := range map[string]int{"sum_b4": 4, "sum_b13": 13, "sum_b24": 24,
			"sum_b41": 41} {
			offsets, want := make([]int64, len(words)), int64(0)
			for i, w := range words {
				offsets[i] = w & (1<<width - 1)
				want += offsets[i]
			}
			got := make([]int64, 1)
			d.run(t, kernel, pack(offsets, width, 0, 1), len(words), got)
			equal(t, kernel, got, []int64{want})
		}
	})
}

// TestUnalignedColumn stores to addresses that no vector access may touch.
func TestUnalignedColumn(t *testing.T) {
	onEach(t, func(t *testing.T, d *device) {
		n := 2 * d.tile()
		words := make([]int64, n)
		for i := range words {
			words[i] = int64(i)
		}
		for _, width := range []int{1, 2, 4, 8} {
			want := clipped(words, width, 0, 1)
			column := narrow(want, width, 0, 1)
			got := make([]int64, n+1)
			d.run(t, "tile_load", column, width, 0, 1, n, got[1:])
			equal(t, "tile_load", got[1:], want)
		}
	})
}

func TestSumOfColumn(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		for kernel, width := range map[string]int{"sum_w1": 1, "sum_w2": 2, "sum_w4": 4,
			"sum_w8": 8} {
			words := clipped(words, width, 0, 1)
			got, want := make([]int64, 1), int64(0)
			for _, w := range words {
				want += w
			}
			d.run(t, kernel, narrow(words, width, 0, 1), len(words), got)
			equal(t, kernel, got, []int64{want})
		}
	})
}

func TestScan(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := min(len(words), 4*d.threads+1)
		words = words[:n]
		blocks := (n + d.threads - 1) / d.threads
		sums, maxima, totals, sums32 := make([]int64, n), make([]int64, n), make([]int64,
			3*blocks), make([]int64, n)
		d.run(t, "scan_block", words, n, sums, maxima, totals, sums32)
		wantSums, wantMaxima, wantTotals, want32 := make([]int64, n), make([]int64,
			n), make([]int64, 3*blocks), make([]int64, n)
		for b := range blocks {
			sum, most := int64(0), int64(math.MinInt64)
			for i := b * d.threads; i < (b+1)*d.threads; i++ {
				v := int64(0)
				if i < n {
					v = words[i]
					wantSums[i], wantMaxima[i], want32[i] = sum, most, int64(uint32(sum))
				}
				sum, most = sum+v, max(most, v)
			}
			wantTotals[3*b], wantTotals[3*b+1], wantTotals[3*b+2] = sum, most, int64(uint32(sum))
		}
		equal(t, "sums", sums, wantSums)
		equal(t, "maxima", maxima, wantMaxima)
		equal(t, "sums of 32 bits", sums32, want32)
		equal(t, "totals", totals, wantTotals)
	})
}

func TestReduce(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := min(len(words), 4*d.threads+1)
		words = slices.Clone(words[:n])
		for i := range words {
			if i%3 == 0 {
				words[i] = -words[i]
			}
		}
		blocks := (n + d.threads - 1) / d.threads
		got, want := make([]int64, 5*blocks), make([]int64, 5*blocks)
		d.run(t, "reduce_block", words, n, got)
		for b := range blocks {
			part := words[b*d.threads : min(n, (b+1)*d.threads)]
			var lo, hi uint64
			for _, v := range part {
				want[5*b] += v
				h, l := bits.Mul64(uint64(max(v, -v)), uint64(max(v, -v)))
				var carry uint64
				lo, carry = bits.Add64(lo, l, 0)
				hi += h + carry
			}
			want[5*b+1], want[5*b+2] = slices.Min(part), slices.Max(part)
			want[5*b+3], want[5*b+4] = int64(lo), int64(hi)
		}
		equal(t, "reduce_block", got, want)
	})
}

func TestCompact(t *testing.T) {
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		n := len(words)
		for _, limit := range []int64{0, 4, int64(n/2) + 1, math.MaxInt64} {
			var want []int64
			for _, w := range words {
				if w < limit {
					want = append(want, w)
				}
			}
			tiles := (n + d.tile() - 1) / d.tile()
			out, total := make([]int64, n+1), make([]int64, 1)
			d.run(t, "compact_ordered", words, n, limit, out, make([]uint64, tiles+1),
				make([]int64, 1), total)
			equal(t, "compacted in order", out[:total[0]], want)

			cursor := make([]int64, 1)
			out = make([]int64, n+1)
			d.run(t, "compact_scatter", words, n, limit, out, cursor)
			got := out[:cursor[0]]
			slices.Sort(got)
			slices.Sort(want)
			equal(t, "scattered", got, want)

			for byWarps := range 2 {
				cursor := make([]int64, 1)
				out = make([]int64, n+1)
				d.run(t, "queue_scatter", words, n, limit, out, cursor, byWarps)
				got := out[:cursor[0]]
				slices.Sort(got)
				equal(t, "queued", got, want)
			}
		}
	})
}

func TestExpand(t *testing.T) {
	type match struct{ row, nth int64 }
	onEachInput(t, func(t *testing.T, d *device, words []int64) {
		// One row may have more matches than a tile has rows.
		counts := make([]int64, len(words))
		var want []match
		for i, w := range words {
			counts[i] = w % 4
			if w%1000 == 3 && len(want) < 5*d.tile() {
				counts[i] = int64(d.tile()) + 17
			}
			for k := range counts[i] {
				want = append(want, match{int64(i), k})
			}
		}
		cursor, rows, nths := make([]int64, 1), make([]int64, len(want)+1), make([]int64,
			len(want)+1)
		d.run(t, "expand_tile", counts, len(counts), rows, nths, cursor)
		equal(t, "outputs", cursor, []int64{int64(len(want))})
		got := make([]match, len(want))
		for i := range got {
			got[i] = match{rows[i], nths[i]}
		}
		slices.SortFunc(got, func(a, b match) int {
			if a.row != b.row {
				return int(a.row - b.row)
			}
			return int(a.nth - b.nth)
		})
		equal(t, "expanded", got, want)
	})
}
