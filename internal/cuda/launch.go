package cuda

import (
	"fmt"
	"sync"
	"unsafe"
)

// Dim is a size in up to three dimensions. A zero Y or Z is 1.
type Dim struct{ X, Y, Z uint32 }

// filled returns the size with all dimensions.
func (d Dim) filled() Dim { return Dim{d.X, max(d.Y, 1), max(d.Z, 1)} }

// String returns the size as "132", or as "132×2×1" if it has several
// dimensions.
func (d Dim) String() string {
	if d = d.filled(); d.Y == 1 && d.Z == 1 {
		return fmt.Sprint(d.X)
	}
	return fmt.Sprintf("%d×%d×%d", d.X, d.Y, d.Z)
}

// Shape is how a kernel is launched.
type Shape struct {
	Grid   Dim // in blocks
	Block  Dim // in threads
	Shared int // bytes of dynamic shared memory a block
	// Cooperative has all blocks run at once, so that they can wait for each
	// other; a grid that does not fit is an error.
	Cooperative bool
}

// maxParameters is what 4 KB of parameters hold, the bound of PTX before 8.1.
const maxParameters = 512

// arguments is what the driver reads the parameters of a launch from: the
// address of each word. All addresses are valid, however many words a kernel
// takes.
type arguments struct {
	words [maxParameters]int64
	at    [maxParameters]unsafe.Pointer
}

// argumentsPool saves making them for each launch. The driver is through with
// them when the call returns, in a capture, too.
var argumentsPool = sync.Pool{New: func() any {
	a := &arguments{}
	for i := range a.words {
		a.at[i] = unsafe.Pointer(&a.words[i])
	}
	return a
}}

// Launch starts a kernel with its parameters, each a 64-bit word.
func (s *Stream) Launch(f *Function, shape Shape, params []int64) error {
	const name, cooperative = "cuLaunchKernel", "cuLaunchCooperativeKernel"
	switch {
	case f.module.ctx != s.ctx:
		return refused(name, nil, "the stream is of another context than kernel %s", f.name)
	case len(params) > maxParameters:
		return refused(name, nil, "kernel %s is given %d parameters; %d is the bound", f.name,
			len(params), maxParameters)
	case f.parameters >= 0 && len(params) != f.parameters:
		return refused(name, nil, "kernel %s is given %d parameters and takes %d", f.name,
			len(params), f.parameters)
	}
	a := argumentsPool.Get().(*arguments)
	defer argumentsPool.Put(a)
	copy(a.words[:], params)
	call, launch := name, s.ctx.fn.LaunchKernel
	if shape.Cooperative {
		call, launch = cooperative, s.ctx.fn.LaunchCooperativeKernel
	}
	f.module.mu.RLock()
	defer f.module.mu.RUnlock()
	if f.module.handle == 0 {
		return refused(call, ErrClosed, "the module of kernel %s is closed", f.name)
	}
	err := s.call(call, func(h streamHandle) Code {
		return launch(f.handle, shape.Grid.filled(), shape.Block.filled(), uint32(shape.Shared), h,
			&a.at[0])
	})
	if err != nil {
		describe(err,
			"kernel %s, %v blocks of %v threads, %d bytes of shared memory, %d parameters",
			f.name, shape.Grid, shape.Block, shape.Shared, len(params))
	}
	return err
}
