package target

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// Names of targets. A GPU's has the compute capability behind the prefix.
const (
	CPUName   = "cpu"
	GPUPrefix = "gpu:sm_"
)

// OldestSM is the least compute capability that the primitives are written for.
const OldestSM = 80

// Target describes the machine that code is compiled for, and the shape of the
// tiles that its kernels work on.
type Target struct {
	Name string // "cpu", or "gpu:sm_90" with the compute capability
	GPU  bool
	SM   int // compute capability of a GPU, such as 90
	// Threads and Items are the shape of a tile: 1 and a multiple of 32 on a
	// CPU; on a GPU a power of two from 32 to 1,024, and the most rows a
	// thread, a power of two from abi.Chunk on. A kernel that needs many
	// registers or much shared memory gets fewer rows a thread, but at least
	// abi.Chunk.
	Threads, Items int
	// Shared is the shared memory of a block of a GPU in bytes. A launch asks
	// for whatever exceeds StaticShared.
	Shared int
	// Budget bounds fused kernels.
	Budget Budget
}

// StaticShared is the shared memory in bytes that PTX can declare for a block.
const StaticShared = 48 << 10

// CPU returns the target for the host's processor. Its tiles have 1,024 rows.
func CPU() Target {
	return Target{Name: CPUName, Threads: 1, Items: 1024, Budget: cpuBudget}
}

// GPU returns the target for NVIDIA GPUs of compute capability sm.
//
// A thread has at most 8 rows: 16 take twice the registers and leave room for
// one block of 256 threads where 8 leave room for two or more. Shared is the
// amount that every GPU with code for sm is likely to have: 227 KiB from 9.0
// on, 99 KiB before, as on GPUs of 8.6 and 8.9. A caller that knows the GPU
// sets Shared.
func GPU(sm int) Target {
	shared, budget := 99<<10, sm80Budget
	if sm >= 90 {
		shared, budget = 227<<10, sm90Budget
	}
	return Target{
		Name: GPUPrefix + strconv.Itoa(sm), GPU: true, SM: sm,
		Threads: 256, Items: 8, Shared: shared, Budget: budget,
	}
}

// Parse returns the target of a name, and false if no target has that name.
func Parse(name string) (Target, bool) {
	if name == CPUName {
		return CPU(), true
	}
	digits, ok := strings.CutPrefix(name, GPUPrefix)
	sm, err := strconv.Atoi(digits)
	if !ok || err != nil || sm < OldestSM || sm >= 1000 || strconv.Itoa(sm) != digits {
		return Target{}, false
	}
	return GPU(sm), true
}

// MostShared returns the shared memory in bytes that a block can have.
func (t Target) MostShared() int { return max(t.Shared, StaticShared) }

// Verify returns an error if the primitives have no tiles of the target's
// shape.
func (t Target) Verify() error {
	isPower := func(n int) bool { return n > 0 && n&(n-1) == 0 }
	switch {
	case !t.GPU && (t.Threads != 1 || t.Items < 32 || t.Items%32 != 0):
		return fmt.Errorf("a CPU's tile has 1 thread and a multiple of 32 rows, not %d of %d",
			t.Threads, t.Items)
	case t.GPU && (t.Threads < 32 || t.Threads > 1024 || !isPower(t.Threads)):
		return fmt.Errorf("a block of a GPU has a power of two from 32 to 1,024 threads, not %d",
			t.Threads)
	case t.GPU && (t.Items < abi.Chunk || !isPower(t.Items)):
		return fmt.Errorf("a GPU's thread has a power of two of rows, at least %d, not %d",
			abi.Chunk, t.Items)
	}
	return nil
}
