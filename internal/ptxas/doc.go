// Package ptxas runs NVIDIA's assembler over PTX and reads what it says:
// whether the driver of a GPU would accept the text, and what each kernel
// takes.
//
// In: PTX and an architecture such as sm_90. Out: a Report with registers,
// stack, spills and shared memory of each kernel, or an error that names the
// line. It needs no GPU. Only tests import it; it must not import any package
// of redfox.
//
// The assembler is looked for in this order: the path in the environment
// variable REDFOX_PTXAS, the PATH, and what .ci/run puts into bench/data.
package ptxas
