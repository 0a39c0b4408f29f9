package store

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestFind looks up what is in columns and what is not.
func TestFind(t *testing.T) {
	ints := func(words ...int64) *Column { return ColumnOf(scalar.IntType, words, nil) }
	for _, c := range []struct {
		col   *Column
		v     scalar.Value
		first int // -1: not there
		times int
	}{
		{ints(3, 4, 5), scalar.OfInt(scalar.IntType, 4), 1, 1},
		{ints(3, 4, 5), scalar.OfInt(scalar.IntType, 2), -1, 0},
		{ints(3, 4, 5), scalar.OfInt(scalar.IntType, 6), -1, 0},
		{ints(-7, 4, 50), scalar.OfInt(scalar.IntType, -7), 0, 1},
		{ints(-7, 4, 50), scalar.OfInt(scalar.IntType, 50), 2, 1},
		{ints(-7, 4, 50), scalar.OfInt(scalar.IntType, 5), -1, 0},
		{ints(-7, 4, 50), scalar.OfInt(scalar.IntType, 51), -1, 0},
		{ints(3, 4, 5), scalar.OfDecimal(2, 4), -1, 0},
		{ints(2, 2, 3, 3, 3, 5), scalar.OfInt(scalar.IntType, 3), 2, 3},
		{ints(2, 2, 3, 3, 3, 7), scalar.OfInt(scalar.IntType, 2), 0, 2},
		{ints(2, 3, 3, 5), scalar.OfInt(scalar.IntType, 5), 3, 1},
		{ints(2, 3, 3, 5), scalar.OfInt(scalar.IntType, 4), -1, 0},
		{ints(), scalar.OfInt(scalar.IntType, 0), -1, 0},
		{StringColumn([]string{"a", "b", "d"}), scalar.OfString("d"), 2, 1},
		{StringColumn([]string{"a", "b", "d"}), scalar.OfString("c"), -1, 0},
	} {
		found := c.col.Find(c.v)
		if found.Until-found.From != c.times || c.times > 0 && found.From != c.first {
			t.Errorf("%v in a column of %d: rows %v, want %d from %d on", c.v, c.col.Len(), found,
				c.times, c.first)
		}
	}
}

// pagedWords is a column of which rows are read without decoding it.
type pagedWords struct {
	Encoded
	words         []int64
	rounds, reads int
}

func (p *pagedWords) Values() EncodedValues { return EncodedValues{Bytes: 8, Span: 1 << 62} }

func (p *pagedWords) Words(_ context.Context, _ int, rows []uint32) (out []int64, err error) {
	p.rounds++
	p.reads += len(rows)
	for _, row := range rows {
		out = append(out, p.words[row])
	}
	return out, nil
}

// TestFindAll looks values up in columns that are not decoded, and compares the
// rows with those that Find returns.
func TestFindAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	columns := map[string]func(i int) int64{
		"even":    func(i int) int64 { return 4 * int64(i) },
		"orders":  func(i int) int64 { return int64(i/8*32 + i%8) },
		"repeats": func(i int) int64 { return int64(i / 700) },
		"one":     func(int) int64 { return 7 },
		"steep":   func(i int) int64 { return int64(math.Exp(float64(i) / 1000)) },
		"bounds": func(i int) int64 {
			if i < 5000 {
				return math.MinInt64
			}
			return math.MaxInt64
		},
		"random": func(int) int64 { return rng.Int64N(1 << 30) },
	}
	for name, word := range columns {
		words := make([]int64, 40_000)
		for i := range words {
			words[i] = word(i)
		}
		slices.Sort(words)
		plain := ColumnOf(scalar.IntType, words, nil)
		paged := &pagedWords{words: words}
		c := NewEncoded(scalar.IntType, len(words), 0, 1, words[0], words[len(words)-1], paged)
		c.Stats.Distinct, c.Stats.Ascending = plain.Stats.Distinct, true
		var values []scalar.Value
		for range 200 {
			w := words[rng.IntN(len(words))]
			values = append(values, scalar.OfInt(scalar.IntType, w),
				scalar.OfInt(scalar.IntType, w+rng.Int64N(3)-1))
		}
		for _, w := range []int64{math.MinInt64, math.MaxInt64, words[0], words[len(words)-1]} {
			values = append(values, scalar.OfInt(scalar.IntType, w))
		}
		values = append(values, scalar.OfDecimal(2, 4))
		got, err := c.FindAll(values)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			want := plain.Find(v)
			if got[i] != want && (want.From < want.Until || got[i].From < got[i].Until) {
				t.Errorf("%s: %v in rows %v, want %v", name, v, got[i], want)
			}
		}
		if name == "orders" && (paged.rounds != 1 || paged.reads == len(words)) {
			t.Errorf("%s: %d rows are read in %d rounds", name, paged.reads, paged.rounds)
		}
		if c.IsDecoded() {
			t.Errorf("%s: the column is decoded", name)
		}
	}
}
