//go:build linux && !android && (amd64 || arm64)

package malloc

import (
	"testing"

	"github.com/ebitengine/purego"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// TestLook allocates pieces, small ones and one that is mapped, and frees them.
func TestLook(t *testing.T) {
	before, ok := Look()
	if !ok {
		t.Skip("this C library does not say what it has handed out")
	}
	var alloc func(uintptr) uintptr
	var free func(uintptr)
	purego.RegisterFunc(&alloc, dynlib.Symbol(purego.RTLD_DEFAULT, "malloc"))
	purego.RegisterFunc(&free, dynlib.Symbol(purego.RTLD_DEFAULT, "free"))
	const pieces, size, large = 100, 60_000, 50_000_000
	var all []uintptr
	for range pieces {
		all = append(all, alloc(size))
	}
	all = append(all, alloc(large))
	between, _ := Look()
	if more := between.Used - before.Used; more < pieces*size+large || more > pieces*size+large+1<<20 {
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
