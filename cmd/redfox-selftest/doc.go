// Command redfox-selftest compares an engine with the go engine on whole
// results.
//
// In: the folder testdata of the source tree, and seeds of random programs.
// Out: a line for each failure, which says how to see it again, and a summary.
// It exits with 1 if there is a failure and with 2 if the engine is not there.
// It needs neither Go nor the source tree otherwise: one binary and that folder
// test a machine.
//
//	redfox-selftest -engine gpu                         every program of testdata
//	redfox-selftest -engine gpu -random 1000 -seed 7    and random ones
//	redfox-selftest -only quickstart -runs 1000         the same bytes a thousand times
//	redfox-selftest -engine gpu -random 200 -soak 1h -parallel 8 -report soak.json
//	                                                    no memory is lost
//
// It imports the redfox package as any program does, internal/atomicfile,
// internal/malloc and internal/reference/randprog, and must not import an
// engine.
package main
