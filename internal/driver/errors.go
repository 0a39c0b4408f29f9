package driver

import (
	"errors"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/runtime"
)

// Diagnostic is one finding about a program or its data: a stable code, a
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
type EnvironmentError = failure.Environment

// InternalError is a bug of redfox.
type InternalError = failure.Internal

// IsOutOfMemory reports whether an error is that memory of the host or of a GPU
// is exhausted, or that a bound on it is reached.
func IsOutOfMemory(err error) bool {
	var memory *runtime.MemoryError
	return errors.As(err, &memory) || errors.Is(err, cuda.ErrOutOfMemory)
}
