// Package trace records what took time in a compilation or a run, and writes it
// as a file that Perfetto and Chrome show. Every layer reports [Span] values to
// a function; [Tracer] collects them. The package imports nothing of redfox.
package trace
