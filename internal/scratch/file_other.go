//go:build !linux

package scratch

import (
	"errors"
	"os"
)

// OpenMemory takes the folder of temporary files.
func OpenMemory() (*os.File, error) { return Open(os.TempDir()) }

// Punch keeps the room until the file is closed.
func Punch(*os.File, int64, int64) {}

// CanMap says that files can be mapped.
const CanMap = false

// Map is for Linux.
func Map(*os.File, int64, int) ([]byte, any, error) { return nil, nil, errors.ErrUnsupported }

func mapNew(*os.File, int64, int) ([]byte, any, error) { return nil, nil, errors.ErrUnsupported }
