package redfox

import (
	"context"
	"io"

	"github.com/redfoxdb/redfox/internal/driver"
)

// Source is one file of a program.
type Source struct {
	Name string // as diagnostics show it; files that it names are beside it
	Text string // LogiQL, in UTF-8
}

// Text returns a source from a string.
func Text(name, text string) Source { return Source{Name: name, Text: text} }

// ReadSources reads program files; "-" is standard input. A project file stands
// for itself and the files that it lists. The errors are an *EnvironmentError
// for a file that cannot be read, and a *ProgramError for a project file with a
// mistake.
func ReadSources(names ...string) ([]Source, error) {
	read, err := driver.ReadSources(names...)
	if err != nil {
		return nil, public(err)
	}
	var out []Source
	for _, s := range read {
		out = append(out, Source(s))
	}
	return out, nil
}

// Options are the options of Compile, ReadCompiled and Session.OpenWorkspace.
type Options struct {
	// External names predicates that get facts from outside. The program need
	// not declare them.
	External []string
	// TrustCode runs the code in the file of a compiled program, which can do
	// anything that the process can. Without it, code is made from the plan.
	TrustCode bool
}

func (o Options) driver() driver.Options {
	return driver.Options{External: o.External, TrustCode: o.TrustCode}
}

// Program is a compiled program. It is immutable and safe for concurrent use.
type Program struct {
	program *driver.Program
}

// Compile checks the sources, which together form one program, and plans them.
// A program with mistakes is a *ProgramError, which holds all of them; warnings
// stay with the program.
func Compile(ctx context.Context, sources []Source, opts Options) (*Program, error) {
	p, err := driver.Compile(ctx, driverSources(sources), opts.driver())
	if err != nil {
		return nil, public(err)
	}
	return &Program{p}, nil
}

// ReadCompiled reads a compiled program, as redfox compile -o writes it. Files
// that the program names are beside the file of the given name. A file that is
// damaged or of another version is an *EnvironmentError.
func ReadCompiled(name string, r io.Reader, opts Options) (*Program, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, &EnvironmentError{Message: "cannot read " + name + ": " + err.Error(), Err: err}
	}
	c, err := driver.ParseCompiled(driver.Text(name, string(text)))
	if err != nil {
		return nil, public(err)
	}
	p, err := c.Program(opts.driver())
	if err != nil {
		return nil, public(err)
	}
	return &Program{p}, nil
}

func driverSources(sources []Source) []driver.Source {
	var out []driver.Source
	for _, s := range sources {
		out = append(out, driver.Source(s))
	}
	return out
}

// Warnings returns the diagnostics of the program, none of which is an error.
func (p *Program) Warnings() []Diagnostic { return diagnostics(p.program.Warnings()) }

// Predicate describes one predicate of a program.
type Predicate struct {
	Name     string
	Columns  []Column
	Keys     int  // leading columns that determine the rest; all without a value
	Derived  bool // has rules
	Query    bool // an answer predicate, `_`
	Exported bool // a run without RunOptions.Outputs returns it
}

// Column is an argument of a predicate.
type Column struct {
	Name string
	Type string // as LogiQL writes it: "int", "decimal[18,2]"; entities are "string"
}

// Predicates lists the predicates of the program by first appearance.
func (p *Program) Predicates() []Predicate {
	var out []Predicate
	for _, q := range p.program.Predicates() {
		out = append(out, Predicate{Name: q.Name, Columns: columns(q.Columns), Keys: q.Keys,
			Derived: q.Derived, Query: q.Query, Exported: q.Exported})
	}
	return out
}

func columns(list []driver.Column) []Column {
	var out []Column
	for _, c := range list {
		out = append(out, Column{c.Name, c.Type.String()})
	}
	return out
}

// Export is a file that a program writes a predicate to: one that it derives
// and gives a lang:physical:filePath.
type Export struct {
	Pred string
	Path string
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

// WriteExports writes the files that the program names, from a result that
// holds their predicates, and lists them. If one of them is not below a folder
// that the options allow, the error is a *ProgramError and no file is written.
// Each file appears only when it is complete.
func (p *Program) WriteExports(res *Result, opts ExportOptions) ([]Export, error) {
	list, err := p.program.ResolveExports(driver.ExportOptions(opts))
	if err != nil {
		return nil, public(err)
	}
	var out []Export
	for _, x := range list {
		if err := p.program.WriteExport(res.result, x); err != nil {
			return out, public(err)
		}
		out = append(out, Export{x.Pred, x.Path})
	}
	return out, nil
}
