package driver

import (
	goruntime "runtime"

	"github.com/redfoxdb/redfox/runtime/account"
)

// heapSlack is what the heap may hold beside what a bound of memory counts:
// text and pages that are being read, garbage, and Go's own.
const heapSlack = 32 << 20

// LimitProcess makes Go's collector keep the process near the bound of
// RunOptions.Memory and LoadOptions.Memory, which do not count garbage. It sets
// debug.SetMemoryLimit for the whole process, so it is for programs that hold
// little else in memory; 0 changes nothing.
func LimitProcess(memory int64) {
	if memory <= 0 {
		return
	}
	// The bound does not count what is there already, such as compiled
	// programs.
	var now goruntime.MemStats
	goruntime.ReadMemStats(&now)
	account.LimitProcess(memory + heapSlack + int64(now.HeapAlloc))
}
