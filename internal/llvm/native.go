//go:build (darwin || linux) && !android && (amd64 || arm64)

package llvm

import "github.com/ebitengine/purego"

// bind makes *function, a pointer to a variable of function type, call address.
func bind(function any, address uintptr) { purego.RegisterFunc(function, address) }

// NewCallback returns the address at which C can call a Go function whose
// parameters and result, if any, are integers or pointers. It is never freed.
func NewCallback(function any) uintptr { return purego.NewCallback(function) }

// Call calls a compiled function whose parameters and result are integers or
// pointers: at most 32, as the C calling convention passes them. Go objects
// whose addresses are converted to uintptr in the argument list stay where they
// are until the call returns. The goroutine keeps its thread during the call
// and does not hold up the collector.
//
// A call costs about as much as one through cgo, some dozens of nanoseconds, so
// compiled functions take a batch of rows and not one.
//
//go:uintptrescapes
func Call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}
