//go:build (darwin || linux) && !android && (amd64 || arm64)

package dynlib

import (
	goruntime "runtime"
	"unsafe"

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

// ProcessSymbol returns the address of a function of the process, or 0.
func ProcessSymbol(name string) uintptr { return Symbol(purego.RTLD_DEFAULT, name) }

// FileOf returns the path of the library that has the code at an address, as
// the dynamic linker names it, or "".
func FileOf(address uintptr) string {
	find := ProcessSymbol("dladdr")
	if find == 0 || address == 0 {
		return ""
	}
	var info struct { // Dl_info
		path    *byte
		_, _, _ uintptr
	}
	if ok, _, _ := purego.SyscallN(find, address, uintptr(unsafe.Pointer(&info))); int32(ok) == 0 {
		return ""
	}
	return Text(info.path)
}
