package spill

import (
	"context"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
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
	for _, class := range []dim{{0, 1, 1}, {0, 12, 5}, {1, 3, 2}} {
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
	dims := []dim{{0, 3, 0}}
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
