package work

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"

	"github.com/redfoxdb/redfox/runtime"
)

// failure carries an error out of nested operators as a panic; guard turns it
// back into an error at the edge of each goroutine. Operators deep inside a
// pipeline (a hash table that may not grow) can so stop the run without an
// error result on every call of the inner loops.
type failure struct{ err error }

// Abort stops the run with an error.
func Abort(err error) { panic(failure{err}) }

// InternalError is a bug of the engine.
type InternalError struct {
	Command string // the text of the command that was running
	Cause   any
	Stack   string
}

// Error says that this is a bug and where it struck.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error in the go engine: %v, in the command %s", e.Cause, e.Command)
}

// Guard runs f and returns the error that it aborted with. Any other panic
// becomes an *InternalError.
func Guard(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		case *runtime.MemoryError: // of a string that was interned
			err = p
		default:
			err = &InternalError{Cause: p, Stack: string(debug.Stack())}
		}
	}()
	f()
	return nil
}

// canceller tells workers that the run should stop.
type canceller struct {
	Ctx     context.Context
	stopped atomic.Bool
}

// Stop makes workers abort at their next check.
func (c *canceller) Stop() { c.stopped.Store(true) }

// Check aborts with the context's cause once it is done. It costs one load.
func (c *canceller) Check() {
	if c.stopped.Load() {
		if err := context.Cause(c.Ctx); err != nil {
			Abort(err)
		}
		Abort(errStopped)
	}
}

// errStopped is what workers abort with when another worker has failed; its
// error is the one reported.
var errStopped = fmt.Errorf("stopped because another worker failed")

// TooManyRows is the error of a build side with more rows than an index
// numbers.
type TooManyRows string

// Error says what join it is.
func (e TooManyRows) Error() string {
	return "a join with " + string(e) +
		" needs an index of more than 4 billion tuples, which is not supported"
}

// MaxPositions is how many tuples a relation may have if a plan asks for their
// positions.
const MaxPositions = math.MaxUint32

// TooManyPositions is the error of a relation with more tuples than that.
type TooManyPositions string

// Error says what relation it is.
func (e TooManyPositions) Error() string {
	return string(e) + " has more than 4 billion tuples, which is too many to number them"
}
