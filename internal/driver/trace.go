package driver

import "github.com/redfoxdb/redfox/internal/trace"

// Span is something that took time in a run: a command, a kernel, a transfer.
type Span = trace.Span

// HostTrack is the track of spans that no engine reports: planning, whole runs,
// and what a caller adds.
const HostTrack = trace.Host

// Tracer collects spans. It is safe for concurrent use; its Add serves as
// RunOptions.Trace.
type Tracer = trace.Tracer

// The names of spans that EmitOptions.Trace gets.
const (
	TracePlan     = trace.Plan     // the optimiser
	TraceKernels  = trace.Kernels  // lowering and fusion
	TraceFacts    = trace.Facts    // what is known of the facts
	TraceCode     = trace.Code     // LLVM IR; absent if PTX was cached
	TraceRead     = trace.Read     // LLVM reads IR, and the primitives that it calls
	TraceOptimise = trace.Optimise // LLVM's passes
	TraceBackEnd  = trace.BackEnd  // LLVM writes PTX or assembly
)
