// Package short says what tests leave out with -short, which means the same as
// `make quick`: most of the random programs, of the code that LLVM makes, and
// all of the work of clang and ptxas.
//
// In: a test. Out: a smaller number of cases or a skipped test, and a line that
// internal/runtests lists. Only tests import it; it must not import any package
// of redfox.
package short
