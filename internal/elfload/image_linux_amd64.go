//go:build !android

package elfload

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// Supported says that objects can be loaded on this platform.
const Supported = true

// Image is objects in memory.
type Image struct {
	memory  []byte
	symbols map[string]uintptr
}

// Load links objects. The function resolve returns the address of a symbol that
// the objects do not define, or 0.
func Load(objects [][]byte, resolve func(name string) uintptr) (*Image, error) {
	p, err := planOf(objects, uint64(os.Getpagesize()))
	if err != nil {
		return nil, err
	}
	size := int(p.starts[regions])
	if size == 0 {
		return &Image{}, nil
	}
	memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("%d bytes for code: %w", size, err)
	}
	i := &Image{memory: memory}
	l := linking{plan: p, memory: memory,
		base: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(memory)))), resolve: resolve,
		outside: map[string]uint64{}}
	if err = l.write(); err == nil {
		err = i.protect(p)
	}
	if err != nil {
		i.Close()
		return nil, err
	}
	i.symbols = l.addresses()
	return i, nil
}

// protect takes the permission to write from code and constants, and lets code
// run.
func (i *Image) protect(p *plan) error {
	for region, permit := range [regions]int{
		text:      syscall.PROT_READ | syscall.PROT_EXEC,
		constants: syscall.PROT_READ,
		variables: syscall.PROT_READ | syscall.PROT_WRITE,
	} {
		pages := i.memory[p.starts[region]:p.starts[region+1]]
		if len(pages) == 0 {
			continue
		}
		if err := syscall.Mprotect(pages, permit); err != nil {
			return fmt.Errorf("protect code: %w", err)
		}
	}
	return nil
}

// Symbol returns the address of a symbol that the objects define, 0 for any
// other. It is good until Close.
func (i *Image) Symbol(name string) uintptr { return i.symbols[name] }

// Close frees the memory. The code must not be running.
func (i *Image) Close() {
	if i.memory != nil {
		_ = syscall.Munmap(i.memory) // a mapping of this package's own
	}
	i.memory, i.symbols = nil, nil
}
