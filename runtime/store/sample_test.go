package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestSample compares what a sample says of columns with what is true of them.
func TestSample(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{0, 1, 2, 1000, SampleRows, SampleRows + 1, 100_000} {
		ascending, clustered, skewed, floats := make([]int64, rows), make([]int64, rows),
			make([]int64, rows), make([]int64, rows)
		for i := range rows {
			ascending[i] = int64(i)
			clustered[i] = int64(scalar.Mix(uint64(i/4)) >> 40)
			if skewed[i] = 7; rng.IntN(4) > 0 {
				skewed[i] = rng.Int64N(1 << 40)
			}
			floats[i] = int64(math.Float64bits(float64(i - rows/2)))
		}
		table := &Table{Rows: rows, Columns: []*Column{
			ColumnOf(scalar.IntType, ascending, nil), ColumnOf(scalar.IntType, clustered, nil),
			ColumnOf(scalar.IntType, skewed, nil), ColumnOf(scalar.FloatType, floats, nil)}}
		s := table.Sample()
		if len(s.Rows) != min(rows, SampleRows) || !slices.IsSorted(s.Rows) {
			t.Fatalf("%d rows: a sample of %d", rows, len(s.Rows))
		}
		for i, r := range s.Rows {
			if i > 0 && s.Rows[i-1] == r || r < 0 || r >= rows {
				t.Fatalf("%d rows: row %d is in the sample after %d", rows, r, s.Rows[max(i-1, 0)])
			}
			for c, col := range table.Columns {
				if s.Columns[c].Words[i] != col.Word(r) {
					t.Fatalf("%d rows: column %d has another word in row %d", rows, c, r)
				}
			}
		}
		if rows < 1000 {
			continue
		}
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 0.06 {
				t.Errorf("%d rows: %s is %v, want about %v", rows, what, got, want)
			}
		}
		near("Rising of an ascending column", s.Columns[0].Rising, 1)
		near("Equal of an ascending column", s.Columns[0].Equal, 0)
		near("Equal of groups of four", s.Columns[1].Equal, 0.75)
		near("Rising of groups of four", s.Columns[1].Rising, 0.875)
		near("Equal of a skewed column", s.Columns[2].Equal, 1.0/16)
		near("Rising of ascending floats", s.Columns[3].Rising, 1)
		if top := s.Columns[2].Top; len(top) == 0 || top[0].Word != 7 {
			t.Errorf("%d rows: the most frequent words are %v", rows, top)
		} else {
			near("the share of the most frequent word", top[0].Share, 0.25)
		}
		if top := s.Columns[0].Top; len(top) > 0 {
			t.Errorf("%d rows: words that are unique are frequent: %v", rows, top)
		}
	}
}
