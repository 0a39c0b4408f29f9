//go:build linux && !android && (amd64 || arm64)

package malloc

import (
	"os"
	goruntime "runtime"
	"strings"
	"sync"

	"github.com/ebitengine/purego"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// info is glibc's struct mallinfo2, in bytes.
type info struct {
	_          [4]uintptr // arena, ordblks, smblks, hblks
	mapped     uintptr    // hblkhd
	_          [2]uintptr // usmblks, fsmblks
	used, free uintptr    // uordblks, fordblks
	_          uintptr    // keepcost
}

// arenaMax is glibc's number of the parameter for the areas that there are at
// most.
const arenaMax = -8

// Limit bounds the areas of memory that threads share by the cores that Go
// uses, unless the user has set a bound: MALLOC_ARENA_MAX, or
// glibc.malloc.arena_max of GLIBC_TUNABLES. It must be called before many
// threads are in calls of C, and counts once.
var Limit = sync.OnceFunc(func() {
	if os.Getenv("MALLOC_ARENA_MAX") != "" ||
		strings.Contains(os.Getenv("GLIBC_TUNABLES"), "glibc.malloc.arena_max") {
		return
	}
	at := dynlib.Symbol(purego.RTLD_DEFAULT, "mallopt")
	if at == 0 {
		return
	}
	var set func(parameter, value int32) int32
	purego.RegisterFunc(&set, at)
	set(arenaMax, int32(goruntime.GOMAXPROCS(0)))
})

// functions are those of the process's C library, nil where it lacks them.
var functions = sync.OnceValues(func() (look func() info, trim func(keep uintptr) int32) {
	if at := dynlib.Symbol(purego.RTLD_DEFAULT, "mallinfo2"); at != 0 {
		purego.RegisterFunc(&look, at)
	}
	if at := dynlib.Symbol(purego.RTLD_DEFAULT, "malloc_trim"); at != 0 {
		purego.RegisterFunc(&trim, at)
	}
	return look, trim
})

// Look returns what the allocator has, of all threads, and whether that can be
// told.
func Look() (u Use, ok bool) {
	look, _ := functions()
	if look == nil {
		return Use{}, false
	}
	i := look()
	return Use{Used: int64(i.used + i.mapped), Free: int64(i.free)}, true
}

// Trim has the allocator give what is free back to the system. It takes some
// milliseconds, in which threads that allocate wait.
func Trim() {
	if _, trim := functions(); trim != nil {
		trim(0)
	}
}
