package store

import (
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestCountTables counts the words of chunks by their tables, and by all
// entries of the column that they make.
func TestCountTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, typ := range []scalar.Type{scalar.IntType, scalar.DecimalOf(2), scalar.UintType} {
		for range 50 {
			var chunks []Chunk
			most := 1 + rng.Int64N(3000)
			for range 1 + rng.IntN(4) {
				table := make([]int64, 0, 300)
				for len(table) < 1+rng.IntN(300) {
					table = append(table, 100*rng.Int64N(most))
				}
				places := make([]uint16, 0, 1000)
				for p := range table {
					places = append(places, uint16(p))
				}
				for len(places) < 1000 {
					places = append(places, uint16(rng.IntN(len(table))))
				}
				chunks = append(chunks, NewPlaced(typ.Kind, places, table))
			}
			c, err := Join(2, typ, nil, chunks, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			words := map[int64]bool{}
			for i := range c.Len() {
				words[c.Word(i)] = true
			}
			if c.Width < 4 && c.Stats.Distinct != int64(len(words)) {
				t.Fatalf("%d words counted in %d bytes, want %d", c.Stats.Distinct, c.Width,
					len(words))
			}
		}
	}
}
