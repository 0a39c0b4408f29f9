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

// Format is a format of results.
type Format uint8

// The output formats. Table is aligned text for people.
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

// String returns the format's name in flags and file names.
func (f Format) String() string { return outputNames[f] }

// ParseFormat is the inverse of Format.String.
func ParseFormat(name string) (Format, error) {
	if i := slices.Index(outputNames[:], name); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("format %s is not known; there are %s", name,
		strings.Join(outputNames[:], ", "))
}

// endings are the file name extensions that differ from the names of formats.
var endings = map[string]Format{"ndjson": JSONLines, "pq": Parquet, "feather": Arrow,
	"ipc": Arrow}

// FormatOf returns the format that a file's name implies, or TSV if it implies
// none. If the name ends in .gz or .zst, the extension before that decides.
func FormatOf(path string) Format {
	name := strings.ToLower(path)
	f, _ := FormatNamed(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst"))
	return f
}

// FormatNamed returns the format of a file name's extension, in any case. It
// returns TSV and false if the extension is unknown.
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

// Binary reports whether the format is not text.
func (f Format) Binary() bool { return f == Parquet || f == Arrow || f == ArrowStream }

// Output is rows to be written, or passed to another program.
type Output struct {
	Name    string
	Names   []string // of the fields; the two columns of a wide decimal have one name
	Columns []*store.Column
	Rows    int
	// Order is the order of the rows. Ties are broken by the order of the
	// tuples.
	Order []store.Order
	Limit int64 // upper bound of the rows; negative: all
	// InOrder means that the rows are stored in this order.
	InOrder bool
	// Threads bounds the threads that sort; 0 means one for each core.
	Threads int
	// Memory allocates the memory of sorting; nil means Go's heap.
	Memory order.Allocator
}

// Of returns an Output with all tuples of a relation in their order.
func Of(r *store.Relation) *Output {
	var names []string
	for i, name := range r.Names() {
		if r.Column(i).Type.Word != scalar.Low {
			names = append(names, name)
		}
	}
	return &Output{Name: r.Name, Names: names, Columns: r.Columns(), Rows: r.Rows(), Limit: -1}
}

// limited returns the number of rows to write.
func (o *Output) limited() int64 {
	if o.Limit >= 0 {
		return min(o.Limit, int64(o.Rows))
	}
	return int64(o.Rows)
}

// Options are the options of Rows. The zero value is ready for use.
type Options struct {
	Delimiter byte // of TSV and CSV; 0 is the format's own
	Header    bool // TSV and CSV: the first record has the names of the columns
}

// Rows writes rows in order, so that equal relations are equal byte for byte.
//
// TSV has one row per line and a tab between fields. A tab, newline or carriage
// return in a string is written as \t, \n or \r. A backslash is written as \\
// if it would be read as one of these. A row without columns is an empty line.
//
// CSV is RFC 4180 with lines that end in "\n". Fields are quoted only if they
// must be.
//
// JSON is one array with one object per line; JSON lines are the objects alone.
// Numbers are exact: decimals have all their digits and integers may exceed
// 2^53. Datetimes, and floats that are not finite, are strings.
//
// Parquet keeps the types. Integers have their size; decimals are decimal(18,
// scale) as int64, or decimal(19, scale) if a value needs it; wide ones are
// decimal(38, scale). Datetimes are dates if all of a column are at midnight,
// or else timestamps in microseconds UTC. Pages are compressed with Zstandard.
//
// Arrow is a file or a stream of records.
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
	// rows writes the n rows of a block, which has the words of each column.
	rows(block [][]int64, n int) error
	// finish ends the output after the given number of rows.
	finish(rows int64) error
}

// Each calls yield with blocks of n rows in order, until it returns an error. A
// block has the words of each column; they are overwritten by the next block.
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

// arrange returns the rows to write in their order.
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

// File creates a file with the output of write, compressed if the name ends in
// .gz or .zst. It replaces an old file only when the new one is complete
// (atomicfile.Write).
func File(path string, write func(io.Writer) error) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Compressed(w, path, write) })
}

// Compressed passes the output of write to w, compressed if the path ends in
// .gz or .zst.
func Compressed(w io.Writer, path string, write func(io.Writer) error) error {
	var z io.WriteCloser
	var err error
	switch {
	case strings.HasSuffix(path, ".gz"):
		z = gzip.NewWriter(w)
	case strings.HasSuffix(path, ".zst"):
		// More encoders would cost memory, and not change the output.
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
