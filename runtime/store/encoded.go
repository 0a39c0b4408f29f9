package store

import "context"

// Encoded is the entries of a column as pages of its file, which nobody has
// decoded. A GPU reads the pages and decodes them itself. On the host the
// column is decoded before anything reads its entries (Column.Decode).
//
// Its methods may be called by several goroutines at the same time.
type Encoded interface {
	// Values says what the pages hold.
	Values() EncodedValues
	// Chunks lists the column chunks, in the order of their rows, which are all
	// rows of the column.
	Chunks() []EncodedChunk
	// Read reads chunk i into dst, which has the chunk's Bytes, and lists its
	// pages. It uses what pages has room for.
	Read(ctx context.Context, i int, dst []byte, pages *EncodedPages) error
	// Decode sets dst to the entries of the column, of its Width each, in
	// little-endian byte order. It uses up to the given number of threads.
	Decode(ctx context.Context, threads int, dst []byte) error
}

// EncodedValues describes the values of a column's pages.
type EncodedValues struct {
	// Bytes is the size of a PLAIN value, 4 or 8. The entry of one is the value,
	// a signed number, less Base.
	Bytes int
	Base  int64
	// Least and Span bound the entries, from Least to Least plus Span. A page
	// with another entry contradicts the statistics of its file.
	Least, Span uint64
}

// EncodedChunk is what is known of a column chunk before it is read.
type EncodedChunk struct {
	Row, Rows int // in the column
	Bytes     int // of the file
	Unpacked  int // bytes of the chunk's pages once they are decompressed, at most
}

// EncodedPages is what a reader finds in a column chunk.
type EncodedPages struct {
	Pages []EncodedPage // in the order of their rows, without the dictionary
	// Dictionary holds the entries of the column for the places in the chunk's
	// dictionary.
	Dictionary []uint64
}

// EncodedPage is a data page of a column without missing values.
type EncodedPage struct {
	Row, Rows int // in the column
	// From and Until bound the page's values, or what they are compressed to, in
	// the bytes of the chunk.
	From, Until int
	// Unpacked is the size of the decompressed values. Packed says that they are
	// compressed with Snappy.
	Unpacked int
	Packed   bool
	// Levels says that the values, once decompressed, follow definition levels,
	// with their size in 4 bytes before them.
	Levels bool
	// Coded says that the values are places in the dictionary: a byte with the
	// number of their bits, then runs, as RLE_DICTIONARY has them. Others are
	// PLAIN.
	Coded bool
}
