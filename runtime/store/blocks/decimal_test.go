package blocks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// floatShapes make floats, and the form in which they are smallest.
var floatShapes = map[string]struct {
	form Form
	make func(r *rand.Rand, i int) float64
}{
	"prices": {Decimal, func(r *rand.Rand, _ int) float64 { return float64(r.IntN(10_000_000)) / 100 }},
	"counts": {Decimal, func(r *rand.Rand, _ int) float64 { return float64(r.IntN(100_000) - 50_000) }},
	"degrees": {Decimal, func(r *rand.Rand, _ int) float64 {
		return float64(r.IntN(360_000_000)-180_000_000) / 1e6
	}},
	"oddities": {Decimal, func(r *rand.Rand, i int) float64 {
		odd := []float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1), math.Pi, 5e-324,
			math.MaxFloat64, 1 << 60}
		if i%50 == 0 {
			return odd[i/50%len(odd)]
		}
		return float64(r.IntN(1000)) / 10
	}},
	"any": {Packed, func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }},
	"few": {Dictionary, func(r *rand.Rand, _ int) float64 {
		return []float64{math.Pi, math.E, 0}[r.IntN(3)]
	}},
	"same": {Constant, func(*rand.Rand, int) float64 { return 0.1 }},
}

func makeFloats(make func(r *rand.Rand, i int) float64, n int) (words []uint64) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		words = append(words, math.Float64bits(make(r, i)))
	}
	return words
}

func TestFloats(t *testing.T) {
	for name, s := range floatShapes {
		words := makeFloats(s.make, Rows)
		for _, n := range []int{1, 2, 63, 64, 65, 1000, Rows} {
			e := Encoder[uint64]{Floats: true}
			h, data := e.Pack(nil, words[:n])
			if n == Rows && h.Form != s.form {
				t.Errorf("%s: %v in %d bits with %d exceptions, want %v", name, h.Form, h.Bits,
					h.Count, s.form)
			}
			if err := h.Check(n, 8, math.MaxUint64); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := ReadHeader(h.Append(nil)); got != h {
				t.Fatalf("%s: the header is %+v, want %+v", name, got, h)
			}
			got := make([]uint64, n)
			var d Decoder
			err := Unpack(&d, got, &h, slices.Clip(data))
			if err != nil || !slices.Equal(got, words[:n]) {
				t.Fatalf("%s, %d floats: %+v, %v", name, n, h, err)
			}
		}
	}
}

// TestHostileFloats is TestHostile for form Decimal.
func TestHostileFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	entries := makeFloats(floatShapes["oddities"].make, 700)
	e, d := Encoder[uint64]{Floats: true}, Decoder{}
	h, data := e.Pack(nil, entries)
	refused, read := 0, 0
	for range 20_000 {
		text := h.Append(nil)
		for range r.IntN(3) {
			text[r.IntN(len(text))] = byte(r.Uint32())
		}
		bytes := slices.Clone(data)
		for range r.IntN(3) {
			bytes[r.IntN(len(bytes))] = byte(r.Uint32())
		}
		changed := ReadHeader(text)
		err := changed.Check(len(entries), 8, math.MaxUint64)
		if err == nil && int(changed.Size) == len(bytes) {
			got := make([]uint64, len(entries))
			if err = Unpack(&d, got, &changed, bytes); err == nil {
				read++
				lo, hi := slices.Min(got), slices.Max(got)
				if lo < changed.Least || hi > changed.Greatest {
					t.Fatalf("%+v: entries from %x to %x", changed, lo, hi)
				}
			}
		}
		if err != nil {
			refused++
		}
	}
	if refused == 0 || read == 0 {
		t.Errorf("%d were refused and %d were read", refused, read)
	}
}

// BenchmarkFloats reports the bytes of the floats that are packed and unpacked.
func BenchmarkFloats(b *testing.B) {
	words := makeFloats(floatShapes["prices"].make, Rows)
	e := Encoder[uint64]{Floats: true}
	h, data := e.Pack(nil, words)
	b.Run("pack", func(b *testing.B) {
		b.SetBytes(8 * Rows)
		for b.Loop() {
			_, data = e.Pack(data[:0], words)
		}
	})
	b.Run("unpack", func(b *testing.B) {
		var d Decoder
		b.SetBytes(8 * Rows)
		for b.Loop() {
			if err := Unpack(&d, words, &h, data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
