package failure

import (
	"fmt"
	goruntime "runtime"
	"strings"
)

// Environment says what the machine or the call lacks: a file, memory, an
// engine.
type Environment struct {
	Message string
	Help    string // what to do next; may be empty
	Err     error  // the cause, or nil
}

// Error returns the message and the advice.
func (e *Environment) Error() string {
	if e.Help == "" {
		return e.Message
	}
	return e.Message + "; " + e.Help
}

// Unwrap returns the cause.
func (e *Environment) Unwrap() error { return e.Err }

// Advised is an error that ends with advice: "MESSAGE; ADVICE".
type Advised interface {
	error
	Advice() string
}

// Missing returns the Environment of an error, with its advice as Help.
func Missing(err Advised) *Environment {
	message, _ := strings.CutSuffix(err.Error(), "; "+err.Advice())
	return &Environment{Message: message, Help: err.Advice(), Err: err}
}

// Internal is a bug of redfox.
type Internal struct {
	Phase string // where it happened: "sema", "rewrite", "go engine"
	Err   error
	Stack string // of the panic, if it was one
	Dump  string // what the phase worked on, if a report of the bug needs it
}

// Error names the phase that failed.
func (e *Internal) Error() string {
	return fmt.Sprintf("internal error in %s: %v", e.Phase, e.Err)
}

// Unwrap returns the cause.
func (e *Internal) Unwrap() error { return e.Err }

// maxStack bounds the recorded stack of a panic, in bytes.
const maxStack = 16 << 10

// Recover turns a panic of a phase into an *Internal; the phase defers it.
// Outside the workers of engines, nothing else recovers.
func Recover(phase string, err *error) {
	if r := recover(); r != nil {
		stack := make([]byte, maxStack)
		stack = stack[:goruntime.Stack(stack, false)]
		*err = &Internal{Phase: phase, Err: fmt.Errorf("%v", r), Stack: string(stack)}
	}
}
