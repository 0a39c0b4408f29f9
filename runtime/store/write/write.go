package write

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Format is how results are written.
type Format uint8

// The output formats. Table is aligned text to look at.
const (
	Table Format = iota
	TSV
	CSV
	JSON
	Parquet
	JSONLines
	Arrow       // a file of records
	ArrowStream // the records alone
)

var outputNames = [...]string{"table", "tsv", "csv", "json", "parquet", "jsonl", "arrow", "arrows"}

// String returns the format's name as flags and file names have it.
func (f Format) String() string { return outputNames[f] }

// ParseFormat is the inverse of Format.String.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(outputNames[:], name); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("format %s is not known; there are %s", name,
		strings.Join(outputNames[:], ", "))
}

// endings are those of the names of files, beside the names of the formats.
var endings = map[string]Format{"ndjson": JSONLines, "pq": Parquet, "feather": Arrow,
	"ipc": Arrow}

// FormatOf returns the format of a file's name, or TSV if the name says none.
// Before .gz or .zst, the name says the format of a text.
func FormatOf(path string) Format {
	name := strings.ToLower(path)
	f, _ := FormatNamed(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"))
	return f
}

// FormatNamed returns the format that the ending of a file's name, in any case,
// stands for. It is TSV, and false, if the ending says none.
func FormatNamed(path string) (Format, bool) {
	end := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if f, ok := endings[end]; ok {
		return f, true
	}
	if i := slices.Index(outputNames[:], end); i > 0 {
		return Format(i), true
	}
	return TSV, false
}

// Binary reports whether what is written in the format is no text.
func (f Format) Binary() bool { return f == Parquet || f == Arrow || f == ArrowStream }

// Output is rows to be written or handed on.
type Output struct {
	Name    string
	Names   []string // of the columns, those of a wide decimal's two words being one
	Columns []*store.Column
	Rows    int
	// Order comes before the order of the tuples, which breaks its ties.
	Order []store.Order
	Limit int64 // rows at most; negative is all
	// InOrder says that the rows are in that order as they are.
	InOrder bool
	// Threads bounds those that sort; 0 means as many as there are cores.
	Threads int
	// Memory is where they take memory from; nil is Go's heap.
	Memory order.Allocator
}

// Of returns all tuples of a relation in their order.
func Of(r *store.Relation) *Output {
	var names []string
	for i, name := range r.Names() {
		if r.Column(i).Type.Word != scalar.Low {
			names = append(names, name)
		}
	}
	return &Output{Name: r.Name, Names: names, Columns: r.Columns(), Rows: r.Rows(), Limit: -1}
}

// limited returns how many rows are written.
func (o *Output) limited() int64 {
	if o.Limit >= 0 {
		return min(o.Limit, int64(o.Rows))
	}
	return int64(o.Rows)
}

// Options governs how rows are written. The zero value is ready for use.
type Options struct {
	Delimiter byte // of TSV and CSV; 0 is the format's own
	Header    bool // TSV and CSV: a first record with the names of the columns
}

// Rows writes rows in order, so that equal relations are equal byte for byte.
//
// TSV has a row a line and a tab between fields. A tab, newline or carriage
// return in a string is written \t, \n or \r, and a backslash as \\ where it
// would be read as one of these. A row of no columns is an empty line.
//
// CSV is RFC 4180 with "\n" ends of lines; fields are quoted where they must
// be.
//
// JSON is one array with an object a line; JSON lines are the objects alone.
// Numbers are exact: decimals have all
// their digits and integers may exceed 2^53. Datetimes, and floats that are not
// finite, are strings.
//
// Parquet keeps the types: sized integers; decimal(18, scale) as int64, wide
// ones as decimal(38, scale); datetimes as dates when all of them are whole
// days, else as timestamps in microseconds UTC; strings. It is compressed with
// Zstandard.
//
// Arrow is a file of records as EachArrow yields them, or a stream of them.
//
// A table is aligned text with a heading and the number of rows.
func Rows(w io.Writer, out *Output, format Format, o Options) error {
	fields := out.fields()
	var to rowWriter
	switch format {
	case TSV, CSV:
		delimiter := o.Delimiter
		quotes := format == CSV || delimiter != 0 && delimiter != '\t'
		switch {
		case delimiter != 0:
		case quotes:
			delimiter = ','
		default:
			delimiter = '\t'
		}
		t := newTextWriter(w, fields, delimiter, quotes)
		if o.Header {
			t.header()
		}
		to = t
	case JSON:
		to = newJSONWriter(w, fields, true)
	case JSONLines:
		to = newJSONWriter(w, fields, false)
	case Parquet:
		to = newParquetWriter(w, fields)
	case Arrow, ArrowStream:
		return writeArrow(w, out, format == ArrowStream)
	default:
		to = newPrettyWriter(w, out.Columns, fields)
	}
	if err := out.Each(to.rows); err != nil {
		return err
	}
	return to.finish(out.limited())
}

// rowWriter writes rows in one format.
type rowWriter interface {
	// rows writes n rows, given as words of each column.
	rows(block [][]int64, n int) error
	// finish ends the output, which has the given number of rows.
	finish(rows int64) error
}

// Each calls yield with blocks of n rows in order, as words of each column,
// until it returns an error. The words are overwritten by the next block.
func (o *Output) Each(yield func(block [][]int64, n int) error) error {
	left := o.limited()
	if left == 0 {
		return nil
	}
	if len(o.Columns) == 0 {
		return yield(nil, int(left))
	}
	a, err := o.arrange()
	if err != nil {
		return err
	}
	defer a.Free()
	return a.Each(context.Background(), len(o.Columns), func(block [][]int64) error {
		return yield(block, len(block[0]))
	})
}

// arrange finds the order of the rows that are written.
func (o *Output) arrange() (*store.Arrangement, error) {
	n := int(o.limited())
	if len(o.Columns) == 0 || n == 0 {
		return store.InPlace(o.Columns, n), nil
	}
	if o.InOrder {
		return store.InPlace(o.Columns, n), nil
	}
	with := store.Sorting{Threads: o.Threads, Memory: o.Memory, What: "sorting " + o.Name}
	return store.Arrange(context.Background(), with, o.Columns, o.Order, o.Rows, n)
}

// File makes a file of what write writes, compressed when the name ends in .gz
// or .zst. It takes the place of the old one when it is whole
// (atomicfile.Write).
func File(path string, write func(io.Writer) error) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Compressed(w, path, write) })
}

// Compressed writes what write writes, compressed when the path ends in .gz or
// .zst.
func Compressed(w io.Writer, path string, write func(io.Writer) error) error {
	var z io.WriteCloser
	var err error
	switch {
	case strings.HasSuffix(path, ".gz"):
		z = gzip.NewWriter(w)
	case strings.HasSuffix(path, ".zst"):
		// More encoders would not change the output, but cost memory.
		z, err = zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	if err != nil {
		return err
	}
	if z == nil {
		return write(w)
	}
	err = write(z)
	if closeErr := z.Close(); err == nil {
		err = closeErr
	}
	return err
}
