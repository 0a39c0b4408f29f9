package facts

import (
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/runtime"
)

// Reservation returns a function by which a loader accounts for bytes that it
// holds, or frees if n is negative. It fails beyond the bound.
func Reservation(bound int64) func(what string, n int64) error {
	held := int64(0)
	return func(what string, n int64) error {
		if n > 0 && held+n > bound {
			err := &runtime.MemoryError{What: what, Want: n, Held: held, Bound: bound,
				Loading: true}
			return &failure.Environment{Message: err.Error(), Err: err}
		}
		held += n
		return nil
	}
}
