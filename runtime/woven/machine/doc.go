// Package machine is what the machines of kernels have in common: the cpu
// engine and the gpu engine.
//
// In: the variables of a run, as an engine stores them, and its Device, which
// has memory that kernels see. Out: parameters of functions bound to variables,
// what the sinks of a kernel fill, and indexes: whether one is current, how
// large its tables are, and the passes that fill them. The package knows no
// engine: it must not import one, nor a driver, nor what makes code.
package machine
