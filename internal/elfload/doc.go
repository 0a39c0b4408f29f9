// Package elfload links relocatable objects of x86-64 into this process, so
// that code which was compiled earlier runs without the library that compiled
// it.
//
// In: ELF objects, and a function that knows the addresses of symbols that they
// do not define. Out: the addresses of those that they define, in memory of
// which no page is writable and executable at once. It knows what LLVM writes
// into an object of functions and their constants. Anything else, such as
// thread-local storage, constructors or an unknown relocation, is an error, and
// its caller asks LLVM's JIT instead. It imports no package of redfox.
//
// Tables for unwinding are left out: the code throws nothing, and Go's
// tracebacks and its profiler end where the C calling convention begins.
package elfload
