package store

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// BenchmarkSortPairs sorts pairs of four-byte columns, as words and as rows.
func BenchmarkSortPairs(b *testing.B) {
	const rows = 10_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	cols := make([]*Column, 2)
	for c := range cols {
		words := make([]int64, rows)
		for i := range words {
			words[i] = rng.Int64N(1 << 28)
		}
		cols[c] = ColumnOf(scalar.IntType, words, nil)
	}
	b.Run("each", func(b *testing.B) {
		for b.Loop() {
			newRowSorter(Sorting{}, cols, nil).each(context.Background(), rows, rows,
				func([][]int64) error { return nil })
		}
		b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			newRowSorter(Sorting{}, cols, nil).rows(context.Background(), rows)
		}
		b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
}
