package store

import (
	"math/bits"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/randvalue"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestNewBounded makes columns of offsets of every width and compares words,
// and what is known of them, with a column of the same words.
func TestNewBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for round := range 400 {
		typ := randvalue.Types[rng.IntN(len(randvalue.Types))]
		n := rng.IntN(3) * rng.IntN(BlockRows)
		var dict *Dict
		width, base, step := []uint8{0, 1, 2, 4,
			8}[rng.IntN(5)], rng.Int64()>>rng.IntN(60), int64(1)
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
				t.Fatalf("%v of %d bytes: word %d is %d, want %d", typ, width, i, got.Word(i),
					words[i])
			}
		}
		if n > 0 && (got.Stats.Min != want.Stats.Min || got.Stats.Max != want.Stats.Max ||
			got.Stats.Distinct < want.Stats.Distinct) {
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
