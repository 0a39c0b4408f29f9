package read

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/scratch"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/rfdb"
)

// Format is the format of a file.
type Format uint8

// The formats. FormatAuto derives the format from the extension, in any case:
// .tsv, .csv, .json, .jsonl or .ndjson, which .gz or .zst may follow; .parquet
// or .pq; .arrow, .arrows, .feather or .ipc; .sqlite, .sqlite3 or .db; .rfdb.
// Anything else is TSV.
const (
	FormatAuto Format = iota
	TSV
	CSV
	Parquet
	JSON   // objects, in an array or one after the other
	Arrow  // a file or a stream of records
	SQLite // a table of a database
	RFDB   // a table of a database of redfox
)

var formatNames = [...]string{"auto", "tsv", "csv", "parquet", "json", "arrow", "sqlite", "rfdb"}

// String returns the format's name as file names and flags have it.
func (f Format) String() string { return formatNames[f] }

// Source is a file and the predicates that it fills. Bind makes sources; Load
// reads each once.
type Source struct {
	Path   string
	Reader io.Reader // read instead of the file, when not nil; Path is its name in errors
	// Open opens the file; nil is os.Open.
	Open      func(context.Context) (File, error)
	Format    Format   // never FormatAuto
	Delimiter byte     // between the fields of a text file
	Header    bool     // the first record of a text file names the columns
	named     []string // the names of columns that go by place
	Columns   []string // names of the file's columns; nil when they have none
	Arity     int      // columns of the file
	Uses      []Use

	parts []part // columns from the names of folders

	// database is the path of an SQLite database, of which table is read. Path
	// names both.
	database, table string

	// stored is a database of redfox. Its table storedTable is read, which has
	// storedRows rows. storedAs has the names of the predicates in the
	// database.
	stored      *rfdb.File
	storedTable int
	storedRows  int64
	storedAs    map[string]string

	// distrusted means that statistics of row groups have turned out to be
	// wrong.
	distrusted bool
	// unsorted means that keys have turned out not to be in order.
	unsorted bool
	// leastEncoded is the least number of rows of a file whose columns stay
	// encoded; 0 means that none do.
	leastEncoded int64

	// footer is the footer of a Parquet file, which Bind reads and Load reuses,
	// because reading the footer of a long file takes as long as reading many
	// columns.
	footer *parquet.Footer
}

// Use is one predicate that a source fills.
type Use struct {
	Schema store.Schema
	// Columns holds, for each argument, the number of the file's column from 0,
	// or -1 for the byte offset of the record.
	Columns []int
	// Unread holds, for each argument, whether nobody reads it. Nil means that
	// all may be read.
	Unread []bool
	// Tests holds, for each argument, what a row must pass to be wanted. Nil
	// means that all rows are wanted.
	Tests []*Test
	// Partners holds, for each argument, the arguments that it is joined with.
	// Nil means that there are none.
	Partners [][]Partner
	// Computed holds, for each argument, whether readers only compute with it,
	// so that its distinct values need not be counted. Nil means none.
	Computed []bool
	// Shown holds, for each argument, whether it has strings that readers only
	// output. Nil means that readers may compare all.
	Shown []bool
}

// Policy is the treatment of malformed rows.
type Policy uint8

// The policies: Stop refuses the file at its first malformed row; Skip leaves
// malformed rows out and reports them.
const (
	Stop Policy = iota
	Skip
)

// Options governs Bind and Load. The zero value is ready for use.
type Options struct {
	Threads int    // goroutines that parse; 0 is GOMAXPROCS
	OnError Policy // of malformed rows
	Header  bool   // text files have a header, unless a Fact says otherwise
	// NoHeader means that a text has no header, even if the first line looks
	// like one.
	NoHeader  bool
	Delimiter byte // of text files whose Fact has none; 0 is the format's own
	// Null is the field of a text file that stands for a missing value. Nil is
	// the empty field without quotes.
	Null *string
	// MissingEmpty takes a file that the program names, and that is not there,
	// as a file without rows.
	MissingEmpty bool
	// Derived are predicates that rules derive. Their files in a folder of
	// facts are not used, and a note says why.
	Derived []string
	// Reserve is called with the bytes of memory before it is allocated (n > 0)
	// and when it is garbage (n < 0). Its error ends the load; what is the
	// subject of the message. Nil allows everything.
	Reserve func(what string, n int64) error
	// Bound is the total number of bytes that Reserve allows; 0 means no bound.
	// A load under a small bound has fewer pieces of a file in flight.
	Bound int64
	// Spill is a folder. If memory is scarce, entries of columns are placed in
	// an unnamed file there, whose pages the system can evict. "" keeps
	// everything in memory.
	Spill string
	// Progress is called now and then, from one goroutine at a time, and at the
	// end of each file.
	Progress func(Progress)
	// Column, if not nil, is called from several goroutines with the column of
	// a predicate's argument as soon as it is complete, while others are being
	// read. The loaded relation has another column instead if rows are removed
	// because they repeat or lack a value. Columns of a load that fails are
	// void.
	Column func(pred string, arg int, c *store.Column)

	// Proofs, if set, avoid reading keys of Parquet files only to prove that
	// they are unique.
	Proofs Proofs

	// SelectAlways is for tests. It leaves rows out even if that takes longer
	// than loading them.
	SelectAlways bool

	blockSize int // bytes of a text block; tests make it small

	pages *scratch.Pages // of Spill
	held  *atomic.Int64  // the bytes that Reserve has allowed; set with pages
}

// withSpill returns the options with the fields that Spill needs.
func (o Options) withSpill() Options {
	if o.Spill == "" || o.Reserve == nil {
		return o
	}
	reserve := o.Reserve
	o.pages, o.held = scratch.NewPages(o.Spill), &atomic.Int64{}
	o.Reserve = func(what string, n int64) error {
		err := reserve(what, n)
		if err == nil {
			o.held.Add(n)
		}
		return err
	}
	return o
}

// ledger returns a ledger that asks Reserve.
func (o *Options) ledger() *store.Ledger {
	g := store.NewLedger(o.Reserve, o.Bound)
	if o.pages != nil {
		g.SpillTo(o.pages, o.held.Load)
	}
	return g
}

// Progress is the progress of loading a file.
type Progress struct {
	File    string
	Rows    int64
	Bytes   int64 // read of the file
	Size    int64 // of the file in bytes; 0 when not known
	Elapsed time.Duration
	Done    bool
}

// Rate returns bytes a second.
func (p Progress) Rate() float64 {
	if p.Elapsed <= 0 {
		return 0
	}
	return float64(p.Bytes) / p.Elapsed.Seconds()
}

func (o *Options) threads() int { return parallel.Threads(o.Threads) }

func (o *Options) blockBytes() int {
	if o.blockSize > 0 {
		return o.blockSize
	}
	return 1 << 20
}

// inFlight sets the share of a bound for the pieces of a file that are being
// read: 1/inFlight.
const inFlight = 8

// readers returns the number of threads that read pieces of a file at once, if
// each takes the given bytes of memory.
func (o *Options) readers(bytes int64) int {
	threads := o.threads()
	if o.Bound > 0 {
		threads = int(min(int64(threads), max(1, o.Bound/inFlight/bytes)))
	}
	return threads
}

// FileReport describes the load of one file.
type FileReport struct {
	File       string
	Predicates []string
	Rows       int64 // read
	Bytes      int64 // read of the file
	Size       int64 // of a Parquet file
	Skipped    int64 // malformed rows left out
	Examples   []*LoadError
	Repeated   int64    // rows dropped because they repeat others in all columns that are used
	Selected   bool     // rows that fail the tests of plans were left out
	Kept       int64    // if Selected: the rows that are left
	Left       []string // columns that were left out, because nothing reads them
	Late       []string // columns of strings that are read for the rows of the answer
	// Groups is the number of row groups of a Parquet file, and GroupsLeft that
	// of the row groups that were not read, because they have no wanted row.
	// Pages is the number of pages of columns whose rows were selected, and
	// PagesLeft that of the pages that were not unpacked.
	Groups, GroupsLeft int
	Pages, PagesLeft   int
	// Blocks is the number of blocks of packed columns in a database whose rows
	// were selected, and BlocksLeft that of the blocks that were not unpacked.
	Blocks, BlocksLeft int
	Elapsed            time.Duration

	Encoded []string        // columns that stay encoded until they are decoded
	encoded []*store.Column // those

	note string // about the file; may be empty
}

// Undecoded returns the number of columns of the file that the host has not
// decoded. If a GPU needed them, it has decoded them.
func (f *FileReport) Undecoded() (n int) {
	for _, c := range f.encoded {
		if !c.IsDecoded() {
			n++
		}
	}
	return n
}

// AddExample adds an error of a row that was left out, unless there are enough.
func (f *FileReport) AddExample(e *LoadError) {
	if len(f.Examples) < maxExamples {
		f.Examples = append(f.Examples, e)
	}
}

// Report describes a load.
type Report struct {
	Files []FileReport
	Notes []string // what the user did not ask for but should know of the binding
	// Unmatched are the notes about predicates without a file, files without a
	// predicate, and headers that were read as facts.
	Unmatched []string
	Spilled   int64 // bytes that the file of Options.Spill has taken
}

// Load reads the files of a binding into a database. A predicate that has
// several files gets their union, one that has none an empty relation.
func Load(ctx context.Context, b *Binding, opts Options) (*store.Database, *Report, error) {
	opts = opts.withSpill()
	db := store.NewDatabase()
	report := &Report{Notes: slices.Clone(b.Notes), Unmatched: slices.Clone(b.Unmatched)}
	report.Files = make([]FileReport, len(b.Sources))
	loaded := make([][]*store.Relation, len(b.Sources))
	sets := newPartnerSets(opts.ledger())
	defer sets.ledger.Settle(0)
	order := b.loadingOrder()
	for len(order) > 0 {
		next := b.nextOf(order, sets)
		i := order[next]
		order = slices.Delete(order, next, next+1)
		with := opts
		isPart := b.IsPart(i)
		if isPart {
			with.Column = nil // the union has other columns
		}
		rels, fr, err := sets.tested(&b.Sources[i]).Load(ctx, with)
		if err != nil {
			return nil, report, err
		}
		loaded[i], report.Files[i] = rels, *fr
		if !isPart {
			sets.add(rels, fr, opts.SelectAlways)
		}
	}
	for _, f := range report.Files {
		if f.note != "" {
			report.Notes = append(report.Notes, f.note)
			report.Unmatched = append(report.Unmatched, f.note)
		}
	}
	for _, s := range b.Schemas {
		r, err := b.unite(s, loaded, opts)
		if err != nil {
			return nil, report, err
		}
		db.Put(r)
	}
	if opts.pages != nil {
		report.Spilled = opts.pages.Bytes()
	}
	return db, report, nil
}

// loadingOrder returns the numbers of the sources in the order in which they
// are loaded: those with the most bytes of strings first. While a dictionary is
// built, it takes several times the memory of its strings, and early on, fewer
// other columns are in memory.
func (b *Binding) loadingOrder() []int {
	order := make([]int, len(b.Sources))
	bytes := make([]int64, len(b.Sources))
	for i := range b.Sources {
		order[i], bytes[i] = i, b.Sources[i].stringBytes()
	}
	slices.SortStableFunc(order, func(a, c int) int { return cmp.Compare(bytes[c], bytes[a]) })
	return order
}

// stringBytes returns the bytes of the pages with strings that are loaded from
// a Parquet file, or 0 if they are not known.
func (s *Source) stringBytes() (bytes int64) {
	if s.footer == nil {
		return 0
	}
	used := map[int]bool{}
	for _, u := range s.Uses {
		for i, c := range u.Columns {
			if c >= 0 && u.Schema.Args[i].Type.Kind == scalar.String {
				used[c] = true
			}
		}
	}
	for _, g := range s.footer.Groups {
		for c := range g.Chunks {
			if used[c] {
				bytes += g.Chunks[c].Meta.Bytes
			}
		}
	}
	return bytes
}

// Load reads the source into one relation for each use, in their order.
func (s *Source) Load(ctx context.Context, opts Options) ([]*store.Relation, *FileReport, error) {
	rels, report, err := s.load(ctx, opts)
	if errors.Is(err, errUnsorted) {
		again := *s
		again.unsorted = true
		rels, report, err = again.load(ctx, opts)
	}
	if errors.Is(err, errUnread) {
		return s.whole().load(ctx, opts)
	}
	return rels, report, err
}

func (s *Source) load(ctx context.Context, opts Options) ([]*store.Relation, *FileReport, error) {
	if s.stored != nil {
		rels, report, err := s.loadStored(ctx, &opts)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else if key := new(KeyError); err != nil && !errors.As(err, &key) {
			err = fileError(s.Path, err)
		}
		return rels, report, err
	}
	l := &load{source: s, opts: &opts, started: time.Now(), report: &FileReport{File: s.Path},
		ledger: opts.ledger()}
	for _, u := range s.Uses {
		l.report.Predicates = append(l.report.Predicates, u.Schema.Name)
	}
	l.plan()
	if len(l.constants) > 0 { // columns that no file has are not tested, nor left out
		l.source = s.unasked()
	}
	err := l.read(ctx)
	if err == nil {
		err = l.addConstants(ctx)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.ledger.Fail(err)
		if ctx.Err() != nil {
			return nil, l.report, err
		}
		return nil, l.report, fileError(s.Path, err)
	}
	rels, err := l.finish(ctx)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		l.ledger.Fail(err)
		return nil, l.report, err
	}
	l.ledger.Settle(bytesOfTables(rels))
	l.report.Elapsed = time.Since(l.started)
	l.progress(true)
	return rels, l.report, nil
}

// textFormatOf returns the format of a text and its delimiter, where 0 asks for
// the format's own. TSV is separated by tabs; with anything else it is CSV.
func textFormatOf(f Format, delimiter byte) (Format, byte) {
	switch {
	case f == CSV && delimiter == 0:
		return CSV, ','
	case f == CSV, delimiter != 0 && delimiter != '\t':
		return CSV, delimiter
	}
	return TSV, '\t'
}

// endings are the extensions of files of facts. .gz or .zst may follow that of
// a text.
var endings = map[string]Format{".tsv": TSV, ".txt": TSV, ".csv": CSV, ".json": JSON,
	".jsonl": JSON, ".ndjson": JSON, ".parquet": Parquet, ".pq": Parquet, ".arrow": Arrow,
	".arrows": Arrow, ".feather": Arrow, ".ipc": Arrow, ".sqlite": SQLite, ".sqlite3": SQLite,
	".db": SQLite, rfdb.Extension: RFDB}

// isText reports whether files of the format are texts.
func (f Format) isText() bool { return f <= JSON && f != Parquet }

// formatOf returns the format that a file name implies.
func formatOf(path string) Format {
	_, f, ok := cutEnding(path)
	if !ok {
		return TSV
	}
	return f
}

// IsFactsName reports whether a name is that of a file of facts.
func IsFactsName(path string) bool {
	_, _, ok := cutEnding(path)
	return ok
}

// cutEnding cuts the extension of a file of facts off its path, and returns the
// format that it implies.
func cutEnding(path string) (stem string, f Format, ok bool) {
	if remote.Is(path) {
		path = remote.Name(path)
	}
	lower := strings.ToLower(path)
	text := strings.TrimSuffix(strings.TrimSuffix(lower, ".gz"), ".zst")
	end := filepath.Ext(text)
	f, ok = endings[end]
	if !ok || len(text) < len(lower) && !f.isText() {
		return path, FormatAuto, false
	}
	return path[:len(text)-len(end)], f, true
}
