package redfox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/pool"
	"github.com/redfoxdb/redfox/runtime/prefetch"
	"github.com/redfoxdb/redfox/runtime/store"
)

// FactFormat is how a file of facts is written; the zero value goes by the
// file's name.
type FactFormat = store.Format

// The formats of fact files.
const (
	AutoFacts    = store.FormatAuto
	TSVFacts     = store.TSV
	CSVFacts     = store.CSV
	ParquetFacts = store.Parquet
)

// FactFile ties a file or a reader to a predicate, with all there is to say of
// its layout.
type FactFile = store.Fact

// ParseFact reads the form PRED=FILE or PRED=FILE(column, ...) of --fact.
func ParseFact(text string) (FactFile, error) { return store.ParseFact(text) }

// Facts says where the facts of a run come from. It only names them: Load reads
// them. The methods add a source and return the Facts, so that they chain.
type Facts struct {
	dir     string
	allowed []string // folders of files that the program names
	files   []FactFile
	rows    []rowFacts
	columns []columnFacts
	records []arrowFacts
}

type rowFacts struct {
	pred string
	rows [][]any
}

type columnFacts struct {
	pred   string
	slices []any
}

type arrowFacts struct {
	pred   string
	record arrow.RecordBatch
}

// NewFacts returns no facts.
func NewFacts() *Facts { return &Facts{} }

// Dir names the folder whose files PRED.tsv, .csv and .parquet hold facts. A
// folder is taken after everything else, for predicates that have no other source.
func (f *Facts) Dir(dir string) *Facts { f.dir = dir; return f }

// File ties a file to a predicate, in the format that its name says. The
// predicate may also be the part before the colon of several, which then are
// columns of the file.
func (f *Facts) File(pred, path string) *Facts { return f.Add(FactFile{Pred: pred, Path: path}) }

// Reader ties what r yields, until its end, to a predicate. It is read once.
func (f *Facts) Reader(pred string, format FactFormat, r io.Reader) *Facts {
	return f.Add(FactFile{Pred: pred, Path: "<" + pred + ">", Format: format, Reader: r})
}

// Add ties a file to a predicate with explicit layout.
func (f *Facts) Add(file FactFile) *Facts { f.files = append(f.files, file); return f }

// Rows adds tuples of Go values to a predicate: ints of any size, floats, strings,
// bools, Decimal, WideDecimal, time.Time, or text that reads as the column's type.
func (f *Facts) Rows(pred string, rows ...[]any) *Facts {
	f.rows = append(f.rows, rowFacts{pred, rows})
	return f
}

// Columns adds tuples to a predicate that lie in one slice for each argument, all of one
// length: of integers of any size, floats, bools, strings or time.Time. It is the
// fastest way for facts that are in memory. The slices must not change afterwards.
func (f *Facts) Columns(pred string, slices ...any) *Facts {
	f.columns = append(f.columns, columnFacts{pred, slices})
	return f
}

// Arrow adds a record's rows to a predicate, columns by position.
func (f *Facts) Arrow(pred string, record arrow.RecordBatch) *Facts {
	f.records = append(f.records, arrowFacts{pred, record})
	return f
}

// predicates returns the names that facts were tied to one by one.
func (f *Facts) predicates() []string {
	var out []string
	for _, x := range f.files {
		out = append(out, x.Pred)
	}
	for _, x := range f.rows {
		out = append(out, x.pred)
	}
	for _, x := range f.columns {
		out = append(out, x.pred)
	}
	for _, x := range f.records {
		out = append(out, x.pred)
	}
	return out
}

// LoadProgress is how far the reading of a file is.
type LoadProgress = store.Progress

// LoadOptions says how to read facts.
type LoadOptions struct {
	Threads int  // 0 means all cores
	Header  bool // text files name their columns in the first line
	// SkipMalformed leaves malformed rows out and counts them in the Database's
	// report, instead of refusing the file.
	SkipMalformed bool
	Memory        int64 // bound in bytes for the facts; 0 means none
	// Predicates are read even if no rule uses them.
	Predicates []string
	// Progress, if set, is called now and then from one goroutine at a time.
	Progress func(LoadProgress)
}

// LoadReport says what was read.
type LoadReport = store.Report

// Database is loaded facts, ready for programs that agree on the types of their
// predicates. It is immutable and safe for concurrent use.
type Database struct {
	store  *store.Database
	report *LoadReport
	bytes  int64 // of columns
	text   int64 // bytes of dictionaries
	time   time.Duration
	print  string

	prefetch *prefetch.Prefetch // copies columns to a GPU; nil if no run takes one
	keepers  pool.Keepers

	cataloguing sync.Once
	known       *stats.Catalog // what catalog returns

	digesting sync.Once
	content   string // what digest returns
}

// Report says what was read of each file.
func (db *Database) Report() *LoadReport { return db.report }

// Bytes returns the size of the columns in memory.
func (db *Database) Bytes() int64 { return db.bytes }

// size returns what the choice of an engine depends on.
func (db *Database) size() machine.Size {
	if db == nil {
		return machine.Size{}
	}
	s := machine.Size{Bytes: db.bytes}
	for _, t := range tablesOf(db.store) {
		s.Rows += t.Rows
	}
	return s
}

// held returns what a run counts of the facts against its bound: columns and dictionaries.
func (db *Database) held() int64 {
	if db == nil {
		return 0
	}
	return db.bytes + db.text
}

// Load reads the facts that the program uses into columns. A malformed row, and
// a functional predicate with two values for a key, is a *ProgramError that says
// where it stands.
func (p *Program) Load(ctx context.Context, facts *Facts, opts LoadOptions) (*Database, error) {
	return p.load(ctx, facts, opts, nil)
}

// LoadFor loads facts as Load does, using opts.Load, for runs with the options. If
// these take a GPU, columns are copied to it while others are still being read, as
// long as its memory has room. The copying goes on after LoadFor has returned.
func (p *Program) LoadFor(ctx context.Context, facts *Facts, opts RunOptions) (*Database, error) {
	return loadFor(ctx, process, p, facts, opts)
}

// loadFor loads facts for runs in a pool.
func loadFor(ctx context.Context, engines *pool.Pool, p *Program, facts *Facts, opts RunOptions) (*Database, error) {
	selected, err := p.selection(engines.Machine, opts)
	if err != nil {
		return nil, err
	}
	load := opts.Load
	load.Threads = cmp.Or(load.Threads, opts.Threads)
	load.Memory = cmp.Or(load.Memory, opts.Memory)
	if engines.Closed() {
		return nil, pool.ErrClosed
	}
	copies := prefetch.New(engines, selected, p.fusing, opts.Trace)
	db, err := p.load(ctx, facts, load, copies)
	if err != nil {
		copies.Stop()
		return nil, err
	}
	if copies != nil {
		chosen, _ := selected.Choose(db.size()) // an error is the run's to return
		copies.Finish(db.store, chosen)
		db.prefetch = copies
	}
	return db, nil
}

// load loads facts, whose columns copies gets as they are read.
func (p *Program) load(ctx context.Context, facts *Facts, opts LoadOptions, copies *prefetch.Prefetch) (_ *Database, err error) {
	defer failure.Recover("the loader", &err)
	start := time.Now()
	schemas := p.schemas()
	if err := checkFactNames(facts, schemas, p); err != nil {
		return nil, err
	}
	files := slices.Clone(facts.files)
	imports, err := p.imports(facts)
	if err != nil {
		return nil, err
	}
	files = append(files, imports...)
	so := store.Options{Threads: opts.Threads, Header: opts.Header, Progress: opts.Progress}
	if opts.Memory > 0 {
		held := &reservation{bound: opts.Memory}
		so.Reserve, so.Bound = held.take, opts.Memory
	}
	if opts.SkipMalformed {
		so.OnError = store.Skip
	}
	binding, err := store.Bind(schemas, facts.dir, files, so)
	if err != nil {
		return nil, loadError(ctx, err)
	}
	needed, plan, err := p.needed(append(facts.predicates(), opts.Predicates...))
	if err != nil {
		return nil, err
	}
	restrict(binding, needed)
	if copies != nil {
		copies.Plan(plan)
		so.Column = copies.Column
	}
	db, report, err := store.Load(ctx, binding, so)
	if err != nil {
		return nil, loadError(ctx, err)
	}
	if err := addRows(db, schemas, facts); err != nil {
		return nil, err
	}
	nameTables(db)
	out := &Database{store: db, report: report, time: time.Since(start)}
	dicts := map[*store.Dict]bool{}
	for _, t := range tablesOf(db) {
		for _, c := range t.Columns {
			out.bytes += c.Bytes()
			if c.Dict != nil && !dicts[c.Dict] {
				dicts[c.Dict] = true
				out.text += c.Dict.Bytes()
			}
		}
	}
	out.print = fingerprint(out.catalog())
	return out, nil
}

// reservation bounds what the loader holds.
type reservation struct {
	bound, held int64
}

func (r *reservation) take(what string, n int64) error {
	if n > 0 && r.held+n > r.bound {
		err := &runtime.MemoryError{What: what, Want: n, Held: r.held, Bound: r.bound, Loading: true}
		return &EnvironmentError{Message: err.Error(), Err: err}
	}
	r.held += n
	return nil
}

// schemas returns what the loader must know of the program's inputs.
func (p *Program) schemas() []store.Schema {
	var out []store.Schema
	for _, v := range p.plan.Vars {
		if v.Kind != queryplan.Input {
			continue
		}
		// An input of another name than its source is a part of a predicate that also
		// has facts in the program.
		s := store.Schema{Name: v.Source, Keys: v.Keys, Optional: v.Name != v.Source}
		for _, c := range v.Cols {
			s.Args = append(s.Args, store.Field{Name: c.Joined().Name, Type: c.Type})
		}
		out = append(out, s)
	}
	return out
}

// checkFactNames refuses facts for predicates that the program does not have or
// that it derives.
func checkFactNames(facts *Facts, schemas []store.Schema, p *Program) error {
	var names []string
	for _, s := range schemas {
		names = append(names, s.Name)
	}
	derived := map[string]bool{}
	for _, q := range p.Predicates() {
		if q.Derived {
			derived[q.Name] = true
		}
	}
	for _, name := range facts.predicates() {
		if slices.Contains(names, name) ||
			slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, name+":") }) {
			continue
		}
		if derived[name] {
			return &EnvironmentError{
				Message: fmt.Sprintf("%s is derived by rules, so it can not be given facts", name),
				Help:    "give the facts to a predicate of their own and add a rule that copies it",
			}
		}
		help := "the program has no predicate that takes facts"
		if len(names) > 0 {
			help = suggestHelp(name, names)
		}
		return &EnvironmentError{Message: fmt.Sprintf("the program has no predicate %s", name), Help: help}
	}
	return nil
}

// needed returns the inputs that some output or check of the program reads, and
// the extra ones, and the plan that reads them. An extra predicate may be an input
// or a helper, whose inputs no output need read.
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

// restrict leaves out of a binding what is not needed.
func restrict(b *store.Binding, needed map[string]bool) {
	sources := b.Sources[:0]
	for _, s := range b.Sources {
		s.Uses = slices.DeleteFunc(s.Uses, func(u store.Use) bool { return !needed[u.Schema.Name] })
		if len(s.Uses) > 0 {
			sources = append(sources, s)
		}
	}
	b.Sources = sources
}

// addRows puts the facts that come from Go values, slices and Arrow records.
func addRows(db *store.Database, schemas []store.Schema, facts *Facts) error {
	parts := map[string][]*store.Relation{}
	schema := func(pred string) store.Schema {
		i := slices.IndexFunc(schemas, func(s store.Schema) bool { return s.Name == pred })
		if i < 0 {
			return store.Schema{}
		}
		return schemas[i]
	}
	for _, f := range facts.rows {
		rel, err := relationOfRows(schema(f.pred), f.rows)
		if err != nil {
			return err
		}
		parts[f.pred] = append(parts[f.pred], rel)
	}
	for _, f := range facts.columns {
		rel, err := store.FromSlices(schema(f.pred), f.slices...)
		if err != nil {
			return loadError(context.Background(), err)
		}
		parts[f.pred] = append(parts[f.pred], rel)
	}
	for _, f := range facts.records {
		rel, err := store.FromArrow(schema(f.pred), f.record)
		if err != nil {
			return loadError(context.Background(), err)
		}
		parts[f.pred] = append(parts[f.pred], rel)
	}
	for _, s := range schemas {
		rels := parts[s.Name]
		if len(rels) == 0 {
			continue
		}
		if loaded := db.Relation(s.Name); loaded != nil && loaded.Rows() > 0 {
			rels = append(rels, loaded)
		}
		fromRows := slices.ContainsFunc(facts.rows, func(f rowFacts) bool { return f.pred == s.Name })
		if len(rels) == 1 && !fromRows {
			db.Put(rels[0]) // a set already
			continue
		}
		rel, err := store.Concat(s, rels...)
		if err != nil {
			return loadError(context.Background(), err)
		}
		db.Put(rel)
	}
	return nil
}

// nameTables gives the tables of a database short names that are unique, so that
// plans do not depend on where files lie.
func nameTables(db *store.Database) {
	taken := map[string]bool{}
	for _, t := range tablesOf(db) {
		base := filepath.Base(t.Name)
		for _, ext := range []string{".gz", ".zst", ".tsv", ".csv", ".parquet", ".pq"} {
			base = strings.TrimSuffix(base, ext)
		}
		name := base
		for i := 2; taken[name]; i++ {
			name = fmt.Sprintf("%s#%d", base, i)
		}
		taken[name] = true
		t.Name = name
	}
}

// tablesOf returns the tables of a database in order of first use.
func tablesOf(db *store.Database) []*store.Table {
	var out []*store.Table
	seen := map[*store.Table]bool{}
	for _, r := range db.Relations() {
		if !seen[r.Table] {
			seen[r.Table] = true
			out = append(out, r.Table)
		}
	}
	return out
}

// catalog describes the database to the optimiser.
func (db *Database) catalog() *stats.Catalog {
	if db == nil {
		return nil
	}
	db.cataloguing.Do(func() { db.known = catalogOf(db.store) })
	return db.known
}

func catalogOf(db *store.Database) *stats.Catalog {
	cat := &stats.Catalog{Relations: map[string]*stats.Relation{}, Tables: map[string]*stats.Table{}}
	for _, t := range tablesOf(db) {
		cat.Tables[t.Name] = tableStats(t)
	}
	for _, r := range db.Relations() {
		table := cat.Tables[r.Table.Name]
		if table.Key == nil && r.Keys < len(r.Cols) {
			table.Key = r.Cols[:r.Keys]
		}
		cat.Relations[r.Name] = &stats.Relation{Name: r.Name, Rows: int64(r.Rows()), Table: r.Table.Name, Cols: r.Cols}
	}
	return cat
}

func tableStats(t *store.Table) *stats.Table {
	sample := t.Sample()
	out := &stats.Table{Name: t.Name, Rows: int64(t.Rows), Sample: &stats.Sample{Rows: sample.Rows, Data: tableData{t}}}
	for i, c := range t.Columns {
		of := sample.Columns[i]
		col := stats.Column{Name: t.Names[i], Min: c.Stats.Min, Max: c.Stats.Max, Distinct: c.Stats.Distinct,
			Ascending: c.Stats.Ascending, Equal: of.Equal, Rising: of.Rising}
		for _, top := range of.Top {
			col.Top = append(col.Top, stats.Frequent{Value: c.ValueOf(top.Word), Share: top.Share})
		}
		out.Columns = append(out.Columns, col)
	}
	return out
}

// tableData lets the optimiser look up entries of a table.
type tableData struct{ table *store.Table }

func (d tableData) Value(column, row int) Value { return d.table.Columns[column].Value(row) }

func (d tableData) Find(column int, v Value) (from, until int) {
	return d.table.Columns[column].Find(v)
}

// fingerprint tells catalogs apart that may be planned differently. The most frequent
// words stand for the samples.
func fingerprint(cat *stats.Catalog) string {
	h := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(cat.Relations)) {
		fmt.Fprintln(h, *cat.Relations[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cat.Tables)) {
		t := cat.Tables[name]
		fmt.Fprintln(h, t.Name, t.Rows, t.Key, t.Columns)
	}
	return fmt.Sprintf("%x", h.Sum64())
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
	if errors.As(err, &env) {
		return env
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var bad *store.LoadError
	var key *store.KeyError
	var bind *store.BindError
	switch {
	case errors.As(err, &key):
		return &ProgramError{Diagnostics: []*Diagnostic{{Severity: diag.Error, Code: diag.KeyConflict, Message: key.Error(),
			Notes: []string{key.Predicate + " is a functional predicate: each key has one value"}}}}
	case errors.As(err, &bad):
		if missing(bad) {
			return &EnvironmentError{Message: bad.Error(), Err: err}
		}
		return &ProgramError{Diagnostics: []*Diagnostic{{Severity: diag.Error, Code: diag.BadFacts, Message: bad.Error()}}}
	case errors.As(err, &bind):
		return &EnvironmentError{Message: bind.Reason, Help: bind.Help, Err: err}
	}
	return &EnvironmentError{Message: err.Error(), Err: err}
}

// digest tells databases apart by all that they hold. The first call reads all columns.
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
