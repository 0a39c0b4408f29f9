package primitives

import (
	"fmt"
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
	"github.com/redfoxdb/redfox/internal/short"
)

// clang returns the compiler that the bitcode is made with.
func clang(t testing.TB) string {
	t.Helper()
	short.Skip(t, "clang compiles nothing")
	path, err := exec.LookPath("clang-15")
	if err != nil {
		t.Skip("clang-15 is not installed: apt-get install clang-15")
	}
	return path
}

// compile runs clang in src/test.
func compile(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command(clang(t), args...)
	cmd.Dir = filepath.Join("src", "test")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("clang-15 %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// scratchFolder is removed when the tests have run.
var scratchFolder = sync.OnceValues(func() (string, error) {
	return os.MkdirTemp("", "primitives")
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := scratchFolder(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// writeFile puts a file into the tests' scratch folder and returns its path.
func writeFile(t testing.TB, name string, text []byte) string {
	t.Helper()
	dir, err := scratchFolder()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// launcher is rf_launch of src/test/host.cpp.
type launcher func(name string, threads int32, first, stride, blocks int64, order uint64,
	arguments *uint64) int32

// build compiles the test kernels to a library and opens it.
func build(t testing.TB, name string, args ...string) launcher {
	t.Helper()
	library := writeFile(t, name+".so", nil)
	compile(t,
		append([]string{"-std=c++17", "-fPIC", "-shared", "host.cpp", "-o", library}, args...)...)
	handle, err := dynlib.Open(library, false)
	if err != nil {
		t.Fatal(err)
	}
	var launch launcher
	purego.RegisterLibFunc(&launch, handle, "rf_launch")
	return launch
}

var builds struct {
	sync.Mutex
	native, emulated launcher
}

// hostTarget is the target of this machine's processor.
func hostTarget(t testing.TB) Target {
	switch {
	case goruntime.GOOS == "linux" && goruntime.GOARCH == "amd64":
		return X86_64
	case goruntime.GOOS == "linux" && goruntime.GOARCH == "arm64":
		return AArch64
	}
	t.Skipf("there is no bitcode for %s/%s", goruntime.GOOS, goruntime.GOARCH)
	return ""
}

// native returns the kernels linked with the embedded bitcode of this machine.
func native(t testing.TB) launcher {
	t.Helper()
	target := hostTarget(t)
	builds.Lock()
	defer builds.Unlock()
	if builds.native == nil {
		code, err := Bitcode(target)
		if err != nil {
			t.Fatal(err)
		}
		builds.native = build(t, "native", "-O2",
			"-DRF_PROTOTYPES=\""+writeFile(t, "prototypes.h", []byte(prototypes()))+"\"",
			"-Xclang", "-mlink-builtin-bitcode", "-Xclang", writeFile(t, "primitives.bc", code))
	}
	return builds.native
}

// emulated returns the kernels for blocks of fibers.
func emulated(t testing.TB) launcher {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	if builds.emulated == nil {
		builds.emulated = build(t, "emulated", "-O1", "-DRF_EMULATED")
	}
	return builds.emulated
}

// device is one way to run blocks.
type device struct {
	name    string
	launch  launcher
	threads int
	items   int
	order   uint64 // of an emulated block's threads
	workers int    // goroutines that share the blocks
}

func (d *device) tile() int { return d.threads * d.items }

// emulatedItems is how many items a thread of a block has; src/test agrees.
func emulatedItems(threads int) int {
	if threads == 128 || threads == 1024 {
		return 4
	}
	return 16
}

// run launches a kernel, at least one block for each worker.
func (d *device) run(t testing.TB, kernel string, args ...any) {
	t.Helper()
	var pin goruntime.Pinner
	defer pin.Unpin()
	words := make([]uint64, 12)
	for i, arg := range args {
		words[i] = word(t, &pin, arg)
	}
	pin.Pin(&words[0])
	blocks := int64(max(2, d.workers))
	var wg sync.WaitGroup
	for w := range d.workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if d.launch(kernel, int32(d.threads), int64(w), int64(d.workers), blocks, d.order,
				&words[0]) == 0 {
				t.Errorf("there is no kernel %s for %d threads", kernel, d.threads)
			}
		}()
	}
	wg.Wait()
}

// word turns an argument into 64 bits; a slice becomes a pinned pointer.
func word(t testing.TB, pin *goruntime.Pinner, arg any) uint64 {
	switch v := arg.(type) {
	case nil:
		return 0
	case int:
		return uint64(v)
	case int64:
		return uint64(v)
	case uint64:
		return v
	case []byte:
		return address(pin, v)
	case []uint16:
		return address(pin, v)
	case []uint32:
		return address(pin, v)
	case []int64:
		return address(pin, v)
	case []uint64:
		return address(pin, v)
	}
	t.Fatalf("a kernel has no argument of type %T", arg)
	return 0
}

func address[T any](pin *goruntime.Pinner, s []T) uint64 {
	if cap(s) == 0 {
		return 0
	}
	p := unsafe.SliceData(s)
	pin.Pin(p)
	return uint64(uintptr(unsafe.Pointer(p)))
}

// onEach runs a test on the CPU, alone and with workers, and on emulated blocks
// of every size, whose threads take turns in several orders.
func onEach(t *testing.T, test func(t *testing.T, d *device)) {
	clang(t)
	run := func(d *device) { t.Run(d.name, func(t *testing.T) { test(t, d) }) }
	run(&device{name: "cpu", launch: native(t), threads: 1, items: 1024, workers: 1})
	run(&device{name: "cpu workers", launch: native(t), threads: 1, items: 1024, workers: 4})
	for i, threads := range []int{32, 64, 128, 256, 1024} {
		order := []uint64{0, 1, 12345}[i%3]
		run(&device{
			name: fmt.Sprintf("block of %d order %d", threads, order), launch: emulated(t),
			threads: threads, items: emulatedItems(threads), order: order, workers: 1,
		})
	}
}

// sizes are numbers of rows around the edges of tiles.
func (d *device) sizes() []int {
	tile := d.tile()
	switch {
	case tile > 4096:
		return []int{0, 1, tile, tile + 1}
	case d.workers > 1:
		// Enough that workers meet in the tables.
		return []int{0, 1, tile, 60*tile + 1}
	}
	return []int{0, 1, 3, tile - 1, tile, tile + 1, 3*tile + 5}
}

// distribution makes n words that are at least 0.
type distribution struct {
	name string
	make func(r *rand.Rand, i, n int) int64
}

var distributions = []distribution{
	{"all equal", func(*rand.Rand, int, int) int64 { return 7 }},
	{"all distinct", func(_ *rand.Rand, i, _ int) int64 { return int64(i) }},
	{"few", func(r *rand.Rand, _, _ int) int64 { return r.Int64N(5) }},
	{"skewed", func(r *rand.Rand, _, n int) int64 {
		if r.IntN(2) == 0 {
			return 3
		}
		return r.Int64N(int64(n) + 1)
	}},
	{"random", func(r *rand.Rand, _, _ int) int64 { return r.Int64() }},
}

// onEachInput runs a check for all sizes and distributions of words.
func onEachInput(t *testing.T, check func(t *testing.T, d *device, words []int64)) {
	onEach(t, func(t *testing.T, d *device) {
		for _, n := range d.sizes() {
			for i, dist := range distributions {
				// The large blocks are slow to emulate; they take the sizes in
				// turn.
				if d.tile() > 1024 && d.threads > 1 && i%2 != n%2 {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				words := make([]int64, n)
				for k := range words {
					words[k] = dist.make(r, k, n)
				}
				check(t, d, words)
				if t.Failed() {
					t.Fatalf("with %d words, %s", n, dist.name)
				}
			}
		}
	})
}
