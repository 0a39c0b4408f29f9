package portable

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// TestSets inserts random tuples in every form of the set, from several
// workers, in several rounds, and compares with a map.
func TestSets(t *testing.T) {
	shapes := map[string][]interval{
		"nullary":    {},
		"constant":   {{5, 5}},
		"bit":        {{0, 1}},
		"pair":       {{-3, 60}, {10, 99}},
		"wide pair":  {{0, 1 << 20}, {-1 << 19, 1 << 19}},
		"36 bits":    {{0, 1<<18 - 1}, {0, 1<<18 - 1}},
		"word":       {allWords},
		"triple":     {{0, 9}, {0, 0}, {-1, 20}},
		"two words":  {allWords, {0, 50}},
		"four words": {{0, 1}, allWords, allWords, {0, 1 << 40}, allWords},
	}
	for name, ranges := range shapes {
		for _, opts := range []options{defaults, {vector: 8, serialRows: 1, smallSet: 3}, {vector: 8, serialRows: 1, smallSet: 3, noBitmaps: true}} {
			r := newRun(context.Background(), &runtime.Request{Threads: 3}, opts)
			rnd := rand.New(rand.NewPCG(5, 6))
			table := newTable(r.mem, name, ranges, true)
			want := map[string]bool{}
			for round := range 5 {
				before := len(want)
				sink := &insertSink{table: table}
				p := &pipeline{sink: sink, slots: len(ranges)}
				rows := part{n: 1 + rnd.IntN(4000)}
				for i, rng := range ranges {
					p.cols = append(p.cols, binding{name: fmt.Sprint(i), slot: i, rng: rng})
					sink.cols = append(sink.cols, fmt.Sprint(i))
					rows.cols = append(rows.cols, make([]int64, rows.n))
				}
				src := &bagSource{compute: func(*run) *bag { return &bag{parts: []part{rows}} }}
				for i := range ranges {
					src.cols = append(src.cols, i)
				}
				p.src = src
				for k := range rows.n {
					text := ""
					for i, rng := range ranges {
						w := int64(rnd.Uint64N(40)) + rng.lo // few different ones
						if rnd.IntN(8) == 0 {
							w = rng.hi
						}
						if w < rng.lo || w > rng.hi {
							w = rng.lo
						}
						if rnd.IntN(3) == 0 && rng.bits() > 20 {
							w = rng.lo + int64(rnd.Uint64()>>(64-rng.bits()+1))
						}
						rows.cols[i][k] = w
						text += fmt.Sprint(w, " ")
					}
					want[text] = true
				}
				r.exec([]*pipeline{p})
				if arrived, kept := sink.finish(); int(arrived) != rows.n || int(kept) != len(want)-before {
					t.Fatalf("%s, round %d, mode %d: %d of %d tuples are new, want %d", name, round, table.set.mode, kept, arrived, len(want)-before)
				}
				table.merge()
				if table.rows(queryplan.Full) != len(want) || table.rows(queryplan.Delta) != len(want)-before {
					t.Fatalf("%s: %d rows, %d in delta, want %d", name, table.rows(queryplan.Full), table.rows(queryplan.Delta), len(want))
				}
			}
			p := collect(r, name, []*pipeline{scanAll(table, len(ranges))}, columnsNamed(len(ranges))).gather(r.mem)
			for k := range p.n {
				text := ""
				for _, col := range p.cols {
					text += fmt.Sprint(col[k], " ")
				}
				if !want[text] {
					t.Fatalf("%s: tuple (%s) was not inserted, or is there twice", name, text)
				}
				delete(want, text)
			}
			if len(want) > 0 {
				t.Fatalf("%s: %d tuples are missing", name, len(want))
			}
			r.mem.close()
		}
	}
}

func columnsNamed(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i)
	}
	return out
}

func scanAll(t *table, n int) *pipeline {
	src := &tableSource{table: t, version: queryplan.Full}
	p := &pipeline{src: src, slots: n}
	for i, name := range columnsNamed(n) {
		src.cols = append(src.cols, i)
		p.cols = append(p.cols, binding{name: name, slot: i})
	}
	return p
}

func TestMixerIsABijection(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for b := range uint(65) {
		m := newMixer(b)
		for range 200 {
			k := rnd.Uint64() & m.mask
			if h := m.hash(k); h&^m.mask != 0 || m.key(h) != k {
				t.Fatalf("%d bits: key %x has hash %x, which has key %x", b, k, h, m.key(h))
			}
		}
	}
}

func TestLayoutRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		n := 1 + rnd.IntN(7)
		ranges := make([]interval, n)
		cols := make([][]int64, n)
		const rows = 9
		for i := range ranges {
			lo := int64(rnd.Uint64()) >> rnd.IntN(64)
			ranges[i] = interval{lo, max(lo, lo+int64(rnd.Uint64()>>(1+rnd.IntN(63))))}
			for range rows {
				span := uint64(ranges[i].hi) - uint64(ranges[i].lo)
				w := rnd.Uint64()
				if span != 1<<64-1 {
					w = rnd.Uint64N(span + 1)
				}
				cols[i] = append(cols[i], lo+int64(w))
			}
		}
		l := newLayout(ranges)
		packed := make([]uint64, rows*l.words)
		l.pack(packed, cols, rows)
		out := make([]int64, rows)
		for i := range cols {
			l.unpack(out, packed, i, rows)
			for k := range out {
				if out[k] != cols[i][k] {
					t.Fatalf("column %d of %v: packed %d, unpacked %d", i, ranges, cols[i][k], out[k])
				}
			}
			l.unpackAt(out[:2], packed, []uint32{3, 8}, i)
			if out[0] != cols[i][3] || out[1] != cols[i][8] {
				t.Fatalf("column %d of %v by number: %v", i, ranges, out[:2])
			}
		}
	}
}
