//go:build !((darwin || linux) && !android && (amd64 || arm64))

package llvm

func bind(any, uintptr) {}

// NewCallback returns 0, because Open fails.
func NewCallback(any) uintptr { return 0 }

// Call calls a compiled function. There are none on this platform, because Open
// fails.
func Call(uintptr, ...uintptr) uintptr { return 0 }
