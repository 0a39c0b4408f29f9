package assemble

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
)

// TestHasLLVM opens libLLVM only if nobody knows whether it is installed.
func TestHasLLVM(t *testing.T) {
	for _, c := range []struct {
		installed func() bool
		opens     error
		want      bool
		opened    int
	}{
		{func() bool { return true }, errors.New("damaged"), true, 0},
		{func() bool { return false }, nil, true, 1},
		{func() bool { return false }, errors.New("no libLLVM"), false, 1},
		{nil, errors.New("no libLLVM"), false, 1},
	} {
		opened := 0
		tools := &Tools{Installed: c.installed, Find: func() (*llvm.Library, error) {
			opened++
			return nil, c.opens
		}}
		if got := tools.HasLLVM(); got != c.want || opened != c.opened {
			t.Errorf("%v, opened %d times; want %v and %d", got, opened, c.want, c.opened)
		}
	}
}

// TestFindLLVM opens libLLVM once for all processes that share a cache, and
// again without a note, or if another library may be found.
func TestFindLLVM(t *testing.T) {
	t.Setenv(llvm.PathVariable, "")
	if _, ok := llvm.Place(); !ok {
		t.Skip("the processor cannot be identified here")
	}
	if _, err := llvm.Open(); err != nil {
		t.Skip(err)
	}
	opened := 0
	open := func() (*llvm.Library, error) {
		opened++
		return llvm.Open()
	}
	find := func(cache *kernelcache.Cache, want int) *llvm.Library {
		t.Helper()
		opened = 0
		lib, err := findLLVM(cache, open)
		if err != nil || opened != want {
			t.Errorf("opened %d times, %v; want %d", opened, err, want)
		}
		return lib
	}
	cache := kernelcache.New(filepath.Join(t.TempDir(), "cache"), kernelcache.DefaultBound)
	first := find(cache, 1)
	if again := find(cache, 0); again.Key() != first.Key() {
		t.Errorf("the key is %q and then %q", first.Key(), again.Key())
	}
	find(nil, 1)
	t.Setenv("LD_LIBRARY_PATH", t.TempDir())
	find(cache, 1)
	if _, err := findLLVM(nil, func() (*llvm.Library, error) {
		return nil, &llvm.NotFoundError{}
	}); err == nil {
		t.Error("a library that is not there is found")
	}
}
