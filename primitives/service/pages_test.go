package service

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/snappy"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
)

// page is a page of a test: what is in the file, and what it says of it.
type page struct {
	Page
	text       []byte
	dictionary []uint64
	at         int // where its values are put, behind an address of 16 bytes
}

// unpackPages puts pages into memory, decompresses them, and decodes them if
// column is not nil. It returns the decompressed texts, the column with 16
// bytes before and behind it, and the status.
func unpackPages(t testing.TB, m machine, pages []page, rows int, c *PageColumn) (texts [][]byte,
	column []byte, status uint64) {
	t.Helper()
	var at, to, dictionaries []int64
	var list []uint64
	most := int64(0)
	for i := range pages {
		p := &pages[i]
		at = append(at, m.put(t, wordsOf(append(make([]byte, p.at), p.text...))))
		p.From, p.Bytes = at[i]+int64(p.at), int64(len(p.text))
		to = append(to, 0)
		if p.Packed {
			to[i] = m.put(t, make([]uint64, PageRoom(p.Unpacked)/8+4))
			p.To = to[i] + 16
		} else {
			p.To, p.Unpacked = p.From, p.Bytes
		}
		if c != nil {
			dictionaries = append(dictionaries,
				m.put(t, wordsOf(AppendPageEntries(nil, c.Width, p.dictionary))))
			p.Dictionary, p.Entries = dictionaries[i], int64(len(p.dictionary))
		}
		most = max(most, p.Rows)
		list = p.AppendTo(list)
	}
	listAt, statusAt := m.put(t, list), m.put(t, []uint64{0})
	m.run(t, UnpackPages(listAt, int64(len(pages)), statusAt))
	if c != nil {
		words := rows*int(c.Width)/8 + 5
		columnAt := m.put(t, make([]uint64, words))
		with := *c
		with.Column = columnAt + 16
		m.run(t, DecodePages(listAt, int64(len(pages)), most, with, statusAt))
		m.run(t, DecodeDeltas(listAt, int64(len(pages)), with, statusAt))
		column = raw(m.get(t, columnAt, words))
	}
	for i, p := range pages {
		m.get(t, at[i], 0)
		texts = append(texts, nil)
		if p.Packed {
			out := raw(m.get(t, to[i], int(PageRoom(p.Unpacked)/8)+4))
			texts[i] = out[16:][:p.Unpacked]
			if slices.Max(out[:16]) > 0 || slices.Max(out[16+p.Unpacked:]) > 0 {
				t.Errorf("page %d has bytes outside of its room", i)
			}
		}
		if c != nil {
			m.get(t, dictionaries[i], 0)
		}
	}
	m.get(t, listAt, 0)
	return texts, column, m.get(t, statusAt, 1)[0]
}

func wordsOf(b []byte) []uint64 {
	words := make([]uint64, (len(b)+7)/8+1)
	copy(raw(words), b)
	return words
}

// packedPage is a page with a text that is decompressed to size bytes.
func packedPage(text []byte, size, at int) page {
	return page{Page: Page{Unpacked: int64(size), Packed: true}, text: text, at: at}
}

// checkUnpackPages decompresses texts of about n bytes, and fewer.
func checkUnpackPages(t *testing.T, m machine, n int) {
	r := rand.New(rand.NewPCG(uint64(n), 2))
	var pages []page
	var want [][]byte
	for i := range 24 {
		text, out := elements(r, n, []float64{0.02, 0.2, 0.5, 0.9}[i%4])
		pages, want = append(pages, packedPage(text, len(out), i%16)), append(want, out)
		if got := unsnap(text, len(out)); !bytes.Equal(got, out) {
			t.Fatalf("the reference differs from text %d", i)
		}
	}
	for i, out := range plainTexts(r, n) {
		pages = append(pages, packedPage(snappy.Encode(nil, out), len(out), i%16))
		want = append(want, out)
	}
	got, _, status := unpackPages(t, m, pages, 0, nil)
	for i := range pages {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("page %d: %s", i, firstDifference(got[i], want[i]))
		}
	}
	if status != 0 {
		t.Errorf("the status is %d", status)
	}
}

func firstDifference(got, want []byte) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("byte %d of %d is %#x, want %#x", i, len(want), got[i], want[i])
		}
	}
	return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
}

// plainTexts are texts of n bytes with more and less to compress.
func plainTexts(r *rand.Rand, n int) (out [][]byte) {
	for _, values := range []int{1, 2, 3, 20, 256} {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(r.IntN(values))
		}
		out = append(out, text)
	}
	for _, period := range []int{2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 1000} {
		text := make([]byte, n)
		for i := range text {
			if text[i] = byte(r.Uint32()); i >= period && r.IntN(100) > 0 {
				text[i] = text[i-period]
			}
		}
		out = append(out, text)
	}
	var prices []byte
	for len(prices) < n {
		prices = binary.LittleEndian.AppendUint64(prices, uint64(90000+r.IntN(10_000_000)))
	}
	return append(out, prices[:n])
}

func TestUnpackPages(t *testing.T) {
	for _, order := range blockOrders {
		m := emulator(t, order.value)
		for _, n := range []int{0, 1, 2, 31, 32, 33, 60, 61, 64, 65, 66, 255, 257, 1000, 3000} {
			if checkUnpackPages(t, m, n); t.Failed() {
				t.Fatalf("with %d, %s", n, order.name)
			}
		}
	}
	if !testing.Short() {
		checkUnpackPages(t, emulator(t, 12345), 70000)
	}
}

// columnTest is a column of pages and what they are decoded to.
type columnTest struct {
	PageColumn
	pages []page
	rows  int
	want  []byte
	// bounded says that the bounds of PLAIN values are chosen.
	bounded bool
}

// newColumnTest is a column of random width and kind without pages.
func newColumnTest(r *rand.Rand) *columnTest {
	c := &columnTest{PageColumn: PageColumn{Width: 1 << r.IntN(4), Bytes: 4 + 4*r.Int64N(2)}}
	if r.IntN(4) == 0 {
		c.Kind, c.Width, c.Span = PageFloats+PageKind(r.IntN(2)), 8, ^uint64(0)
	}
	return c
}

// randomColumn has pages of about rows rows each.
func randomColumn(r *rand.Rand, rows int) *columnTest {
	c := newColumnTest(r)
	for range 1 + r.IntN(3) {
		n := rows
		if n > 3 {
			n += r.IntN(5) - 2
		}
		p := c.page(r, n)
		p.Row = int64(c.rows)
		if r.IntN(2) == 0 {
			p.Packed, p.Unpacked = true, int64(len(p.text))
			p.text = snappy.Encode(nil, p.text)
		}
		c.rows += n
		c.pages = append(c.pages, p)
	}
	return c
}

// page is a page of n rows that is not packed.
func (c *columnTest) page(r *rand.Rand, n int) page {
	p := page{at: r.IntN(16)}
	p.Rows = int64(n)
	if p.Coded = r.IntN(3) > 0; p.Coded {
		c.code(r, &p, n)
	} else {
		c.plain(r, &p, n)
	}
	if p.Levels = r.IntN(2) == 0; p.Levels {
		levels := hybridOf(r, slices.Repeat([]uint32{1}, n), 1)
		if r.IntN(2) == 0 {
			levels = append(binary.AppendUvarint(nil, uint64(n)<<1), 1)
		}
		size := binary.LittleEndian.AppendUint32(nil, uint32(len(levels)))
		p.text = slices.Concat(size, levels, p.text)
	}
	if r.IntN(2) == 0 && !p.Split {
		p.text = append(p.text, make([]byte, r.IntN(5))...)
	}
	return p
}

// plain makes values that are PLAIN, or in one of the encodings that are made
// of PLAIN values. Bounds are those of all, and are exact.
func (c *columnTest) plain(r *rand.Rand, p *page, n int) {
	if c.Kind != PageNumbers {
		for range n {
			value, entry := c.float(r)
			p.text = append(p.text, value...)
			c.want = binary.LittleEndian.AppendUint64(c.want, entry)
		}
	} else {
		c.numbers(r, p, n)
	}
	switch kind := r.IntN(3); {
	case kind == 0:
		p.Split, p.text = true, splitOf(p.text, int(c.Bytes))
	case kind == 1 && c.Kind == PageNumbers:
		var values []int64
		for at := 0; at < len(p.text); at += int(c.Bytes) {
			values = append(values, c.value(p.text[at:]))
		}
		p.Delta, p.text = true, deltasOf(r, values)
	}
}

// value is a PLAIN number at the beginning of a text.
func (c *columnTest) value(text []byte) int64 {
	if c.Bytes == 4 {
		return int64(int32(binary.LittleEndian.Uint32(text)))
	}
	return int64(binary.LittleEndian.Uint64(text))
}

// float is a PLAIN float, often an unusual one, and its entry.
func (c *columnTest) float(r *rand.Rand) (value []byte, entry uint64) {
	f := r.NormFloat64() * math.Pow(2, float64(r.IntN(40)-20))
	if r.IntN(4) == 0 {
		f = []float64{math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1), math.NaN(), 1e-310, 1e-44,
			1e300, -math.MaxFloat64}[r.IntN(9)]
	}
	word := math.Float64bits(f)
	if r.IntN(8) == 0 {
		word = r.Uint64()>>1&1<<63 | 0x7ff<<52 | r.Uint64()>>12 // NaNs of all kinds
	}
	value = binary.LittleEndian.AppendUint64(nil, word)
	if c.Bytes == 4 {
		single := math.Float32bits(float32(f))
		if r.IntN(8) == 0 {
			single = r.Uint32()
		}
		value = binary.LittleEndian.AppendUint32(nil, single)
	}
	return value, c.floatEntry(value)
}

// floatEntry is the entry of a PLAIN float.
func (c *columnTest) floatEntry(value []byte) uint64 {
	var f float64
	if c.Bytes == 4 {
		f = float64(math.Float32frombits(binary.LittleEndian.Uint32(value)))
	} else {
		f = math.Float64frombits(binary.LittleEndian.Uint64(value))
	}
	t := scalar.FloatType
	if c.Kind == PageSingles {
		t.Bits = 32
	}
	return scalar.OfFloat(t, f).Bits()
}

func (c *columnTest) numbers(r *rand.Rand, p *page, n int) {
	if !c.bounded {
		c.bounded = true
		c.Base = int64(r.Uint64()) >> (r.IntN(2) * 33)
		bits := int(8 * min(c.Width, c.Bytes))
		c.Span = r.Uint64() >> (64 - bits) >> r.IntN(bits)
		c.Least = r.Uint64() >> (64 - bits)
		c.Least = min(c.Least, ^uint64(0)>>(64-bits)-c.Span)
		if c.Bytes == 4 {
			c.Base = int64(int32(c.Base>>2)) >> 2
			c.Span, c.Least = c.Span>>2, c.Least>>2
		}
	}
	for range n {
		entry := c.Least + r.Uint64N(max(c.Span, 1))
		if c.Span == ^uint64(0) {
			entry = r.Uint64()
		} else if r.IntN(4) == 0 {
			entry = c.Least + c.Span*uint64(r.IntN(2))
		}
		value := entry + uint64(c.Base)
		if c.Bytes == 4 {
			p.text = binary.LittleEndian.AppendUint32(p.text, uint32(value))
		} else {
			p.text = binary.LittleEndian.AppendUint64(p.text, value)
		}
		c.want = AppendPageEntries(c.want, c.Width, []uint64{entry})
	}
}

// code makes places in a dictionary, some of which repeat.
func (c *columnTest) code(r *rand.Rand, p *page, n int) {
	width := r.IntN(33)
	limit := min(uint64(1)<<width, 1+r.Uint64N(1<<r.IntN(15)))
	for range limit {
		p.dictionary = append(p.dictionary, r.Uint64())
	}
	places := make([]uint32, n)
	long := 1 + r.IntN(30)
	for i := range places {
		if places[i] = uint32(r.Uint64N(limit)); i > 0 && r.IntN(long) > 0 {
			places[i] = places[i-1]
		}
		c.want = AppendPageEntries(c.want, c.Width, p.dictionary[places[i]:][:1])
	}
	p.text = []byte{byte(width)}
	if width > 0 || r.IntN(2) == 0 {
		p.text = append(p.text, hybridOf(r, places, width)...)
	}
	if got := unhybrid(p.text[1:], width, n); !slices.Equal(got, places) {
		panic("the reference differs from the runs")
	}
}

// checkDecodePages decodes random columns with pages of n rows.
func checkDecodePages(t *testing.T, m machine, n int) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(uint64(n), seed))
		c := randomColumn(r, n)
		_, got, status := unpackPages(t, m, c.pages, c.rows, &c.PageColumn)
		want := make([]byte, len(got))
		copy(want[16:], c.want)
		if status != 0 || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: status %d, %s", seed, status, firstDifference(got, want))
		}
	}
}

func TestDecodePages(t *testing.T) {
	for _, order := range blockOrders {
		m := emulator(t, order.value)
		for _, n := range []int{0, 1, 7, 8, 9, 31, 33, 127, 128, 129, 1023, 1025, 5000} {
			if checkDecodePages(t, m, n); t.Failed() {
				t.Fatalf("with %d, %s", n, order.name)
			}
		}
	}
	short.Skip(t, "no pages of several parts")
	checkDecodePages(t, emulator(t, 12345), 2*pagePart+77)
}

// TestDecodeLargerPages decodes pages with more rows than the launch is for.
func TestDecodeLargerPages(t *testing.T) {
	m := emulator(t, 12345)
	text, column := m.put(t, make([]uint64, 2*pagePart)), m.put(t, make([]uint64, 2*pagePart/8))
	into := PageColumn{Column: column, Width: 1, Bytes: 8}
	page := Page{From: text, Bytes: 16 * pagePart, To: text, Unpacked: 16 * pagePart}
	for rows, want := range map[int64]uint64{pagePart: 0, pagePart + 1: PagesDamaged} {
		page.Rows = rows
		list, status := m.put(t, page.AppendTo(nil)), m.put(t, []uint64{0})
		m.run(t, DecodePages(list, 1, 1000, into, status))
		m.get(t, list, 0)
		if got := m.get(t, status, 1)[0]; got != want {
			t.Errorf("%d rows: the status is %d, want %d", rows, got, want)
		}
	}
	for _, of := range []Page{
		{Bytes: MostPageBytes + 1, Unpacked: 1, Packed: true},
		{Bytes: 1, Unpacked: MostPageBytes + 1, Packed: true},
		{Unpacked: MostPageBytes + 1, Rows: 1},
		{Unpacked: 16 * pagePart, Rows: MostPageRows + 1},
		{Unpacked: MostPageBytes + 1, Rows: 1, Delta: true},
		{Unpacked: 16 * pagePart, Rows: MostPageRows + 1, Delta: true},
	} {
		of.From, of.To = text, text
		list, status := m.put(t, of.AppendTo(nil)), m.put(t, []uint64{0})
		m.run(t, UnpackPages(list, 1, status))
		m.run(t, DecodePages(list, 1, of.Rows, into, status))
		m.run(t, DecodeDeltas(list, 1, into, status))
		m.get(t, list, 0)
		if got := m.get(t, status, 1)[0]; got != PagesDamaged {
			t.Errorf("%+v: the status is %d", of, got)
		}
	}
}
