package machine

import (
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// MaxRows is how many rows a relation can have.
const MaxRows = harmony.MaxRows

// Versions tells which rows of a relation belong to which version. The engine
// counts the rows.
type Versions struct {
	Decl *harmony.Relation
	What string // the user's name of it, for messages
	Full int64  // rows that are merged
	Old  int64  // rows that were there a round before
	// Generation changes whenever rows that can be read change, other than by
	// new ones after them.
	Generation int
}

// Version returns the rows of a version, of n rows in all.
func (r *Versions) Version(v harmony.Version, n int64) (from, until int64) {
	switch {
	case r.Decl.Kind != queryplan.Derived:
		return 0, n
	case v == harmony.Delta:
		return r.Old, r.Full
	case v == harmony.Old:
		return 0, r.Old
	}
	return 0, r.Full
}

// Advance ends a round after which there are n rows.
func (r *Versions) Advance(n int64) { r.Old, r.Full = r.Full, n }

// Forget makes all versions empty.
func (r *Versions) Forget() {
	r.Full, r.Old = 0, 0
	r.Generation++
}

// Count counts the tuples of a relation with n rows.
func (r *Versions) Count(n int64) woven.Size {
	_, full := r.Version(harmony.Full, n)
	return woven.Size{Full: full, Delta: r.Full - r.Old}
}

// CheckRows returns an error if n is more rows than a relation can have.
func (r *Versions) CheckRows(n int64) error {
	if n > MaxRows {
		return fmt.Errorf("%s has more than 4 billion tuples, which is not supported", r.What)
	}
	return nil
}
