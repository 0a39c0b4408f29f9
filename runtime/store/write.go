package store

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/redfoxdb/redfox/internal/atomicfile"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/order"
)

// OutputFormat is how results are written.
type OutputFormat uint8

// The output formats. OutputTable is aligned text to look at.
const (
	OutputTable OutputFormat = iota
	OutputTSV
	OutputCSV
	OutputJSON
	OutputParquet
)

var outputNames = [...]string{"table", "tsv", "csv", "json", "parquet"}

// String returns the format's name as flags and file names have it.
func (f OutputFormat) String() string { return outputNames[f] }

// ParseOutputFormat is the inverse of OutputFormat.String.
func ParseOutputFormat(name string) (OutputFormat, error) {
	if i := slices.Index(outputNames[:], name); i >= 0 {
		return OutputFormat(i), nil
	}
	return 0, fmt.Errorf("format %s is not known; there are %s", name, strings.Join(outputNames[:], ", "))
}

// Output is rows to be written or handed on.
type Output struct {
	Name    string
	Names   []string // of the columns, those of a wide decimal's two words being one
	Columns []*Column
	Rows    int
	// Order comes before the order of the tuples, which breaks its ties.
	Order []Order
	Limit int64 // rows at most; negative is all
	// InOrder says that the rows are in that order as they are.
	InOrder bool
	// Threads bounds those that sort; 0 means as many as there are cores.
	Threads int
	// Memory is where they take memory from; nil is Go's heap.
	Memory order.Allocator
}

// OutputOf returns all tuples of a relation in their order.
func OutputOf(r *Relation) *Output {
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

// WriteOptions governs how rows are written. The zero value is ready for use.
type WriteOptions struct {
	Delimiter byte // of TSV and CSV; 0 is the format's own
	Header    bool // TSV and CSV: a first record with the names of the columns
}

// Write writes rows in order, so that equal relations are equal byte for byte.
//
// TSV has a row a line and a tab between fields. A tab, newline or carriage
// return in a string is written \t, \n or \r, and a backslash as \\ where it would
// be read as one of these. A row of no columns is an empty line.
//
// CSV is RFC 4180 with "\n" ends of lines; fields are quoted where they must be.
//
// JSON is one array with an object a line. Numbers are exact: decimals have all
// their digits and integers may exceed 2^53. Datetimes, and floats that are not
// finite, are strings.
//
// Parquet keeps the types: sized integers; decimal(18, scale) as int64, wide ones as
// decimal(38, scale); datetimes
// as dates when all of them are whole days, else as timestamps in microseconds
// UTC; strings. It is compressed with Zstandard.
//
// A table is aligned text with a heading and the number of rows.
func Write(w io.Writer, out *Output, format OutputFormat, o WriteOptions) error {
	fields := out.fields()
	var to rowWriter
	switch format {
	case OutputTSV, OutputCSV:
		f := TSV
		if format == OutputCSV {
			f = CSV
		}
		f, delimiter := textFormatOf(f, o.Delimiter)
		t := newTextWriter(w, fields, delimiter, f == CSV)
		if o.Header {
			t.header()
		}
		to = t
	case OutputJSON:
		to = newJSONWriter(w, fields)
	case OutputParquet:
		to = newParquetWriter(w, fields)
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
	// finish ends the output of so many rows.
	finish(rows int64) error
}

// Each calls yield with blocks of n rows in order, as words of each column, until
// it returns an error. The words are overwritten by the next block.
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
	defer a.free()
	return a.each(context.Background(), len(o.Columns), func(block [][]int64) error {
		return yield(block, len(block[0]))
	})
}

// arrange finds the order of the rows that are written.
func (o *Output) arrange() (*arrangement, error) {
	n := int(o.limited())
	if len(o.Columns) == 0 || n == 0 {
		return &arrangement{n: n, free: func() {}}, nil
	}
	if o.InOrder {
		return inPlace(o.Columns, n), nil
	}
	return newRowSorter(sorting{o.Threads, o.Memory, "sorting " + o.Name}, o.Columns, o.Order).arrange(context.Background(), o.Rows, n)
}

// WriteFile makes a file of what write writes, compressed when the name ends in
// .gz or .zst. It takes the place of the old one when it is whole (atomicfile.Write).
func WriteFile(path string, write func(io.Writer) error) error {
	return atomicfile.Write(path, func(w io.Writer) error { return WriteCompressed(w, path, write) })
}

// WriteCompressed writes what write writes, compressed when the path ends in .gz or
// .zst.
func WriteCompressed(w io.Writer, path string, write func(io.Writer) error) error {
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
