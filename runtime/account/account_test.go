package account

import (
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/await"
	"github.com/redfoxdb/redfox/runtime"
)

// TestRegion grows a region from Go's heap to one that is mapped and moves, and
// wants its contents to stay and what is new to be zero.
func TestRegion(t *testing.T) {
	m := New(0)
	r := Region{Memory: m}
	size := 0
	for _, bytes := range []int{1, 100, MapBytes - 8, MapBytes, 5 * MapBytes, 5*MapBytes + 1,
		40 * MapBytes} {
		if err := r.Grow("it", bytes); err != nil {
			t.Fatal(err)
		}
		words := Words(&r)
		for i, w := range words {
			if want := uint64(i + 1); i < size && w != want || i >= size && w != 0 {
				t.Fatalf("%d bytes: word %d is %d", bytes, i, w)
			}
			words[i] = uint64(i + 1)
		}
		size = len(words)
		if m.Held() != int64(bytes) || r.IsMapped() != (bytes >= MapBytes) {
			t.Fatalf("%d bytes: %d are held", bytes, m.Held())
		}
	}
	var other Region
	if err := other.Alloc(m, "other", 2*MapBytes); err != nil {
		t.Fatal(err)
	}
	other.Move(&r)
	if r.Data != nil || Words(&other)[7] != 8 || m.Held() != 40*MapBytes || m.Mapped() != 1 {
		t.Errorf("after a move %d bytes are held, %d regions mapped", m.Held(), m.Mapped())
	}
	other.Free()
	if m.Held() != 0 || m.Mapped() != 0 || m.Peak() != 42*MapBytes {
		t.Errorf("in the end %d bytes are held, %d at the peak", m.Held(), m.Peak())
	}
}

// TestBound wants a refusal that says what is there, and no byte too many.
func TestBound(t *testing.T) {
	m := New(3 * MapBytes)
	words, err := m.Alloc("a", MapBytes/8)
	if err != nil {
		t.Fatal(err)
	}
	small, err := m.Alloc("b", 100)
	if err != nil {
		t.Fatal(err)
	}
	if m.Room() != 2*MapBytes-800 {
		t.Errorf("room for %d bytes", m.Room())
	}
	_, err = m.Alloc("c", 2*MapBytes/8)
	var out *runtime.MemoryError
	if !errors.As(err, &out) ||
		*out != (runtime.MemoryError{What: "c", Want: 2 * MapBytes, Held: MapBytes + 800,
			Bound: 3 * MapBytes}) {
		t.Errorf("got %v", err)
	}
	m.Free(words[:1])
	m.Free(small)
	if m.Held() != 0 || m.Mapped() != 0 {
		t.Errorf("%d bytes are held", m.Held())
	}
	if _, err := m.Alloc("d", MapBytes/8); err != nil {
		t.Fatal(err)
	}
	m.Close()
}

// TestGiveAway wants what is given away to outlive the account, and to be
// unmapped when nothing keeps it.
func TestGiveAway(t *testing.T) {
	for _, bytes := range []int{800, 3*MapBytes + 8} {
		m := New(0)
		var r Region
		if err := r.Alloc(m, "it", 2*bytes); err != nil {
			t.Fatal(err)
		}
		words := Words(&r)[:bytes/8]
		for i := range words {
			words[i] = uint64(i)
		}
		data, owner := r.GiveAway(bytes)
		if m.Held() != 0 || m.Mapped() != 0 || r.Data != nil || data != unsafe.Pointer(&words[0]) {
			t.Errorf("%d bytes are held after %d are given away", m.Held(), bytes)
		}
		m.Close()
		goruntime.GC()
		for i, w := range words {
			if w != uint64(i) {
				t.Fatalf("word %d is %d", i, w)
			}
		}
		goruntime.KeepAlive(owner)
	}
}

// TestOwnedIsUnmapped looks for the memory among the mappings of the process.
func TestOwnedIsUnmapped(t *testing.T) {
	var r Region
	if err := r.Alloc(New(0), "it", 3*MapBytes); err != nil {
		t.Fatal(err)
	}
	isMapped := func(at uintptr) bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip("nothing tells what is mapped here: ", err)
		}
		for line := range strings.Lines(string(maps)) {
			var from, until uintptr
			if _, err := fmt.Sscanf(line, "%x-%x", &from, &until); err == nil && from <= at &&
				at < until {
				return true
			}
		}
		return false
	}
	data, owner := r.GiveAway(2*MapBytes + 1)
	if at := uintptr(data); !isMapped(at) || !isMapped(at+2*MapBytes) {
		t.Error("what is given away is not mapped")
	}
	goruntime.KeepAlive(owner)
	owner = nil
	await.Until(t, "the end of a mapping that nothing keeps", func() bool {
		goruntime.GC()
		return !isMapped(uintptr(data))
	})
}
