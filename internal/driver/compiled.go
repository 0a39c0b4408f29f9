package driver

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/rfx"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/answer"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// CompiledOptions are the options of WriteCompiled.
type CompiledOptions struct {
	Name string // of the program
	// Targets are those that the file has code for: "cpu", "gpu:sm_90". Nil
	// stands for DefaultGPU and DefaultCPU, as far as this machine can compile
	// for them.
	Targets []string
	// Facts are those that the kernels are specialised for: their tables and
	// statistics. With nil, the kernels serve all facts.
	Facts *Database
	// Lines gives the code of GPUs the places of rules, for profilers.
	Lines bool
}

// LeftOut is a target that a compiled program has no code for, and the reason.
type LeftOut struct {
	Target string
	Reason error
}

// WriteCompiled writes the program as a file: its plan, which every engine can
// run, and the code of its kernels. The kernels compute what a run prints by
// default: the queries or, without any, what the program exports. Equal
// programs give equal bytes.
func (p *Program) WriteCompiled(w io.Writer, opts CompiledOptions) (left []LeftOut, err error) {
	f := &rfx.File{Redfox: Version(), Name: opts.Name, Disable: p.disable, NoFuse: p.fusing.Off,
		KeepApart: p.fusing.Apart, Plan: p.plan.String(),
		Facts: opts.Facts.fingerprint()}
	files := spanFiles{p.sources}
	for _, s := range p.sources {
		f.Sources = append(f.Sources, rfx.Source{Name: s.Name, Text: s.Text})
	}
	if p.sources != nil {
		for _, at := range queryplan.Spans(p.plan) {
			f.Places = append(f.Places, files.toFile(*at))
		}
	}
	for _, q := range p.preds {
		f.Predicates = append(f.Predicates, filePredicate(q, files))
	}
	targets := opts.Targets
	if targets == nil {
		targets = []string{DefaultGPU, DefaultCPU}
	}
	for _, name := range targets {
		code, err := p.compileFor(name, opts)
		var missing *EnvironmentError
		switch {
		case errors.As(err, &missing) && opts.Targets == nil:
			left = append(left, LeftOut{name, missing})
			continue
		case err != nil:
			return nil, err
		}
		for _, k := range code.graph.Kernels() {
			code.Origins = append(code.Origins, rfx.Origin{Ops: k.Ops, Span: files.toFile(k.Span)})
		}
		f.Code = append(f.Code, code.Code)
	}
	return left, rfx.Write(w, f)
}

// spanFiles numbers the sources of a program, from 1.
type spanFiles struct{ files []*source.File }

func (s spanFiles) toFile(span source.Span) rfx.Span {
	at := slices.Index(s.files, span.File)
	if at < 0 {
		return rfx.Span{}
	}
	return rfx.Span{Source: at + 1, Start: span.Start, End: span.End}
}

func (s spanFiles) fromFile(span rfx.Span) source.Span {
	if span.Source == 0 {
		return source.Span{}
	}
	return source.Span{File: s.files[span.Source-1], Start: span.Start, End: span.End}
}

func filePredicate(q predicate, files spanFiles) rfx.Predicate {
	out := rfx.Predicate{Name: q.Name, Keys: q.Keys, Derived: q.Derived, Query: q.Query,
		Exported: q.Exported, Hidden: q.hidden}
	for i, c := range q.Columns {
		col := rfx.Column{Name: c.Name, Type: c.Type.String()}
		if q.Families != nil {
			col.Family = q.Families[i]
		}
		out.Columns = append(out.Columns, col)
	}
	if m := q.Maker; m != nil {
		out.Makes = &rfx.Maker{Name: m.Name, Family: m.Family, Start: m.Start, Step: m.Step,
			Refmode: m.Refmode}
	}
	for _, span := range q.clauses {
		out.Clauses = append(out.Clauses, files.toFile(span))
	}
	if b := q.binding; b != nil {
		out.Binding = &rfx.Binding{Path: b.Path, Place: files.toFile(b.Span), Export: b.Export,
			Delimiter: b.Delimiter, Header: b.Header, Columns: b.Columns, Offset: b.Offset}
	}
	return out
}

// Compiled is a compiled program as a file holds it.
type Compiled struct {
	name   string // of the file
	size   int64
	file   *rfx.File
	plan   *queryplan.Plan
	preds  []predicate
	graphs []*harmony.Program // of the code for each target
	codes  []*assemble.Stored // for GPUs
	files  spanFiles
}

// ParseCompiled reads the file of a compiled program, as WriteCompiled writes
// it, and verifies its parts.
func ParseCompiled(src Source) (c *Compiled, err error) {
	defer failure.Recover("the reader of compiled programs", &err)
	f, err := rfx.Read(strings.NewReader(src.Text))
	if err != nil {
		return nil, compiledError(src.Name, err)
	}
	c = &Compiled{name: src.Name, size: int64(len(src.Text)), file: f}
	for _, s := range f.Sources {
		c.files.files = append(c.files.files, source.NewFile(s.Name, s.Text))
	}
	if err := c.readPlan(); err != nil {
		return nil, compiledError(src.Name,
			&rfx.DamageError{Section: "plan", Reason: "does not parse: " + err.Error()})
	}
	if err := c.readPredicates(); err != nil {
		return nil, compiledError(src.Name,
			&rfx.DamageError{Section: "manifest.json", Reason: "does not fit: " + err.Error()})
	}
	for _, code := range f.Code {
		graph, err := readGraph(code)
		if err != nil {
			return nil, compiledError(src.Name, &rfx.DamageError{
				Section: code.Target + "/graph", Reason: "does not parse: " + err.Error()})
		}
		c.graphs = append(c.graphs, graph)
	}
	c.codes = assemble.StoredIn(f)
	return c, nil
}

// compiledError words why a file is refused.
func compiledError(name string, err error) error {
	help := "copy the file again, or compile the program again with redfox compile -o " +
		filepath.Base(name)
	var version *rfx.VersionError
	var foreign *rfx.ForeignError
	switch {
	case errors.As(err, &version) && version.Found > version.Known:
		help = "use the redfox that wrote it or a later one, " +
			"or compile the program again with this one"
	case errors.As(err, &version):
		help = "compile the program again with this redfox"
	case errors.As(err, &foreign):
		help = "compiled programs are written by redfox compile -o FILE" + CompiledExtension
	}
	message := fmt.Sprintf("cannot read %s: %v", name, err)
	return &EnvironmentError{Message: message, Help: help, Err: err}
}

// CompiledExtension ends the names of files of compiled programs.
const CompiledExtension = rfx.Extension

// readPlan parses the plan and gives its parts their places in the sources.
func (c *Compiled) readPlan() error {
	plan, err := queryplan.Parse(c.name+":plan", c.file.Plan)
	if err == nil {
		err = queryplan.Verify(plan)
	}
	if err != nil {
		return err
	}
	c.plan = plan
	if len(c.files.files) == 0 {
		return nil // it was compiled from a plan, whose text is its source
	}
	spans := queryplan.Spans(plan)
	if len(spans) != len(c.file.Places) {
		return fmt.Errorf("it has %d variables and commands, and the manifest %d places",
			len(spans), len(c.file.Places))
	}
	for i, at := range spans {
		*at = c.files.fromFile(c.file.Places[i])
	}
	return nil
}

func (c *Compiled) readPredicates() error {
	for _, q := range c.file.Predicates {
		pred := predicate{
			Predicate: Predicate{Name: q.Name, Keys: q.Keys, Derived: q.Derived, Query: q.Query,
				Exported: q.Exported},
			hidden: q.Hidden,
		}
		var cols []Column
		var families []string
		for _, col := range q.Columns {
			typ, ok := scalar.ParseType(col.Type)
			if !ok {
				return fmt.Errorf("predicate %s has a column of type %q", q.Name, col.Type)
			}
			cols, families = append(cols, Column{col.Name, typ}), append(families, col.Family)
		}
		var makes *answer.Maker
		if m := q.Makes; m != nil {
			makes = &answer.Maker{Name: m.Name, Family: m.Family, Start: m.Start, Step: m.Step,
				Refmode: m.Refmode}
		}
		pred.setColumns(cols, families, makes)
		for _, span := range q.Clauses {
			pred.clauses = append(pred.clauses, c.files.fromFile(span))
		}
		if b := q.Binding; b != nil {
			pred.binding = &fileBinding{core.FileBinding{
				Path: b.Path, Span: c.files.fromFile(b.Place), Export: b.Export,
				Delimiter: b.Delimiter, Header: b.Header, Columns: b.Columns, Offset: b.Offset,
			}, c.name}
		}
		c.preds = append(c.preds, pred)
	}
	return nil
}

// readGraph parses the kernel graph of a target and checks it against the rest
// of the target's code.
func readGraph(code rfx.Code) (*harmony.Program, error) {
	g, err := harmony.Parse(code.Target+"/graph", code.Graph)
	if err == nil {
		err = harmony.Verify(g)
	}
	if err == nil && len(g.Kernels()) != len(code.Origins) {
		err = fmt.Errorf("it has %d kernels, and the manifest %d", len(g.Kernels()),
			len(code.Origins))
	}
	return g, err
}

// Program returns the program. Its plan is optimised for the facts of each run.
// Files that the program names are looked for beside the file of the compiled
// program. The code in the file runs only with Options.TrustCode.
func (c *Compiled) Program(opts Options) (*Program, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	disable := slices.Concat(c.file.Disable, opts.Disable)
	return &Program{
		sources: c.files.files,
		preds:   c.preds,
		plan:    c.plan,
		codes:   assemble.Codes{List: c.codes, Distrust: !opts.TrustCode},
		disable: disable,
		fusing: assemble.Fusing{
			Off:        c.file.NoFuse || opts.NoFuse,
			Apart:      slices.Concat(c.file.KeepApart, opts.KeepApart),
			Unsorted:   slices.Contains(disable, sortPairs),
			TwoIndexes: slices.Contains(disable, shareIndexes),
		},
	}, nil
}
