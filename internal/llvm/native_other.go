//go:build !((darwin || linux) && !android && (amd64 || arm64))

package llvm

import (
	"errors"
	goruntime "runtime"
)

// supported says that libraries can not be opened on this platform. Open fails,
// so the functions below are never reached.
const supported = false

func openLibrary(string) (uintptr, error) {
	return 0, errors.New("native libraries can not be opened on " + goruntime.GOOS + "/" + goruntime.GOARCH)
}

func symbol(uintptr, string) uintptr { return 0 }

func bind(any, uintptr) {}

// NewCallback returns 0, because Open fails.
func NewCallback(any) uintptr { return 0 }

// Call calls a compiled function. There are none on this platform, because Open
// fails.
func Call(uintptr, ...uintptr) uintptr { return 0 }
