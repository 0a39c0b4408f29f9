package emit

// Passes names the passes of LLVM, in its language for pipelines, by which code for
// the target is to be optimised; llvm is LLVM's major version. A CPU's loops are to be
// vectorised, and its kernels call what is long; all of a GPU's is inlined, unrolled
// once, and scheduled by the driver or ptxas, so that the passes that find what is
// equal, constant or dead are enough, in a third of the time.
func (t Target) Passes(llvm int) string {
	if !t.GPU {
		return "default<O3>"
	}
	combine := "instcombine"
	if llvm >= 18 { // where it insists on a fixpoint unless told otherwise
		combine += "<no-verify-fixpoint>"
	}
	return "globaldce,always-inline,globaldce,function(sroa,early-cse<memssa>,simplifycfg," +
		"loop-mssa(loop-rotate,licm),loop(indvars,loop-deletion,loop-unroll-full)," +
		"sroa,early-cse<memssa>," + combine + ",simplifycfg,loop-mssa(licm),gvn,adce,simplifycfg)"
}
