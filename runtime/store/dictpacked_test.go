package store

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// packedCopy returns a dictionary of the same strings, packed.
func packedCopy(t *testing.T, d *Dict, wide bool) *Dict {
	p := d.PackText(2)
	text := PackedText{Strings: d.Len(), Blocks: slices.Concat(p.Parts...), Wide: wide,
		Symbols: p.Symbols}
	for i := range d.Len() {
		text.Bytes += int64(len(d.String(uint32(i))))
	}
	for _, end := range p.Ends {
		if wide {
			text.Ends = binary.LittleEndian.AppendUint64(text.Ends, end)
		} else {
			text.Ends = binary.LittleEndian.AppendUint32(text.Ends, uint32(end))
		}
	}
	out := PackedDict(text, nil)
	if err := out.OpenPacked(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPackedDict compares a packed dictionary with the one that was packed,
// before and after all of it is unpacked.
func TestPackedDict(t *testing.T) {
	list := []string{""}
	for i := range 5000 {
		list = append(list, fmt.Sprintf("customer %d of %d, %s", i*i%7919, i%13,
			strings.Repeat("long ", i%7)))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	plain := NewDict(list)
	for _, wide := range []bool{false, true} {
		d := packedCopy(t, plain, wide)
		for range 2 {
			compareDicts(t, d, plain, list)
			if text, ends, _ := d.Text(); len(ends) != 4*len(list) ||
				string(text) != strings.Join(list, "") {
				t.Error("the text is another one")
			}
		}
		if !d.Ascends() {
			t.Error("the strings do not ascend")
		}
		merged, remaps := MergeDicts([]*Dict{packedCopy(t, plain, wide),
			NewDict([]string{"a", "z"})}, []string{"m"})
		if merged.Len() != len(list)+3 || len(remaps) != 2 {
			t.Errorf("merged are %d strings", merged.Len())
		}
		if got := d.Intern("new"); got != uint32(len(list)) || d.String(got) != "new" ||
			d.Intern(list[70]) != 70 {
			t.Errorf("a new string has code %d", got)
		}
	}
	if want := int64(len(strings.Join(list, "")) + 4*len(list)); packedCopy(t, plain,
		false).Bytes() != want {
		t.Errorf("it has other than %d bytes", want)
	}
}

func compareDicts(t *testing.T, d, plain *Dict, list []string) {
	t.Helper()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i, s := range list {
				if got := d.String(uint32(i)); got != s {
					t.Errorf("string %d is %q, want %q", i, got, s)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, s := range []string{"", "a", list[40], list[64] + "x", "zz"} {
		i, ok := d.Lookup(s)
		if j, found := plain.Lookup(s); ok != found || ok && i != j {
			t.Errorf("%q is %d, %t", s, i, ok)
		}
		from, to := d.WithPrefix(s)
		if a, b := plain.WithPrefix(s); a != from || b != to {
			t.Errorf("from %d to %d begin with %q, want %d to %d", from, to, s, a, b)
		}
	}
	for _, part := range [][2]int{{0, len(list)}, {63, 65}, {5, 5}, {100, 4000}} {
		find := func(d *Dict) map[int]string {
			out := map[int]string{}
			d.Finder("9 of 1").Find(part[0], part[1], func(code int, s string) {
				out[code] = strings.Clone(s)
			})
			return out
		}
		if got, want := find(d), find(plain); !maps.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
		var each []string
		d.Each(part[0], part[1], func(code int, s string) {
			if s != list[code] {
				t.Errorf("string %d is %q", code, s)
			}
			each = append(each, strings.Clone(s))
		})
		if !slices.Equal(each, list[part[0]:part[1]]) {
			t.Errorf("each of %v are %d strings", part, len(each))
		}
	}
	codes := []uint32{3, 90, 0, 64}
	text := make([]byte, d.TextBytes(codes))
	d.AppendTexts(codes, text, 0)
	if want := list[3] + list[90] + list[0] + list[64]; string(text) != want {
		t.Errorf("the text is %q, want %q", text, want)
	}
}

// TestPackedDictDamaged gives a dictionary places that cannot be.
func TestPackedDictDamaged(t *testing.T) {
	var list []string
	for i := range 300 {
		list = append(list, fmt.Sprintf("%05d", i))
	}
	p := packedCopy(t, NewDict(list), false).packed
	for name, change := range map[string]func(text *PackedText){
		"symbols": func(text *PackedText) { text.Symbols = []byte{5, 1} },
		"ends":    func(text *PackedText) { text.Ends[4] = 255 },
		"blocks":  func(text *PackedText) { text.Blocks = text.Blocks[1:] },
	} {
		text := p.PackedText
		text.Ends = slices.Clone(text.Ends)
		change(&text)
		if err := PackedDict(text, nil).OpenPacked(); err == nil {
			t.Errorf("other %s are not found", name)
		}
	}
	swapped := p.PackedText
	swapped.Bytes++
	d := PackedDict(swapped, nil)
	if err := d.OpenPacked(); err != nil || d.Ascends() {
		t.Errorf("a byte too few is not found: %v", err)
	}
	// A column of packed strings is like others.
	c := ColumnOf(scalar.StringType, []int64{4, 299}, packedCopy(t, NewDict(list), true))
	if got := c.Value(1).Str(); got != "00299" {
		t.Errorf("the string is %q", got)
	}
}
