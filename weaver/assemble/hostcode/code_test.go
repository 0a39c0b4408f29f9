package hostcode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/llvm"
)

const ir = `
define i64 @double(i64 %x) {
  %y = add i64 %x, %x
  ret i64 %y
}
define i64 @next(i64 %x) {
  %y = add i64 %x, 1
  ret i64 %y
}
`

func open(t *testing.T) *llvm.Library {
	t.Helper()
	lib, err := llvm.Open()
	var missing *llvm.NotFoundError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// TestLoad wants functions that answer, compiled once for all processes that
// share a cache and once for each effort.
func TestLoad(t *testing.T) {
	cache := &memory{objects: map[string][]byte{}}
	for i, quick := range []bool{false, false, true, false} {
		c, err := Load(Options{Library: open(t), Cache: cache, Quick: quick}, ir,
			[]string{"double", "next"})
		if err != nil {
			t.Fatal(err)
		}
		if got := llvm.Call(c.Functions["next"], llvm.Call(c.Functions["double"], 21)); got != 43 {
			t.Errorf("run %d: got %d", i, got)
		}
		c.Close()
	}
	if cache.puts != 2 {
		t.Errorf("compiled %d times", cache.puts)
	}
	for key := range cache.objects {
		cache.objects[key] = []byte("damaged")
	}
	c, err := Load(Options{Library: open(t), Cache: cache}, ir, []string{"next"})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestLoadRefused passes LLVM's errors on, and needs no LLVM for nothing.
func TestLoadRefused(t *testing.T) {
	if _, err := Load(Options{Library: open(t)}, ir+"define void @broken(",
		[]string{"next"}); err == nil || !strings.Contains(err.Error(), "parse") {
		t.Errorf("got %v", err)
	}
	if _, err := Load(Options{Library: open(t)}, ir, []string{"absent"}); err == nil {
		t.Error("a function that is not there is found")
	}
	c, err := Load(Options{Library: open(t)}, "", nil)
	if err != nil || len(c.Functions) != 0 {
		t.Fatal(c, err)
	}
	c.Close()
}

// TestSplit has lists of objects come back, and data that are none refused.
func TestSplit(t *testing.T) {
	for _, objects := range [][][]byte{nil, {{}}, {[]byte("a")},
		{[]byte("a"), nil, make([]byte, 300)}} {
		back, ok := Split(Join(objects))
		if !ok || !slices.EqualFunc(back, objects, slices.Equal) {
			t.Errorf("%q comes back as %q", objects, back)
		}
	}
	if _, ok := Split([]byte{5, 1, 2}); ok {
		t.Error("five bytes of two")
	}
}
