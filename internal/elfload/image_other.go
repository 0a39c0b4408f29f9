//go:build !(linux && amd64) || android

package elfload

import "errors"

// Supported says that objects cannot be loaded on this platform. Load fails.
const Supported = false

// Image is objects in memory.
type Image struct{}

// Load fails.
func Load([][]byte, func(name string) uintptr) (*Image, error) {
	return nil, errors.New("objects are loaded on Linux on amd64 alone")
}

// Symbol returns 0.
func (i *Image) Symbol(string) uintptr { return 0 }

// Close does nothing.
func (i *Image) Close() {}
