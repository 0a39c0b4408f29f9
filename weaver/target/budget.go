package target

// Budget bounds what one fused kernel takes of a target. A bound of 0 means no
// bound.
type Budget struct {
	Name    string
	Threads int // of a block
	// Items are the rows a thread that the weaver chooses from, in falling
	// order.
	Items      []int
	Registers  int // of 32 bits, a thread
	Scratch    int // bytes of memory private to a block
	Parameters int // bytes of kernel parameters
	Sinks      int
}

// ManyFunctions is the number of kernels and indexes from which a program is
// large: compiling takes longer than most of its first runs, so kernels are
// kept short and equal at a small cost to each. LLVM, and the driver of a GPU,
// take 0.1 s of a processor for a function.
const ManyFunctions = 64

// The budgets of the targets. Two blocks of 256 threads on a multiprocessor
// hide the latency of loads, so a thread gets half of 65,536 / 256 registers,
// and a block half of the shared memory: of 163 KB, and of 227 KB from sm_90
// on. The tile of a CPU fits in half of a second-level cache of 1 MB. The
// driver takes 70 ms for the code of a sink; eight of them read their source
// once, which is cheap beside what they write.
var (
	sm80Budget = Budget{
		Name: "sm_80", Threads: 256, Items: []int{16, 8, 4},
		Registers: 128, Scratch: 81 << 10, Parameters: 4096, Sinks: 8,
	}
	sm90Budget = Budget{
		Name: "sm_90", Threads: 256, Items: []int{16, 8, 4},
		Registers: 128, Scratch: 113 << 10, Parameters: 4096, Sinks: 8,
	}
	cpuBudget = Budget{Name: CPUName, Threads: 1, Items: []int{1024}, Scratch: 512 << 10}
)
