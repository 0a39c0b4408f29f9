//go:build !(linux && !android && (amd64 || arm64))

package cuda

import (
	"errors"
	goruntime "runtime"
	"time"
)

// supported says that there is no CUDA driver for this platform. Open fails, so
// the functions below are never reached.
const supported = false

func openLibrary(string) (uintptr, error) {
	return 0, errors.New("not supported on " + goruntime.GOOS + "/" + goruntime.GOARCH)
}

func setVariable(string, string) {}

func nap(d time.Duration) { time.Sleep(d) }

func bind(any, uintptr) {}
