// Package gorgonia is a second implementation of package driver's interface:
// the CUDA driver through gorgonia.org/cu, with cgo.
//
// In: words, bytes and PTX. Out: what package driver promises, as far as cu has
// it; README.md says what it lacks. The package may import package driver,
// package cuda's values and cu, and must not import anything else of redfox. It
// is a module of its own, so that redfox is free of cgo and of what cu
// requires.
//
// # Initialisation
//
// Package cu initialises the driver when the program starts, and ends the
// program with status 1 if that fails, before main: a program that imports this
// package runs only where the driver and a GPU are. Package eager, which is
// imported here, has modules loaded as a whole by then.
//
// # Calls
//
// Each call locks its goroutine to the thread, makes the context current,
// calls, and unlocks, as package cuda does; cu's own Ctx sends every call to a
// goroutine of its own and reports errors of most calls to nobody. One lock
// serves a context and all that is made in it: calls share it, and Close takes
// it alone.
package gorgonia
