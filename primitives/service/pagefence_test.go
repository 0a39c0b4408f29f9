//go:build linux

package service

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/klauspost/compress/snappy"

	"github.com/redfoxdb/redfox/internal/short"
)

// fence is memory between pages of the system that cannot be read or written.
type fence struct{ memory, used []byte }

func newFence(t testing.TB, bytes int) *fence {
	t.Helper()
	page := os.Getpagesize()
	size := (bytes + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_NONE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	f := &fence{memory: all[page:][:size]}
	if err := syscall.Mprotect(f.memory, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	return f
}

// untouched is what memory that is not in use holds.
const untouched = 0xa5

// place puts data at one of the ends of the memory, some bytes from it, and
// returns the address.
func (f *fence) place(data []byte, atEnd bool, from int) int64 {
	for i := range f.memory {
		f.memory[i] = untouched
	}
	if atEnd {
		from = len(f.memory) - len(data) - from
	}
	f.used = f.memory[from:][:len(data)]
	copy(f.used, data)
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(f.memory)))) + int64(from)
}

// leftAlone reports whether nothing but the memory in use was written.
func (f *fence) leftAlone() bool {
	saved := slices.Clone(f.used)
	for i := range f.used {
		f.used[i] = untouched
	}
	left := bytes.Count(f.memory, []byte{untouched}) == len(f.memory)
	copy(f.used, saved)
	return left
}

// mutated changes, adds and removes some bytes.
func mutated(r *rand.Rand, text []byte) []byte {
	text = slices.Clone(text)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(text) + 1)
		if r.IntN(2) == 0 { // headers are at the beginning more often than not
			at = min(at, r.IntN(8))
		}
		switch kind := r.IntN(6); {
		case kind == 0:
			text = text[:at]
		case kind == 1:
			text = slices.Insert(text, at, byte(r.Uint32()))
		case at == len(text):
		case kind == 2:
			text = slices.Delete(text, at, min(len(text), at+1+r.IntN(4)))
		case kind == 3:
			text[at] ^= 1 << r.IntN(8)
		case kind == 4:
			text[at] = 0xff
		default:
			text[at] = byte(r.Uint32())
		}
	}
	return text
}

// TestUnpackMutatedPages decompresses texts that are damaged between fences,
// and compares with a plain decoder.
func TestUnpackMutatedPages(t *testing.T) {
	m := emulator(t, 12345)
	from, to := newFence(t, 8192), newFence(t, 8192)
	refused := 0
	n := short.Count(t, 20000, "damaged texts")
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 3))
		size := r.IntN(1 << r.IntN(10))
		text, original := elements(r, size, r.Float64())
		if r.IntN(3) == 0 {
			texts := plainTexts(r, size)
			original = texts[r.IntN(len(texts))]
			text = snappy.Encode(nil, original)
		}
		if text, size = mutated(r, text), len(original); r.IntN(8) == 0 {
			// The size is that of the file; the text says another one, or not.
			size = max(size+r.IntN(9)-4, 0)
			if _, used := binary.Uvarint(text); used > 0 && r.IntN(2) == 0 {
				text = append(binary.AppendUvarint(nil, uint64(size)), text[used:]...)
			}
		}
		p := packedPage(nil, size, 0).Page
		p.From, p.Bytes = from.place(text, r.IntN(2) == 0, r.IntN(4)), int64(len(text))
		p.To = to.place(make([]byte, size), r.IntN(2) == 0, r.IntN(4))
		out := to
		if kind := r.IntN(8); kind < 2 { // both in the same memory, next to each other
			both := from.place(make([]byte, size+len(text)), r.IntN(2) == 0, r.IntN(4))
			p.From, p.To = both+int64(kind*size), both+int64((1-kind)*len(text))
			copy(from.used[kind*size:], text)
			out = &fence{used: from.used[(1-kind)*len(text):][:size]}
		}
		list, status := m.put(t, p.AppendTo(nil)), m.put(t, []uint64{0})
		m.run(t, UnpackPages(list, 1, status))
		m.get(t, list, 0)
		got, want := m.get(t, status, 1)[0], unsnap(text, size)
		if want == nil {
			refused++
		}
		if (got == PagesDamaged) != (want == nil) || got == 0 && !bytes.Equal(out.used, want) {
			t.Fatalf("seed %d: status %d, %s", seed, got, firstDifference(out.used, want))
		}
		if !to.leftAlone() || !from.leftAlone() {
			t.Fatalf("seed %d: memory outside of the page is written", seed)
		}
	}
	if refused < int(n)/2 || refused == int(n) {
		t.Errorf("%d of %d texts are refused", refused, n)
	}
}

// decoded decodes a page of a column. Status is that of DecodePages.
func (c *columnTest) decoded(p page) (entries []byte, status uint64) {
	text, n := p.text, int(p.Rows)
	if n == 0 {
		return nil, 0
	}
	if p.Levels {
		if len(text) < 4 || int(binary.LittleEndian.Uint32(text)) > len(text)-4 {
			return nil, PagesDamaged
		}
		size := int(binary.LittleEndian.Uint32(text))
		levels := unhybrid(text[4:][:size], 1, n)
		if levels == nil || slices.Contains(levels, 0) {
			return nil, PagesDamaged
		}
		text = text[4+size:]
	}
	add := func(entry uint64) { entries = AppendPageEntries(entries, c.Width, []uint64{entry}) }
	if !p.Coded {
		size := int(c.Bytes)
		if p.Delta {
			values, ok := undeltas(text, n)
			if !ok {
				return nil, PagesDamaged
			}
			text = nil
			for _, v := range values {
				text = append(text, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
			}
		}
		if len(text) < n*size || p.Split && len(text) > n*size {
			return nil, PagesDamaged
		}
		for i := range n {
			value := slices.Clone(text[i*size:][:size])
			for b := range value {
				if p.Split {
					value[b] = text[b*n+i]
				}
			}
			entry := uint64(0)
			if c.Kind != PageNumbers {
				entry = c.floatEntry(value)
			} else {
				entry = uint64(c.value(value) - c.Base)
			}
			if entry-c.Least > c.Span {
				status = PagesOutside
			}
			add(entry)
		}
		return entries, status
	}
	if len(text) == 0 || text[0] > 32 {
		return nil, PagesDamaged
	}
	places := unhybrid(text[1:], int(text[0]), n)
	for _, place := range places {
		if int(place) >= len(p.dictionary) {
			return nil, PagesDamaged
		}
		add(p.dictionary[place])
	}
	if places == nil {
		status = PagesDamaged
	}
	return entries, status
}

// TestDecodeMutatedPages decodes pages that are damaged between fences, and
// compares with a plain decoder.
func TestDecodeMutatedPages(t *testing.T) {
	m := emulator(t, 12345)
	text, column, dictionary := newFence(t, 1<<16), newFence(t, 8192), newFence(t, 1<<18)
	kinds := map[uint64]int{}
	n := short.Count(t, 20000, "damaged pages")
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 4))
		c := newColumnTest(r)
		p := c.page(r, r.IntN(1<<r.IntN(10)))
		p.text = mutated(r, p.text)
		if len(p.dictionary) > 0 && r.IntN(8) == 0 {
			p.dictionary = p.dictionary[1:]
		}
		end := r.IntN(2) == 0
		p.From, p.Bytes = text.place(p.text, end, r.IntN(4)), int64(len(p.text))
		p.To, p.Unpacked = p.From, p.Bytes
		p.Row = r.Int64N(4)
		places := AppendPageEntries(nil, c.Width, p.dictionary)
		p.Dictionary = dictionary.place(places, true, 0)
		p.Entries = int64(len(p.dictionary))
		rows := make([]byte, p.Rows*c.Width)
		with := c.PageColumn
		with.Column = column.place(rows, r.IntN(2) == 0, int(4*c.Width)) - p.Row*c.Width
		list, status := m.put(t, p.AppendTo(nil)), m.put(t, []uint64{0})
		m.run(t, DecodePages(list, 1, p.Rows, with, status))
		m.run(t, DecodeDeltas(list, 1, with, status))
		m.get(t, list, 0)
		got := m.get(t, status, 1)[0]
		want, right := c.decoded(p)
		kinds[right]++
		if got != right || got == 0 && !bytes.Equal(column.used, want) {
			t.Fatalf("seed %d: status %d, want %d; %s", seed, got, right,
				firstDifference(column.used, want))
		}
		if !column.leftAlone() || !text.leftAlone() || !dictionary.leftAlone() {
			t.Fatalf("seed %d: memory outside of the page is written", seed)
		}
	}
	for status := range uint64(3) {
		if kinds[status] < int(n)/100 {
			t.Errorf("the status is %d of only %d pages", status, kinds[status])
		}
	}
}
