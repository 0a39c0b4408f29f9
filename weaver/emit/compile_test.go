package emit

import (
	"errors"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/target"
)

// library opens libLLVM, or skips the test.
func library(t testing.TB) *llvm.Library {
	t.Helper()
	short.Skip(t, "LLVM compiles nothing in weaver/emit")
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

// linked returns the code with what it needs of the primitives, optimised.
func linked(t testing.TB, machine *llvm.TargetMachine, kind primitives.Target, c *Code,
	pipeline string) *llvm.Module {
	t.Helper()
	m, err := machine.ParseIR("kernels", c.IR)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	code, err := primitives.Bitcode(kind)
	if err == nil {
		err = m.LinkBitcode("primitives", code)
	}
	if err == nil {
		err = m.Internalize(c.Module.Symbols()...)
	}
	if err == nil {
		err = m.Verify()
	}
	if err == nil {
		err = m.Optimize(machine, pipeline, llvm.OptimizeOptions{})
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, c.IR)
	}
	return m
}

// ptxOf compiles code for a GPU.
func ptxOf(t testing.TB, c *Code, sm int) []byte {
	t.Helper()
	lib := library(t)
	options, err := lib.PTXOptions(sm, 0)
	if err != nil {
		t.Skip(err)
	}
	options.Level = target.GPU(sm).Effort()
	machine, err := lib.NewTargetMachine(options)
	if err != nil {
		t.Fatal(err)
	}
	defer machine.Close()
	library, err := primitives.Bitcode(primitives.NVPTX64)
	if err != nil {
		t.Fatal(err)
	}
	ptx, _,
		err := machine.Compile(llvm.Compilation{Name: "kernels", IR: c.IR, Library: "primitives",
		Bitcode: library,
		Keep:    c.Module.Symbols(), Passes: target.GPU(sm).Passes(lib.Version().Major)})
	if err != nil {
		t.Fatalf("%v\n%s", err, c.IR)
	}
	return ptx
}

// hostPrimitives is the target of this machine's primitives.
func hostPrimitives(t testing.TB) primitives.Target {
	t.Helper()
	switch {
	case goruntime.GOOS != "linux":
	case goruntime.GOARCH == "amd64":
		return primitives.X86_64
	case goruntime.GOARCH == "arm64":
		return primitives.AArch64
	}
	t.Skipf("there are no primitives for %s/%s", goruntime.GOOS, goruntime.GOARCH)
	return ""
}

var hostMachine struct {
	sync.Mutex
	machine *llvm.TargetMachine
}

// quick is a pipeline that leaves out what takes long.
func quick(lib *llvm.Library) string {
	combine := "instcombine"
	if lib.Version().Major >= 18 {
		combine = "instcombine<no-verify-fixpoint>" // there it fails where it could go on
	}
	return "always-inline,function(sroa,early-cse," + combine + ",simplifycfg,adce)"
}

// objectOf compiles code for this machine.
func objectOf(t testing.TB, c *Code, pipeline string) []byte {
	t.Helper()
	kind := hostPrimitives(t)
	lib := library(t)
	hostMachine.Lock()
	defer hostMachine.Unlock()
	if hostMachine.machine == nil {
		options := lib.HostOptions()
		options.Level = 1
		machine, err := lib.NewTargetMachine(options)
		if err != nil {
			t.Fatal(err)
		}
		hostMachine.machine = machine
	}
	object, err := hostMachine.machine.EmitObject(linked(t, hostMachine.machine, kind, c, pipeline))
	if err != nil {
		t.Fatalf("%v\n%s", err, c.IR)
	}
	return object
}
