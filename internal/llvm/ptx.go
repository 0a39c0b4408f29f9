package llvm

import "fmt"

// gpu is a compute capability that PTX can be generated for.
type gpu struct {
	sm    int // 90 is compute capability 9.0
	ptx   int // the first PTX version with it; 78 is 7.8
	since int // the first LLVM with it
}

// gpus are in descending order. PTX for one runs on all later ones.
var gpus = []gpu{
	{90, 78, 16},
	{89, 78, 16},
	{86, 71, oldest},
	{80, 70, oldest},
	{75, 63, oldest},
	{70, 60, oldest},
	{60, 50, oldest},
}

// ptxVersions are the versions of PTX that LLVM can be asked for, in descending
// order, and the first LLVM with each.
var ptxVersions = []struct{ ptx, since int }{
	{85, 19}, {84, 19},
	{83, 18}, {82, 18},
	{81, 17}, {80, 17},
	{78, 16}, {77, 16}, {76, 16},
	{75, oldest}, {74, oldest}, {73, oldest}, {72, oldest}, {71, oldest}, {70, oldest},
	{65, oldest}, {64, oldest}, {63, oldest}, {61, oldest}, {60, oldest},
}

// PTXOptions are for an NVIDIA GPU of compute capability sm, such as 80 or 90.
// A driver reads PTX up to a version of its own (78 is 7.8), which maxPTX
// gives; 0 is no bound. The options name the highest version of PTX that this
// LLVM can generate within the bound, and the highest compute capability up to
// sm that both know: what is generated for an older one runs on sm, too.
func (l *Library) PTXOptions(sm, maxPTX int) (TargetOptions, error) {
	fail := func(format string, args ...any) (TargetOptions, error) {
		return TargetOptions{}, &Error{Op: fmt.Sprintf("choose PTX for sm_%d", sm),
			Message: fmt.Sprintf(format, args...)}
	}
	if !l.PTX {
		return fail("%s is built without the target NVPTX", l.Name)
	}
	ptx := 0
	for _, v := range ptxVersions {
		if v.since <= l.Version().Major && (maxPTX == 0 || v.ptx <= maxPTX) {
			ptx = v.ptx
			break
		}
	}
	for _, g := range gpus {
		if g.sm <= sm && g.ptx <= ptx && g.since <= l.Version().Major {
			return TargetOptions{
				Triple:   "nvptx64-nvidia-cuda",
				CPU:      fmt.Sprintf("sm_%d", g.sm),
				Features: fmt.Sprintf("+ptx%d", ptx),
				Level:    3,
			}, nil
		}
	}
	oldestGPU := gpus[len(gpus)-1]
	return fail("PTX starts with sm_%d and version %d.%d here", oldestGPU.sm,
		ptxVersions[len(ptxVersions)-1].ptx/10, ptxVersions[len(ptxVersions)-1].ptx%10)
}
