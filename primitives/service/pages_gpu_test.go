package service

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/klauspost/compress/snappy"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// TestCardPages compares what the kernels make of pages on a card with plain
// Go.
func TestCardPages(t *testing.T) {
	c := openCard(t)
	for _, n := range []int{0, 1, 33, 1000, 70000, 300000} {
		if checkUnpackPages(t, c, n); t.Failed() {
			t.Fatalf("decompressed, with %d", n)
		}
		if checkDecodePages(t, c, n); t.Failed() {
			t.Fatalf("decoded, with %d", n)
		}
	}
}

// benchRows is the number of rows of a page of a benchmark.
const benchRows = 20000

// numbersOf is a PLAIN page of 8-byte numbers.
func numbersOf(next func(row int) uint64) (text []byte) {
	for row := range benchRows {
		text = binary.LittleEndian.AppendUint64(text, next(row))
	}
	return text
}

// placesOf is a page of places of width bits in runs as writers make them: of
// 504 places, or those that follow each other in as many rows as repeated says.
func placesOf(r *rand.Rand, places uint32, width, repeated int) []byte {
	text := []byte{byte(width)}
	for row := 0; row < benchRows; {
		place := r.Uint32N(places)
		if repeated > 1 {
			n := min(8+r.IntN(repeated), benchRows-row)
			text = binary.AppendUvarint(text, uint64(n)<<1)
			for i := range (width + 7) / 8 {
				text = append(text, byte(place>>(8*i)))
			}
			row += n
			continue
		}
		groups := min(63, (benchRows-row+7)/8)
		text = binary.AppendUvarint(text, uint64(groups)<<1|1)
		var bits uint64
		have := 0
		for range 8 * groups {
			bits |= uint64(r.Uint32N(places)) << have
			for have += width; have >= 8; have -= 8 {
				text, bits = append(text, byte(bits)), bits>>8
			}
		}
		row += 8 * groups
	}
	return text
}

// benchPages puts n pages into the card's memory, copies of some texts, and
// returns the list of them and how many bytes they have once decompressed.
func (c *card) benchPages(b *testing.B, n int, of Page, entries int, texts ...[]byte) (list,
	bytes int64) {
	var words []uint64
	var from, to int64
	for i := range n {
		text := texts[i%len(texts)]
		of.Unpacked = int64(len(text))
		if of.Packed {
			text = snappy.Encode(nil, text)
		}
		if i == 0 {
			room := int64(len(text)+len(text)/8+16) * int64(n)
			from = c.area(b, room/8)
			to = from
			if of.Packed {
				to = c.area(b, (PageRoom(of.Unpacked)+of.Unpacked/8)*int64(n)/8)
			}
			of.Dictionary = c.area(b, int64(entries)+1)
		}
		of.From, of.To, of.Bytes = from, to, int64(len(text))
		of.Row, of.Rows, of.Entries = int64(i)*benchRows, benchRows, int64(entries)
		ok(b, c.ctx.CopyToDevice(cuda.Pointer(from), text))
		words = of.AppendTo(words)
		bytes += of.Unpacked
		from += of.Bytes
		if to += PageRoom(of.Unpacked); !of.Packed {
			to = from
		}
	}
	list = c.area(b, int64(len(words)))
	ok(b, c.ctx.CopyToDevice(cuda.Pointer(list), raw(words)))
	ok(b, c.ctx.Synchronize())
	return list, bytes
}

// right wants a status of 0.
func (c *card) right(b *testing.B, status int64) {
	var word uint64
	ok(b, c.ctx.CopyToHost(unsafe.Slice((*byte)(unsafe.Pointer(&word)), 8), cuda.Pointer(status)))
	if word != 0 {
		b.Fatalf("the status is %d", word)
	}
}

// BenchmarkCardPages measures the kernels on pages as those of TPC-H: prices
// and keys are PLAIN numbers of 8 bytes, places are of columns with few values.
// Bytes are decompressed ones; values are of columns of the width.
func BenchmarkCardPages(b *testing.B) {
	c := openCard(b)
	r := rand.New(rand.NewPCG(1, 5))
	var prices, keys, places, runs [][]byte
	order := uint64(1)
	for range 16 {
		prices = append(prices, numbersOf(func(int) uint64 {
			part := r.Uint64N(200000)
			return (1 + r.Uint64N(50)) * (90000 + part/10%20001 + 100*(part%1000))
		}))
		left := 0
		keys = append(keys, numbersOf(func(int) uint64 {
			if left--; left < 0 {
				order, left = order+1+25*(r.Uint64N(8)/7), r.IntN(7)
			}
			return order
		}))
		places = append(places, placesOf(r, 50, 6, 1))
		runs = append(runs, placesOf(r, 50, 6, 40))
	}
	status := c.put(b, []uint64{0})
	for _, of := range []struct {
		name  string
		texts [][]byte
	}{{"prices", prices}, {"keys", keys}, {"places", places}, {"runs", runs}} {
		for _, n := range []int{200, 1000, 4000, 16000} {
			b.Run("unpack-"+of.name, func(b *testing.B) {
				list, bytes := c.benchPages(b, n, Page{Packed: true}, 0, of.texts...)
				c.measure(b, fmt.Sprint(n), float64(bytes), "B", nil,
					UnpackPages(list, int64(n), status))
				c.right(b, status)
			})
		}
	}
	column := c.area(b, 16000*benchRows)
	for _, of := range []struct {
		name         string
		width, bytes int64
		entries      int
		texts        [][]byte
	}{
		{"11-of-1", 1, 8, 11, [][]byte{placesOf(r, 11, 4, 1)}},
		{"50-of-1", 1, 8, 50, places},
		{"50-of-8", 8, 8, 50, places},
		{"50-of-1-in-runs", 1, 8, 50, runs},
		{"2526-of-2", 2, 8, 2526, [][]byte{placesOf(r, 2526, 12, 1)}},
		{"100000-of-4", 4, 8, 100000, [][]byte{placesOf(r, 100000, 17, 1)}},
		{"plain-8-to-4", 4, 8, 0, prices},
		{"plain-8-to-8", 8, 8, 0, prices},
		{"plain-4-to-4", 4, 4, 0, prices},
	} {
		page := Page{Coded: of.entries > 0}
		into := PageColumn{Column: column, Width: of.width, Bytes: of.bytes, Span: ^uint64(0)}
		for _, n := range []int{200, 16000} {
			b.Run("decode-"+of.name, func(b *testing.B) {
				list, _ := c.benchPages(b, n, page, of.entries, of.texts...)
				c.measure(b, fmt.Sprint(n), float64(n*benchRows), "values", nil,
					DecodePages(list, int64(n), benchRows, into, status))
				c.right(b, status)
			})
		}
	}
	var doubles, split, differences [][]byte
	for i := range prices {
		numbers := make([]int64, benchRows)
		for row := range numbers {
			numbers[row] = int64(binary.LittleEndian.Uint64(prices[i][8*row:]))
		}
		doubles = append(doubles, numbersOf(func(row int) uint64 {
			return math.Float64bits(float64(numbers[row]) / 100)
		}))
		split = append(split, splitOf(doubles[i], 8))
		differences = append(differences, deltasIn(nil, numbers, 8, 256)) // as DuckDB writes them
	}
	floats := PageColumn{Column: column, Width: 8, Bytes: 8, Span: ^uint64(0), Kind: PageFloats}
	for _, of := range []struct {
		name   string
		page   Page
		texts  [][]byte
		decode func(list, n int64) Launch
	}{
		{"double-to-8", Page{}, doubles, func(list, n int64) Launch {
			return DecodePages(list, n, benchRows, floats, status)
		}},
		{"split-double-to-8", Page{Split: true}, split, func(list, n int64) Launch {
			return DecodePages(list, n, benchRows, floats, status)
		}},
		{"differences-to-4", Page{Delta: true}, differences, func(list, n int64) Launch {
			return DecodeDeltas(list, n, PageColumn{Column: column, Width: 4, Bytes: 8,
				Span: ^uint64(0)}, status)
		}},
	} {
		for _, n := range []int{200, 16000} {
			b.Run("decode-"+of.name, func(b *testing.B) {
				list, _ := c.benchPages(b, n, of.page, 0, of.texts...)
				c.measure(b, fmt.Sprint(n), float64(n*benchRows), "values", nil,
					of.decode(list, int64(n)))
				c.right(b, status)
			})
		}
	}
}
