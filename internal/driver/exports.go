package driver

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/confine"
	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/runtime/diagnose"
	"github.com/redfoxdb/redfox/runtime/store/read"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// Export is a file that the program writes a predicate to: one that it derives
// and gives a lang:physical:filePath.
type Export struct {
	Pred string
	Path string // as the program has it, or as ResolveExports resolves it

	resolved bool
	dir      string // of ExportOptions
	folders  confine.Folders
}

// Exports lists the program's export files.
func (p *Program) Exports() []Export {
	var out []Export
	for _, q := range p.preds {
		if b := q.binding; b != nil && b.Export {
			out = append(out, Export{Pred: q.Name, Path: b.Path})
		}
	}
	return out
}

// ExportOptions names the folders below which a program may write the files
// that it names: nowhere, if both fields are empty. Links do not lead out of
// the folders.
type ExportOptions struct {
	// Dir is the folder of relative paths; it is made if it is missing. Without
	// it they are relative to the program's file.
	Dir   string
	Allow []string // further folders
}

// ResolveExports lists the program's export files by the paths that they are
// written to. If one of them is not below a folder that the options allow, the
// error is a *ProgramError.
func (p *Program) ResolveExports(opts ExportOptions) ([]Export, error) {
	folders := confine.Folders(slices.Clone(opts.Allow))
	if opts.Dir != "" {
		folders = append(folders, opts.Dir)
	}
	var out []Export
	var refused []*Diagnostic
	for _, q := range p.preds {
		b := q.binding
		if b == nil || !b.Export {
			continue
		}
		x := Export{Pred: q.Name, Path: confine.Beside(b.program, b.Path),
			resolved: true, dir: opts.Dir, folders: folders}
		if opts.Dir != "" && !filepath.IsAbs(b.Path) {
			x.Path = filepath.Join(opts.Dir, b.Path)
		}
		if remote.Is(b.Path) {
			refused = append(refused, diagnose.Refusal(b.Span, "write", b.Path,
				errors.New("results are not written to servers"), folders))
			continue
		}
		if read.IsDatabaseName(x.Path) && !strings.EqualFold(filepath.Ext(x.Path), ".db") {
			d := diagnose.Refusal(b.Span, "write", x.Path,
				errors.New("an export is one file, and an SQLite database holds tables"), folders)
			d.Help("write a database with --out FILE.sqlite")
			refused = append(refused, d)
			continue
		}
		if err := folders.Check(x.Path); err != nil {
			d := diagnose.Refusal(b.Span, "write", x.Path, err, folders)
			if opts.Dir == "" && filepath.IsLocal(b.Path) {
				below := "write it to DIR/" + filepath.Clean(b.Path) + " with --out DIR"
				d.Helps = slices.Insert(d.Helps, 0, below)
			}
			refused = append(refused, d)
		}
		out = append(out, x)
	}
	if len(refused) > 0 {
		return nil, &ProgramError{Diagnostics: refused}
	}
	return out, nil
}

// WriteExport writes an export file that ResolveExports has listed, in the
// layout of the program's directives, from a result that holds its predicate.
// The file appears only when it is complete.
func (p *Program) WriteExport(res *Result, x Export) error {
	if !x.resolved {
		_, err := p.ResolveExports(ExportOptions{})
		return err
	}
	for _, q := range p.preds {
		b := q.binding
		if q.Name != x.Pred || b == nil {
			continue
		}
		rel := res.relations[q.Name]
		if rel == nil {
			return res.missing(q.Name)
		}
		out, err := rel.Output(context.Background())
		if err != nil {
			return err
		}
		opts := write.Options{Header: b.Header != nil && *b.Header}
		if b.Delimiter != "" {
			opts.Delimiter = b.Delimiter[0]
		}
		if b.Offset { // the place of a record is no field of it
			out.Columns, out.Names, out.Order = out.Columns[1:], out.Names[1:], nil
		}
		if len(b.Columns) == len(out.Names) {
			out.Names = b.Columns
		}
		format := write.FormatOf(x.Path)
		if x.dir != "" {
			if err := os.MkdirAll(x.dir, 0o777); err != nil {
				return fileError("make the folder", x.dir, err)
			}
		}
		err = inMemory(rel, out, func(out *write.Output) error {
			return x.folders.Write(x.Path, func(w io.Writer) error {
				return write.Compressed(w, x.Path, func(w io.Writer) error {
					return write.Rows(w, out, format, opts)
				})
			})
		})
		if env := new(EnvironmentError); err == nil || errors.As(err, &env) {
			return err
		}
		return fileError("write", x.Path, err)
	}
	return res.missing(x.Pred)
}

// missing is the error of a predicate that the result does not hold.
func (r *Result) missing(pred string) error {
	help := "it has no predicates"
	if len(r.names) > 0 {
		help = diag.DidYouMean(pred, r.names)
	}
	return &EnvironmentError{
		Message: "the result does not hold " + pred,
		Help:    help,
	}
}
