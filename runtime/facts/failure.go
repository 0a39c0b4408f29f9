package facts

import (
	"errors"
	"io/fs"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/runtime/store/read"
)

// Failure returns the diagnostic of a load that failed because of the facts;
// nil for other errors.
func Failure(err error) *diag.Diagnostic {
	var bad *read.LoadError
	var key *read.KeyError
	var row *RowError
	var term *TermError
	switch {
	case errors.As(err, &key):
		return &diag.Diagnostic{Severity: diag.Error, Code: diag.KeyConflict,
			Data: diag.DataPlace(key.Place()), Message: key.Text(),
			Notes: []string{key.Predicate + " is a functional predicate: each key has one value"}}
	case errors.As(err, &bad) && !isAbsent(bad):
		return badFacts(bad)
	case errors.As(err, &row):
		return badFacts(row)
	case errors.As(err, &term):
		d := badFacts(term)
		d.Helps = []string{term.Err.Help()}
		return d
	}
	return nil
}

// isAbsent reports whether a file cannot be read at all.
func isAbsent(err *read.LoadError) bool {
	return errors.Is(err.Err, fs.ErrNotExist) || errors.Is(err.Err, fs.ErrPermission) ||
		remote.Failed(err.Err)
}

// badFacts is the diagnostic for facts that do not fit their predicate.
func badFacts(err error) *diag.Diagnostic {
	d := &diag.Diagnostic{Severity: diag.Error, Code: diag.BadFacts, Message: err.Error()}
	var bad *read.LoadError
	if errors.As(err, &bad) {
		d.Data, d.Message = diag.DataPlace(bad.Place()), bad.Text()
		if bad.Help != "" {
			d.Helps = []string{bad.Help}
		}
	}
	return d
}

// Lack returns the error of a load that failed for want of something.
func Lack(err error) *failure.Environment {
	var bad *read.LoadError
	var bind *read.BindError
	switch {
	case errors.As(err, &bad):
		return &failure.Environment{Message: bad.Error(), Help: bad.Help, Err: err}
	case errors.As(err, &bind):
		return &failure.Environment{Message: bind.Reason, Help: bind.Help, Err: err}
	}
	return &failure.Environment{Message: err.Error(), Err: err}
}
