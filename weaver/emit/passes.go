package emit

import "strings"

// Passes names the passes of LLVM, in its language for pipelines, by which code for
// the target is to be optimised; llvm is LLVM's major version. Where there are two
// pipelines, all functions but the entries are to be inlined between them. A CPU's loops
// are to be vectorised, and its kernels call what is long.
//
// Code for a GPU is optimised a second time, by the driver or ptxas, which does more
// for it than LLVM can. What LLVM has to do is what needs the source's view: inline,
// unroll the loops over a thread's items, so that arrays become registers, find the
// address spaces, and drop what is dead or known by then. Everything else, such as
// moving code out of loops and finding equal values across blocks, took two thirds of
// the time, and its values that live long cost registers.
//
// Loops are unrolled before primitives are in the kernel, which has all in its loop
// over tiles: for each loop in another one that it unrolls, LLVM looks at all of
// the other one again.
func (t Target) Passes(llvm int) []string {
	if !t.GPU {
		return []string{"default<O3>"}
	}
	combine := "instcombine"
	if llvm >= 18 { // where it insists on a fixpoint unless told otherwise
		combine += "<no-verify-fixpoint>"
	}
	const unroll = "loop(loop-rotate),simplifycfg,early-cse<memssa>,loop-unroll<O3;no-partial;no-peeling;no-runtime;no-upperbound>"
	return []string{
		"globaldce,always-inline,globaldce,function(" + strings.Join([]string{"sroa,early-cse<memssa>,simplifycfg", unroll, "simplifycfg,early-cse<memssa>"}, ",") + ")",
		"always-inline,globaldce,function(" + strings.Join([]string{"sroa,early-cse<memssa>", combine, "simplifycfg,infer-address-spaces"}, ",") + ")",
	}
}

// Effort is the effort of code generation after that, as in -O. For a GPU it is the
// least: instructions are selected block by block and left to ptxas to improve.
func (t Target) Effort() int {
	if t.GPU {
		return 0
	}
	return 3
}
