package service

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/ptxas"
	"github.com/redfoxdb/redfox/internal/short"
)

// modules are all modules, and what their files are called.
var modules = []struct {
	file string
	*Module
}{{"service.ptx", Base}, {"sort.ptx", Sorting}, {"pages.ptx", Pages}}

// TestPTXIsCurrent rebuilds the PTX and compares bytes.
func TestPTXIsCurrent(t *testing.T) {
	short.Skip(t, "clang and ptxas compile nothing")
	if _, err := exec.LookPath("clang-15"); err != nil {
		t.Skip("clang-15 is not installed: apt-get install clang-15")
	}
	sources()
	dir := t.TempDir()
	if out, err := exec.Command("sh", filepath.Join("src", "build.sh"),
		dir).CombinedOutput(); err != nil {
		t.Fatalf("src/build.sh: %v\n%s", err, out)
	}
	for _, m := range modules {
		built, err := os.ReadFile(filepath.Join(dir, m.file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, []byte(m.PTX)) {
			t.Errorf("%s is not what the sources give; run make primitives", m.file)
		}
	}
}

// TestPTXHoldsKernels compares the entries of the PTX with the tables, and the
// parameters with those of the sources.
func TestPTXHoldsKernels(t *testing.T) {
	headers := map[string][]string{"service.ptx": {"kernels.h"}, "sort.ptx": {"sort.h", "order.h"},
		"pages.ptx": {"pages.h", "deltas.h"}}
	for _, m := range modules {
		var source []byte
		for _, header := range headers[m.file] {
			text, err := os.ReadFile(filepath.Join("src", header))
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, text...)
		}
		names, bodies := entries(m.PTX)
		if len(names) != len(m.Kernels) {
			t.Fatalf("%s has kernels %v", m.file, names)
		}
		if strings.Contains(m.PTX, ".func") {
			t.Errorf("%s has functions that are not inlined", m.file)
		}
		for i, k := range m.Kernels {
			if k.Name != names[i] {
				t.Errorf("kernel %d of %s is %s, want %s", i, m.file, names[i], k.Name)
				continue
			}
			body := bodies[k.Name]
			if words, all := strings.Count(body, ".param .u64 "+k.Name), strings.Count(body,
				".param ."); words != len(k.Params) || words != all {
				t.Errorf("%s has %d parameters of 64 bits, want %d", k.Name, words, len(k.Params))
			}
			if !strings.Contains(body, ".maxntid 256, 1, 1") {
				t.Errorf("%s does not say that it has 256 threads", k.Name)
			}
			list := regexp.MustCompile(`RF_KERNEL\(` + k.Name +
				`, \d\)\(([^)]*)\)`).FindSubmatch(source)
			if list == nil {
				t.Errorf("%s is not in %s", k.Name, headers[m.file])
				continue
			}
			var params []string
			for p := range strings.SplitSeq(string(list[1]), ",") {
				params = append(params, p[strings.LastIndexAny(p, " *")+1:])
			}
			if got, want := strings.Join(params, ", "), strings.Join(k.Params, ", "); got != want {
				t.Errorf("%s takes %s, not %s", k.Name, got, want)
			}
		}
	}
}

// TestPTXPatterns looks at what decides the speed of a kernel.
func TestPTXPatterns(t *testing.T) {
	generic := regexp.MustCompile(`\b(ld|st|atom|red)(\.volatile|\.relaxed|\.acquire)?\.(v[24]|add|cas|or|min|max|[busf]\d+)\b`)
	all := map[string]string{}
	for _, m := range modules {
		_, bodies := entries(m.PTX)
		for name, body := range bodies {
			all[name] = body
			if strings.Contains(body, ".local") {
				t.Errorf("%s uses local memory", name)
			}
			if found := generic.FindString(body); found != "" {
				t.Errorf("%s has a generic access: %s", name, found)
			}
		}
	}
	for _, c := range []struct {
		kernel, pattern string
		least           int
	}{
		{"rf_fill", `st\.global\.v4\.u32`, 4},
		{"rf_scan", `ld\.global\.v4\.u32`, 8},
		{"rf_scan", `st\.global\.v4\.u32`, 8},
		{"rf_scan", `shfl\.sync\.up`, 40},
		{"rf_rehash", `atom\.global\.cas\.b64`, 8},
		{"rf_rowset", `atom\.global\.cas\.b64`, 8},
		{"rf_pages_unpack", `st\.global\.v4\.u32`, 1},
		{"rf_pages_unpack", `redux\.sync\.or\.b32`, 2},
		{"rf_order_select", `atom\.shared\.add|red\.shared\.add`, 8},
	} {
		if n := len(regexp.MustCompile(c.pattern).FindAllString(all[c.kernel], -1)); n < c.least {
			t.Errorf("%s has %s %d times, want at least %d", c.kernel, c.pattern, n, c.least)
		}
	}
}

// TestPTXAssembles gives the kernels to ptxas and records what they take.
func TestPTXAssembles(t *testing.T) {
	ptxas.Need(t)
	for _, arch := range []string{"sm_80", "sm_90"} {
		for _, m := range modules {
			report, err := ptxas.Assemble([]byte(m.PTX), arch)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Warnings) > 0 {
				t.Errorf("%s: %s: %v", arch, m.file, report.Warnings)
			}
			for _, k := range report.Kernels {
				// More blocks at once are worth a few words of local memory.
				if k.Stack > 64 || k.Registers > 128 {
					t.Errorf("%s: %s", arch, k)
				}
				t.Logf("%s: %s", arch, k)
			}
		}
	}
}

// TestMachineIsCurrent compares what machine code was made of with the PTX, and
// where the assembler is of the same version, what it makes.
func TestMachineIsCurrent(t *testing.T) {
	short.Skip(t, "clang and ptxas compile nothing")
	made, err := os.ReadFile("cubin.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if sum := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(m.PTX)),
			m.file); !strings.Contains(string(made), sum) {
			t.Errorf("machine code is of another %s; run make primitives", m.file)
		}
		if m.Machine(8) == nil || m.Machine(9) == nil || m.Machine(7) != nil {
			t.Errorf("%s has machine code of other generations than 8 and 9", m.file)
		}
	}
	path, err := ptxas.Find()
	if err != nil {
		t.Skip(err)
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(version)), "\n")
	if first, _, _ := strings.Cut(string(made), "\n"); first != lines[len(lines)-1] {
		t.Skipf("it was made by %s, and here is %s", first, lines[len(lines)-1])
	}
	for _, m := range modules {
		for _, generation := range []int{8, 9} {
			out := filepath.Join(t.TempDir(), "cubin")
			if said, err := exec.Command(path, "-arch", fmt.Sprintf("sm_%d0", generation), m.file,
				"-o", out).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			built, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(built, m.Machine(generation)) {
				t.Errorf("%s gives other machine code for sm_%d0; run make primitives", m.file,
					generation)
			}
		}
	}
}
