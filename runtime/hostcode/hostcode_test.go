package hostcode

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/primitives"
)

// memory is a cache that counts.
type memory struct {
	objects map[string][]byte
	puts    int
}

func (m *memory) Get(key string) ([]byte, bool) { o, ok := m.objects[key]; return o, ok }
func (m *memory) Put(key string, object []byte) { m.objects[key] = object; m.puts++ }

func TestPrimitivesCanBeCalled(t *testing.T) {
	lib, err := llvm.Open()
	var missing *llvm.NotFoundError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cache := &memory{objects: map[string][]byte{}}
	first, err := load(lib, cache)
	if err != nil {
		t.Fatal(err)
	}
	second, err := load(lib, cache)
	if err != nil {
		t.Fatal(err)
	}
	if cache.puts != 1 {
		t.Errorf("the primitives were compiled %d times", cache.puts)
	}
	for _, symbols := range []map[string]uintptr{first, second} {
		// rf_tile_load widens entries of a column: 10 + 3 * offset.
		column, out := []uint16{1, 2, 500}, make([]int64, 32)
		base, step := int64(10), int64(3)
		llvm.Call(symbols[primitives.CallPrefix+"rf_tile_load"], uintptr(unsafe.Pointer(&out[0])), uintptr(unsafe.Pointer(&column[0])),
			2, uintptr(base), uintptr(step), 0, 3, 1, 32)
		for i, v := range column {
			if want := base + step*int64(v); out[i] != want {
				t.Errorf("item %d is %d, not %d", i, out[i], want)
			}
		}
		if out[3] != base {
			t.Errorf("an item without a row is %d, not the base", out[3])
		}
	}
}
