// Package redfox compiles LogiQL, a typed Datalog, and runs it.
//
// A program is compiled once and run over any number of fact sets:
//
//	prog, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("reach.logic", text)}, redfox.Options{})
//	res, err := prog.Run(ctx, redfox.NewFacts().File("edge", "edge.tsv"), redfox.RunOptions{})
//	for row := range res.Rows("reach") {
//		fmt.Println(row...)
//	}
//
// Facts come from folders, files, readers, Go slices and Arrow records; results
// leave as sorted rows, Arrow records, or files in any of the formats. Failures
// are values: *ProgramError holds diagnostics about the program or its data,
// *EnvironmentError says what the machine lacks, *InternalError is a bug of
// redfox itself.
//
// A program can be kept compiled: WriteCompiled writes a file with its plan and the
// code of its kernels for CPUs and GPUs, and ParseCompiled reads it. The cpu engine
// compiles with libLLVM, which is opened when an engine is chosen, and so does the gpu
// engine, which needs NVIDIA's driver as well; Engines and Devices say what the machine
// can run.
//
// A Session keeps engines, code and facts on a GPU for many runs, and gives all of it
// back at its end. Outside of sessions the process has one set of engines.
//
// This package is the driver: the only place where the front end, the query
// plan, the kernels and the engines meet. It must not be imported by any of them.
package redfox
