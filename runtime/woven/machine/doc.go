// Package machine is what the cpu engine and the gpu engine have in common.
//
// In: the variables of a run, as an engine stores them, and its Device, which
// has the memory that kernels see. Out: the parameters of functions, bound to
// variables; the versions of a relation; the keys of groups; and indexes:
// whether one is current, how large its tables are, and the passes that fill
// them. The package must not import an engine, a driver, or a code generator.
package machine
