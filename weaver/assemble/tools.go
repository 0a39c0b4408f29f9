package assemble

import (
	"errors"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/internal/buildid"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/shape"
)

// Tools are what code is made with.
type Tools struct {
	// Find returns libLLVM: FindLLVM, or what a test has in its place.
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

// FindLLVM returns libLLVM. If an earlier process has left a note of it in the
// cache of code and nothing has changed since, the library is not opened before
// something is compiled: opening it takes longer than most runs of code that is
// cached. It is found once per process.
func FindLLVM() (*llvm.Library, error) { return findOnce() }

var findOnce = sync.OnceValues(func() (*llvm.Library, error) {
	return findLLVM(kernelcache.Open(), llvm.Open)
})

func findLLVM(cache *kernelcache.Cache, open func() (*llvm.Library, error)) (*llvm.Library, error) {
	place, ok := llvm.Place()
	build, err := buildid.Get()
	if !ok || err != nil {
		return open()
	}
	key := strings.Join([]string{"libLLVM", build, place}, "\x00")
	if note, ok := cache.Get(key); ok {
		if lib, ok := llvm.Recall(string(note)); ok {
			return lib, nil
		}
	}
	lib, err := open()
	if err != nil {
		return nil, err
	}
	if note, ok := lib.Note(); ok {
		cache.Put(key, []byte(note))
	}
	return lib, nil
}

// LLVM finds libLLVM. The error is an *failure.Environment.
func (t *Tools) LLVM() (*llvm.Library, error) {
	lib, err := t.Find()
	if err != nil {
		return nil, noLLVM(err)
	}
	return lib, nil
}

// OpenLLVM opens libLLVM even if it is known from an earlier process. The error
// is an *failure.Environment.
func (t *Tools) OpenLLVM() error {
	lib, err := t.LLVM()
	if err != nil {
		return err
	}
	if err := lib.Open(); err != nil {
		return noLLVM(err)
	}
	return nil
}

// openBeside opens libLLVM while IR is generated. What compiles returns the
// error.
func openBeside(lib *llvm.Library) { go func() { _ = lib.Open() }() }

// noLLVM words the reason why libLLVM is not there.
func noLLVM(err error) *failure.Environment {
	var none *llvm.NotFoundError
	if errors.As(err, &none) {
		return failure.Missing(none)
	}
	return &failure.Environment{Message: err.Error(), Err: err}
}

// HasLLVM reports whether there is a libLLVM. If one is installed in a usual
// place, or a note says so, it is not opened.
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

// llvmError is a refusal of LLVM, with the IR that it refused, or the lack of
// it.
func llvmError(err error) error {
	var none *llvm.NotFoundError
	if errors.As(err, &none) {
		return noLLVM(err)
	}
	bug := &failure.Internal{Phase: "LLVM", Err: err}
	var refused *llvm.Error
	if errors.As(err, &refused) {
		bug.Dump = refused.IR
	}
	return bug
}
