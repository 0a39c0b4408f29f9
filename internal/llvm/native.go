//go:build (darwin || linux) && !android && (amd64 || arm64)

package llvm

import (
	goruntime "runtime"

	"github.com/ebitengine/purego"
)

// supported says that libraries can be opened on this platform.
const supported = true

// openLibrary loads a shared library for the rest of the process. ORC looks its
// own support functions up among the process's symbols, hence RTLD_GLOBAL. What
// went wrong is kept for the thread, and a goroutine may change threads between
// the two calls that purego makes.
func openLibrary(name string) (uintptr, error) {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_LAZY|purego.RTLD_GLOBAL)
}

// symbol returns the address of a function of a library, or 0.
func symbol(library uintptr, name string) uintptr {
	address, err := purego.Dlsym(library, name)
	if err != nil {
		return 0
	}
	return address
}

// bind makes *function, a pointer to a variable of function type, call address.
func bind(function any, address uintptr) { purego.RegisterFunc(function, address) }

// NewCallback returns the address at which C can call a Go function whose
// parameters and result, if any, are integers or pointers. It is never freed.
func NewCallback(function any) uintptr { return purego.NewCallback(function) }

// Call calls a compiled function whose parameters and result are integers or
// pointers: at most 32, as the C calling convention passes them. Go objects whose
// addresses are converted to uintptr in the argument list stay where they are
// until the call returns. The goroutine keeps its thread during the call and does
// not hold up the collector.
//
// A call costs about as much as one through cgo, some dozens of nanoseconds, so
// compiled functions take a batch of rows and not one.
//
//go:uintptrescapes
func Call(function uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(function, args...)
	return result
}
