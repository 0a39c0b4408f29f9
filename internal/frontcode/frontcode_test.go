package frontcode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/fsst"
)

// phrases returns n ascending strings.
func phrases(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"carefully ", "final ", "deposits ", "sleep ", "", "x", "ironic ", "\x00\xff"}
	var out []string
	for i := range n {
		s := ""
		for range r.IntN(7) {
			s += words[r.IntN(len(words))]
		}
		out = append(out, s+fmt.Sprint(i%(n/2+1)))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unpack returns the strings of packed blocks.
func unpack(t *testing.T, p *Packed, n int) (out []string) {
	table, err := fsst.Read(p.Symbols)
	if err != nil {
		t.Fatal(err)
	}
	r, data, from := NewReader(table), bytes.Join(p.Parts, nil), uint64(0)
	for i, end := range p.Ends {
		count := min(Strings, n-i*Strings)
		var ends [Strings]uint32
		var text []byte
		r.Unpack(data[from:end], count, ends[:], func(bytes int) []byte {
			text = make([]byte, bytes)
			return text
		})
		if got := r.Bytes(data[from:end], count); got != len(text) {
			t.Fatalf("block %d has %d bytes, and Bytes returns %d", i, len(text), got)
		}
		at := uint32(0)
		for _, e := range ends[:count] {
			out = append(out, string(text[at:e]))
			at = e
		}
		from = end
	}
	return out
}

func TestPack(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 5000, 40_000} {
		list := phrases(n)
		p := Pack(2, len(list), func(i int) string { return list[i] })
		if got := unpack(t, p, len(list)); !slices.Equal(got, list) {
			t.Errorf("%d strings are others", n)
		}
		if all := len(strings.Join(list, "")); n > 1000 && 3*int(p.Bytes()) > all {
			t.Errorf("%d bytes of %d", p.Bytes(), all)
		}
		one := Pack(1, len(list), func(i int) string { return list[i] })
		if !slices.Equal(one.Ends, p.Ends) || !bytes.Equal(one.Symbols, p.Symbols) ||
			!bytes.Equal(bytes.Join(one.Parts, nil), bytes.Join(p.Parts, nil)) {
			t.Error("threads change what is packed")
		}
	}
}

// TestDamaged changes bytes: strings are unpacked, whatever they are.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	list := phrases(1000)
	p := Pack(1, len(list), func(i int) string { return list[i] })
	data := bytes.Join(p.Parts, nil)
	for range 3000 {
		other := &Packed{Parts: [][]byte{slices.Clone(data)}, Ends: p.Ends, Symbols: p.Symbols}
		for range 1 + r.IntN(4) {
			other.Parts[0][r.IntN(len(data))] = byte(r.Uint32())
		}
		if got := unpack(t, other, len(list)); len(got) != len(list) {
			t.Fatalf("%d strings, want %d", len(got), len(list))
		}
	}
}
