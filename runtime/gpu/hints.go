package gpu

import (
	"sync"

	"github.com/redfoxdb/redfox/harmony"
)

// hints remembers how large the variables of a program became in earlier runs, so that
// the next one makes them of that size at once. They change no answer.
type hints struct {
	mu    sync.Mutex
	sizes map[harmony.Managed]extent
}

// extent is how large a variable becomes in a run.
type extent struct {
	rows  int64 // or groups, at most
	slack int64 // the most that blocks may have begun at a time
}

func newHints() *hints { return &hints{sizes: map[harmony.Managed]extent{}} }

// of returns how large a variable became in the last run.
func (h *hints) of(v harmony.Managed) extent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sizes[v]
}

func (h *hints) note(v harmony.Managed, size extent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sizes[v] = size
}

// noteSizes leaves later runs how large the variables of this one became.
func (r *state) noteSizes() {
	for decl, rel := range r.relations {
		if !rel.isLoaded() {
			rel.reach()
			r.hints.note(decl, rel.reached)
		}
	}
	for decl, g := range r.groups {
		g.reach()
		r.hints.note(decl, g.reached)
	}
}

// reach notes that the relation has as many rows as it has, if that is known.
func (r *relation) reach() {
	if !r.dirty {
		r.reached.rows = max(r.reached.rows, r.most)
	}
}

// reach notes that there are as many groups as there are, if that is known.
func (g *groups) reach() {
	if !g.dirty {
		g.reached.rows = max(g.reached.rows, g.most)
	}
}
