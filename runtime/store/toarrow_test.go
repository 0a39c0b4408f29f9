package store

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestToArrowInParts compares records that goroutines fill in parts with the rows as they
// are written, whatever their order and however many are wanted.
func TestToArrowInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	for round := range 30 {
		rows := []int{arrowPart - 1, arrowPart, arrowPart + 1, 2*arrowPart + 77, 3 * blockRows}[round%5]
		s, r := randomRelation(t, rng, rows)
		out := OutputOf(r)
		out.Threads = 1 + round%3
		if len(out.Columns) > 0 {
			out.Order = []Order{{Col: rng.IntN(len(out.Columns)), Desc: round%2 == 0}}
		}
		if round%4 == 1 {
			out.Limit = int64(rng.IntN(rows))
		}
		var want [][]int64
		err := out.Each(func(block [][]int64, n int) error {
			for i := range n {
				var tuple []int64
				for c := range block {
					tuple = append(tuple, block[c][i])
				}
				want = append(want, tuple)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := ToArrow(out)
		if err != nil {
			t.Fatal(err)
		}
		if rec.NumRows() != int64(len(want)) {
			t.Fatalf("%d rows, want %d", rec.NumRows(), len(want))
		}
		var parts []arrow.RecordBatch
		from := int64(0)
		err = EachArrow(out, func(part arrow.RecordBatch) error {
			same := rec.NewSlice(from, from+part.NumRows())
			defer same.Release()
			for c := range part.Columns() {
				if got, want := part.Column(c).String(), same.Column(c).String(); got != want {
					t.Errorf("round %d, rows from %d on of column %d are %.200s in a part and %.200s", round, from, c, got, want)
				}
			}
			from += part.NumRows()
			parts = append(parts, part)
			return nil
		})
		if err != nil || len(parts) > 0 && from != rec.NumRows() {
			t.Errorf("%d rows in parts: %v", from, err)
		}
		arrays := twice(&s, rec.Columns())
		for c := range out.Columns {
			col, row, reason := arrowColumn(s.Args[c].Type, arrays[c])
			if reason != "" {
				t.Fatalf("row %d: %s", row, reason)
			}
			for i, tuple := range want {
				if got, want := col.Value(i), out.Columns[c].ValueOf(tuple[c]); got != want {
					t.Fatalf("round %d: row %d of column %d is %v, want %v", round, i, c, got, want)
				}
			}
		}
		rec.Release()
	}
}

// TestSortKeys sorts keys of any number of bits, below others that are equal.
func TestSortKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for n := range 65 {
		for _, rows := range []int{0, 1, smallSort + 1, fewKeys - 1, fewKeys + 100} {
			keys := make([]uint64, rows)
			above := uint64(0)
			if n < 64 {
				above = rng.Uint64() >> n << n
			}
			for i := range keys {
				keys[i] = above
				if n > 0 {
					keys[i] |= rng.Uint64() >> (64 - n) >> (rng.IntN(n) * rng.IntN(2))
				}
			}
			want := slices.Sorted(slices.Values(keys))
			if sortKeys(keys, make([]uint64, rows), n); !slices.Equal(keys, want) {
				t.Errorf("%d keys of %d bits are not in order", rows, n)
			}
		}
	}
}

// TestNewBounded makes columns of offsets of every width and compares words, and what is
// known of them, with a column of the same words.
func TestNewBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for round := range 400 {
		typ := allTypes[rng.IntN(len(allTypes))]
		n := rng.IntN(3) * rng.IntN(blockRows)
		var dict *Dict
		width, base, step := []uint8{0, 1, 2, 4, 8}[rng.IntN(5)], rng.Int64()>>rng.IntN(60), int64(1)
		switch typ.Kind {
		case scalar.Float:
			if width > 0 {
				width, base = 8, 0
			}
		case scalar.String:
			dict, width, base = NewDict([]string{"a", "b", "c"}), min(width, 1), 0
		case scalar.Boolean:
			width, base = min(width, 1), 0
		case scalar.Decimal:
			step = 1 + rng.Int64N(100)
			base >>= 20
			width = min(width, 4)
		}
		data := make([]byte, n*int(width))
		for i := range data {
			data[i] = byte(rng.Uint32())
			if typ.Kind == scalar.String || typ.Kind == scalar.Boolean {
				data[i] %= 2
			}
		}
		if round%7 == 0 {
			clear(data)
		}
		got := NewBounded(typ, dict, n, base, step, width, data)
		words := make([]int64, n)
		for i := range words {
			offset := uint64(0)
			for b := range int(width) {
				offset |= uint64(data[i*int(width)+b]) << (8 * b)
			}
			words[i] = base + step*int64(offset)
		}
		want := ColumnOf(typ, words, dict)
		if got.Len() != n {
			t.Fatalf("%d rows, want %d", got.Len(), n)
		}
		for i := range words {
			if got.Word(i) != words[i] {
				t.Fatalf("%v of %d bytes: word %d is %d, want %d", typ, width, i, got.Word(i), words[i])
			}
		}
		if n > 0 && (got.Stats.Min != want.Stats.Min || got.Stats.Max != want.Stats.Max || got.Stats.Distinct < want.Stats.Distinct) {
			t.Errorf("%v of %d bytes: got %+v, want %+v", typ, width, got.Stats, want.Stats)
		}
		a, b := newKeyPart(got, round%2 == 0), newKeyPart(want, round%2 == 0)
		if step == 1 && a.bits != bits.Len64(a.span) || a.span < b.span {
			t.Errorf("%v of %d bytes: a span of %d, want %d", typ, width, a.span, b.span)
		}
		if n > 0 && got.Width > 0 && unsafe.SliceData(got.Entries()) != unsafe.SliceData(data) {
			t.Error("the offsets were copied")
		}
	}
}
