package tables

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// TestExtend extends random rows by random runs in every form of the set, in
// each column, and compares with a map.
func TestExtend(t *testing.T) {
	shapes := map[string][]interval.Interval{
		"one column":   {{Lo: -3, Hi: 60}},
		"pair":         {{Lo: -3, Hi: 60}, {Lo: 10, Hi: 99}},
		"wide pair":    {{Lo: 0, Hi: 1 << 20}, {Lo: -1 << 19, Hi: 1 << 19}},
		"36 bits":      {{Lo: 0, Hi: 1<<18 - 1}, {Lo: 0, Hi: 1<<18 - 1}},
		"constants":    {{Lo: 4, Hi: 4}, {Lo: 0, Hi: 9}, {Lo: 7, Hi: 7}},
		"triple":       {{Lo: 0, Hi: 9}, {Lo: -1, Hi: 20}, {Lo: 5, Hi: 9}},
		"nearly 64":    {{Lo: 0, Hi: 1<<32 - 1}, {Lo: 0, Hi: 1<<31 - 1}},
		"a whole word": {{Lo: 0, Hi: 1<<32 - 1}, {Lo: -1 << 31, Hi: 1<<31 - 1}},
	}
	sizes := map[string]work.Sizes{"small": {SmallSet: 1 << 20}, "bitmap": {},
		"hashed": {NoBitmaps: true}}
	for shape, ranges := range shapes {
		for form, s := range sizes {
			for col, rng := range ranges {
				for threads := range 2 {
					name := fmt.Sprintf("%s/%s/%d/%d", shape, form, col, threads+1)
					t.Run(name, func(t *testing.T) {
						if rng.Lo < rng.Hi {
							testExtend(t, work.NewRun(context.Background(), threads+1, 0, s),
								ranges, col)
						}
					})
				}
			}
		}
	}
}

func testExtend(t *testing.T, r *work.Run, ranges []interval.Interval, col int) {
	rnd := rand.New(rand.NewPCG(uint64(col), 9))
	table := New(r.Mem, "t", ranges, true)
	field := table.Layout.Fields[col]
	pick := func(rng interval.Interval) int64 {
		// Few values, at both ends of the range.
		k := rnd.Int64N(min(rng.Hi-rng.Lo, 12) + 1)
		if rnd.IntN(2) == 0 {
			return rng.Hi - k
		}
		return rng.Lo + k
	}
	// The index covers a part of the column's range.
	base := ranges[col].Lo + (ranges[col].Hi-ranges[col].Lo)/3
	payload := interval.Interval{Lo: base, Hi: ranges[col].Hi}
	e := &Extension{Shift: field.Shift, Offset: uint64(base - field.Base),
		Runs: &Runs{Start: make([]uint32, 50), Count: make([]uint32, 50)}}
	for range 6000 {
		e.Words = append(e.Words, uint32(pick(payload)-base))
	}
	want := map[string]bool{}
	for range 4 {
		before := len(want)
		cols := work.Vectors(len(ranges), 50)
		for i := range 50 {
			e.Runs.Start[i] = uint32(rnd.IntN(1000))
			e.Runs.Count[i] = uint32(rnd.IntN([]int{1, 5, 400}[rnd.IntN(3)]))
			if i == 0 {
				e.Runs.Count[i] = extensionPiece + 3
			}
			tuple := make([]int64, len(ranges))
			for c, rng := range ranges {
				tuple[c] = pick(rng)
				if c == col {
					tuple[c] = field.Base
				}
				cols[c][i] = tuple[c]
			}
			for _, w := range e.Words[e.Runs.Start[i]:][:e.Runs.Count[i]] {
				tuple[col] = int64(w) + base
				want[fmt.Sprint(tuple)] = true
			}
		}
		e.Keys = make([]uint64, 50)
		table.Layout.Pack(e.Keys, cols, 50)
		table.Begin(r, 0, true)
		for i := range r.Workers {
			// The second worker makes the same tuples again.
			w := table.Writer(i)
			w.Extend(r, e, 50)
			w.Finish(r, i)
		}
		if got := table.TakeNew(); got != len(want)-before {
			t.Fatalf("%d new tuples, not %d", got, len(want)-before)
		}
		table.Merge()
	}
	got := map[string]bool{}
	for _, s := range table.Version(nil, queryplan.Full) {
		for i := range s.Rows() {
			tuple := work.Vectors(len(ranges), 1)
			text := make([]int64, len(ranges))
			for c := range ranges {
				table.Unpack(tuple[c], s.Packed(1, i, 1), c, 1, 0)
				text[c] = tuple[c][0]
			}
			if !want[fmt.Sprint(text)] {
				t.Fatalf("the tuple %v is not made by any run", text)
			}
			got[fmt.Sprint(text)] = true
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d tuples, not %d", len(got), len(want))
	}
}
