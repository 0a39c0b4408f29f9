package facts

import (
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/runtime"
)

// Reservation returns a function with which a loader accounts for the bytes
// that it holds; n is negative for bytes that it frees. Beyond the bound it
// fails.
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
