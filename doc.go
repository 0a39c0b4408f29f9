// Package redfox compiles LogiQL, a typed Datalog, and runs it.
//
// Compile turns the text of a program into a Program, which runs over any
// number of facts:
//
//	sources := []redfox.Source{redfox.Text("reach.logic", text)}
//	prog, err := redfox.Compile(ctx, sources, redfox.Options{})
//	...
//	res, err := prog.Run(ctx, redfox.NewFacts().Structs("edge", edges), redfox.RunOptions{})
//	...
//	for pair, err := range redfox.All[Pair](res, "reach") {
//		...
//	}
//
// Facts come from Go structs and slices, files, folders, readers and Arrow
// records. Results leave as Go structs, rows, Arrow records or files. A Session
// runs programs over facts that it loads once, and holds the Workspaces that
// transactions change.
//
// An error is a *ProgramError with diagnostics about the program or its data,
// an *EnvironmentError, which says what the machine or the call lacks, an
// *InternalError, which is a bug of redfox, or the cause of a context that has
// ended a run.
//
// The library needs no cgo. It opens libLLVM and the driver of a GPU at run
// time, if they are there and an engine wants them.
//
// This package imports internal/driver, which joins the phases of the compiler
// and the engines, and presents it to programs that embed redfox.
package redfox
