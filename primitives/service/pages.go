package service

import "encoding/binary"

// A column of a Parquet file is decoded from its pages, as they are in the
// file, by UnpackPages and then DecodePages and DecodeDeltas. All take
// descriptions of pages in memory, as Page.AppendTo makes them, and none trusts
// what pages hold.

// Page describes a page of a column without missing values. Addresses of bytes
// need no alignment. Memory is read by aligned words of 4 bytes that have a
// byte of a page.
type Page struct {
	// From is where the page's values are, as in the file: Bytes of them,
	// definition levels included.
	From, Bytes int64
	// To is where decompressed values are to be, Unpacked bytes of them in
	// memory of PageRoom. It is From, and Unpacked is Bytes, of a page that is
	// not Packed.
	To, Unpacked int64
	// Row is the first row of the page in the column, Rows the number of them.
	Row, Rows int64
	// Dictionary is where the entries of the dictionary are, as
	// AppendPageEntries makes them, and Entries the number of them, below
	// 1<<32. It is aligned to 8 bytes. Both are 0 if no page of the column is
	// Coded.
	Dictionary, Entries int64
	// Packed says that the page is compressed with Snappy.
	Packed bool
	// Levels says that the values, once decompressed, follow definition levels,
	// with their size in 4 bytes before them. All of them have to be 1.
	Levels bool
	// Coded says that the values are places in the dictionary: a byte with the
	// number of their bits, then runs, as RLE_DICTIONARY has them.
	Coded bool
	// Delta says that the values are in DELTA_BINARY_PACKED, and Split that
	// they are in BYTE_STREAM_SPLIT. Without any of the three, they are PLAIN.
	Delta, Split bool
}

// PageWords is the length of a Page in memory.
const PageWords = 8

// AppendTo appends what UnpackPages, DecodePages and DecodeDeltas want to find
// of the page.
func (p Page) AppendTo(words []uint64) []uint64 {
	flags := flag(p.Packed) | flag(p.Levels)<<1 | flag(p.Coded)<<2 | flag(p.Delta)<<3 |
		flag(p.Split)<<4
	return append(words, uint64(p.From), uint64(p.Bytes), uint64(p.To), uint64(p.Unpacked),
		uint64(p.Row), uint64(p.Rows), uint64(p.Dictionary), uint64(p.Entries|flags<<32))
}

// Pages with more than MostPageBytes bytes, decompressed or not, or more than
// MostPageRows rows count as damaged.
const (
	MostPageBytes = 1 << 30
	MostPageRows  = 1 << 26
)

// PageRoom returns the bytes of memory for a page's decompressed values: as
// many as follow each other without that pages share an access of 16 bytes.
func PageRoom(unpacked int64) int64 { return (unpacked + 15) / 16 * 16 }

// AppendPageEntries appends entries of a dictionary to bytes, as the pages of a
// column of the width want them: with width bytes each, in little-endian byte
// order. They are not compared with the column's bounds.
func AppendPageEntries(bytes []byte, width int64, entries []uint64) []byte {
	for _, e := range entries {
		switch width {
		case 1:
			bytes = append(bytes, byte(e))
		case 2:
			bytes = binary.LittleEndian.AppendUint16(bytes, uint16(e))
		case 4:
			bytes = binary.LittleEndian.AppendUint32(bytes, uint32(e))
		default:
			bytes = binary.LittleEndian.AppendUint64(bytes, e)
		}
	}
	return bytes
}

// PageColumn is a column that pages are decoded into.
type PageColumn struct {
	// Column is the address of entries of Width bytes: 1, 2, 4 or 8.
	Column, Width int64
	// Bytes is the size of a PLAIN value, 4 or 8. The entry of one is the
	// value, a signed number, less Base. It has to be at least Least, and at
	// most Span more than that, as unsigned numbers.
	Bytes, Base int64
	Least, Span uint64
	// Kind says what values are. Entries of floats are the bits of doubles,
	// which the bounds allow: the Width is 8, and Base is not used.
	Kind PageKind
}

// PageKind is what the values of a column are.
type PageKind int64

// Floats are FLOAT or DOUBLE, by their size. Their entries are canonical: there
// is one NaN, which is that of math.NaN, and no negative zero.
const (
	PageNumbers PageKind = iota // signed
	PageFloats
	PageSingles // floats, rounded to 32 bits
)

// The kernels add these to the word at status, by a bitwise or. Where it stays
// 0, all is as the file says.
const (
	PagesDamaged = 1 // a page is not as it has to be
	PagesOutside = 2 // a value is out of the column's bounds
)

// pagePart is how many rows of a page a block decodes at most.
const pagePart = 1 << 15

var (
	unpackPagesKernel = Kernel{
		Name: "rf_pages_unpack", Params: []string{"pages", "n", "status"},
		Does: "decompresses pages that are packed with Snappy",
		Tile: threads / 32,
		Cost: "about 300 instructions of a warp for 32 bytes of a text with short elements",
	}
	decodePagesKernel = Kernel{
		Name: "rf_pages_decode",
		Params: []string{"pages", "n", "parts", "column", "width", "bytes", "kind", "base", "least",
			"span", "status"},
		Does: "decodes values of pages into entries of a column",
		Tile: 1,
		Cost: "one read of a page and one write of its entries",
	}
	decodeDeltasKernel = Kernel{
		Name: "rf_pages_deltas",
		Params: []string{"pages", "n", "column", "width", "bytes", "base", "least", "span",
			"status"},
		Does: "decodes pages of differences into entries of a column",
		Tile: 1,
		Cost: "one read of a page and one write of its entries; 10 shuffles a value",
	}
)

// pagesKernels are the kernels of Pages, in the order of its PTX.
var pagesKernels = []*Kernel{&unpackPagesKernel, &decodePagesKernel, &decodeDeltasKernel}

// UnpackPages decompresses the packed ones of n pages. It uses nothing of them
// but From, Bytes, To, Unpacked and Packed.
func UnpackPages(pages, n, status int64) Launch {
	return over(&unpackPagesKernel, n, pages, n, status)
}

// DecodePages decodes n pages of a column, once they are decompressed, but for
// those that are Delta. A page with more than most rows counts as damaged if a
// part of it may be left out. If the status is set, the rows of the pages hold
// anything.
func DecodePages(pages, n, most int64, c PageColumn, status int64) Launch {
	parts := blocksFor(most, pagePart)
	return over(&decodePagesKernel, n*parts, pages, n, parts, c.Column, c.Width, c.Bytes,
		int64(c.Kind), c.Base, int64(c.Least), int64(c.Span), status)
}

// DecodeDeltas decodes those of n pages of a column of numbers that are Delta.
// A block decodes a page.
func DecodeDeltas(pages, n int64, c PageColumn, status int64) Launch {
	return over(&decodeDeltasKernel, n, pages, n, c.Column, c.Width, c.Bytes, c.Base,
		int64(c.Least), int64(c.Span), status)
}
