package target

import "strings"

// Passes returns the LLVM passes for the target, one pipeline or two, in LLVM's
// syntax; llvm is LLVM's major version. Between two pipelines, all functions
// except the entries are marked for inlining. A CPU's loops are vectorised, and
// its kernels call long primitives.
//
// The driver or ptxas optimises PTX again and does more for it than LLVM can.
// LLVM does what needs the source's view: inlining, unrolling the loops over a
// thread's items so that arrays become registers, address space inference, and
// dead code. The other passes, such as loop-invariant code motion and global
// value numbering, took two thirds of the time, and their long live ranges cost
// registers.
//
// Loops are unrolled before primitives are inlined into the kernel. The kernel
// has everything inside its loop over tiles, and LLVM revisits the outer loop
// for each inner loop that it unrolls.
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
		"globaldce,always-inline,globaldce,function(" +
			strings.Join([]string{"sroa,early-cse<memssa>,simplifycfg", unroll,
				"simplifycfg,early-cse<memssa>"}, ",") + ")",
		"always-inline,globaldce,function(" +
			strings.Join([]string{"sroa,early-cse<memssa>", combine,
				"simplifycfg,infer-address-spaces"}, ",") + ")",
	}
}

// Effort returns the level of code generation, as in -O. A GPU gets the lowest:
// LLVM selects instructions block by block, and ptxas improves them.
func (t Target) Effort() int {
	if t.GPU {
		return 0
	}
	return 3
}
