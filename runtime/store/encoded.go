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

// Encoded reads the entries of a column from undecoded pages of a file. A GPU
// gets the pages and decodes them itself. The host decodes the whole column
// before anything reads its entries (Column.Decode).
//
// Its methods may be called by several goroutines at the same time.
type Encoded interface {
	// Values describes the values in the pages.
	Values() EncodedValues
	// Chunks lists the column chunks in row order. Together they have all rows
	// of the column.
	Chunks() []EncodedChunk
	// Read reads chunk i into dst, which has the chunk's Bytes, and lists its
	// pages. It decompresses pages that are compressed with anything but
	// Snappy. It reuses the memory of pages.Pages.
	Read(ctx context.Context, i int, dst []byte, pages *EncodedPages) error
	// Decode sets dst to the entries of the column, in little-endian byte order
	// and of the column's Width each. It uses at most the given number of
	// threads.
	Decode(ctx context.Context, threads int, dst []byte) error
}

// EncodedValues describes the values of a column's pages.
type EncodedValues struct {
	// Bytes is the size of a PLAIN value, 4 or 8. The value is a signed number,
	// and its entry is the value less Base. Pages of strings have no PLAIN
	// values.
	Bytes int
	Base  int64
	// Float means that the values are floats. The entry of one is the bits of
	// the canonical double, as scalar.OfFloat makes it; if Single is set, the
	// value is rounded to 32 bits before.
	Float, Single bool
	// Least and Span bound the entries, from Least to Least plus Span. A page
	// with another entry contradicts the statistics of its file.
	Least, Span uint64
}

// EncodedChunk is what is known of a column chunk before it is read.
type EncodedChunk struct {
	Row, Rows int // in the column
	Bytes     int // that Read fills
	// Unpacked is an upper bound of the decompressed size of the pages that
	// Read leaves compressed.
	Unpacked int
}

// EncodedPages is the contents of a column chunk.
type EncodedPages struct {
	Pages []EncodedPage // in the order of their rows, without the dictionary
	// DictionaryPage has the PLAIN values of the chunk's dictionary. Its row i
	// is the value of code i. It has no rows if Dictionary has entries.
	DictionaryPage EncodedPage
	// Dictionary has the entry of the column for each code, if the dictionary
	// is not a page of PLAIN values.
	Dictionary []uint64
}

// EncodedPage is a data page of a column without missing values.
type EncodedPage struct {
	Row, Rows int // in the column
	// From and Until are where the values of the page, compressed or not, begin
	// and end in the bytes of the chunk.
	From, Until int
	// Unpacked is the size of the decompressed values. Packed means that they
	// are compressed with Snappy.
	Unpacked int
	Packed   bool
	// Levels means that the decompressed values come after definition levels,
	// and these after their size in 4 bytes.
	Levels bool
	// Coded means that the values are dictionary codes in the encoding
	// RLE_DICTIONARY: a byte with the bit width, then runs.
	Coded bool
	// Delta means that the values are in DELTA_BINARY_PACKED, and Split that
	// they are in BYTE_STREAM_SPLIT. Without any of the three, they are PLAIN.
	Delta, Split bool
}

// DecodeError means that the pages of a column could not be decoded. Methods
// that read the entries of such a column panic with it.
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
	done atomic.Bool // the column's slice has the entries
}

// NewEncoded returns a column of n words between lo and hi whose entries are
// undecoded pages. A word is base, which EncodedBase chooses, plus step times
// the entry.
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

// NewEncodedStrings returns a column of n strings whose entries are undecoded
// pages. The entries are codes of dict, which is sorted.
func NewEncodedStrings(dict *Dict, n int, encoded Encoded) *Column {
	most := int64(dict.Len() - 1)
	return &Column{Type: scalar.StringType, Dict: dict, Step: 1, Width: WidthOf(uint64(most)), n: n,
		Stats:   ColumnStats{Max: most, Distinct: min(most+1, int64(n))},
		Encoded: encoded, decoding: &decoding{}}
}

// EncodedBase returns the base of a column of words between lo and hi, which
// are multiples of step.
func EncodedBase(lo, hi, step int64) int64 {
	// A base of zero is cheaper to work with. It is used if it does not make
	// entries wider.
	if lo >= 0 && WidthOf(uint64(hi/step)) == WidthOf((uint64(hi)-uint64(lo))/uint64(step)) {
		return 0
	}
	return lo
}

// IsDecoded reports whether the entries of the column are in host memory.
func (c *Column) IsDecoded() bool { return c.decoding == nil || c.decoding.done.Load() }

// Decode decodes the entries of a column with Encoded set into host memory,
// unless that is done already. The ledger reserves their memory under the name
// what. The error is a *DecodeError or the ledger's.
func (c *Column) Decode(ctx context.Context, threads int, ledger *Ledger, what string) error {
	if c.IsDecoded() {
		return nil
	}
	c.decoding.mu.Lock()
	defer c.decoding.mu.Unlock()
	if c.decoding.done.Load() {
		return nil
	}
	// Other goroutines may look at c before it is complete.
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

// RowReader is an Encoded that can read a few rows without decoding the column.
// The rows ascend.
type RowReader interface {
	Words(ctx context.Context, threads int, rows []uint32) ([]int64, error)
}

// ReadRows returns the words of rows, which ascend. If Encoded is a RowReader,
// the column is not decoded.
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

// onHost decodes a column before its entries are read. It panics with a
// *DecodeError if that fails; engines avoid the panic by calling Decode first.
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

// factColumn stands in errors for a column whose name is not known.
const factColumn = "a column of facts"

// Decode decodes all columns of the database that have Encoded set, on at most
// the given number of threads; 0 means GOMAXPROCS. Engines that read entries
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

// EncodedBytes returns how much memory the entries of the undecoded columns
// would take.
func (db *Database) EncodedBytes() (n int64) {
	for _, c := range db.encoded() {
		n += c.Bytes()
	}
	return n
}
