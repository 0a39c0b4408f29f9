package llvm

import (
	"bytes"
	"fmt"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// emitPTX compiles and frees a small kernel that mentions n.
func emitPTX(l *Library, gpu *TargetMachine, n int) ([]byte, error) {
	m, err := gpu.ParseIR("square",
		strings.ReplaceAll(kernelSource, "slt i32 %i, %n", fmt.Sprintf("slt i32 %%i, %d", 1000+n)))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := m.Optimize(gpu, "default<O3>", OptimizeOptions{}); err != nil {
		return nil, err
	}
	return gpu.EmitAssembly(m)
}

// TestConcurrency compiles from 8 goroutines at once: PTX with machines of
// their own and with a shared one, code that runs, and IR that is refused.
func TestConcurrency(t *testing.T) {
	l := library(t)
	shared := gpuMachine(t, 80)
	const goroutines, rounds = 8, 6
	var want [rounds][]byte
	for i := range want {
		ptx, err := emitPTX(l, shared, i)
		if err != nil {
			t.Fatal(err)
		}
		want[i] = ptx
	}
	worker := func(g int) error {
		o, err := l.PTXOptions(80, 0)
		if err != nil {
			return err
		}
		own, err := l.NewTargetMachine(o)
		if err != nil {
			return err
		}
		defer own.Close()
		for i := range rounds {
			for _, gpu := range []*TargetMachine{own, shared} {
				ptx, err := emitPTX(l, gpu, i)
				if err != nil {
					return err
				}
				if !bytes.Equal(ptx, want[i]) {
					return fmt.Errorf("round %d: PTX differs:\n%s", i, ptx)
				}
			}
			if err := runJIT(l, 100*g+i); err != nil {
				return err
			}
			name := fmt.Sprintf("bad%d", g)
			_, err := l.ParseIR(name, "define i64 @f() {\n  ret i64 %"+name+"\n}\n")
			if err == nil || !strings.Contains(err.Error(), "%"+name) {
				return fmt.Errorf("wrong IR of %s: %v", name, err)
			}
			bad, err := l.ParseIR(name, cannotSelect)
			if err != nil {
				return err
			}
			defer bad.Close()
			if _, err := own.EmitAssembly(bad); err == nil || !strings.Contains(err.Error(), name) {
				return fmt.Errorf("what cannot be selected: %v", err)
			}
		}
		return nil
	}
	errs := make([]error, goroutines)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() { errs[g] = worker(g) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestSharedModule uses one module from several goroutines.
func TestSharedModule(t *testing.T) {
	m := parse(t, "sum", sumSource)
	var all sync.WaitGroup
	for range 4 {
		h := host(t)
		all.Go(func() {
			for range 5 {
				if err := m.Optimize(h, "default<O2>", OptimizeOptions{}); err != nil {
					t.Error(err)
				}
				if _, err := h.EmitObject(m); err != nil {
					t.Error(err)
				}
				if m.String() == "" {
					t.Error("no text")
				}
			}
		})
	}
	all.Wait()
}

// residentBytes returns the process's resident memory.
func residentBytes(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("resident memory is not known: no /proc/self/statm")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestLeaks compiles small programs and holds resident memory to what it was
// after the first of them, which fill LLVM's tables and the allocator's pools.
// The environment variable LLVM_TEST_COMPILATIONS sets the number. The
// allocator's arenas of several threads take up to 2 MB more, and LLVM's NVPTX
// target itself loses about 80 bytes with each kernel; a module that is not
// freed is 50 kB.
func TestLeaks(t *testing.T) {
	short.Skip(t, "compilations that would leak memory")
	l := library(t)
	n := 300
	if s := os.Getenv("LLVM_TEST_COMPILATIONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	gpu := gpuMachine(t, 80)
	closing := machineOptions(t, l)
	for _, c := range []struct {
		name  string
		share int // of the compilations, in percent
		run   func(i int) error
	}{
		{"PTX", 60, func(i int) error {
			_, err := emitPTX(l, gpu, i)
			return err
		}},
		{"JIT", 20, func(i int) error { return runJIT(l, i) }},
		{"target machine", 10, func(i int) error {
			m, err := l.NewTargetMachine(closing)
			if err != nil {
				return err
			}
			defer m.Close()
			_, err = emitPTX(l, m, i)
			return err
		}},
		{"failure", 10, func(int) error {
			for _, ir := range []string{"define i64 @f() {\n  ret i32 0\n}\n",
				addSource + "define i64 @f() { ret"} {
				if _, err := l.ParseIR("wrong", ir); err == nil {
					return fmt.Errorf("wrong IR is accepted")
				}
			}
			m, err := l.ParseIR("add", addSource)
			if err != nil {
				return err
			}
			defer m.Close()
			if m.Link(m) == nil || m.Optimize(gpu, "no-such-pass", OptimizeOptions{}) == nil {
				return fmt.Errorf("a wrong step succeeds")
			}
			return nil
		}},
	} {
		rounds := n * c.share / 100
		before, settled := 0, min(rounds/4, 500)
		for i := range rounds {
			if i == settled {
				before = residentBytes(t)
			}
			if err := c.run(i); err != nil {
				t.Fatal(err)
			}
		}
		grown, measured := residentBytes(t)-before, rounds-settled
		t.Logf("%s: %d compilations, resident %d kB, grown by %d kB, %d bytes each",
			c.name, rounds, before>>10, grown>>10, grown/max(1, measured))
		if grown > 2<<20+measured<<10 {
			t.Errorf("%s: resident memory grows by %d bytes with each compilation", c.name,
				grown/measured)
		}
	}
}

func machineOptions(t *testing.T, l *Library) TargetOptions {
	t.Helper()
	o, err := l.PTXOptions(80, 0)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// BenchmarkPTX goes from text to PTX.
func BenchmarkPTX(b *testing.B) {
	l, gpu := library(b), gpuMachine(b, 80)
	for b.Loop() {
		if _, err := emitPTX(l, gpu, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPTXParallel does so on all cores.
func BenchmarkPTXParallel(b *testing.B) {
	l := library(b)
	o, err := l.PTXOptions(80, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(1)
	b.RunParallel(func(pb *testing.PB) {
		gpu, err := l.NewTargetMachine(o)
		if err != nil {
			b.Error(err)
			return
		}
		defer gpu.Close()
		for pb.Next() {
			if _, err := emitPTX(l, gpu, 1); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(goruntime.GOMAXPROCS(0)), "cores")
}
