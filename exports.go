package redfox

import (
	"io"
	"strings"

	"github.com/redfoxdb/redfox/runtime/store"
)

// Export is a file that the program asks a predicate to be written to, by
// lang:physical:filePath and rules that derive the predicate.
type Export struct {
	Pred string
	Path string // relative paths are resolved beside the program's file
}

// Exports lists the program's export files.
func (p *Program) Exports() []Export {
	var out []Export
	for _, q := range p.preds {
		if b := q.binding; b != nil && b.Export {
			out = append(out, Export{Pred: q.Name, Path: besideProgram(b.program, b.Path)})
		}
	}
	return out
}

// WriteExport writes an export file from a result that holds its predicate, in
// the layout that the program's directives say. The file appears only when it is
// whole.
func (p *Program) WriteExport(res *Result, x Export) error {
	for _, q := range p.preds {
		b := q.binding
		if q.Name != x.Pred || b == nil {
			continue
		}
		rel := res.relations[q.Name]
		if rel == nil {
			return res.missing(q.Name)
		}
		out, err := rel.output(q.Name)
		if err != nil {
			return err
		}
		opts := store.WriteOptions{Header: b.Header != nil && *b.Header}
		if b.Delimiter != "" {
			opts.Delimiter = b.Delimiter[0]
		}
		if b.Offset { // the place of a record is no field of it
			out.Columns, out.Names, out.Order = out.Columns[1:], out.Names[1:], nil
		}
		if len(b.Columns) == len(out.Names) {
			out.Names = b.Columns
		}
		format := exportFormat(x.Path)
		err = store.WriteFile(x.Path, func(w io.Writer) error { return store.Write(w, out, format, opts) })
		if err != nil {
			return fileError("write", x.Path, err)
		}
		return nil
	}
	return res.missing(x.Pred)
}

// exportFormat returns the format that a file's name says: CSV, Parquet, or else
// TSV.
func exportFormat(path string) Format {
	name := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	switch {
	case strings.HasSuffix(name, ".csv"):
		return CSV
	case strings.HasSuffix(name, ".parquet"):
		return Parquet
	}
	return TSV
}

// missing says that the result does not hold a predicate.
func (r *Result) missing(pred string) error {
	return &EnvironmentError{
		Message: "the result does not hold " + pred,
		Help:    "it has " + strings.Join(r.names, ", "),
	}
}
