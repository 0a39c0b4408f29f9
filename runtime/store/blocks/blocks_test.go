package blocks

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/bitpack"
)

// shapes make entries of which each form is the smallest for some.
var shapes = map[string]struct {
	form Form
	make func(r *rand.Rand, i int) uint64
}{
	"equal":      {Constant, func(*rand.Rand, int) uint64 { return 77 }},
	"random":     {Packed, func(r *rand.Rand, _ int) uint64 { return 100 + r.Uint64N(101) }},
	"exceptions": {Packed, func(r *rand.Rand, i int) uint64 { return r.Uint64N(4) + uint64(i%100/99*200) }},
	"ascending":  {Delta, func(_ *rand.Rand, i int) uint64 { return uint64(i / 3 * 5) }},
	"keys":       {Delta, func(_ *rand.Rand, i int) uint64 { return uint64(i/8*32 + i%8) }},
	"descending": {Delta, func(r *rand.Rand, i int) uint64 { return 1<<40 - 3*uint64(i) + r.Uint64N(3) }},
	"few": {Dictionary, func(r *rand.Rand, _ int) uint64 {
		return []uint64{3, 90, 1 << 31, 1 << 62}[r.IntN(4)]
	}},
	"runs": {Runs, func(_ *rand.Rand, i int) uint64 { return uint64(i/400) * 7919 % 250 }},
}

func TestPack(t *testing.T) {
	for name, s := range shapes {
		r := rand.New(rand.NewPCG(1, 2))
		wide := make([]uint64, Rows)
		for i := range wide {
			wide[i] = s.make(r, i)
		}
		var e Encoder[uint64]
		h, data := e.Pack(nil, wide)
		if h.Form != s.form {
			t.Errorf("%s: %v in %d bits with %d exceptions, want %v", name, h.Form, h.Bits, h.Count,
				s.form)
		}
		if len(data) > 4*Rows {
			t.Errorf("%s: %d bytes", name, len(data))
		}
		for _, n := range []int{1, 2, 3, 63, 64, 65, 1000, Rows - 1, Rows} {
			testRound(t, name, wide[:n])
			testRound(t, name, cast[uint32](wide[:n]))
			testRound(t, name, cast[uint16](wide[:n]))
			testRound(t, name, cast[uint8](wide[:n]))
		}
	}
}

func cast[T bitpack.Unsigned](wide []uint64) []T {
	out := make([]T, len(wide))
	for i, v := range wide {
		out[i] = T(v)
	}
	return out
}

func testRound[T bitpack.Unsigned](t *testing.T, name string, entries []T) {
	var e Encoder[T]
	h, data := e.Pack([]byte("before"), entries)
	data = slices.Clip(slices.Clone(data[len("before"):]))
	width := uint8(unsafe.Sizeof(T(0)))
	if err := h.Check(len(entries), width, uint64(slices.Max(entries))); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := ReadHeader(h.Append(nil)); got != h || len(h.Append(nil)) != HeaderBytes {
		t.Fatalf("%s: the header is %+v, want %+v", name, got, h)
	}
	if most := bitpack.Bytes(len(entries), 8*int(width)); len(data) > most {
		t.Errorf("%s: %d bytes for %d entries", name, len(data), len(entries))
	}
	got := make([]T, len(entries))
	var d Decoder
	if err := Unpack(&d, got, &h, data); err != nil || !slices.Equal(got, entries) {
		t.Fatalf("%s, %d entries of %d bytes: %+v, %v", name, len(entries), width, h, err)
	}
}

// TestHostile changes headers and bytes: what is unpacked is within the bounds
// of the header, or there is an error.
func TestHostile(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	refused, read := 0, 0
	for _, s := range shapes {
		entries := make([]uint16, 700)
		for i := range entries {
			entries[i] = uint16(s.make(r, i))
		}
		var e Encoder[uint16]
		var d Decoder
		h, data := e.Pack(nil, entries)
		for range 2000 {
			text := h.Append(nil)
			for range r.IntN(3) {
				text[r.IntN(len(text))] = byte(r.Uint32())
			}
			changed := ReadHeader(text)
			bytes := slices.Clone(data)
			for range r.IntN(3) {
				if len(bytes) > 0 {
					bytes[r.IntN(len(bytes))] = byte(r.Uint32())
				}
			}
			err := changed.Check(len(entries), 2, uint64(slices.Max(entries)))
			if err == nil && int(changed.Size) == len(bytes) {
				got := make([]uint16, len(entries))
				if err = Unpack(&d, got, &changed, bytes); err == nil {
					read++
					lo, hi := slices.Min(got), slices.Max(got)
					if uint64(lo) < changed.Least || uint64(hi) > changed.Greatest {
						t.Fatalf("%+v: entries from %d to %d", changed, lo, hi)
					}
				}
			}
			if err != nil {
				refused++
			}
		}
	}
	if refused == 0 || read == 0 {
		t.Errorf("%d were refused and %d were read", refused, read)
	}
}

// BenchmarkUnpack reports the bytes of the entries that are unpacked.
func BenchmarkUnpack(b *testing.B) {
	for name, s := range shapes {
		b.Run(name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			entries := make([]uint32, Rows)
			for i := range entries {
				entries[i] = uint32(s.make(r, i))
			}
			var e Encoder[uint32]
			var d Decoder
			h, data := e.Pack(nil, entries)
			b.SetBytes(4 * Rows)
			for b.Loop() {
				if err := Unpack(&d, entries, &h, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPack reports the bytes of the entries that are packed.
func BenchmarkPack(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	entries := make([]uint32, Rows)
	for i := range entries {
		entries[i] = r.Uint32N(1 << 20)
	}
	var e Encoder[uint32]
	var data []byte
	b.SetBytes(4 * Rows)
	for b.Loop() {
		_, data = e.Pack(data[:0], entries)
	}
}
