// Package scratch keeps data that do not fit memory in files without a name,
// which the system frees when they are closed, or when the process is gone.
//
// In: a folder. Out: files, and memory that lies in them. It imports nothing
// of redfox.
package scratch
