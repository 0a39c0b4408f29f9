package fsst

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// prose returns text of words, of which some are frequent.
func prose(r *rand.Rand, n int) []byte {
	words := []string{"carefully ", "final ", "deposits ", "sleep ", "quickly ", "the ", "ironic ",
		"packages ", "above ", "even, "}
	var out []byte
	for len(out) < n {
		out = append(out, words[min(r.IntN(len(words)), r.IntN(len(words)))]...)
		if r.IntN(20) == 0 {
			out = append(out, byte(r.Uint32()))
		}
	}
	return out[:n]
}

func TestRound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, sample := range [][]byte{nil, []byte("a"), make([]byte, 500), noise, prose(r, 10_000)} {
		table := Train(sample)
		read, err := Read(table.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{nil, {0}, {255}, {0, 0, 0}, []byte("final"), sample, noise,
			prose(r, 777)} {
			codes := table.Encode([]byte("before"), text)[len("before"):]
			got := make([]byte, len(text)+Slack)
			if n := read.Decode(got, codes); n != len(text) || !bytes.Equal(got[:n], text) {
				t.Fatalf("%q is read as %q", text, got[:n])
			}
		}
	}
}

// TestRatio compresses prose to less than a third.
func TestRatio(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	table := Train(prose(r, 1<<15))
	text := prose(r, 1<<16)
	if n := len(table.Encode(nil, text)); 3*n > len(text) {
		t.Errorf("%d bytes of %d", n, len(text))
	}
	// The same sample makes the same table.
	r = rand.New(rand.NewPCG(3, 4))
	if !bytes.Equal(Train(prose(r, 1<<15)).Append(nil), table.Append(nil)) {
		t.Error("the table is another one")
	}
}

// TestDamaged decodes other bytes: nothing is written behind the end.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	table := Train(prose(r, 1<<14))
	text := table.Append(nil)
	for i := range 2000 {
		other := slices.Clone(text)
		for range r.IntN(3) {
			other[r.IntN(len(other))] = byte(r.Uint32())
		}
		read, err := Read(other[:len(other)-r.IntN(2)])
		if err != nil {
			continue
		}
		codes := make([]byte, r.IntN(100))
		for j := range codes {
			codes[j] = byte(r.Uint32())
		}
		room := make([]byte, i%200)
		if n := read.Decode(room, codes); n > len(room) {
			t.Fatalf("%d bytes in %d", n, len(room))
		}
	}
}

// FuzzRead reads tables: it does not panic.
func FuzzRead(f *testing.F) {
	f.Add(Train([]byte("banana banana banana banana banana banana")).Append(nil), []byte{0, 1, 255})
	f.Fuzz(func(t *testing.T, text, codes []byte) {
		if table, err := Read(text); err == nil {
			room := make([]byte, 100)
			if n := table.Decode(room, codes); n > len(room) {
				t.Errorf("%d bytes", n)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	table, text := Train(prose(r, 1<<15)), prose(r, 1<<14)
	codes, got := table.Encode(nil, text), make([]byte, len(text)+Slack)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		table.Decode(got, codes)
	}
}

func BenchmarkEncode(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	table, text := Train(prose(r, 1<<15)), prose(r, 1<<14)
	var codes []byte
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		codes = table.Encode(codes[:0], text)
	}
}
