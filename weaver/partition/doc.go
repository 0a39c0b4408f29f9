// Package partition divides a kernel graph between a device and its host: what
// a GPU has no code for, the host evaluates. On a CPU kernels call back for a
// tile of rows instead (abi.Host), and nothing has to be divided.
//
// In: a kernel graph as lowering leaves it, or any other. Out: one of the same
// meaning in which every kernel that needs the host is the host's alone
// (harmony.Kernel.Host) and all others have code for GPUs. Fusion comes after
// it, so that what is around a kernel of the host grows together. `redfox
// compile --emit harmony` prints it for a GPU, with --no-fuse before fusion. It
// imports harmony, the string domains, package expr, which knows the native
// forms, and must never import an engine, package lower or what generates code.
//
// # Functions
//
// A kernel is cut before a function without a native form and again behind it.
// The first part stores the registers that the rest needs to a temp. The host
// evaluates the function for the temp's rows, and the stages right behind that
// depend on it, up to the filter that may drop rows, and stores the remaining
// rows. The last part continues from there. A part without stages is dropped:
// the host then reads the kernel's source, or fills its sinks. Columns that
// later parts need are read before the first cut, as a row that a probe found
// means nothing to a temp.
//
// A value that may be absent, or a decimal that may not fit, cannot be stored.
// A part that needs it computes it again from what can be: a register is a
// function of columns.
//
// A function moves down to its first use before the kernel is cut, so that
// filters and probes come first; not past an expansion, if its value can be
// stored.
//
// # Aggregates
//
// The least and the greatest of strings that a program computes depend on an
// order that their codes do not have. They become the first row of each group
// (harmony.TopK) among the strings, which are stored with their keys; other
// aggregates of the same groups find that row by a unique index of the keys.
package partition
