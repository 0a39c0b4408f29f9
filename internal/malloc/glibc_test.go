//go:build linux && !android && (amd64 || arm64)

package malloc

import (
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// heap returns C's malloc and free.
func heap() (alloc func(uintptr) uintptr, free func(uintptr)) {
	purego.RegisterFunc(&alloc, dynlib.Symbol(purego.RTLD_DEFAULT, "malloc"))
	purego.RegisterFunc(&free, dynlib.Symbol(purego.RTLD_DEFAULT, "free"))
	return alloc, free
}

// TestLook allocates pieces, small ones and one that is mapped, and frees them.
func TestLook(t *testing.T) {
	before, ok := Look()
	if !ok {
		t.Skip("this C library does not say what it has handed out")
	}
	alloc, free := heap()
	const pieces, size, large = 100, 60_000, 50_000_000
	var all []uintptr
	for range pieces {
		all = append(all, alloc(size))
	}
	all = append(all, alloc(large))
	between, _ := Look()
	if more := between.Used - before.Used; more < pieces*size+large ||
		more > pieces*size+large+1<<20 {
		t.Errorf("%d bytes are in use beside the %d before", more, before.Used)
	}
	for _, p := range all {
		free(p)
	}
	after, _ := Look()
	if after.Used >= before.Used+size || after.Free < before.Free {
		t.Errorf("before %+v, after %+v", before, after)
	}
	Trim() // of which the account says nothing
}

// areas counts what threads share in the allocator's own report.
func areas() int {
	var open func(text **byte, size *uintptr) uintptr
	var report func(options int32, stream uintptr) int32
	var end func(stream uintptr) int32
	purego.RegisterFunc(&open, dynlib.Symbol(purego.RTLD_DEFAULT, "open_memstream"))
	purego.RegisterFunc(&report, dynlib.Symbol(purego.RTLD_DEFAULT, "malloc_info"))
	purego.RegisterFunc(&end, dynlib.Symbol(purego.RTLD_DEFAULT, "fclose"))
	var text *byte
	var size uintptr
	to := open(&text, &size)
	report(0, to)
	end(to)
	_, free := heap()
	defer free(uintptr(unsafe.Pointer(text)))
	return strings.Count(dynlib.Text(text), "<heap nr=")
}

// TestLimit has more threads in calls of C at a time than there may be areas.
func TestLimit(t *testing.T) {
	if _, ok := Look(); !ok || os.Getenv("MALLOC_ARENA_MAX") != "" ||
		os.Getenv("GLIBC_TUNABLES") != "" {
		t.Skip("this C library is not glibc, or the user has set it up")
	}
	before := areas()
	Limit()
	alloc, free := heap()
	var threads, done sync.WaitGroup
	all := 16 * goruntime.GOMAXPROCS(0)
	threads.Add(all)
	for range all {
		done.Go(func() {
			goruntime.LockOSThread()
			defer goruntime.UnlockOSThread()
			free(alloc(1000))
			threads.Done()
			threads.Wait() // so that there is a thread for each
		})
	}
	done.Wait()
	// A thread may have begun while the first areas were counted.
	if after := areas(); before < 1 || after > max(before, goruntime.GOMAXPROCS(0))+1 {
		t.Errorf("%d threads share %d areas, of which %d were there before", all, after, before)
	}
}
