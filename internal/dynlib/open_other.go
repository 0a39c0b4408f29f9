//go:build !((darwin || linux) && !android && (amd64 || arm64))

package dynlib

import (
	"errors"
	goruntime "runtime"
)

// Supported says that libraries cannot be opened on this platform. Open fails,
// so there is nothing to look up.
const Supported = false

// Open fails.
func Open(string, bool) (uintptr, error) {
	return 0, errors.New("native libraries cannot be opened on " + goruntime.GOOS + "/" +
		goruntime.GOARCH)
}

// Symbol returns 0.
func Symbol(uintptr, string) uintptr { return 0 }

// ProcessSymbol returns 0.
func ProcessSymbol(string) uintptr { return 0 }

// FileOf returns "".
func FileOf(uintptr) string { return "" }
