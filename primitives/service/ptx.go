package service

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"
)

//go:embed service.ptx
var servicePTX string

//go:embed sort.ptx
var sortPTX string

//go:embed pages.ptx
var pagesPTX string

//go:embed service.sm_80.cubin.gz
var service80 []byte

//go:embed service.sm_90.cubin.gz
var service90 []byte

//go:embed sort.sm_80.cubin.gz
var sort80 []byte

//go:embed sort.sm_90.cubin.gz
var sort90 []byte

//go:embed pages.sm_80.cubin.gz
var pages80 []byte

//go:embed pages.sm_90.cubin.gz
var pages90 []byte

// Module is kernels that are loaded together.
type Module struct {
	Name    string
	PTX     string // for sm_80 and later
	Kernels []*Kernel
	cubins  map[int]func() []byte // by the major number of compute capability
}

// Base is all kernels but those that sort and those of pages.
var Base = &Module{"service kernels", servicePTX, baseKernels,
	map[int]func() []byte{8: unpacked(service80), 9: unpacked(service90)}}

// Sorting is the kernels that sort.
var Sorting = &Module{"kernels that sort", sortPTX, sortingKernels,
	map[int]func() []byte{8: unpacked(sort80), 9: unpacked(sort90)}}

// Pages is the kernels that decode pages of Parquet files.
var Pages = &Module{"kernels that decode pages", pagesPTX, pagesKernels,
	map[int]func() []byte{8: unpacked(pages80), 9: unpacked(pages90)}}

// Modules are all modules.
var Modules = []*Module{Base, Sorting, Pages}

// Machine returns machine code for GPUs of a generation, the major number of
// their compute capability, or nil. It saves the driver the compilation of the
// PTX, which takes 0.2 to 0.6 seconds.
func (m *Module) Machine(generation int) []byte {
	if f := m.cubins[generation]; f != nil {
		return f()
	}
	return nil
}

func unpacked(cubin []byte) func() []byte {
	return sync.OnceValue(func() []byte {
		r, err := gzip.NewReader(bytes.NewReader(cubin))
		if err == nil {
			cubin, err = io.ReadAll(r)
		}
		if err != nil {
			panic(fmt.Sprintf("embedded machine code: %v", err))
		}
		return cubin
	})
}
