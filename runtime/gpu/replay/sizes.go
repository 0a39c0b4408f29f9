package replay

import (
	"sync"

	"github.com/redfoxdb/redfox/harmony"
)

// Sizes holds how large the variables of a program became in earlier runs, so
// that the next run allocates them at once. Sizes change no answer. They are
// safe for concurrent use.
type Sizes struct {
	mu      sync.Mutex
	all     map[harmony.Managed]Size
	guessed bool // estimated from a run over other facts
}

// Size is how large a variable becomes in a run.
type Size struct {
	Rows  int64 // an upper bound of its rows or groups
	Slack int64 // the most rows that blocks may have begun at a time
}

// NewSizes returns empty sizes.
func NewSizes() *Sizes { return &Sizes{all: map[harmony.Managed]Size{}} }

// Guessed reports whether no run over these facts is known.
func (s *Sizes) Guessed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guessed
}

// isEmpty reports whether there are no sizes.
func (s *Sizes) isEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all) == 0
}

// Of returns how large a variable became in the last run.
func (s *Sizes) Of(v harmony.Managed) Size {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[v]
}

// Note records how large a variable became.
func (s *Sizes) Note(v harmony.Managed, size Size) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[v], s.guessed = size, false
}
