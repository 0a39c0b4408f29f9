//go:build !linux

package spill

import (
	"errors"
	"os"
	"unsafe"
)

// openMemory takes the folder of temporary files.
func openMemory() (Store, error) { return open(os.TempDir()) }

// punch keeps the room until the file is closed.
func punch(*os.File, int64, int64) {}

// canMap says that files can be mapped.
const canMap = false

// mapFile is for Linux.
func mapFile(*os.File, int64, int) (unsafe.Pointer, any, error) {
	return nil, nil, errors.ErrUnsupported
}
