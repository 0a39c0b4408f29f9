package hostcode

import (
	"errors"
	"fmt"
	"sync"

	"github.com/redfoxdb/redfox/internal/dynlib"
	"github.com/redfoxdb/redfox/internal/elfload"
	"github.com/redfoxdb/redfox/internal/llvm"
)

// Link makes the functions of objects ready to be called, which call the
// primitives calls.
func Link(o Options, objects [][]byte, calls, symbols []string) (*Code, error) {
	if len(symbols) == 0 {
		return &Code{Functions: map[string]uintptr{}}, nil
	}
	primitives, err := symbolsOf(o, calls)
	if err != nil {
		return nil, err
	}
	return link(o.Library, objects, primitives, symbols)
}

// link links objects that call others by their addresses. LLVM's JIT links what
// package elfload does not know, which opens libLLVM.
func link(lib *llvm.Library, objects [][]byte, others map[string]uintptr,
	symbols []string) (*Code, error) {
	c := &Code{Functions: map[string]uintptr{}}
	err := c.byImage(objects, others, symbols)
	if err == nil {
		return c, nil
	}
	c.Close()
	if byJIT := c.byJIT(lib, objects, others, symbols); byJIT != nil {
		c.Close()
		if elfload.Supported {
			return nil, errors.Join(byJIT, err)
		}
		return nil, byJIT
	}
	return c, nil
}

// byImage links objects without LLVM.
func (c *Code) byImage(objects [][]byte, others map[string]uintptr,
	symbols []string) (err error) {
	c.image, err = elfload.Load(objects, func(name string) uintptr {
		if at := others[name]; at != 0 {
			return at
		}
		return processSymbol(name)
	})
	if err != nil {
		return err
	}
	for _, s := range symbols {
		if c.Functions[s] = c.image.Symbol(s); c.Functions[s] == 0 {
			return fmt.Errorf("the objects do not define %s", s)
		}
	}
	return nil
}

// byJIT links objects by LLVM.
func (c *Code) byJIT(lib *llvm.Library, objects [][]byte, others map[string]uintptr,
	symbols []string) (err error) {
	if c.jit, err = lib.NewJIT(); err != nil {
		return err
	}
	if err := c.jit.Define(others); err != nil {
		return err
	}
	for i, object := range objects {
		if err := c.jit.AddObject(fmt.Sprint("kernels ", i), object); err != nil {
			return err
		}
	}
	for _, s := range symbols {
		if c.Functions[s], err = c.jit.Lookup(s); err != nil {
			return err
		}
	}
	return nil
}

// Close frees the code, which must not be running.
func (c *Code) Close() {
	if c.image != nil {
		c.image.Close()
	}
	if c.jit != nil {
		_ = c.jit.Close() // the code is gone either way
	}
	c.image, c.jit = nil, nil
}

// processSymbol returns the address of a function of C that code calls, 0 if
// there is none. Code of LLVM calls functions of libm, and for division of 128
// bits those of the compiler's runtime library.
func processSymbol(name string) uintptr {
	if at := dynlib.ProcessSymbol(name); at != 0 {
		return at
	}
	for _, library := range mathematics() {
		if at := dynlib.Symbol(library, name); at != 0 {
			return at
		}
	}
	return 0
}

// mathematics opens the libraries that the process has not opened for itself.
var mathematics = sync.OnceValue(func() (opened []uintptr) {
	for _, name := range []string{"libm.so.6", "libgcc_s.so.1"} {
		if library, err := dynlib.Open(name, false); err == nil {
			opened = append(opened, library)
		}
	}
	return opened
})
