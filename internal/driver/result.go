package driver

import (
	"context"
	"errors"
	"io"
	"iter"
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/redfoxdb/redfox/internal/govalue"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/scratch"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/answer"
	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/store/write"
)

// Result is the answer of a run: relations by predicate. It is immutable and
// safe for concurrent use.
type Result struct {
	Stats     Stats
	relations map[string]*relation
	names     []string
	owned     map[string]*answer.Relation // all tuples that the run returned
	failure   atomic.Pointer[error]
}

// relation is a predicate of a result.
type relation struct {
	*answer.Relation
	cols []Column
	keys int // leading columns that determine the rest
}

// KernelStats is the cost of one kernel in a run.
type KernelStats = runtime.KernelProfile

// SegmentStats is the cost of a part of a run.
type SegmentStats = runtime.SegmentProfile

// Reordering says that a rule was joined in another order from a round on.
type Reordering = runtime.Reordering

// DeviceStats is the cost of a run on a GPU beside its kernels.
type DeviceStats = runtime.DeviceProfile

// Origin says from where a run on a GPU knows how large its tables become.
type Origin = runtime.Origin

// The origins of sizes.
const (
	NoRun          = runtime.NoRun
	OtherFacts     = runtime.OtherFacts
	EarlierRun     = runtime.EarlierRun
	EarlierProcess = runtime.EarlierProcess
)

// Transfer is the amount and the time of copies between host and GPU.
type Transfer = runtime.Transfer

// Stats is the cost of a run.
type Stats struct {
	Engine  string
	Load    time.Duration // reading facts
	Plan    time.Duration // optimising; next to nothing when the plan was at hand
	Compile time.Duration // making code; 0 when it was at hand
	Run     time.Duration
	Peak    int64 // bytes of facts, relations and indexes, on the host
	Dropped int64 // decimals that did not fit their type, so that their atom was false
	// Kernels is the cost of each kernel, if a profile was asked for and the
	// engine runs kernels.
	Kernels []KernelStats
	// Segments are the parts of a run that several engines shared, in order.
	Segments []SegmentStats
	// Reordered are the rules of recursions whose joins have got another order
	// in the midst of the run, because relations have grown.
	Reordered []Reordering
	// Spill is what the run kept in a file; nil if it fit its memory.
	Spill *SpillStats
	// Cache is what the GPU holds for EngineMixed; nil for other engines.
	Cache *CacheStats
	// Late are columns of strings that were read for the rows of the answer.
	Late []LateRead
	// Device is the cost on a GPU; nil for other engines.
	Device  *DeviceStats
	plan    *queryplan.Plan
	profile []runtime.CommandProfile
	target  string // that kernels were made for; "" if there are none
}

// LateRead describes the reading of a column for the rows of an answer.
type LateRead = facts.LateRead

// CacheStats says which columns of facts a GPU holds for EngineMixed.
type CacheStats = runtime.CacheProfile

// CachedColumn is a column of facts whose first rows a GPU holds.
type CachedColumn = runtime.CachedColumn

// SpillStats says what a run kept in a file.
type SpillStats = runtime.SpillProfile

// Fills lists the predicates that a block of the plan adds tuples to.
// KernelStats names blocks.
func (s Stats) Fills(block string) []string {
	var out []string
	if s.plan == nil {
		return nil
	}
	for _, b := range s.plan.Blocks {
		for _, c := range b.Cmds {
			if c, ok := c.(*queryplan.Insert); ok && b.Name == block &&
				!slices.Contains(out, c.Var.Name) {
				out = append(out, c.Var.Name)
			}
		}
	}
	return out
}

// add adds a predicate.
func (r *Result) add(name string, x *answer.Relation, cols []Column, keys int) {
	r.relations[name] = &relation{x, cols, keys}
	r.names = append(r.names, name)
}

// Fetch copies the tuples of a resident run from the GPU. Methods that need
// tuples copy them as well, but cannot all return an error. A predicate is
// copied once.
func (r *Result) Fetch(ctx context.Context) error {
	for _, name := range r.names {
		if err := r.relations[name].Fetch(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Err returns the error with which Rows or Tuples failed to copy tuples from
// the GPU; nil if there was none.
func (r *Result) Err() error {
	if err := r.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Release frees tuples on the GPU that were not copied. They are lost.
func (r *Result) Release() {
	for _, x := range r.owned {
		x.Release()
	}
}

// releaseAtEnd releases what is pending when nothing refers to the result.
func (r *Result) releaseAtEnd() {
	var list []runtime.Pending
	for _, x := range r.owned {
		if p := x.Pending(); p != nil {
			list = append(list, p)
		}
	}
	if list == nil {
		return
	}
	goruntime.AddCleanup(r, func(list []runtime.Pending) {
		for _, p := range list {
			p.Release()
		}
	}, list)
}

// Predicates returns the names of the result's relations in the program's
// order.
func (r *Result) Predicates() []string { return slices.Clone(r.names) }

// Has reports whether the result holds a predicate.
func (r *Result) Has(pred string) bool { return r.relations[pred] != nil }

// Check returns the error of asking for a predicate that the result does not
// hold.
func (r *Result) Check(pred string) error {
	if r.Has(pred) {
		return nil
	}
	return r.missing(pred)
}

// Columns returns the columns of a predicate; nil if the result does not hold
// it.
func (r *Result) Columns(pred string) []Column {
	if x := r.relations[pred]; x != nil {
		return x.cols
	}
	return nil
}

// Keys returns how many leading columns of a predicate determine the rest: all
// if it is no function.
func (r *Result) Keys(pred string) int {
	if x := r.relations[pred]; x != nil {
		return x.keys
	}
	return 0
}

// Len returns the number of tuples of a predicate, which takes no copying.
func (r *Result) Len(pred string) int64 {
	if x := r.relations[pred]; x != nil {
		return x.Rows()
	}
	return 0
}

// errDone ends an iteration early.
var errDone = errors.New("done")

// Rows yields the tuples of a predicate, sorted, as Go values: int64, uint64,
// float64, bool, string, Decimal and time.Time. It yields nothing for a
// predicate that the result does not hold, or whose tuples cannot be copied
// from the GPU; then Err returns the reason.
func (r *Result) Rows(pred string) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for tuple := range r.Tuples(pred) {
			row := make([]any, len(tuple))
			for i, v := range tuple {
				row[i] = govalue.Of(v)
			}
			if !yield(row) {
				return
			}
		}
	}
}

// Tuples yields the tuples of a predicate, sorted, as Rows does. The slice is
// used again.
func (r *Result) Tuples(pred string) iter.Seq[[]Value] {
	return func(yield func([]Value) bool) {
		if !r.Has(pred) {
			return
		}
		err := r.Each(pred, func(tuple []Value) error {
			if !yield(tuple) {
				return errDone
			}
			return nil
		})
		if err != nil && !errors.Is(err, errDone) {
			r.failure.CompareAndSwap(nil, &err)
		}
	}
}

// Each calls f with the tuples of a predicate, sorted, until f returns an
// error, which Each then returns. The slice is used again.
func (r *Result) Each(pred string, f func([]Value) error) error {
	x := r.relations[pred]
	if x == nil {
		return r.missing(pred)
	}
	if err := x.Fetch(context.Background()); err != nil {
		return err
	}
	columns := x.Columns()
	if len(columns) == 0 { // a flag: true is one empty tuple
		if x.Rows() > 0 {
			return f([]Value{})
		}
		return nil
	}
	words, tuple := make([]Value, len(columns)), make([]Value, len(x.cols))
	out, err := x.Output(context.Background())
	if err != nil {
		return err
	}
	return out.Each(func(block [][]int64, n int) error {
		for i := range n {
			for c, column := range columns {
				words[c] = column.ValueOf(block[c][i])
			}
			tuple = scalar.AppendJoined(tuple[:0], words)
			if err := f(tuple); err != nil {
				return err
			}
		}
		return nil
	})
}

// Arrow returns a predicate's tuples, sorted, as one Arrow record. The caller
// releases it.
func (r *Result) Arrow(pred string) (arrow.RecordBatch, error) {
	x := r.relations[pred]
	if x == nil {
		return nil, r.missing(pred)
	}
	out, err := x.Output(context.Background())
	if err != nil {
		return nil, err
	}
	return write.ToArrow(out)
}

// Format is a format of results.
type Format = write.Format

// The output formats.
const (
	Table       = write.Table
	TSV         = write.TSV
	CSV         = write.CSV
	JSON        = write.JSON
	Parquet     = write.Parquet
	JSONLines   = write.JSONLines
	Arrow       = write.Arrow
	ArrowStream = write.ArrowStream
)

// ParseFormat returns the format of a name: table, tsv, csv, json, jsonl,
// parquet, arrow or arrows.
func ParseFormat(name string) (Format, error) { return write.ParseFormat(name) }

// FormatNamed returns the format that the ending of a file's name stands for,
// if there is one.
func FormatNamed(path string) (Format, bool) { return write.FormatNamed(path) }

// WriteOptions are the options of Write.
type WriteOptions struct {
	Header bool  // TSV and CSV: column names in the first line
	Limit  int64 // at most so many tuples; 0 means all
}

// Write writes a predicate's tuples, sorted, in a format.
func (r *Result) Write(w io.Writer, pred string, format Format, opts WriteOptions) error {
	x := r.relations[pred]
	if x == nil {
		return r.missing(pred)
	}
	out, err := x.Output(context.Background())
	if err != nil {
		return err
	}
	if opts.Limit > 0 && (out.Limit < 0 || out.Limit > opts.Limit) {
		out.Limit = opts.Limit
	}
	return inMemory(x, out, func(out *write.Output) error {
		return write.Rows(w, out, format, write.Options{Header: opts.Header})
	})
}

// inMemory calls do with the output of a relation, sorted in bounded memory.
func inMemory(x *relation, out *write.Output, do func(*write.Output) error) error {
	err := x.InMemory(out, do)
	var file *scratch.Error
	if errors.As(err, &file) {
		return spillFailure(file)
	}
	return err
}

// WriteDatabase writes predicates, sorted, as tables of the given names to the
// path of an empty file, which becomes an SQLite database.
func (r *Result) WriteDatabase(ctx context.Context, path string, preds, names []string) error {
	var tables []write.DatabaseTable
	for i, pred := range preds {
		x := r.relations[pred]
		if x == nil {
			return r.missing(pred)
		}
		rows := func(to func(*write.Output) error) error {
			out, err := x.Output(ctx)
			if err != nil {
				return err
			}
			return inMemory(x, out, to)
		}
		tables = append(tables, write.DatabaseTable{Name: names[i], Rows: rows})
	}
	return write.Database(ctx, path, tables)
}

// WriteFile writes a predicate as Write does, to a file that appears only when
// it is complete.
func (r *Result) WriteFile(path, pred string, format Format, opts WriteOptions) error {
	err := write.File(path, func(w io.Writer) error { return r.Write(w, pred, format, opts) })
	if err != nil {
		return fileError("write", path, err)
	}
	return nil
}

// Decimal is a value of a decimal type, as Rows yields it.
type Decimal = govalue.Decimal
