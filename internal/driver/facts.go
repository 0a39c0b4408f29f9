package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/scratch"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime/answer"
	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/pool"
	"github.com/redfoxdb/redfox/runtime/prefetch"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// FactFormat is a format of files of facts; the zero value derives it from the
// name of the file.
type FactFormat = read.Format

// The formats of fact files.
const (
	AutoFacts    = read.FormatAuto
	TSVFacts     = read.TSV
	CSVFacts     = read.CSV
	ParquetFacts = read.Parquet
	JSONFacts    = read.JSON
	ArrowFacts   = read.Arrow
	SQLiteFacts  = read.SQLite
)

// IsDatabase reports whether the name of a file is that of an SQLite database.
func IsDatabase(path string) bool { return read.IsDatabaseName(path) }

// IsFactsName reports whether the name of a file is that of a file of facts.
func IsFactsName(path string) bool { return read.IsFactsName(path) }

// IsRemote reports whether a path is the URL of a file on a server.
func IsRemote(path string) bool { return remote.Is(path) }

// IsRemoteFolder reports whether a path is the URL of a folder of S3.
func IsRemoteFolder(path string) bool { return remote.IsFolder(path) }

// FactFile ties a file or a reader to a predicate and describes its layout.
type FactFile = read.Fact

// ParseFact reads the form PRED=FILE or PRED=FILE(column, ...) of --fact.
func ParseFact(text string) (FactFile, error) { return read.ParseFact(text) }

// IsPattern reports whether the path of a FactFile stands for those that match.
func IsPattern(path string) bool { return read.IsPattern(path) }

// Facts lists the sources of the facts of a run; Load reads them. The methods
// add a source and return the Facts, so that they chain.
type Facts = facts.Sources

// FactPredicate is a predicate for which Facts.Typed makes facts; Argument is
// the name and the type of one of its arguments.
type (
	FactPredicate = facts.Predicate
	Argument      = facts.Argument
)

// NewFacts returns no facts.
func NewFacts() *Facts { return &Facts{} }

// LoadProgress is how far the reading of a file is.
type LoadProgress = read.Progress

// LoadOptions are the options of Load.
type LoadOptions struct {
	Threads int  // 0 means all cores
	Header  bool // text files name their columns in the first line
	// SkipMalformed skips malformed rows and counts them in the report, instead
	// of refusing the file.
	SkipMalformed bool
	// MissingEmpty takes a file that the program names, and that is not there,
	// as empty, instead of failing.
	MissingEmpty bool
	// NoHeader says that text files have no header. Otherwise their first line
	// has the names of the columns if it cannot be a fact and the second can.
	NoHeader bool
	// Delimiter separates the fields of text files that no FactFile gives
	// another. 0 is a comma in .csv files and a tab in others, or the character
	// that the file shows.
	Delimiter byte
	// Null is the text of a field, in text files, that stands for a missing
	// value. Nil is the empty field.
	Null   *string
	Memory int64 // bound in bytes for the facts; 0 means none
	// Spill is a folder. Facts that do not fit Memory lie in a file there,
	// which has no name; "" lets the load fail. Dictionaries of strings stay in
	// memory.
	Spill string
	// Predicates are read even if no rule uses them.
	Predicates []string
	// Raw has Store pack nothing.
	Raw bool
	// Progress, if set, is called now and then from one goroutine at a time.
	Progress func(LoadProgress)
	// Once says that the facts serve one RunOn, of the program that loads them
	// and with the outputs of these options. Columns that it does not look at
	// may be left out.
	Once    bool
	outputs []string    // of the run
	proofs  read.Proofs // in place of those beside compiled code, in tests
	allLate bool        // strings are put off even if they are short, in tests
	always  bool        // rows are left out whatever that takes, in tests
	// leastEncoded is in place of read.EncodedRows, in tests.
	leastEncoded int64
	// held are relations of a workspace, which are there already.
	held map[string]*store.Relation
}

// LoadReport lists what was read.
type LoadReport = read.Report

// FileReport says what was read of a file.
type FileReport = read.FileReport

// Database is loaded facts, ready for programs that agree on the types of their
// predicates. It is immutable and safe for concurrent use.
type Database struct {
	store  *store.Database
	report *LoadReport
	bytes  int64 // of columns
	text   int64 // bytes of dictionaries
	onDisk int64 // of both: pages of files, which the system takes back
	time   time.Duration
	print  string
	// left reads the sources of which columns were left out; nil if none were.
	left func(context.Context) (*store.Database, *LoadReport, error)
	// selectedFor is the run for which rows were left out; nil if none were.
	selectedFor *selection

	prefetch *prefetch.Prefetch // copies columns to a GPU; nil if no run takes one
	keepers  pool.Keepers

	cataloguing sync.Once
	known       *stats.Catalog // what catalog returns

	digesting sync.Once
	content   string // what digest returns
}

// Report lists what was read of each file.
func (db *Database) Report() *LoadReport { return db.report }

// Bytes returns the size of the columns in memory.
func (db *Database) Bytes() int64 { return db.bytes }

// size returns what the choice of an engine for a program depends on.
func (db *Database) size(p *Program) machine.Size {
	if db == nil {
		return machine.Size{}
	}
	return machine.Size{Rows: db.store.Rows(), Bytes: db.bytes, Commands: p.plan.CommandCount()}
}

// held returns the bytes of the facts that count against the bound of a run:
// columns and dictionaries that are not pages of files, encoded ones included.
func (db *Database) held() int64 {
	if db == nil {
		return 0
	}
	return db.bytes + db.text - db.onDisk - db.store.EncodedBytes()
}

// Held returns how many bytes of memory the facts take.
func (db *Database) Held() int64 { return db.held() }

// Load reads the facts that the program uses into columns. A malformed row, or
// a functional predicate with two values for a key, is a *ProgramError with its
// place.
func (p *Program) Load(ctx context.Context, given *Facts, opts LoadOptions) (*Database, error) {
	return p.load(ctx, given, opts, nil)
}

// LoadFor loads facts as Load does, using opts.Load, for runs with the options.
// If these take a GPU, columns are copied to it while others are still being
// read, as long as its memory has room. The copying goes on after LoadFor has
// returned.
func (p *Program) LoadFor(ctx context.Context, given *Facts, opts RunOptions) (*Database, error) {
	return loadFor(ctx, process, p, given, opts)
}

// loadFor loads facts for runs in a pool.
func loadFor(ctx context.Context, engines *pool.Pool, p *Program, given *Facts,
	opts RunOptions) (*Database, error) {
	selected, err := engines.Machine.Select(opts.want())
	if err != nil {
		return nil, err
	}
	load := opts.Load
	load.Threads = cmp.Or(load.Threads, opts.Threads)
	load.Memory = cmp.Or(load.Memory, opts.Memory)
	load.Spill = cmp.Or(load.Spill, opts.Spill)
	load.outputs = opts.Outputs
	if engines.Closed() {
		return nil, pool.ErrClosed
	}
	copies := prefetch.New(engines, selected, &p.codes, p.fusing,
		slices.Contains(p.disable, packColumns), opts.Trace)
	db, err := p.load(ctx, given, load, copies)
	if err != nil {
		copies.Stop()
		return nil, err
	}
	if copies != nil {
		chosen, _ := selected.Choose(db.size(p), &p.codes) // an error is the run's to return
		copies.Finish(db.store, chosen)
		db.prefetch = copies
	}
	return db, nil
}

// load loads facts, whose columns copies gets as they are read.
func (p *Program) load(ctx context.Context, given *Facts, opts LoadOptions,
	copies *prefetch.Prefetch) (_ *Database, err error) {
	defer failure.Recover("the loader", &err)
	start, given := time.Now(), cmp.Or(given, NewFacts())
	if err := p.refuseTables(); err != nil {
		return nil, err
	}
	schemas, held := facts.Missing(p.schemas(), opts.held)
	terms, schemas := p.terms(schemas)
	if terms != nil {
		copies = nil // a column of terms is not the one that runs read
	}
	if opts.held != nil {
		given = facts.Only(given, schemas)
		for i := range schemas {
			schemas[i].Optional = true // transactions insert
		}
	} else if err := facts.CheckNames(given, schemas, p.derives); err != nil {
		return nil, err
	}
	binding, so, err := p.bind(ctx, given, schemas, opts)
	if err != nil {
		return nil, err
	}
	extra := slices.Concat(facts.Predicates(given), opts.Predicates, terms.Predicates())
	needed, plan, err := p.needed(extra)
	if err != nil {
		return nil, err
	}
	binding.Restrict(needed)
	if opts.Once && opts.held == nil && terms == nil {
		p.leave(binding, given, opts)
		p.keepEncoded(binding, given, opts, copies)
	}
	if copies != nil {
		copies.Plan(plan)
		so.Column = copies.Column
	}
	db, report, err := read.Load(ctx, binding, so)
	if err != nil {
		return nil, loadError(ctx, err)
	}
	if err := facts.AddValues(db, schemas, given); err != nil {
		return nil, loadError(context.Background(), err)
	}
	for _, rel := range held {
		db.Put(rel)
	}
	if terms != nil {
		if name := terms.Refused(db); name != "" {
			return nil, p.refuseTerms(name, terms.Constructs(name))
		}
		if err := terms.Number(ctx, &facts.Loaded{DB: db, Binding: binding, Report: report,
			Skip: opts.SkipMalformed}, opts.held); err != nil {
			return nil, loadError(ctx, err)
		}
	}
	out := &Database{store: db, report: report, time: time.Since(start)}
	if left := binding.Left(); len(left.Sources) > 0 {
		so.Column = nil
		out.left = func(ctx context.Context) (*store.Database, *LoadReport, error) {
			return read.Load(ctx, left, so)
		}
		out.selectedFor = p.selection(report, opts.outputs)
	}
	out.complete()
	return out, nil
}

// refuseTables refuses the text of a plan that was made for other facts: it
// names columns of their tables by position, and not the predicates that would
// load them.
func (p *Program) refuseTables() error {
	for _, v := range p.plan.Vars {
		if v.Kind == queryplan.Table {
			return &EnvironmentError{
				Message: fmt.Sprintf("the plan reads table %q of the facts it was compiled with", v.Source),
				Help: "leave out --facts when you compile a plan to run it, or compile to a file of the " +
					"extension " + CompiledExtension}
		}
	}
	return nil
}

// bind finds the files of facts for predicates, and says how they are read.
func (p *Program) bind(ctx context.Context, given *Facts, schemas []store.Schema,
	opts LoadOptions) (*read.Binding, read.Options, error) {
	so := read.Options{Threads: opts.Threads, Header: opts.Header, Progress: opts.Progress,
		MissingEmpty: opts.MissingEmpty, Null: opts.Null, NoHeader: opts.NoHeader,
		Delimiter: opts.Delimiter, Proofs: opts.proofs, SelectAlways: opts.always}
	for _, q := range p.preds {
		if q.Derived {
			so.Derived = append(so.Derived, q.Name)
		}
	}
	if so.Proofs.Get == nil {
		so.Proofs = proofs()
	}
	if opts.Memory > 0 {
		so.Reserve, so.Bound = facts.Reservation(opts.Memory), opts.Memory
		so.Spill = opts.Spill
	}
	if opts.SkipMalformed {
		so.OnError = read.Skip
	}
	imports, err := p.imports(given, schemas)
	if err != nil {
		return nil, so, err
	}
	binding, err := facts.Bind(ctx, given, schemas, imports, so)
	if err != nil {
		return nil, so, loadError(ctx, err)
	}
	return binding, so, nil
}

// derives reports whether rules derive a predicate.
func (p *Program) derives(name string) bool {
	return slices.ContainsFunc(p.preds,
		func(q predicate) bool { return q.Name == name && q.Derived })
}

// terms returns the facts that name entities by their terms.
func (p *Program) terms(schemas []store.Schema) (*facts.Terms, []store.Schema) {
	families, reader := map[string][]string{}, answer.NewTermReader()
	known := func(name string) string {
		if slices.ContainsFunc(p.preds, func(q predicate) bool { return q.Name == name }) {
			return name
		}
		return ""
	}
	for _, q := range p.preds {
		if q.Families != nil {
			families[q.Name] = q.Families
		}
		if m := q.Maker; m != nil {
			var types []scalar.Type
			for i, f := range m.Keys {
				typ := q.Columns[i].Type
				if f != "" {
					typ = scalar.IntType
				}
				types = append(types, typ)
			}
			named := q.Name + core.NamedSuffix
			reader.Add(*m, types, known(named), known(named+core.NewSuffix))
		}
	}
	return facts.NewTerms(schemas, families, reader)
}

// refuseTerms is the error of facts that name entities where the program takes
// none.
func (p *Program) refuseTerms(pred string, constructs bool) error {
	d := &Diagnostic{Severity: diag.Error, Code: diag.BadFacts,
		Message: fmt.Sprintf("facts of %s cannot come from outside", pred)}
	for _, v := range p.plan.Vars {
		if v.Source == pred {
			d.Span = v.Span
		}
	}
	if constructs {
		d.Note("%s is a constructor: an entity that facts name is in it", pred)
		d.Help("name its entities in facts of another predicate")
	} else {
		d.Note("facts name entities of constructors in a declared predicate without rules")
		d.Help("declare a predicate for these facts, and fill %s from it by a rule", pred)
	}
	return &ProgramError{Diagnostics: []*Diagnostic{d}}
}

// schemas describes the program's inputs to the loader.
func (p *Program) schemas() []store.Schema {
	var out []store.Schema
	for _, v := range p.plan.Vars {
		if v.Kind != queryplan.Input {
			continue
		}
		// The name differs from the source if the predicate also has facts in
		// the program.
		s := store.Schema{Name: v.Source, Keys: v.Keys, Optional: v.Name != v.Source}
		for _, c := range v.Cols {
			s.Args = append(s.Args, store.Field{Name: c.Joined().Name, Type: c.Type})
		}
		out = append(out, s)
	}
	return out
}

// needed returns the inputs that an output or a check of the program reads,
// with the extra ones, and the plan that reads them. An extra predicate may be
// an input, or a helper whose inputs no output reads.
func (p *Program) needed(extra []string) (map[string]bool, *queryplan.Plan, error) {
	var all []string
	for _, v := range p.plan.Vars {
		if v.Output || v.Kind != queryplan.Input && slices.Contains(extra, v.Name) {
			all = append(all, v.Name)
		}
	}
	plan, err := p.optimise(all, nil)
	if err != nil {
		return nil, nil, err
	}
	needed := map[string]bool{}
	for _, name := range extra {
		needed[name] = true
	}
	for _, v := range plan.Vars {
		if v.Kind == queryplan.Input {
			needed[v.Source] = true
		}
	}
	return needed, plan, nil
}

// catalog describes the database to the optimiser.
func (db *Database) catalog() *stats.Catalog {
	if db == nil {
		return nil
	}
	db.cataloguing.Do(func() { db.known = facts.Catalog(db.store) })
	return db.known
}

func (db *Database) fingerprint() string {
	if db == nil {
		return ""
	}
	return db.print
}

// loadError words a failed load.
func loadError(ctx context.Context, err error) error {
	var env *EnvironmentError
	var file *scratch.Error
	switch {
	case errors.As(err, &env):
		return env
	case errors.As(err, &file):
		return spillFailure(file)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d := facts.Failure(err); d != nil {
		return &ProgramError{Diagnostics: []*Diagnostic{d}}
	}
	return facts.Lack(err)
}

// digest identifies a database by its contents. The first call reads all
// columns.
func (db *Database) digest() string {
	if db == nil {
		return ""
	}
	db.digesting.Do(func() {
		sum := db.store.Digest(goruntime.GOMAXPROCS(0))
		db.content = fmt.Sprintf("%x", sum)
	})
	return db.content
}
