package hostcode

import (
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/short"
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
	const load = primitives.CallPrefix + "rf_tile_load"
	var loaded []map[string]uintptr
	for range 2 { // as two processes would
		l := &library{addresses: map[string]uintptr{}}
		symbols, err := l.symbols(Options{Library: lib, Cache: cache}, []string{load})
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.symbols(Options{Library: lib, Cache: cache}, []string{load})
		if err != nil || again[load] != symbols[load] {
			t.Errorf("the same primitive is at %x and then at %x (%v)", symbols[load], again[load],
				err)
		}
		loaded = append(loaded, symbols)
	}
	if cache.puts != 1 {
		t.Errorf("one primitive was compiled %d times", cache.puts)
	}
	if _, err := Symbols(lib, cache, []string{"call_rf_nothing"}); err == nil {
		t.Error("a primitive that there is not has an address")
	}
	for _, symbols := range loaded {
		// rf_tile_load widens entries of a column: 10 + 3 * offset.
		column, out := []uint16{1, 2, 500}, make([]int64, 32)
		base, step := int64(10), int64(3)
		llvm.Call(symbols[load], uintptr(unsafe.Pointer(&out[0])),
			uintptr(unsafe.Pointer(&column[0])),
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

// TestEveryPrimitive compiles all of them. Tests of engines compile those that
// programs need.
func TestEveryPrimitive(t *testing.T) {
	short.Skip(t, "LLVM does not compile every primitive")
	lib, err := llvm.Open()
	if err != nil {
		t.Skip(err)
	}
	var symbols []string
	for _, p := range primitives.Catalogue() {
		if p.WholeTile() {
			symbols = append(symbols, primitives.CallPrefix+p.Name)
		}
	}
	objects := make([][]byte, len(symbols))
	for i, s := range symbols {
		if objects[i], err = object(lib, nil, s); err != nil {
			t.Fatal(err)
		}
	}
	c, err := link(lib, objects, nil, symbols)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	isLinked(t, c)
	for _, s := range symbols {
		if c.Functions[s] == 0 {
			t.Errorf("%s has no address", s)
		}
	}
}

func TestCalls(t *testing.T) {
	ir := "declare void @call_rf_b(i64)\n call void @call_rf_a(ptr %x)\n call void @call_rf_b(i64 1)\n call i64 @rf_hash64(i64 2)\n"
	if got := Calls(ir); !slices.Equal(got, []string{"call_rf_a", "call_rf_b"}) {
		t.Errorf("calls are %v", got)
	}
}
