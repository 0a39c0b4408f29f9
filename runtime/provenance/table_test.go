package provenance

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TestEach compares lookups of random rows with a loop, before and after
// columns have indexes.
func TestEach(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, spread := range []int64{1, 10, 1 << 40} {
		const rows = 3000
		words := make([][]int64, 3)
		for c := range words {
			for range rows {
				words[c] = append(words[c], (r.Int64N(60)-30)*spread)
			}
		}
		table := &store.Table{Rows: rows}
		rel := &store.Relation{Table: table}
		for c := range words {
			table.Columns = append(table.Columns, store.ColumnOf(scalar.IntType, words[c], nil))
			rel.Cols = append(rel.Cols, c)
		}
		x := NewTable(rel, nil)
		indexed, hashed := false, false
		for range 400 {
			limit := r.IntN(rows + 10)
			var asked []wanted
			for arg := range words {
				if r.IntN(2) == 0 {
					v := scalar.OfInt(scalar.IntType, (r.Int64N(62)-31)*spread)
					asked, _ = x.want(asked, arg, v)
				}
			}
			var got, want []int
			x.each(asked, limit, func(row int) bool {
				got = append(got, row)
				return false
			})
			for row := range min(limit, rows) {
				if !slices.ContainsFunc(asked, func(w wanted) bool {
					return words[w.col][row] != w.word
				}) {
					want = append(want, row)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%v below %d: rows %v, want %v", asked, limit, got, want)
			}
			for _, i := range x.index {
				indexed = indexed || i != nil
				hashed = hashed || i != nil && i.hashed
			}
		}
		if !indexed || hashed != (spread == 1<<40) {
			t.Errorf("spread %d: indexed is %t, hashed %t", spread, indexed, hashed)
		}
	}
}

// TestRounds finds the rounds of rows.
func TestRounds(t *testing.T) {
	r := runtime.Rounds{{Round: 2, Rows: 3}, {Round: 5, Rows: 4}, {Round: 6, Rows: 9}}
	for row, want := range []int64{2, 2, 2, 5, 6, 6, 6, 6, 6} {
		if got := r.Of(int64(row)); got != want {
			t.Errorf("row %d is of round %d, want %d", row, got, want)
		}
	}
	for round, want := range []int64{0, 0, 0, 3, 3, 3, 4, 9, 9} {
		if got := r.Before(int64(round)); got != want {
			t.Errorf("%d rows before round %d, want %d", got, round, want)
		}
	}
}
