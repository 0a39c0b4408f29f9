package store

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestFiller compares filled columns with those that Join makes, and has words
// beyond the bounds refused.
func TestFiller(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, typ := range []scalar.Type{scalar.IntType, scalar.DecimalType} {
		for _, least := range []int64{0, 5, -7, -1 << 40, 1 << 40} {
			for _, ascends := range []bool{false, true} {
				checkFiller(t, rng, typ, least, ascends)
			}
		}
	}
	if newFiller(scalar.IntType, 10, 0, 255) != nil ||
		newFiller(scalar.IntType, 10, 0, 1<<33) != nil ||
		newFiller(scalar.FloatType, 10, 0, 1<<20) != nil {
		t.Error("there is a filler of another width or type")
	}
}

func checkFiller(t *testing.T, rng *rand.Rand, typ scalar.Type, least int64, ascends bool) {
	t.Helper()
	const rows, most = 5000, 1 << 20
	words := make([]int64, rows)
	for i := range words {
		words[i] = least + int64(rng.IntN(most))
		if ascends {
			words[i] = least + most/rows*int64(i)
		}
	}
	words[0], words[rows-1] = least, least+most
	f := newFiller(typ, rows, least, least+most)
	var data []byte
	for _, w := range words[:2000] {
		data = binary.LittleEndian.AppendUint64(data, uint64(w))
	}
	entries, places := make([]uint32, 1000), make([]uint32, 1000)
	for i := range places {
		places[i] = uint32(len(places) - 1 - i)
	}
	listed := make([]int64, 1000)
	for i, p := range places {
		listed[p] = words[2000+i]
	}
	if !f.Int64s(0, 2000, data) || !f.Entries(entries, listed) ||
		!f.Places(2000, places, entries) || !f.Words(3000, words[3000:]) {
		t.Fatal("words within the bounds are refused")
	}
	got := f.Finish(2, true, true)
	chunks := []Chunk{Narrow(typ.Kind, words, 1)}
	want, err := Join(2, typ, nil, chunks, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Stats != want.Stats || got.Base != want.Base || got.Width != want.Width {
		t.Errorf("from %d: %+v, base %d; Join has %+v, base %d", least, got.Stats, got.Base,
			want.Stats, want.Base)
	}
	if other := f.Finish(2, true, false).Stats; ascends && other != want.Stats ||
		!ascends && other.Distinct != rows {
		t.Errorf("from %d, not counted: %+v", least, other)
	}
	for i, w := range words {
		if got.Word(i) != w {
			t.Fatalf("row %d: %d, not %d", i, got.Word(i), w)
		}
	}
	for _, wrong := range []int64{least - 1, least + most + 1, least + 1<<32} {
		other := newFiller(typ, rows, least, least+most)
		if other.Words(0, []int64{least, wrong}) || other.Entries(entries[:1], []int64{wrong}) ||
			other.Int64s(0, 1, binary.LittleEndian.AppendUint64(nil, uint64(wrong))) {
			t.Errorf("from %d: %d is taken", least, wrong)
		}
	}
	if f.Places(0, []uint32{1000}, entries) {
		t.Error("a place beyond the list is taken")
	}
}

// TestPairsAscend compares the proof with the sorting of rows.
func TestPairsAscend(t *testing.T) {
	ctx, with := context.Background(), Sorting{Threads: 2}
	for _, c := range []struct{ each, step int64 }{{2, 1}, {2, 300}, {2, 1 << 17}, {500, 1},
		{500, 100}, {500, 1 << 17}} {
		for broken := range 3 {
			var a, b []int64
			for i := range int64(3 * orderRows / 2) {
				a, b = append(a, i/c.each), append(b, i%c.each*c.step)
			}
			switch at := orderRows; broken { // across two pieces
			case 1:
				a[at], b[at] = a[at-1], b[at-1]
			case 2:
				a[at-1] = a[len(a)-1]
			}
			x, y := ColumnOf(scalar.IntType, a, nil), ColumnOf(scalar.IntType, b, nil)
			if got := pairsAscend(ctx, with, x, y); got != (broken == 0) {
				t.Errorf("%+v, broken %d: %v", c, broken, got)
			}
		}
	}
}

// newFiller is NewFiller with as much memory as it takes.
func newFiller(t scalar.Type, n int, lo, hi int64) *Filler {
	f, _ := NewFiller(t, n, lo, hi, nil, "")
	return f
}
