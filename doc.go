// Package redfox compiles LogiQL, a typed Datalog, and runs it.
//
// A program is compiled once and run over any number of fact sets:
//
//	sources := []redfox.Source{redfox.Text("reach.logic", text)}
//	prog, err := redfox.Compile(ctx, sources, redfox.Options{})
//	res, err := prog.Run(ctx, redfox.NewFacts().File("edge", "edge.tsv"), redfox.RunOptions{})
//	for row := range res.Rows("reach") {
//		fmt.Println(row...)
//	}
//
// Facts come from folders, files, readers, Go slices and Arrow records; results
// leave as sorted rows, Arrow records, or files in any of the formats. Failures
// are values: a *ProgramError holds diagnostics about the program or its data,
// an *EnvironmentError says what the machine lacks, and an *InternalError is a
// bug of redfox.
//
// WriteCompiled writes a file with the plan of a program and the code of its
// kernels, and ParseCompiled reads it. The cpu engine needs libLLVM; the gpu
// engine needs NVIDIA's driver as well. Engines and Devices describe what the
// machine can run.
//
// A Session keeps engines, code and facts on a GPU for many runs, and frees
// them at its end. Runs outside sessions share one set of engines.
//
// This package is the API. It hands the work down: to frontend and queryplan,
// to runtime/machine for the choice of an engine, to runtime/pool for the
// engine, and to weaver/assemble for code. None of them imports it. compile.go
// is the column of calls to read first.
package redfox
