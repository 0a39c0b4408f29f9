package trace

import "time"

// Span is something that took time.
type Span struct {
	Track    string // where it happened: "host", "transfers", "kernels"
	Name     string
	Start    time.Time
	Duration time.Duration
	Args     map[string]any // further properties, as JSON has them
}

// Host is the track of spans that no engine reports: planning, whole runs, and
// what a caller adds.
const Host = "redfox"

// The names of spans of a compilation.
const (
	Plan     = "plan"     // the optimiser
	Kernels  = "kernels"  // lowering and fusion
	Facts    = "facts"    // what is known of the facts
	Code     = "code"     // LLVM IR; absent if PTX was cached
	Read     = "read"     // LLVM reads IR, and the primitives that it calls
	Optimise = "optimise" // LLVM's passes
	BackEnd  = "back end" // LLVM writes PTX or assembly
)

// Func receives spans; nil receives none. It is safe for concurrent use.
type Func func(Span)

// Since reports a span on the track Host that ends now.
func (f Func) Since(name string, start time.Time) {
	if f != nil {
		f(Span{Track: Host, Name: name, Start: start, Duration: time.Since(start)})
	}
}
