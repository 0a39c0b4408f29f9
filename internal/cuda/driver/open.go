package driver

import (
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// opener is what Open calls.
var opener = struct {
	sync.Mutex
	open func() (Driver, error)
}{open: openCUDA}

func openCUDA() (Driver, error) {
	d, err := cuda.Open()
	return made(d, err, Of)
}

// Open opens the driver that this process uses: package cuda's, whose failures
// are *cuda.NotFoundError, or what Use has put into its place.
func Open() (Driver, error) {
	opener.Lock()
	open := opener.open
	opener.Unlock()
	return open()
}

// Use has Open call another implementation from now on. A program calls it
// before anything else of redfox, and tests call it with a driver of their own;
// undo takes it back.
func Use(open func() (Driver, error)) (undo func()) {
	opener.Lock()
	defer opener.Unlock()
	before := opener.open
	opener.open = open
	return func() { Use(before) }
}
