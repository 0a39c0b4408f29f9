package redfox

import (
	"errors"

	"github.com/redfoxdb/redfox/internal/driver"
)

// ProgramError is the error of a program or its data. At least one of its
// diagnostics is an error.
type ProgramError struct {
	Diagnostics []Diagnostic
}

// Error returns the text of the diagnostics, as the command prints them.
func (e *ProgramError) Error() string {
	var found []*driver.Diagnostic
	for _, d := range e.Diagnostics {
		if d.found != nil {
			found = append(found, d.found)
		}
	}
	return (&driver.ProgramError{Diagnostics: found}).Error()
}

// EnvironmentError is the error of the machine or of the call: a file that is
// missing, memory that is exhausted, an engine that the machine lacks, a name
// that a result does not hold.
type EnvironmentError struct {
	Message string
	Help    string // what to do next; may be empty
	Err     error  // the cause, or nil
}

// Error returns the message and the advice.
func (e *EnvironmentError) Error() string {
	if e.Help == "" {
		return e.Message
	}
	return e.Message + "; " + e.Help
}

// Unwrap returns the cause.
func (e *EnvironmentError) Unwrap() error { return e.Err }

// OutOfMemory reports whether memory of the host or of a GPU is exhausted, or a
// bound on it is reached.
func (e *EnvironmentError) OutOfMemory() bool { return driver.IsOutOfMemory(e.Err) }

// InternalError is a bug of redfox. A report of it needs all of its fields.
type InternalError struct {
	Phase string // where it happened
	Err   error
	Stack string // of the panic, if it was one
	Dump  string // what the phase worked on, if a report of the bug needs it
}

// Error names the phase that failed.
func (e *InternalError) Error() string { return "internal error in " + e.Phase + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *InternalError) Unwrap() error { return e.Err }

// Diagnostic is one finding about a program or its data. Errors and programs
// hold diagnostics; a program has no reason to make one.
type Diagnostic struct {
	Severity string // "error", "warning" or "note"
	Code     string // a stable name of the finding, "RF0101"; redfox explain describes it
	Name     string // the code in words, "UnboundVariable"
	Message  string
	Place    Place    // in the program or in a file of facts
	Notes    []string // reasons
	Helps    []string // advice
	found    *driver.Diagnostic
}

// String returns the text of the diagnostic with the lines of the program that
// it is about, as the command prints it.
func (d Diagnostic) String() string {
	return (&ProgramError{Diagnostics: []Diagnostic{d}}).Error()
}

// Place is a place in a file. Lines and columns count from 1; 0 stands for the
// file, or the line, as a whole.
type Place struct {
	File         string
	Line, Column int
}

// diagnostics returns what the driver has found.
func diagnostics(found []*driver.Diagnostic) []Diagnostic {
	var out []Diagnostic
	for _, d := range found {
		x := Diagnostic{Severity: d.Severity.String(), Code: d.Code.ID, Name: d.Code.Name,
			Message: d.Message, Notes: d.Notes, Helps: d.Helps, found: d}
		if d.Span.IsValid() {
			at := d.Span.Position()
			x.Place = Place{at.File, at.Line, at.Column}
		} else {
			x.Place = Place{d.Data.File, int(d.Data.Line), int(d.Data.Column)}
		}
		out = append(out, x)
	}
	return out
}

// public returns an error of the driver as an error of this package. Others,
// such as the cause of a context, stay as they are.
func public(err error) error {
	switch err.(type) {
	case nil, *ProgramError, *EnvironmentError, *InternalError:
		return err // whose cause may be an error of the driver
	}
	var program *driver.ProgramError
	var environment *driver.EnvironmentError
	var internal *driver.InternalError
	switch {
	case errors.As(err, &program):
		return &ProgramError{Diagnostics: diagnostics(program.Diagnostics)}
	case errors.As(err, &environment):
		return &EnvironmentError{Message: environment.Message, Help: environment.Help,
			Err: environment.Err}
	case errors.As(err, &internal):
		return &InternalError{Phase: internal.Phase, Err: internal.Err, Stack: internal.Stack,
			Dump: internal.Dump}
	}
	return err
}
