package primitives

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/redfoxdb/redfox/internal/llvm"
)

// TestBitcodeIsCurrent rebuilds the bitcode and compares bytes.
func TestBitcodeIsCurrent(t *testing.T) {
	clang(t)
	if _, err := exec.LookPath("opt-15"); err != nil {
		t.Skip("opt-15 is not installed: apt-get install llvm-15")
	}
	dir := t.TempDir()
	if out, err := exec.Command("sh", "src/build.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("src/build.sh: %v\n%s", err, out)
	}
	for _, target := range Targets() {
		built, err := os.ReadFile(filepath.Join(dir, string(target)+".bc"))
		if err != nil {
			t.Fatal(err)
		}
		have, err := Bitcode(target)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(built, have) {
			t.Errorf("bitcode/%s.bc is not what the sources give; run make primitives", target)
		}
	}
}

// TestBitcodeHoldsCatalogue reads each target's bitcode with libLLVM: it must
// be valid, and define the catalogue's functions and no others that a caller
// sees.
func TestBitcodeHoldsCatalogue(t *testing.T) {
	lib, err := llvm.Open()
	if err != nil {
		t.Skip("libLLVM is not installed: apt-get install libllvm15")
	}
	var want []string
	for _, p := range Catalogue() {
		want = append(want, p.Name)
	}
	slices.Sort(want)
	for _, target := range Targets() {
		code, err := Bitcode(target)
		if err != nil {
			t.Fatal(err)
		}
		m, err := lib.ParseBitcode(string(target), code)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		defer m.Close()
		if err := m.Verify(); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if m.Triple() != target.Triple() {
			t.Errorf("%s: its triple is %s, not %s", target, m.Triple(), target.Triple())
		}
		var got []string
		for _, name := range m.Functions() {
			if len(name) > 3 && name[:3] == "rf_" {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the bitcode defines %v\nthe catalogue has %v", target, got, want)
		}
	}
}

// callerIR uses primitives as generated code does: declared by hand, items in
// an alloca of the entry block, tile shape as constants.
const callerIR = `
declare void @rf_tile_load(ptr, ptr, i32, i64, i64, i64, i32, i32, i32)
declare i64 @rf_block_sum_i64(i64, ptr, i32)
declare i32 @rf_set64_insert(ptr, i64, i64)

define i64 @caller(ptr %column, i64 %start, ptr %scratch, ptr %slots) {
  %items = alloca [16 x i64], align 16
  call void @rf_tile_load(ptr %items, ptr %column, i32 4, i64 0, i64 1, i64 %start, i32 THREADSx16, i32 THREADS, i32 16)
  %first = load i64, ptr %items
  %sum = call i64 @rf_block_sum_i64(i64 %first, ptr %scratch, i32 THREADS)
  %new = call i32 @rf_set64_insert(ptr %slots, i64 1023, i64 %sum)
  %wide = sext i32 %new to i64
  ret i64 %wide
}
`

// TestLinkAndInline wants nothing of the library left in a caller that was
// linked with it and optimised, neither calls nor the array of items.
func TestLinkAndInline(t *testing.T) {
	lib, err := llvm.Open()
	if err != nil {
		t.Skip("libLLVM is not installed: apt-get install libllvm15")
	}
	for _, c := range []struct {
		target  Target
		threads string
		rows    string
		options func() (llvm.TargetOptions, error)
	}{
		{NVPTX64, "256", "4096", func() (llvm.TargetOptions, error) {
			return lib.PTXOptions(80, 0)
		}},
		{hostTarget(t), "1", "16", func() (llvm.TargetOptions, error) {
			return lib.HostOptions(), nil
		}},
	} {
		t.Run(string(c.target), func(t *testing.T) {
			options, err := c.options()
			if err != nil {
				t.Skip(err)
			}
			machine, err := lib.NewTargetMachine(options)
			if err != nil {
				t.Fatal(err)
			}
			defer machine.Close()
			ir := bytes.ReplaceAll([]byte(callerIR), []byte("THREADSx16"), []byte(c.rows))
			m, err := machine.ParseIR("caller",
				string(bytes.ReplaceAll(ir, []byte("THREADS"), []byte(c.threads))))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			code, err := Bitcode(c.target)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.LinkBitcode("primitives", code); err != nil {
				t.Fatal(err)
			}
			if err := m.Optimize(machine, "default<O3>", llvm.OptimizeOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := m.Functions(); !slices.Equal(got, []string{"caller"}) {
				t.Errorf("functions left: %v", got)
			}
			if text := m.String(); bytes.Contains([]byte(text), []byte("alloca")) {
				t.Errorf("the array of items is still in memory:\n%s", text)
			}
			if _, err := machine.EmitAssembly(m); err != nil {
				t.Error(err)
			}
		})
	}
}

// BenchmarkLink is what a compilation pays for the library: reading its
// bitcode, taking one primitive from it, and optimising the caller.
func BenchmarkLink(b *testing.B) {
	lib, err := llvm.Open()
	if err != nil {
		b.Skip("libLLVM is not installed: apt-get install libllvm15")
	}
	code, err := Bitcode(NVPTX64)
	if err != nil {
		b.Fatal(err)
	}
	options, err := lib.PTXOptions(80, 0)
	if err != nil {
		b.Fatal(err)
	}
	machine, err := lib.NewTargetMachine(options)
	if err != nil {
		b.Fatal(err)
	}
	defer machine.Close()
	ir := bytes.ReplaceAll([]byte(callerIR), []byte("THREADSx16"), []byte("4096"))
	ir = bytes.ReplaceAll(ir, []byte("THREADS"), []byte("256"))
	step := map[string]float64{}
	for range b.N {
		m, err := machine.ParseIR("caller", string(ir))
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		timed := func(name string, err error) {
			if err != nil {
				b.Fatal(err)
			}
			step[name] += time.Since(start).Seconds() * 1e3
			start = time.Now()
		}
		timed("link", m.LinkBitcode("primitives", code))
		timed("optimise", m.Optimize(machine, "default<O3>", llvm.OptimizeOptions{}))
		_, err = machine.EmitAssembly(m)
		timed("emit", err)
		m.Close()
	}
	for name, ms := range step {
		b.ReportMetric(ms/float64(b.N), name+"-ms/op")
	}
}
