package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestStopSorting cancels every sort of columns and strings on its own.
func TestStopSorting(t *testing.T) {
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(reason)
	const rows = 5000
	numbers, names := NewBuilder(scalar.IntType, nil), NewBuilder(scalar.StringType, nil)
	for i := range rows {
		numbers.Append(int64(i * 7919 % rows))
		names.AppendString(fmt.Sprint("name ", i*31%rows))
	}
	cols := []*Column{numbers.Finish(), names.Finish()}
	wide := []*Column{cols[0], randomFloats(rows), randomFloats(rows)}
	for _, cols := range [][]*Column{cols, wide} {
		if _, err := UniqueRows(ctx, Sorting{Threads: 2}, cols, rows); err != reason {
			t.Errorf("uniqueRows of %d columns: %v", len(cols), err)
		}
		if _, _, _, err := Dedupe(ctx, Sorting{Threads: 2}, cols, rows, len(cols)); err != reason {
			t.Errorf("dedupe of %d columns: %v", len(cols), err)
		}
		s := newRowSorter(Sorting{Threads: 2}, cols, nil)
		if err := s.each(ctx, rows, rows, func([][]int64) error { return nil }); err != reason {
			t.Errorf("each of %d columns: %v", len(cols), err)
		}
	}
	if _, err := newRowSorter(Sorting{Threads: 2}, cols, nil).groups[0].sortedKeys(ctx,
		&Sorting{Threads: 2}, rows); err != reason {
		t.Errorf("sortedKeys: %v", err)
	}
	if _, err := newRowSorter(Sorting{Threads: 2}, cols, nil).groups[0].uniqueByBitmap(ctx,
		&Sorting{Threads: 2}, rows); err != reason {
		t.Errorf("uniqueByBitmap: %v", err)
	}
	if _, err := mergeSources(ctx, 2, []dictSource{cols[1].Dict}, nil, ""); err != reason {
		t.Errorf("mergeSources: %v", err)
	}
}

func randomFloats(n int) *Column {
	rng := rand.New(rand.NewPCG(1, 2))
	words := make([]int64, n)
	for i := range words {
		words[i] = int64(scalar.OfFloat(scalar.FloatType, rng.NormFloat64()).Bits())
	}
	return ColumnOf(scalar.FloatType, words, nil)
}
