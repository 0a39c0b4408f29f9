package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// TestSets inserts random tuples in every form of the set, from several
// workers, in several rounds, and compares with a map.
func TestSets(t *testing.T) {
	shapes := map[string][]interval.Interval{
		"nullary":   {},
		"constant":  {{Lo: 5, Hi: 5}},
		"bit":       {{Lo: 0, Hi: 1}},
		"pair":      {{Lo: -3, Hi: 60}, {Lo: 10, Hi: 99}},
		"wide pair": {{Lo: 0, Hi: 1 << 20}, {Lo: -1 << 19, Hi: 1 << 19}},
		"36 bits":   {{Lo: 0, Hi: 1<<18 - 1}, {Lo: 0, Hi: 1<<18 - 1}},
		"word":      {interval.All},
		"triple":    {{Lo: 0, Hi: 9}, {Lo: 0, Hi: 0}, {Lo: -1, Hi: 20}},
		"two words": {interval.All, {Lo: 0, Hi: 50}},
		"four words": {{Lo: 0, Hi: 1}, interval.All, interval.All, {Lo: 0, Hi: 1 << 40},
			interval.All},
	}
	for name, ranges := range shapes {
		for _, opts := range []work.Sizes{work.DefaultSizes,
			{Vector: 8, SerialRows: 1, SmallSet: 3}, {Vector: 8, SerialRows: 1, SmallSet: 3,
				NoBitmaps: true}} {
			r := work.NewRun(context.Background(), 3, 0, opts)
			rnd := rand.New(rand.NewPCG(5, 6))
			table := tables.New(r.Mem, name, ranges, true)
			want := map[string]bool{}
			for round := range 5 {
				before := len(want)
				sink := &insertSink{table: table}
				p := &pipeline{sink: sink, slots: len(ranges)}
				rows := part{n: 1 + rnd.IntN(4000)}
				for i, rng := range ranges {
					p.cols = append(p.cols,
						columns.Column{Name: fmt.Sprint(i), Slot: i, Bound: rng})
					sink.cols = append(sink.cols, fmt.Sprint(i))
					rows.cols = append(rows.cols, make([]int64, rows.n))
				}
				src := &bagSource{compute: func(*work.Run) *bag {
					return &bag{parts: []part{rows}}
				}}
				for i := range ranges {
					src.cols = append(src.cols, i)
				}
				p.src = src
				for k := range rows.n {
					text := ""
					for i, rng := range ranges {
						w := int64(rnd.Uint64N(40)) + rng.Lo // few different ones
						if rnd.IntN(8) == 0 {
							w = rng.Hi
						}
						if w < rng.Lo || w > rng.Hi {
							w = rng.Lo
						}
						if rnd.IntN(3) == 0 && rng.Bits() > 20 {
							w = rng.Lo + int64(rnd.Uint64()>>(64-rng.Bits()+1))
						}
						rows.cols[i][k] = w
						text += fmt.Sprint(w, " ")
					}
					want[text] = true
				}
				exec(r, []*pipeline{p})
				if done := sink.finish(); int(done.Rows) != rows.n ||
					int(done.Kept) != len(want)-before {
					t.Fatalf("%s, round %d: %d of %d tuples are new, want %d", name, round, done.Kept,
						done.Rows, len(want)-before)
				}
				table.Merge()
				if table.Rows(queryplan.Full) != len(want) ||
					table.Rows(queryplan.Delta) != len(want)-before {
					t.Fatalf("%s: %d rows, %d in delta, want %d", name, table.Rows(queryplan.Full),
						table.Rows(queryplan.Delta), len(want))
				}
			}
			p := collect(r, name, []*pipeline{scanAll(table, len(ranges))},
				columnsNamed(len(ranges))).gather(r.Mem)
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
			r.Mem.Close()
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

func scanAll(t *tables.Table, n int) *pipeline {
	src := &tableSource{table: t, version: queryplan.Full}
	p := &pipeline{src: src, slots: n}
	for i, name := range columnsNamed(n) {
		src.cols = append(src.cols, i)
		p.cols = append(p.cols, columns.Column{Name: name, Slot: i})
	}
	return p
}
