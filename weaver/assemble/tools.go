package assemble

import (
	"errors"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// Tools are what code is made with.
type Tools struct {
	// Find returns libLLVM: llvm.Open, or what a test has in its place.
	Find func() (*llvm.Library, error)
	// Installed reports whether Find is sure to return a library, without
	// opening it; nil stands for a function that does not know.
	Installed func() bool
	// Quick asks LLVM for little effort on native code (hostcode.Options).
	Quick bool
	// Emulation makes the code of emulated GPUs; nil for code of real ones.
	Emulation *Emulation
}

// Emulation describes the code of GPUs that the host emulates.
type Emulation struct {
	// Options adapts the options of the shape.
	Options func(shape.Options) shape.Options
	// Text returns what stands for PTX.
	Text func(*emit.Code) string
}

// LLVM opens libLLVM. The error is an *failure.Environment.
func (t *Tools) LLVM() (*llvm.Library, error) {
	lib, err := t.Find()
	var none *llvm.NotFoundError
	switch {
	case errors.As(err, &none):
		return nil, failure.Missing(none)
	case err != nil:
		return nil, &failure.Environment{Message: err.Error(), Err: err}
	}
	return lib, nil
}

// HasLLVM reports whether there is a libLLVM. If one is installed in a usual
// place, it is not opened.
func (t *Tools) HasLLVM() bool {
	if t.Installed != nil && t.Installed() {
		return true
	}
	_, err := t.LLVM()
	return err == nil
}

// emulates reports whether code for a target is that of an emulated GPU.
func (t *Tools) emulates(to Target) bool { return t.Emulation != nil && to.GPU }

// host returns the options of native code, and the cache that they name.
func (t *Tools) host() (hostcode.Options, *kernelcache.Cache, error) {
	lib, err := t.LLVM()
	if err != nil {
		return hostcode.Options{}, nil, err
	}
	cache := kernelcache.Open()
	return hostcode.Options{Library: lib, Cache: cache, Quick: t.Quick}, cache, nil
}

// llvmError is a refusal of LLVM, with the IR that it refused.
func llvmError(err error) *failure.Internal {
	bug := &failure.Internal{Phase: "LLVM", Err: err}
	var refused *llvm.Error
	if errors.As(err, &refused) {
		bug.Dump = refused.IR
	}
	return bug
}
