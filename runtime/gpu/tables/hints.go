package tables

import (
	"sync"

	"github.com/redfoxdb/redfox/harmony"
)

// Hints remembers how large the variables of a program became in earlier runs,
// so that the next one makes them of that size at once. They change no answer.
type Hints struct {
	mu    sync.Mutex
	sizes map[harmony.Managed]extent
}

// extent is how large a variable becomes in a run.
type extent struct {
	rows  int64 // or groups, at most
	slack int64 // the most that blocks may have begun at a time
}

// NewHints returns hints of no run yet.
func NewHints() *Hints { return &Hints{sizes: map[harmony.Managed]extent{}} }

// of returns how large a variable became in the last run.
func (h *Hints) of(v harmony.Managed) extent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sizes[v]
}

func (h *Hints) note(v harmony.Managed, size extent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sizes[v] = size
}

// NoteSizes leaves later runs how large the variables of this one became.
func (r *State) NoteSizes() {
	for decl, rel := range r.Relations {
		if !rel.IsLoaded() {
			rel.reach()
			r.Hints.note(decl, rel.reached)
		}
	}
	for decl, g := range r.Groups {
		g.reach()
		r.Hints.note(decl, g.reached)
	}
}

// reach notes that the relation has as many rows as it has, if that is known.
func (r *Relation) reach() {
	if !r.Dirty {
		r.reached.rows = max(r.reached.rows, r.Most)
	}
}

// reach notes that there are as many groups as there are, if that is known.
func (g *Groups) reach() {
	if !g.Dirty {
		g.reached.rows = max(g.reached.rows, g.Most)
	}
}
