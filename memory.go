package redfox

import (
	goruntime "runtime"

	"github.com/redfoxdb/redfox/runtime/account"
)

// heapSlack is what the heap may hold beside what a bound of memory counts: text and pages
// that are being read, garbage, and Go's own.
const heapSlack = 32 << 20

// LimitProcess lets Go's collector keep the process near the bound that RunOptions.Memory
// and LoadOptions.Memory have: what they count is refused when it passes the bound, and
// garbage beside it is collected. It sets the limit of debug.SetMemoryLimit for the whole
// process, so that it is for programs that have little else in memory; 0 leaves it alone.
func LimitProcess(memory int64) {
	if memory <= 0 {
		return
	}
	// What is there before the first load, such as compiled programs, is not counted.
	var now goruntime.MemStats
	goruntime.ReadMemStats(&now)
	account.LimitProcess(memory + heapSlack + int64(now.HeapAlloc))
}
