// Command selftest holds the CUDA driver through gorgonia.org/cu, and beside it
// the one of package cuda, against package driver's interface on a card, runs
// kernels that redfox has woven through both and compares their answers with
// Go's, and measures what a call costs.
//
// It needs no file and no compiler beside itself. It ends with status 1 if
// something does not hold; what an implementation lacks is told and is no
// failure. Of redfox it imports the two drivers, their conformance tests, and
// harmony/abi, which says what words a kernel takes.
//
// build.sh compiles the programs in the folder kernels, for sm_80 and any
// layout of facts, before it builds the command, which has their code within
// it.
package main
