//go:build (darwin || linux) && !android && (amd64 || arm64)

package dynlib

import (
	goruntime "runtime"

	"github.com/ebitengine/purego"
)

// Supported says that libraries can be opened on this platform.
const Supported = true

// Open loads a shared library for the rest of the process. A global one
// resolves its symbols late and adds them to those of the process; any other at
// once, and for itself. What went wrong is kept for the thread, and a goroutine
// may change threads between the two calls that purego makes.
func Open(name string, global bool) (uintptr, error) {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	mode := purego.RTLD_NOW | purego.RTLD_LOCAL
	if global {
		mode = purego.RTLD_LAZY | purego.RTLD_GLOBAL
	}
	return purego.Dlopen(name, mode)
}

// Symbol returns the address of a function of a library, or 0.
func Symbol(library uintptr, name string) uintptr {
	address, err := purego.Dlsym(library, name)
	if err != nil {
		return 0
	}
	return address
}
