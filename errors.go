package redfox

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime"
)

// Diagnostic is one finding about a program or its data, with stable code,
// place, reasons and advice.
type Diagnostic = diag.Diagnostic

// ProgramError says that the program or its data is wrong. At least one of its
// diagnostics is an error.
type ProgramError struct {
	Diagnostics []*Diagnostic
}

// Error renders the diagnostics without colour.
func (e *ProgramError) Error() string {
	var b strings.Builder
	diag.Render(&b, e.Diagnostics, diag.RenderOptions{})
	return strings.TrimRight(b.String(), "\n")
}

// EnvironmentError says what the machine or the call lacks: a file, memory, an
// engine.
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

// IsOutOfMemory reports whether an error says that something needs more memory, of the
// host or of a GPU, than there is or than it may take.
func IsOutOfMemory(err error) bool {
	var memory *runtime.MemoryError
	return errors.As(err, &memory) || errors.Is(err, cuda.ErrOutOfMemory)
}

// InternalError is a bug of redfox.
type InternalError struct {
	Phase string // where it happened: "sema", "rewrite", "go engine"
	Err   error
	Stack string // of the panic, if it was one
	Dump  string // what the phase worked on, if a report of the bug needs it
}

// Error says that redfox is at fault and where.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error in %s: %v", e.Phase, e.Err)
}

// Unwrap returns the cause.
func (e *InternalError) Unwrap() error { return e.Err }
