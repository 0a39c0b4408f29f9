package tables

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// TestRepeats extends few keys by few runs, which grow from round to round and
// at times are others, and compares with a map. Most runs are found again.
func TestRepeats(t *testing.T) {
	const (
		keys, runs = 12, 10
		room       = 400 // words of a run
		batch      = 100
	)
	for col := range 2 {
		for threads := 1; threads <= 2; threads++ {
			rnd := rand.New(rand.NewPCG(uint64(col), uint64(threads)))
			r := work.NewRun(context.Background(), threads, 0, work.Sizes{})
			ranges := []interval.Interval{{Lo: 0, Hi: 2000}, {Lo: 0, Hi: 2000}}
			table := New(r.Mem, "t", ranges, true)
			field := table.Layout.Fields[col]
			want, offered, made := map[[2]int64]bool{}, 0, 0
			var words []uint32
			length := make([]int, runs)
			var token *Token
			for round := range 40 {
				if round%16 == 0 {
					token, words = &Token{}, make([]uint32, runs*room)
					for i := range words {
						words[i] = uint32(rnd.IntN(2001))
					}
					clear(length)
				}
				if round == 24 {
					table.Clear()
					clear(want)
				}
				before := len(want)
				table.Begin(r, 0, true)
				for id := range r.Workers {
					e := &Extension{Words: words, Shift: field.Shift, Bits: field.Bits,
						Token: token, JoinBits: 5, Joins: make([]uint64, batch),
						Keys: make([]uint64, batch),
						Runs: &Runs{Start: make([]uint32, batch), Count: make([]uint32, batch)}}
					rows := work.Vectors(2, batch)
					for i := range batch {
						key, run := int64(rnd.IntN(keys)), rnd.IntN(runs)
						// A row of the old version finds less than the run.
						n := length[run] - rnd.IntN(2)*rnd.IntN(length[run]+1)
						e.Joins[i] = uint64(run)
						e.Runs.Start[i], e.Runs.Count[i] = uint32(run*room), uint32(n)
						offered += n
						rows[1-col][i], rows[col][i] = key, 0
						for _, w := range words[run*room:][:n] {
							tuple := [2]int64{}
							tuple[1-col], tuple[col] = key, int64(w)
							want[tuple] = true
						}
					}
					table.Layout.Pack(e.Keys, rows, batch)
					w := table.Writer(id)
					w.Extend(r, e, batch)
					for _, n := range e.Runs.Count {
						made += int(n)
					}
					w.Finish(r, id)
				}
				if got := table.TakeNew(); got != len(want)-before {
					t.Fatalf("%d new tuples in round %d, not %d", got, round, len(want)-before)
				}
				table.Merge()
				for i := range length {
					length[i] = min(length[i]+rnd.IntN(60), room)
				}
			}
			if got := table.Rows(queryplan.Full); got != len(want) {
				t.Fatalf("%d tuples, not %d", got, len(want))
			}
			if 4*made > 3*offered {
				t.Errorf("%d tuples were made of %d that runs offered: nothing is remembered",
					made, offered)
			}
			if len(table.repeats) != 2 {
				t.Errorf("%d memories, not those of two tokens", len(table.repeats))
			}
		}
	}
}

// TestRepeatsGrow fills the memory of a table with many rows.
func TestRepeatsGrow(t *testing.T) {
	r := work.NewRun(context.Background(), 1, 0, work.Sizes{})
	table := New(r.Mem, "t", []interval.Interval{{Lo: 0, Hi: 1 << 20}, {Lo: 0, Hi: 255}}, true)
	const batch = 1<<13 + 1
	e := &Extension{Words: make([]uint32, leastRepeat), Bits: 8, Token: &Token{},
		JoinBits: 1, Joins: make([]uint64, batch), Keys: make([]uint64, batch),
		Runs: &Runs{Start: make([]uint32, batch), Count: make([]uint32, batch)}}
	for i := range e.Words {
		e.Words[i] = uint32(i)
	}
	w := table.Writer(0)
	for round := range 6 {
		for i := range batch {
			e.Keys[i] = uint64(i) << 8
			e.Runs.Start[i], e.Runs.Count[i] = 0, leastRepeat
		}
		table.Begin(r, 0, false)
		w.Extend(r, e, batch)
		w.Finish(r, 0)
		want := 0
		if round == 0 {
			want = batch * leastRepeat
		}
		if got := table.TakeNew(); got != want {
			t.Fatalf("%d new tuples in round %d, not %d", got, round, want)
		}
		table.Merge()
	}
	if n := len(table.repeats[0].entries); n <= minRepeats {
		t.Errorf("there are still %d entries", n)
	}
	table.Clear()
	if table.repeats != nil {
		t.Error("a cleared table remembers runs")
	}
}
