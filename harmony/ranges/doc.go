// Package ranges bounds the words that the columns and registers of a kernel
// graph hold: it describes the graph to package bounds. Bounds decide how wide
// columns are, how tuples are packed into keys and where 64 or 32 bits are
// enough for arithmetic.
//
// In: a verified harmony.Program, its string domains, and what is known of
// loaded columns and of dictionaries. Out: Ranges. It must not import an engine
// or stored data. Of redfox it imports harmony, harmony/domain,
// internal/bounds, internal/interval, queryplan and scalar. No flag prints it.
//
// # What a bound says
//
// A bound holds for the rows that reach it. Code that computes a register also
// for rows that a filter has dropped finds other values there, and must not use
// the bound to leave out a test that keeps it from trapping.
//
// Distinct bounds how many different values a column has, by the rows of the
// facts that they are copied from. It is an estimate of memory to its callers.
//
// Constants are parameters of generated code. A bound that comes from one is
// only good for code that is made for this one run: Options.UnknownLiterals
// asks for bounds that hold for all constants in the place of those that there
// are. Units of time are part of the code and not meant.
package ranges
