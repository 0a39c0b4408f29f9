package primitives

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/ptxas"
	"github.com/redfoxdb/redfox/internal/short"
)

var ptx struct {
	sync.Mutex
	text string
}

// gpuKernels compiles the test kernels, linked with the embedded bitcode, to
// PTX: those for blocks of 256 threads, or where every case runs those of all
// sizes.
func gpuKernels(t *testing.T) string {
	t.Helper()
	ptx.Lock()
	defer ptx.Unlock()
	if ptx.text != "" {
		return ptx.text
	}
	code, err := Bitcode(NVPTX64)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "kernels.ptx")
	sizes := "-DRF_ONE_SIZE"
	if short.Every() {
		sizes = "-DRF_ALL_SIZES"
	}
	compile(t, sizes, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-Xclang",
		"-target-feature", "-Xclang", "+ptx75",
		"-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-Wno-pass-failed",
		"-ffreestanding", "-std=c++17", "-O3",
		"-DRF_PROTOTYPES=\""+writeFile(t, "gpu_prototypes.h", []byte(prototypes()))+"\"",
		"-Xclang", "-mlink-builtin-bitcode", "-Xclang", writeFile(t, "nvptx64.bc", code), "-S",
		"gpu.cu", "-o", out)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	ptx.text = string(text)
	return ptx.text
}

// entries splits PTX into its kernels.
func entries(ptx string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(ptx, ".visible .entry ")[1:] {
		name, body, _ := strings.Cut(part, "(")
		out[name] = body
	}
	return out
}

// TestPTXPatterns looks at what decides the speed of a kernel: wide accesses,
// address spaces found, no local memory.
func TestPTXPatterns(t *testing.T) {
	kernels := entries(gpuKernels(t))
	if len(kernels) == 0 {
		t.Fatal("no kernels")
	}
	generic := regexp.MustCompile(`(?m)(?:^|\s)(ld|st|atom|red)(\.volatile|\.relaxed|\.acquire)?\.(v[24]|add|cas|or|min|max|[busf]\d+)\b`)
	for name, body := range kernels {
		if strings.Contains(body, ".local") {
			t.Errorf("%s uses local memory", name)
		}
		if found := generic.FindString(body); found != "" {
			t.Errorf("%s has a generic access: %s", name, found)
		}
	}
	for _, c := range []struct {
		kernel, pattern string
		least           int
	}{
		{"sum_w1_256", `ld\.global(\.nc)?\.u32`, 4},
		{"sum_w2_256", `ld\.global(\.nc)?\.v2\.u32`, 4},
		{"sum_w4_256", `ld\.global(\.nc)?\.v4\.u32`, 4},
		{"sum_w8_256", `ld\.global(\.nc)?\.v4\.u32`, 8},
		{"sum_b13_256", `ld\.global(\.nc)?\.u32`, 4 * 3},
		{"sum_b13_256", `shf\.r\.wrap\.b32`, 4 * 2},
		{"sum_b24_256", `ld\.global(\.nc)?\.u32`, 4 * 3},
		{"tile_load_256", `st\.global\.v4`, 8},
		{"map_find_256", `ld\.global(\.nc)?\.v4\.u32`, 16},
		{"scan_block_256", `shfl\.sync\.up`, 10},
		{"scan_block_32", `shfl\.sync\.up`, 10},
		{"reduce_block_256", `shfl\.sync\.bfly`, 10},
		{"set64_insert_256", `atom\.global\.cas\.b64`, 1},
		{"group_block_256", `atom\.shared\.cas\.b64`, 1},
		{"bitset_insert_256", `atom\.global\.or\.b32`, 1},
		{"bitset_contains_256", `@%p ld\.global\.u32`, 16},
		{"unique_find_256", `@%p ld\.global\.u32`, 16},
		{"tile_gather_256", `@%p ld\.global\.u(8|16|32|64)`, 4 * 16},
	} {
		if n := len(regexp.MustCompile(c.pattern).FindAllString(kernels[c.kernel],
			-1)); n < c.least {
			t.Errorf("%s has %s %d times, want at least %d", c.kernel, c.pattern, n, c.least)
		}
	}
	if strings.Contains(kernels["scan_block_32"], "bar.sync") {
		t.Error("a scan of one warp waits at a barrier")
	}
}

// TestPTXAssembles gives the kernels to ptxas and records what they take.
func TestPTXAssembles(t *testing.T) {
	ptxas.Need(t)
	targets := []string{"sm_80", "sm_90"}
	if !short.Every() {
		targets = targets[1:]
	}
	for _, arch := range targets {
		report, err := ptxas.Assemble([]byte(gpuKernels(t)), arch)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range append(report.Kernels, report.Functions...) {
			// Where a register less makes room for one block more, ptxas may
			// spill one, and a few where a kernel holds a primitive in all its
			// forms. 1,024 threads leave 64 registers each, which whole
			// kernels, above all of wide tuples, may pass. The kernels of cells
			// and runs go through all accumulators with 16 rows a thread; woven
			// ones, of which package emit has a record, have those of the
			// program.
			limit := 8
			switch {
			case strings.HasPrefix(k.Name, "group_cells_"):
				limit = 640
			// which have 128-bit sums of four digits, too
			case strings.HasPrefix(k.Name, "own_cells_"):
				limit = 800
			case strings.HasPrefix(k.Name, "runs_block_"):
				limit = 2048
			// which holds loads of several numbers of bits
			case strings.HasPrefix(k.Name, "tile_load_bits_"):
				limit = 128
			case strings.HasSuffix(k.Name, "_1024"):
				limit = 64
			case strings.HasPrefix(k.Name, "index_build_"), strings.HasPrefix(k.Name,
				"expand_tile_"):
				limit = 48
			// compiled with the 32 registers of the smallest block that donates
			case strings.HasPrefix(k.Name, "donate_work_"):
				limit = 16
			}
			if k.Stack > limit {
				t.Errorf("%s: %s", arch, k)
			}
			t.Logf("%s: %s", arch, k)
		}
	}
}
