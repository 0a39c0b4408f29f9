package driver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/pool"
	"github.com/redfoxdb/redfox/weaver/assemble"
	"github.com/redfoxdb/redfox/weaver/emit"
)

// onMachine gives the test another machine, whose engines it closes at the end.
// Tests that call it do not run beside others.
func onMachine(t *testing.T, m *machine.Machine) {
	t.Helper()
	before := process
	process = pool.New(m)
	t.Cleanup(func() {
		if err := process.Close(); err != nil {
			t.Error(err)
		}
		process = before
	})
}

// emulateGPU gives the test a machine whose GPUs the host emulates. At its end
// nothing may have leaked on them and no rule of the driver may have been
// broken.
func emulateGPU(t *testing.T, o emulated.Options) *emulated.Driver {
	t.Helper()
	lib, err := llvm.Open()
	if err != nil {
		t.Skip(err)
	}
	o.Library, o.Cache, o.Quick = lib, kernelcache.Open(), true
	d := emulated.New(o)
	t.Cleanup(func() { // after the engines are closed
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	})
	onMachine(t, &machine.Machine{
		Tools: &assemble.Tools{Find: llvm.Open, Emulation: &assemble.Emulation{
			Options: func(o emit.Options) emit.Options { return enginetest.Emulated(o, 64) },
			Text:    func(code *emit.Code) string { return emulated.Image(code.Module, code.IR) },
		}},
		Driver: func() (driver.Driver, error) { return d, nil },
	})
	return d
}

// noGPU gives the test this machine with a driver that says this.
func noGPU(t *testing.T, attempts ...cuda.Attempt) {
	t.Helper()
	onMachine(t,
		&machine.Machine{Tools: process.Machine.Tools, Driver: func() (driver.Driver, error) {
			return nil, &cuda.NotFoundError{Tried: attempts}
		}})
}

// hideLLVM gives the test this machine without libLLVM.
func hideLLVM(t *testing.T) {
	t.Helper()
	findLLVM(t, func() (*llvm.Library, error) { return nil, &llvm.NotFoundError{} })
}

// showLLVM gives the test this machine with libLLVM again.
func showLLVM(t *testing.T) {
	t.Helper()
	findLLVM(t, llvm.Open)
}

func findLLVM(t *testing.T, find func() (*llvm.Library, error)) {
	t.Helper()
	tools := *process.Machine.Tools
	tools.Find, tools.Installed = find, nil
	onMachine(t, &machine.Machine{Tools: &tools, Driver: process.Machine.Driver})
}

// TestLostLLVM has a library that was there when an earlier process noted it,
// and is another one when code is to be made. That is a lack of the machine.
func TestLostLLVM(t *testing.T) {
	lib, err := llvm.Open()
	if err != nil {
		t.Skip(err)
	}
	note, ok := lib.Note()
	if !ok {
		t.Skip("the library has no identity on this system")
	}
	t.Setenv("REDFOX_CACHE", "")
	findLLVM(t, func() (*llvm.Library, error) {
		lib, _ := llvm.Recall(strings.Replace(note, `"Build":"`, `"Build":"0`, 1))
		return lib, nil
	})
	for _, e := range Engines() {
		if e.Available != (e.Name == "go") || e.Name == "cpu" && e.Help == "" {
			t.Errorf("the list of engines has %+v", e)
		}
	}
	p, err := Compile(context.Background(), []Source{{Name: "p.logic",
		Text: "p(1).\nq(x) <- p(y), x = y + 1.\n"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(context.Background(), NewFacts(), RunOptions{Engine: "cpu"})
	var missing *EnvironmentError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "it has just been replaced") {
		t.Errorf("got %v", err)
	}
}
