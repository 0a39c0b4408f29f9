package redfox

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/govalue"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Facts lists the sources of the facts of a run or a session, which read them.
// The methods add a source and return the Facts, so that they chain. Facts of a
// predicate from several sources are united, and repeated tuples count once.
type Facts struct {
	sources driver.Facts
}

// NewFacts returns no facts.
func NewFacts() *Facts { return &Facts{} }

// driver returns the sources. Without any it returns nil.
func (f *Facts) driver() *driver.Facts {
	if f == nil {
		return nil
	}
	return &f.sources
}

// Dir names the folder whose files PRED.tsv, .csv and .parquet hold facts, or
// the file of a database, such as Program.Store writes. It serves predicates
// that have no other source.
func (f *Facts) Dir(dir string) *Facts { f.sources.Dir(dir); return f }

// File ties a file to a predicate, in the format of its name. The predicate may
// also be the part before the colon of several, which then are columns of the
// file. A path may also be a folder, which stands for its files, or a pattern
// of path/filepath, which stands for those that match. A folder year=2024 in
// the path of such a file gives it a column year.
func (f *Facts) File(pred, path string) *Facts {
	return f.Add(FactFile{Pred: pred, Path: path})
}

// Reader ties what r yields, until its end, to a predicate. It is read once.
func (f *Facts) Reader(pred string, format Format, r io.Reader) *Facts {
	return f.Add(FactFile{Pred: pred, Reader: r, Format: format})
}

// FactFile ties a file to a predicate and describes its layout.
type FactFile struct {
	// Pred is a predicate, or the part of predicates' names before a colon:
	// then the file feeds all of them whose arguments it has columns for.
	Pred      string
	Path      string    // a file, a folder of files or a pattern that matches some
	Reader    io.Reader // read instead of the file, when not nil
	Format    Format
	Delimiter byte  // 0 is the format's own: tab or comma
	Header    *bool // the first line names the columns; nil is LoadOptions.Header
	// Columns holds the file's column for each argument: a name, or a number
	// from 1. Nil finds them by the arguments' names or, without names, by
	// position.
	Columns []string
}

// Add ties a file to a predicate with explicit layout.
func (f *Facts) Add(file FactFile) *Facts {
	out := driver.FactFile{Pred: file.Pred, Path: file.Path, Reader: file.Reader,
		Delimiter: file.Delimiter, Header: file.Header, Columns: file.Columns}
	if file.Reader != nil && file.Path == "" {
		out.Path = "<" + file.Pred + ">"
	}
	switch file.Format {
	case AutoFormat:
	case TSV:
		out.Format = driver.TSVFacts
	case CSV:
		out.Format = driver.CSVFacts
	case Parquet:
		out.Format = driver.ParquetFacts
	case JSON, JSONLines:
		out.Format = driver.JSONFacts
	case Arrow:
		out.Format = driver.ArrowFacts
	default:
		f.sources.Typed(file.Pred, func([]driver.FactPredicate) ([][]any, error) {
			return nil, &driver.EnvironmentError{
				Message: fmt.Sprintf("facts of %s are not read as %s", file.Pred, file.Format),
				Help:    "the formats of facts are tsv, csv, json, parquet and arrow"}
		})
		return f
	}
	f.sources.Add(out)
	return f
}

// Rows adds tuples of Go values to a predicate: ints of any size, floats,
// strings, bools, Decimal, time.Time, or text that reads as the column's type.
// It suits few tuples of mixed types; Structs and Columns check types once.
func (f *Facts) Rows(pred string, rows ...[]any) *Facts {
	list := make([][]any, len(rows))
	for i, row := range rows {
		list[i] = make([]any, len(row))
		for j, x := range row {
			if d, ok := x.(Decimal); ok {
				x = govalue.Decimal{Unscaled: d.unscaled, Scale: d.scale}
			}
			list[i][j] = x
		}
	}
	f.sources.Rows(pred, list...)
	return f
}

// Columns adds tuples to a predicate as one slice for each argument, all of one
// length: of integers of any size, floats, bools, strings, Decimal or
// time.Time. Integers and Decimals fill numeric columns that hold them exactly.
// It is the fastest way for facts that are in memory. The slices must not
// change afterwards.
func (f *Facts) Columns(pred string, slices ...any) *Facts {
	f.sources.Typed(pred, func(found []driver.FactPredicate) ([][]any, error) {
		out := make([][]any, len(found))
		for i, p := range found {
			if p.Name == pred {
				var err error
				out[i], err = withDecimals(p, slices)
				return out, err
			}
		}
		return nil, &driver.EnvironmentError{Message: "the program has no predicate " + pred,
			Help: "Structs gives facts to " + found[0].Name + " and its like"}
	})
	return f
}

// withDecimals returns slices for a predicate, with Decimals as values of its
// types.
func withDecimals(p driver.FactPredicate, slices []any) ([]any, error) {
	out := make([]any, len(slices))
	for i, slice := range slices {
		out[i] = slice
		decimals, ok := slice.([]Decimal)
		if !ok || i >= len(p.Args) { // too many slices are the driver's to refuse
			continue
		}
		values := make([]scalar.Value, len(decimals))
		for n, d := range decimals {
			v, err := d.value(p.Args[i].Type)
			if err != nil {
				return nil, fmt.Errorf("argument %d (%s) of %s: row %d: %w", i+1, p.Args[i].Name,
					p.Name, n+1, err)
			}
			values[n] = v
		}
		out[i] = values
	}
	return out, nil
}

// Structs adds a slice of structs to a predicate: one tuple for each element,
// one field for each argument. All describes how fields and columns match, and
// which Go types hold which types of LogiQL; every column needs a field.
//
// A field of person without a column gives facts to the function person:field,
// whose keys are the leading columns of person. If there is no person, they are
// the fields of their names.
//
// A nil pointer is a missing value: its tuple is left out.
func (f *Facts) Structs(pred string, slice any) *Facts {
	f.sources.Typed(pred, func(found []driver.FactPredicate) ([][]any, error) {
		return structFacts(pred, found, slice)
	})
	return f
}

// Arrow adds a record's rows to a predicate, columns by position.
func (f *Facts) Arrow(pred string, record arrow.RecordBatch) *Facts {
	f.sources.Arrow(pred, record)
	return f
}

// Allow lets the program read files that lang:physical:filePath names if they
// lie below the folders, or below that of Dir. Links do not lead out of them.
// Without a folder, the program reads no file that it names. Files of File and
// Add need not be allowed.
func (f *Facts) Allow(dirs ...string) *Facts { f.sources.Allow(dirs...); return f }
