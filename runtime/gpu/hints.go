package gpu

import (
	"sync"

	"github.com/redfoxdb/redfox/harmony"
)

// hints remembers how large the variables of a program became in earlier runs, so that
// the next one makes them of that size at once. They change no answer.
type hints struct {
	mu    sync.Mutex
	sizes map[harmony.Managed]int64
}

func newHints() *hints { return &hints{sizes: map[harmony.Managed]int64{}} }

// of returns how large a variable became in the last run.
func (h *hints) of(v harmony.Managed) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sizes[v]
}

func (h *hints) note(v harmony.Managed, size int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sizes[v] = size
}
