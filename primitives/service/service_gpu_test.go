package service

import (
	"context"
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// card is the machine's first GPU, with all kernels.
type card struct {
	ctx     *cuda.Context
	stream  *cuda.Stream
	kernels map[string]*cuda.Function
}

func openCard(t testing.TB) *card {
	t.Helper()
	driver, err := cuda.Open()
	if err != nil {
		t.Skip(err)
	}
	device := driver.Devices()[0]
	if device.Attributes.Major < 8 {
		t.Skipf("%s is %s; the kernels are for sm_80", device.Name, device.Architecture())
	}
	ctx := must(device.OpenContext())(t)
	t.Cleanup(func() { ctx.Close() })
	c := &card{ctx: ctx, stream: must(ctx.NewStream())(t), kernels: map[string]*cuda.Function{}}
	t.Cleanup(func() { c.stream.Close() })
	for _, m := range modules {
		module := must(ctx.LoadModule(cuda.Image{Name: m.file, Code: []byte(m.PTX)},
			cuda.ModuleOptions{}))(t)
		t.Cleanup(func() { module.Close() })
		t.Logf("%s: loaded in %v", m.file, module.LoadTime())
		for _, k := range m.Kernels {
			f := must(module.Function(k.Name))(t)
			if n, known := f.Parameters(); known && n != len(k.Params) {
				t.Errorf("%s takes %d parameters", k.Name, n)
			}
			if k.Shared > 0 {
				ok(t, f.SetMaxDynamicShared(k.Shared))
			}
			t.Logf("%s: %d registers, %d blocks a multiprocessor", k.Name, f.Attributes().Registers,
				must(f.BlocksPerMultiprocessor(threads, k.Shared))(t))
			c.kernels[k.Name] = f
		}
	}
	return c
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// raw returns words as bytes.
func raw(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

func (c *card) put(t testing.TB, words []uint64) int64 {
	t.Helper()
	p := must(c.ctx.Alloc(uint64(8*len(words) + 16)))(t)
	ok(t, c.ctx.CopyToDevice(p, raw(words)))
	ok(t, c.ctx.Synchronize())
	return int64(p)
}

func (c *card) get(t testing.TB, address int64, n int) []uint64 {
	t.Helper()
	out := make([]uint64, n)
	if n > 0 {
		ok(t, c.ctx.CopyToHost(raw(out), cuda.Pointer(address)))
	}
	ok(t, c.ctx.Free(cuda.Pointer(address)))
	return out
}

func (c *card) start(t testing.TB, l Launch) {
	t.Helper()
	shape := cuda.Shape{Grid: cuda.Dim{X: l.Blocks}, Block: cuda.Dim{X: l.Threads},
		Shared: l.Shared}
	ok(t, c.stream.Launch(c.kernels[l.Kernel], shape, l.Params))
}

func (c *card) run(t testing.TB, l Launch) {
	t.Helper()
	c.start(t, l)
	ok(t, c.stream.Synchronize(context.Background()))
}

func (c *card) sizes(k *Kernel) []int {
	return []int{0, 1, 31, 32, 33, k.Tile - 1, k.Tile, k.Tile + 1, 1_000_003}
}

// TestCard compares what the kernels do on a card with plain Go.
func TestCard(t *testing.T) {
	c := openCard(t)
	for _, test := range []struct {
		kernel *Kernel
		check  func(*testing.T, machine, int)
	}{
		{&statesKernel, checkStates}, {&fillKernel, checkFill}, {&scanKernel, checkScan},
		{&rehashKernel, checkRehash}, {&extentsKernel, checkExtents},
		{&moveKernel, checkMove}, {&rowSetKernel, checkRowSet},
		{&pairsMoveKernel, checkPairs}, {&pairsMoveKernel, checkWords},
	} {
		t.Run(test.kernel.Name, func(t *testing.T) {
			for _, n := range c.sizes(test.kernel) {
				if test.check(t, c, n); t.Failed() {
					t.Fatalf("with %d", n)
				}
			}
		})
	}
	// So many tiles that their statuses fill up a multiprocessor's look-backs
	// many times.
	t.Run("rf_scan large", func(t *testing.T) {
		const n = 300_000_000
		counts := make([]uint64, n)
		for i := range counts {
			counts[i] = mix(uint64(i)) >> 40
		}
		at, bytes := c.put(t, counts), ScanScratch(n)
		scratch := c.put(t, make([]uint64, bytes/8))
		c.run(t, Scan(at, n, false, scratch))
		got, sum := c.get(t, at, n), uint64(0)
		for i, w := range counts {
			if got[i] != sum {
				t.Fatalf("sum %d is %d, want %d", i, got[i], sum)
			}
			sum += w
		}
		same(t, "scratch", c.get(t, scratch, int(bytes/8)), make([]uint64, bytes/8))
	})
}

// area is device memory of a benchmark, not read back.
func (c *card) area(b *testing.B, words int64) int64 {
	p := must(c.ctx.Alloc(uint64(8 * words)))(b)
	b.Cleanup(func() { c.ctx.Free(p) })
	ok(b, c.ctx.Fill8(p, 0, uint64(8*words)))
	ok(b, c.ctx.Synchronize())
	return int64(p)
}

func (c *card) zero(b *testing.B, at, words int64) {
	ok(b, c.stream.Fill8(cuda.Pointer(at), 0, uint64(8*words)))
}

// measure reports the best time of what launches do, by events, how many units
// of work that is a second, and the best time that the host waits; before is
// done before each time.
func (c *card) measure(b *testing.B, name string, units float64, unit string,
	before func(b *testing.B), launches ...Launch) {
	b.Run(name, func(b *testing.B) {
		from, to := must(c.ctx.NewTimer())(b), must(c.ctx.NewTimer())(b)
		defer from.Close()
		defer to.Close()
		best, wall := time.Duration(1<<62), time.Duration(1<<62)
		for b.Loop() {
			if before != nil {
				before(b)
			}
			start := time.Now()
			ok(b, c.stream.Record(from))
			for _, l := range launches {
				c.start(b, l)
			}
			ok(b, c.stream.Record(to))
			ok(b, c.stream.Synchronize(context.Background()))
			wall = min(wall, time.Since(start))
			best = min(best, must(to.Elapsed(from))(b))
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(best.Seconds()*1e6, "µs")
		b.ReportMetric(wall.Seconds()*1e6, "wall-µs")
		b.ReportMetric(units/best.Seconds()/1e9, "G"+unit+"/s")
	})
}

// distinct fills an area with n different words in random order.
func (c *card) distinct(b *testing.B, at int64, n int) {
	words := make([]uint64, n)
	for i := range words {
		words[i] = mix(uint64(i) + 1)
	}
	ok(b, c.ctx.CopyToDevice(cuda.Pointer(at), raw(words)))
}

// sorted wants n keys of distinct in order, each with the number of its row,
// unless nothing was measured.
func (c *card) sorted(b *testing.B, keys, rows int64, n int) {
	word := make([]uint32, n)
	read := func(at int64) []uint32 {
		out := make([]uint32, n)
		ok(b,
			c.ctx.CopyToHost(unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), 4*n), cuda.Pointer(at)))
		return out
	}
	for i := range n / 2 {
		w := mix(uint64(i) + 1)
		word[2*i], word[2*i+1] = uint32(w), uint32(w>>32)
	}
	key, row := read(keys), read(rows)
	if row[0] == row[1] {
		return
	}
	for i := range n {
		if i > 0 && key[i-1] > key[i] || int(row[i]) >= n || word[row[i]] != key[i] {
			b.Fatalf("key %d is %d of row %d", i, key[i], row[i])
		}
	}
}

// BenchmarkCard measures the kernels on large inputs, and on those of which
// there are many. Bytes count what must be read and written; keys are of sets
// that are two thirds full before they grow twofold.
func BenchmarkCard(b *testing.B) {
	c := openCard(b)
	b.Run("states", func(b *testing.B) {
		at := c.area(b, 2112*5)
		c.measure(b, "2112", 2112, "state", nil, States(at, 2112, 6, 1000, 1, 1024))
	})
	b.Run("fill", func(b *testing.B) {
		at := c.area(b, 1<<30)
		for _, n := range []int64{1 << 10, 1 << 20, 1 << 30} {
			c.measure(b, fmt.Sprint(n), float64(8*n), "B", nil, Fill(at, n, 1<<62))
		}
	})
	b.Run("scan", func(b *testing.B) {
		at, scratch := c.area(b, 300_000_001), c.area(b, ScanScratch(300_000_000)/8)
		for _, n := range []int64{1 << 10, 1 << 16, 1 << 20, 1 << 24, 300_000_000} {
			zero := func(b *testing.B) { c.zero(b, at, 300_000_001) }
			c.measure(b, fmt.Sprint(n), float64(16*n), "B", zero, Scan(at, n, true, scratch))
			c.measure(b, fmt.Sprint(n, "-at-8"), float64(16*n), "B", zero,
				Scan(at+8, n, false, scratch))
		}
	})
	for _, bits := range []int{14, 20, 27} {
		b.Run(fmt.Sprint("set-", bits), func(b *testing.B) {
			slots := int64(1) << bits
			n := slots * 2 / 3
			set := make([]uint64, slots+1)
			for i := range n {
				enter(set, mix(uint64(i+1)))
			}
			from, to, moved := c.put(b, set), c.area(b, 2*slots+1), c.area(b, slots+1)
			zero := func(b *testing.B) { c.zero(b, to, 2*slots+1) }
			c.measure(b, "rehash", float64(n), "key", zero, Rehash(from, slots-1, to, 2*slots-1, 0))
			c.measure(b, "rehash-moved", float64(n), "key", zero,
				Rehash(from, slots-1, to, 2*slots-1, moved))
			for _, words := range []int64{1, 2, 3} {
				cells, into := c.area(b, words*(slots+1)), c.area(b, words*(2*slots+1))
				c.measure(b, fmt.Sprint("move-", words), float64(8*(slots+2*words*n)), "B", nil,
					Move(moved, slots+1, words, cells, into))
			}
		})
	}
	b.Run("rowset", func(b *testing.B) {
		const n = 90_000_000
		column, set := c.area(b, n), c.area(b, 1<<28)
		c.distinct(b, column, n)
		columns := c.put(b, []uint64{uint64(column), uint64(column), uint64(column)})
		for _, width := range []int64{1, 3} {
			for _, bits := range []int{27, 28} {
				c.measure(b, fmt.Sprint(width, "-of-", bits), n, "row", func(b *testing.B) {
					c.zero(b, set, 1<<28)
				}, RowSet(set, 1<<bits-1, columns, width, n))
			}
		}
	})
	b.Run("pairs", func(b *testing.B) {
		const n = 1 << 28
		keys, rows := c.area(b, n/2), c.area(b, n/2)
		pairs := [2]int64{c.area(b, n), c.area(b, n)}
		c.distinct(b, keys, n/2)
		counts, words := c.area(b, PairsCounts), PairsScratch(n)/8
		scratch := c.area(b, words)
		// A sort works like this: it leaves the result where the keys were.
		launches := []Launch{Fill(counts, PairsCounts, 0), PairsCount(keys, n, counts)}
		pass := func(keysOut, payloadsOut, keys, payloads, shift int64) {
			launches = append(launches, Fill(scratch, words, 0),
				PairsMove(keysOut, payloadsOut, keys, payloads, n, shift, counts, scratch))
		}
		pass(pairs[0], Together, keys, 0, 0)
		pass(pairs[1], Together, pairs[0], Together, 8)
		pass(pairs[0], Together, pairs[1], Together, 16)
		pass(keys, rows, pairs[0], Together, 24)
		again := func(b *testing.B) { c.distinct(b, keys, n/2) }
		c.measure(b, "count", n, "pair", nil, launches[1])
		c.measure(b, "move", n, "pair", nil, launches[0], launches[1], launches[2], launches[3])
		c.measure(b, "all", n, "pair", again, launches...)
		c.sorted(b, keys, rows, n)
	})
}
