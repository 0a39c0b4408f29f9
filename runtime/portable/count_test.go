package portable

import (
	"context"
	"testing"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// TestCountValues counts close values exactly and others with an error of 1 %,
// and both alike whatever the order of the tuples is.
func TestCountValues(t *testing.T) {
	const rows = 100_000
	for _, c := range []struct{ apart, repeats int64 }{
		{1, 1}, {1, 10}, {1 << 40, 1}, {1 << 40, 10}, {-(1 << 40), 1},
	} {
		var counts []int64
		for _, backwards := range []bool{false, true} {
			r := work.NewRun(context.Background(), 1, 0, work.Sizes{})
			all := interval.Interval{Lo: -1 << 63, Hi: 1<<63 - 1}
			table := tables.New(r.Mem, "t", []interval.Interval{all, all}, true)
			words := make([]uint64, 0, 2*rows)
			for i := range int64(rows) {
				if backwards {
					i = rows - 1 - i
				}
				words = append(words, uint64(i-all.Lo), uint64(i/c.repeats*c.apart-all.Lo))
			}
			w := table.Writer(0)
			table.Begin(r, 0, true)
			w.Insert(r, words)
			w.Finish(r, 0)
			table.TakeNew()
			table.Merge()
			if n := countValues(table, 0, all); n != rows {
				t.Errorf("%d values of a column that numbers the rows", n)
			}
			counts = append(counts, countValues(table, 1, all))
		}
		want := rows / c.repeats
		if n := counts[0]; n != counts[1] || c.apart == 1 && n != want || n < want*99/100 ||
			n > want*101/100 {
			t.Errorf("%v: %v values, not %d", c, counts, want)
		}
	}
}
