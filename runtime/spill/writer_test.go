package spill

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/parts"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/account"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestThreads partitions rows and loads parts of them on one thread and on
// several, from columns in memory and from blocks: the parts have the same rows
// in the same order, which are those of the class.
func TestThreads(t *testing.T) {
	const rows = 5*leastStretch + 77
	key, value := make([]int64, rows), make([]int64, rows)
	for i := range key {
		key[i], value[i] = int64(i)*7919%1000, int64(i)-rows/2
	}
	pair := func() *bag {
		g := &bag{types: []scalar.Type{scalar.IntType, scalar.IntType}, tuple: 2, rows: rows}
		for _, words := range [][]int64{key, value} {
			b := store.NewBuilder(scalar.IntType, nil)
			b.AppendWords(words)
			g.facts = append(g.facts, b.Finish())
		}
		return g
	}
	// part returns the numbered tuples of a class on some threads.
	part := func(threads int, numbered bool, class dim) [][]int64 {
		file, err := open("")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		r := &run{ctx: context.Background(), req: &runtime.Request{Threads: threads},
			bound: 1 << 26, mem: account.New(0), file: &blockFile{file: file}}
		g := pair()
		if numbered {
			to := newBag(nil)
			to.types, to.tuple, to.rows = append(g.types, numberType), 2, 10
			f := r.filler(to)
			for range 2 {
				rel := &store.Relation{Table: &store.Table{Columns: g.facts, Rows: rows},
					Cols: firstColumns(2)}
				if err := f.add(rel); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.close(); err != nil {
				t.Fatal(err)
			}
			g = to
		}
		cols, n, _, err := r.load(g, []dim{class}, firstColumns(len(g.types)), "pair")
		if err != nil {
			t.Fatal(err)
		}
		out := make([][]int64, len(cols))
		for i, c := range cols {
			out[i] = make([]int64, n)
			c.Read(out[i], 0)
		}
		return out
	}
	for _, class := range []dim{{col: 0, bits: 1, class: 1}, {col: 0, bits: 12, class: 5},
		{col: 1, bits: 3, class: 2}} {
		for _, numbered := range []bool{false, true} {
			want := [][]int64{nil, nil}
			times := 1
			if numbered {
				want, times = append(want, nil), 2
			}
			for i := range times * rows {
				tuple := [][]int64{{key[i%rows]}, {value[i%rows]}, {10 + int64(i)}}
				if classOf(tuple[class.col][0], class.bits) == class.class {
					for c := range want {
						want[c] = append(want[c], tuple[c][0])
					}
				}
			}
			for _, threads := range []int{1, 2, 5} {
				got := part(threads, numbered, class)
				if !slices.EqualFunc(got, want, slices.Equal) {
					t.Errorf("%v, numbered %t, %d threads: %d tuples, not %d, or others",
						class, numbered, threads, len(got[0]), len(want[0]))
				}
			}
		}
	}
}

// TestCutFails has the memory of the host end while a bag is partitioned. The
// next attempt, with more memory, has every row once.
func TestCutFails(t *testing.T) {
	const rows = 3 * leastStretch
	words := make([]int64, rows)
	for i := range words {
		words[i] = int64(i) * 7919 % 100_000
	}
	b := store.NewBuilder(scalar.IntType, nil)
	b.AppendWords(words)
	g := &bag{types: []scalar.Type{scalar.IntType}, tuple: 1, rows: rows,
		facts: []*store.Column{b.Finish()}}
	file, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mem := account.New(rows * 3)
	r := &run{ctx: context.Background(), req: &runtime.Request{Threads: 2}, bound: 1 << 16,
		mem: mem, file: &blockFile{file: file, memory: mem}}
	dims := []dim{{col: 0, bits: 3}}
	if _, err := r.cut(g, dims); !isMemory(err) {
		t.Fatalf("got %v", err)
	}
	if held := mem.Held(); held != 0 {
		t.Errorf("%d bytes are held after a failure", held)
	}
	mem = account.New(rows * 8)
	r.mem, r.file.memory = mem, mem
	c, err := r.cut(g, dims)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, p := range c.parts {
		n += rowsOf(p)
	}
	if n != rows {
		t.Errorf("%d rows in all parts, of %d", n, rows)
	}
}

// TestRanges cuts pairs in the order of a key into classes of its values, and
// these by the hash of the other column: each pair is in one part.
func TestRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var keys, values []int64
	for at := int64(-50); len(keys) < 1000; at += rng.Int64N(3) {
		for range rng.IntN(4) {
			keys, values = append(keys, at), append(values, rng.Int64N(30))
		}
	}
	g := &bag{types: []scalar.Type{scalar.IntType, scalar.IntType}, tuple: 2,
		rows: int64(len(keys))}
	for _, words := range [][]int64{keys, values} {
		b := store.NewBuilder(scalar.IntType, nil)
		b.AppendWords(words)
		g.facts = append(g.facts, b.Finish())
	}
	r := &run{ctx: context.Background(), req: &runtime.Request{Threads: 2}, bound: 1 << 20,
		mem: account.New(0)}
	x := r.newBoxes(&parts.Job{Ways: []*parts.Way{{Places: []parts.Place{{Leaf: 0, Col: 0}}},
		{Places: []parts.Place{{Leaf: 0, Col: 1}}}},
		Leaves: []*parts.Leaf{{Cols: []int{0, 1}}}}, []*bag{g}, nil)
	if x.ranges[0] == nil || x.ranges[1] != nil {
		t.Fatalf("the ranges are %v", x.ranges)
	}
	for _, bits := range []uint8{1, 3, 9, 12} {
		var got [][2]int64
		for class := range uint64(1) << bits {
			size := 0
			for half := range uint64(2) {
				dims := []dim{{col: 0, bits: bits, class: class, ranges: x.ranges[0]},
					{col: 1, bits: 1, class: half}}
				cols, n, held, err := r.load(g, dims, []int{0, 1}, "pair")
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					got = append(got, [2]int64{cols[0].Word(i), cols[1].Word(i)})
				}
				r.mem.Release(held)
				size += n
			}
			if bits < 4 && size < len(keys)>>bits/2 {
				t.Errorf("%d rows are in class %d of %d", size, class, 1<<bits)
			}
		}
		slices.SortFunc(got, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		var want [][2]int64
		for i := range keys {
			want = append(want, [2]int64{keys[i], values[i]})
		}
		slices.SortFunc(want, func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) })
		if !slices.Equal(got, want) {
			t.Errorf("%d bits: %d pairs, not %d, or others", bits, len(got), len(want))
		}
	}
}
