//go:build linux && !android && (amd64 || arm64)

package cuda

import (
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/redfoxdb/redfox/internal/dynlib"
	"github.com/redfoxdb/redfox/internal/malloc"
)

// supported says that there can be a CUDA driver on this platform.
const supported = true

// openLibrary loads a shared library for the rest of the process.
func openLibrary(name string) (uintptr, error) {
	malloc.Limit()
	return dynlib.Open(name, false)
}

// setVariable sets a variable of the C library's environment, which Go and the
// processes that it starts do not see.
func setVariable(name, value string) {
	if set := setenv(); set != nil {
		set(name, value, 1)
	}
}

// setenv is the C library's function, which is looked for once: that waits for
// libraries that are being loaded.
var setenv = sync.OnceValue(func() (set func(name, value string, overwrite int32) int32) {
	if address, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv"); err == nil {
		purego.RegisterFunc(&set, address)
	}
	return set
})

// nap has the thread sleep. Go's own sleep wakes up a millisecond late when
// nothing else goes on in the process.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	syscall.Nanosleep(&t, nil) // a signal may cut it short
}

// bind makes *function, a pointer to a variable of function type, call address.
// Calls that are made for each launch or each step of a loop go straight to the
// address; purego's reflection would add a quarter of a microsecond to the
// short ones and two to a launch.
func bind(function any, address uintptr) {
	switch f := function.(type) {
	case *func(contextHandle) Code:
		*f = func(c contextHandle) Code { return call(address, uintptr(c)) }
	case *func(streamHandle) Code:
		*f = func(s streamHandle) Code { return call(address, uintptr(s)) }
	case *func(eventHandle) Code:
		*f = func(e eventHandle) Code { return call(address, uintptr(e)) }
	case *func(eventHandle, streamHandle) Code:
		*f = func(e eventHandle, s streamHandle) Code {
			return call(address, uintptr(e), uintptr(s))
		}
	case *func(graphExec, streamHandle) Code:
		*f = func(x graphExec, s streamHandle) Code { return call(address, uintptr(x), uintptr(s)) }
	case *func(functionHandle, Dim, Dim, uint32, streamHandle, *unsafe.Pointer) Code:
		// cuLaunchCooperativeKernel takes all words but the last.
		*f = func(k functionHandle, grid, block Dim, shared uint32, s streamHandle,
			params *unsafe.Pointer) Code {
			return call(address, uintptr(k), uintptr(grid.X), uintptr(grid.Y), uintptr(grid.Z),
				uintptr(block.X), uintptr(block.Y), uintptr(block.Z), uintptr(shared),
				uintptr(s), uintptr(unsafe.Pointer(params)), 0)
		}
	case *func(*Pointer, uint64, poolHandle, streamHandle) Code:
		*f = func(p *Pointer, bytes uint64, pool poolHandle, s streamHandle) Code {
			return call(address, uintptr(unsafe.Pointer(p)), uintptr(bytes), uintptr(pool),
				uintptr(s))
		}
	case *func(Pointer, streamHandle) Code:
		*f = func(p Pointer, s streamHandle) Code { return call(address, uintptr(p), uintptr(s)) }
	case *func(Pointer, *byte, uint64, streamHandle) Code:
		*f = func(to Pointer, from *byte, bytes uint64, s streamHandle) Code {
			return call(address, uintptr(to), uintptr(unsafe.Pointer(from)), uintptr(bytes),
				uintptr(s))
		}
	case *func(*byte, Pointer, uint64, streamHandle) Code:
		*f = func(to *byte, from Pointer, bytes uint64, s streamHandle) Code {
			return call(address, uintptr(unsafe.Pointer(to)), uintptr(from), uintptr(bytes),
				uintptr(s))
		}
	case *func(Pointer, Pointer, uint64, streamHandle) Code:
		*f = func(to, from Pointer, bytes uint64, s streamHandle) Code {
			return call(address, uintptr(to), uintptr(from), uintptr(bytes), uintptr(s))
		}
	case *func(Pointer, uint8, uint64, streamHandle) Code:
		*f = func(p Pointer, value uint8, n uint64, s streamHandle) Code {
			return call(address, uintptr(p), uintptr(value), uintptr(n), uintptr(s))
		}
	case *func(Pointer, uint32, uint64, streamHandle) Code:
		*f = func(p Pointer, value uint32, n uint64, s streamHandle) Code {
			return call(address, uintptr(p), uintptr(value), uintptr(n), uintptr(s))
		}
	default:
		purego.RegisterFunc(function, address)
	}
}

// call calls a function of the driver. Go objects whose addresses are converted
// to uintptr in the argument list stay where they are until the call returns.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) Code {
	result, _, _ := purego.SyscallN(function, args...)
	return Code(int32(result))
}
