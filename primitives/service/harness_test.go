package service

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// machine runs launches: a card, or blocks of fibers on this machine's CPU.
type machine interface {
	// put returns the address of memory that holds the words, aligned to 16
	// bytes.
	put(t testing.TB, words []uint64) int64
	// get returns n words from an address of put, which is freed.
	get(t testing.TB, address int64, n int) []uint64
	run(t testing.TB, l Launch)
	// sizes are numbers of things to do for a kernel, around the edges of
	// tiles.
	sizes(k *Kernel) []int
}

// emulated runs each block to its end before the next one, its threads by turns
// in an order.
type emulated struct {
	launch func(name string, blocks int64, order uint64, words *int64) int32
	order  uint64
	memory map[int64][]uint64
	pin    goruntime.Pinner
}

// hostCode compiles src/host.cpp and opens it.
var hostCode = sync.OnceValues(func() (launch func(string, int64, uint64, *int64) int32,
	err error) {
	dir, err := os.MkdirTemp("", "service")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	library := filepath.Join(dir, "host.so")
	sources()
	if out,
		err := exec.Command("clang-15", "-std=c++17", "-O1", "-fPIC", "-shared", "-DRF_EMULATED",
		"-Wall", "-Wextra", "-Werror",
		filepath.Join("src", "host.cpp"), "-o", library).CombinedOutput(); err != nil {
		return nil, &exec.Error{Name: "clang-15", Err: errorText(string(out) + err.Error())}
	}
	handle, err := dynlib.Open(library, false)
	if err != nil {
		return nil, err
	}
	purego.RegisterLibFunc(&launch, handle, "rf_launch")
	return launch, nil
})

// sources reads what clang reads, so that go test knows that a result depends
// on it.
func sources() {
	for _, dir := range []string{"src", filepath.Join("..", "src"),
		filepath.Join("..", "src", "test")} {
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, f := range files {
			os.ReadFile(f)
		}
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

// emulator serves tests one at a time, as the emulated block does.
func emulator(t *testing.T, order uint64) machine {
	t.Helper()
	if _, err := exec.LookPath("clang-15"); err != nil {
		t.Skip("clang-15 is not installed: apt-get install clang-15")
	}
	launch, err := hostCode()
	if err != nil {
		t.Fatal(err)
	}
	m := &emulated{launch: launch, order: order, memory: map[int64][]uint64{}}
	t.Cleanup(m.pin.Unpin)
	return m
}

func (m *emulated) put(_ testing.TB, words []uint64) int64 {
	data := make([]uint64, len(words)+2)
	address := int64(uintptr(unsafe.Pointer(&data[0])))
	if address%16 != 0 {
		data, address = data[1:], address+8
	}
	m.pin.Pin(&data[0])
	copy(data, words)
	m.memory[address] = data[:len(words)]
	return address
}

func (m *emulated) get(_ testing.TB, address int64, n int) []uint64 {
	data := m.memory[address][:n]
	delete(m.memory, address)
	return data
}

func (m *emulated) run(t testing.TB, l Launch) {
	t.Helper()
	if l.Threads != threads {
		t.Errorf("%s has %d threads", l.Kernel, l.Threads)
	}
	words := append(l.Params, 0)
	if m.launch(l.Kernel, int64(l.Blocks), m.order, &words[0]) == 0 {
		t.Fatalf("there is no kernel %s", l.Kernel)
	}
}

func (m *emulated) sizes(k *Kernel) []int {
	return []int{0, 1, 31, 32, 33, k.Tile - 1, k.Tile, k.Tile + 1, 3*k.Tile + 5}
}

// blockOrders are the orders in which emulated blocks run.
var blockOrders = []struct {
	name  string
	value uint64
}{{"random", 12345}, {"ascending", 0}, {"descending", 1}}

// onEach runs a check on emulated blocks in several orders, with -short in the
// random one.
func onEach(t *testing.T, k *Kernel, check func(t *testing.T, m machine, n int)) {
	orders := blockOrders
	if testing.Short() {
		t.Log("left out: -short: blocks that run in order")
		orders = orders[:1]
	}
	for _, order := range orders {
		t.Run(order.name, func(t *testing.T) {
			m := emulator(t, order.value)
			for _, n := range m.sizes(k) {
				if check(t, m, n); t.Failed() {
					t.Fatalf("with %d", n)
				}
			}
		})
	}
}

// random returns n random words.
func random(n int) []uint64 {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	out := make([]uint64, n)
	for i := range out {
		out[i] = r.Uint64()
	}
	return out
}

// same compares arrays and names the first word that differs.
func same(t testing.TB, what string, got, want []uint64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d words, want %d", what, len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: word %d of %d is %#x, want %#x", what, i, len(want), got[i], want[i])
		}
	}
}

// entries splits PTX into its kernels.
func entries(ptx string) (names []string, bodies map[string]string) {
	bodies = map[string]string{}
	for _, part := range strings.Split(ptx, ".visible .entry ")[1:] {
		name, body, _ := strings.Cut(part, "(")
		names, bodies[name] = append(names, name), body
	}
	return names, bodies
}
