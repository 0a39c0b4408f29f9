package store

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
)

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
	// Bytes is the size of a PLAIN value, 4 or 8. The entry of one is the
	// value, a signed number, less Base. Pages of strings have no PLAIN values.
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
	// Unpacked is how many bytes the pages have at most, once they are
	// decompressed.
	Unpacked int
}

// EncodedPages is what a reader finds in a column chunk.
type EncodedPages struct {
	Pages []EncodedPage // in the order of their rows, without the dictionary
	// DictionaryPage has the values of the chunk's dictionary, which are PLAIN;
	// its rows are the places. It has no rows if Dictionary has entries.
	DictionaryPage EncodedPage
	// Dictionary holds the entries of the column for the places, if they are
	// not PLAIN values of a page.
	Dictionary []uint64
}

// EncodedPage is a data page of a column without missing values.
type EncodedPage struct {
	Row, Rows int // in the column
	// From and Until bound the page's values, or what they are compressed to,
	// in the bytes of the chunk.
	From, Until int
	// Unpacked is the size of the decompressed values. Packed says that they
	// are compressed with Snappy.
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

// DecodeError is why the pages of a column could not be decoded. Methods that
// read the entries of such a column panic with it.
type DecodeError struct {
	What string // the column
	Err  error
}

// Error names the column and the reason.
func (e *DecodeError) Error() string { return fmt.Sprintf("decoding %s: %v", e.What, e.Err) }

// Unwrap returns the reason.
func (e *DecodeError) Unwrap() error { return e.Err }

// decoding is the state of a column with Encoded set.
type decoding struct {
	mu   sync.Mutex
	done atomic.Bool // the slice of the width has the entries
}

// NewEncoded returns a column of n words between lo and hi whose entries are
// pages: base plus step times the entry, as EncodedBase has chosen base.
func NewEncoded(t scalar.Type, n int, base, step, lo, hi int64, encoded Encoded) *Column {
	v := encoded.Values()
	c := &Column{Type: t, Base: base, Step: step, Width: WidthOf(v.Least + v.Span), n: n,
		Stats: ColumnStats{Min: lo, Max: hi, Distinct: int64(n)}, Encoded: encoded,
		decoding: &decoding{}}
	if v.Span < uint64(n) {
		c.Stats.Distinct = int64(v.Span) + 1
	}
	return c
}

// NewEncodedStrings returns a column of n strings whose entries, the codes of a
// sorted dictionary, are pages.
func NewEncodedStrings(dict *Dict, n int, encoded Encoded) *Column {
	most := int64(dict.Len() - 1)
	return &Column{Type: scalar.StringType, Dict: dict, Step: 1, Width: WidthOf(uint64(most)), n: n,
		Stats:   ColumnStats{Max: most, Distinct: min(most+1, int64(n))},
		Encoded: encoded, decoding: &decoding{}}
}

// EncodedBase returns the base of a column of words between lo and hi, which
// are multiples of step.
func EncodedBase(lo, hi, step int64) int64 {
	// A base of zero is cheaper to work with; it is taken where it costs
	// nothing.
	if lo >= 0 && WidthOf(uint64(hi/step)) == WidthOf((uint64(hi)-uint64(lo))/uint64(step)) {
		return 0
	}
	return lo
}

// IsDecoded reports whether the host has the entries of the column.
func (c *Column) IsDecoded() bool { return c.decoding == nil || c.decoding.done.Load() }

// Decode gives the host the entries of a column with Encoded set, once. The
// ledger reserves their memory under the name what. The error is a *DecodeError
// or the ledger's.
func (c *Column) Decode(ctx context.Context, threads int, ledger *Ledger, what string) error {
	if c.IsDecoded() {
		return nil
	}
	c.decoding.mu.Lock()
	defer c.decoding.mu.Unlock()
	if c.decoding.done.Load() {
		return nil
	}
	// Others may look at the column before it is complete.
	room := &Column{Width: c.Width, n: c.n}
	if err := room.MakeRoom(ledger, what); err != nil {
		return err
	}
	if err := c.Encoded.Decode(ctx, threads, room.Entries()); err != nil {
		if !room.OnDisk {
			ledger.Give(room.Bytes())
		}
		return &DecodeError{what, err}
	}
	c.U8, c.U16, c.U32, c.U64 = room.U8, room.U16, room.U32, room.U64
	if room.OnDisk {
		c.owner, c.OnDisk = room.owner, true
	}
	c.decoding.done.Store(true)
	return nil
}

// RowReader is an Encoded that reads few rows, which ascend, without decoding
// all.
type RowReader interface {
	Words(ctx context.Context, threads int, rows []uint32) ([]int64, error)
}

// ReadRows returns the words of rows that ascend. It does not decode the column
// if its pages can be read one by one.
func (c *Column) ReadRows(rows []uint32) ([]int64, error) {
	threads := goruntime.GOMAXPROCS(0)
	if r, ok := c.Encoded.(RowReader); ok && !c.IsDecoded() {
		return r.Words(context.Background(), threads, rows)
	}
	if err := c.Decode(context.Background(), threads, nil, factColumn); err != nil {
		return nil, err
	}
	words := make([]int64, len(rows))
	c.Gather(words, rows)
	return words, nil
}

// onHost decodes a column whose entries are about to be read. It panics with a
// *DecodeError if that fails: engines call Decode before.
func (c *Column) onHost() {
	if c.decoding != nil && !c.decoding.done.Load() {
		c.mustDecode()
	}
}

func (c *Column) mustDecode() {
	err := c.Decode(context.Background(), goruntime.GOMAXPROCS(0), nil, factColumn)
	if err != nil {
		panic(err)
	}
}

// factColumn is what errors call a column whose name is not at hand.
const factColumn = "a column of facts"

// Decode decodes the columns of the database that have Encoded set, on up to
// the given number of threads; 0 is GOMAXPROCS. Engines that read entries
// themselves call it first.
func (db *Database) Decode(ctx context.Context, threads int) error {
	if db == nil {
		return nil
	}
	threads = parallel.Threads(threads)
	for _, c := range db.encoded() {
		if err := c.Decode(ctx, threads, nil, factColumn); err != nil {
			return err
		}
	}
	return nil
}

// encoded returns the columns that are not decoded.
func (db *Database) encoded() (columns []*Column) {
	for _, r := range db.Relations() {
		for _, c := range r.Table.Columns {
			if !c.IsDecoded() && !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// EncodedBytes returns the size that the entries of columns would have in
// memory which are not decoded.
func (db *Database) EncodedBytes() (n int64) {
	for _, c := range db.encoded() {
		n += c.Bytes()
	}
	return n
}
