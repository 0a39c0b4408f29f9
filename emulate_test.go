package redfox

import (
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	emulator "github.com/redfoxdb/redfox/runtime/gpu/emulated"
	"github.com/redfoxdb/redfox/weaver/emit"
)

// emulateGPU gives the test GPUs that the host pretends to be, in place of those of the
// machine. At its end nothing may have leaked on them and no rule of the driver may have
// been broken. Tests that call it do not run beside others.
func emulateGPU(t *testing.T, o emulator.Options) *emulator.Driver {
	t.Helper()
	lib, err := llvm.Open()
	if err != nil {
		t.Skip(err)
	}
	o.Library, o.Cache, o.Quick = lib, kernelcache.Open(), true
	d := emulator.New(o)
	undo := driver.Use(func() (driver.Driver, error) { return d, nil })
	emulated = &emulation{
		options: func(o emit.Options) emit.Options { return enginetest.Emulated(o, 64) },
		text:    func(code *emit.Code) string { return emulator.Image(code.Module, code.IR) },
	}
	t.Cleanup(func() {
		closeCards(t, &shared)
		undo()
		emulated = nil
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// closeCards closes the engines of GPUs that a test has made.
func closeCards(t *testing.T, s *engines) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.made {
		if key.card == nil {
			continue
		}
		if err := closeEngine(e.Engine); err != nil {
			t.Error(err)
		}
		delete(s.made, key)
	}
	s.codes = nil
}

// noGPU lets the test see a machine whose driver says this.
func noGPU(t *testing.T, attempts ...cuda.Attempt) {
	t.Helper()
	t.Cleanup(driver.Use(func() (driver.Driver, error) { return nil, &cuda.NotFoundError{Tried: attempts} }))
}

// hideLLVM lets the test see a machine without libLLVM.
func hideLLVM(t *testing.T) {
	t.Helper()
	findLLVM = func() (*llvm.Library, error) { return nil, &llvm.NotFoundError{} }
	t.Cleanup(func() { findLLVM = openedLLVM })
}

// openedLLVM finds the machine's.
var openedLLVM = findLLVM
