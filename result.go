package redfox

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Result is the answer of a run: relations by predicate. It is immutable and
// safe for concurrent use. Asking for a predicate that it does not hold is an
// *EnvironmentError; RunOptions.Outputs says what a result holds.
type Result struct {
	Stats   Stats
	result  *driver.Result
	program *driver.Program // that was run; nil for a transaction
}

// Stats is the cost of a run.
type Stats struct {
	Engine  string        // the engine that ran
	Load    time.Duration // reading facts
	Plan    time.Duration // optimising; next to nothing when the plan was at hand
	Compile time.Duration // making code; 0 when it was at hand
	Run     time.Duration
	Peak    int64 // bytes of facts, relations and indexes, on the host
	Dropped int64 // decimals that did not fit their type, so that their atom was false
}

func newResult(r *driver.Result, p *driver.Program) *Result {
	if r == nil {
		return nil
	}
	s := r.Stats
	return &Result{result: r, program: p, Stats: Stats{Engine: s.Engine, Load: s.Load, Plan: s.Plan,
		Compile: s.Compile, Run: s.Run, Peak: s.Peak, Dropped: s.Dropped}}
}

// check returns the error of asking for a predicate that the result does not
// hold.
func (r *Result) check(pred string) error {
	err := r.result.Check(pred)
	if err == nil || r.program == nil {
		return public(err)
	}
	for _, p := range r.program.Predicates() {
		if p.Name == pred {
			return &EnvironmentError{Message: "the result does not hold " + pred,
				Help: "name it in RunOptions.Outputs"}
		}
	}
	return public(err)
}

// Predicates returns the names of the result's predicates in the program's
// order.
func (r *Result) Predicates() []string { return r.result.Predicates() }

// Columns returns the columns of a predicate.
func (r *Result) Columns(pred string) ([]Column, error) {
	if err := r.check(pred); err != nil {
		return nil, err
	}
	return columns(r.result.Columns(pred)), nil
}

// Len returns the number of tuples of a predicate, which copies nothing from a
// GPU.
func (r *Result) Len(pred string) (int64, error) {
	if err := r.check(pred); err != nil {
		return 0, err
	}
	return r.result.Len(pred), nil
}

// Rows yields the tuples of a predicate, sorted, as Go values: int64, uint64,
// float64, bool, string, Decimal and time.Time. An error ends the sequence. All
// yields structs in place of slices.
func (r *Result) Rows(pred string) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		for tuple, err := range r.tuples(pred) {
			if err != nil {
				yield(nil, err)
				return
			}
			row := make([]any, len(tuple))
			for i, v := range tuple {
				row[i] = goValue(v)
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// errStop ends an iteration early.
var errStop = errors.New("stop")

// tuples yields the tuples of a predicate, sorted. The slice is used again.
func (r *Result) tuples(pred string) iter.Seq2[[]scalar.Value, error] {
	return func(yield func([]scalar.Value, error) bool) {
		if err := r.check(pred); err != nil {
			yield(nil, err)
			return
		}
		err := r.result.Each(pred, func(tuple []scalar.Value) error {
			if !yield(tuple, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, public(err))
		}
	}
}

// Arrow returns a predicate's tuples, sorted, as one Arrow record. The caller
// releases it.
func (r *Result) Arrow(pred string) (arrow.RecordBatch, error) {
	if err := r.check(pred); err != nil {
		return nil, err
	}
	record, err := r.result.Arrow(pred)
	return record, public(err)
}

// Fetch copies the tuples of a resident run from the GPU. Methods that need
// tuples copy them as well. A predicate is copied once.
func (r *Result) Fetch(ctx context.Context) error { return public(r.result.Fetch(ctx)) }

// Release frees tuples on the GPU that were not copied. They are lost. A result
// that is garbage is released, too.
func (r *Result) Release() { r.result.Release() }

// Format is a format of facts and results.
type Format string

// The formats. Facts are in all but Table; JSON lines are read as JSON, and
// Arrow streams as Arrow, which is written as a file. AutoFormat derives the
// format from the name of the file. Table is aligned text to look at.
const (
	AutoFormat Format = ""
	TSV        Format = "tsv"
	CSV        Format = "csv"
	Parquet    Format = "parquet"
	JSON       Format = "json"
	JSONLines  Format = "jsonl"
	Arrow      Format = "arrow"
	Table      Format = "table"
)

// WriteOptions are the options of Write and WriteFile.
type WriteOptions struct {
	Header bool  // TSV and CSV: column names in the first line
	Limit  int64 // at most so many tuples; 0 means all
}

// Write writes a predicate's tuples, sorted, in a format.
func (r *Result) Write(w io.Writer, pred string, format Format, opts WriteOptions) error {
	f, err := r.format(pred, format)
	if err != nil {
		return err
	}
	return public(r.result.Write(w, pred, f, driver.WriteOptions(opts)))
}

// WriteFile writes a predicate as Write does, to a file that appears only when
// it is complete.
func (r *Result) WriteFile(path, pred string, format Format, opts WriteOptions) error {
	f, err := r.format(pred, format)
	if err != nil {
		return err
	}
	return public(r.result.WriteFile(path, pred, f, driver.WriteOptions(opts)))
}

// format returns the format in which a predicate is written.
func (r *Result) format(pred string, format Format) (driver.Format, error) {
	f, err := driver.ParseFormat(string(format))
	if err != nil {
		return f, &EnvironmentError{Message: err.Error(), Err: err}
	}
	return f, r.check(pred)
}
