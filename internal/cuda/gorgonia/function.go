package gorgonia

import (
	"unsafe"

	"gorgonia.org/cu"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// function is a kernel of a module.
type function struct {
	module     *module
	handle     cu.Function
	name       string
	attributes cuda.FunctionAttributes
}

func (m *module) Function(name string) (driver.Function, error) {
	f := &function{module: m, name: name}
	err := f.call("cuModuleGetFunction", func() (err error) {
		f.handle, err = m.handle.Function(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = f.attributes.Read(func(number int32) (value int32, err error) {
		err = f.call("cuFuncGetAttribute", func() error {
			v, err := f.handle.Attribute(cu.FunctionAttribute(number))
			value = int32(v)
			return err
		})
		return value, err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// call makes calls of the driver that use the kernel.
func (f *function) call(name string, g func() error) error {
	err := f.module.gpu.call(name, g, &f.module.object)
	return describe(err, "kernel %s of module %s", f.name, f.module.name)
}

func (f *function) Name() string { return f.name }

func (f *function) Attributes() cuda.FunctionAttributes { return f.attributes }

// Parameters does not tell: cu lacks cuFuncGetParamInfo.
func (f *function) Parameters() (n int, known bool) { return 0, false }

func (f *function) SetMaxDynamicShared(bytes int) error {
	if bytes <= f.module.gpu.device.info.Attributes.SharedPerBlock-f.attributes.Shared {
		return nil
	}
	return unsupported("cuFuncSetAttribute")
}

func (f *function) SetSharedCarveout(int) error { return unsupported("cuFuncSetAttribute") }

func (f *function) BlocksPerMultiprocessor(threads, shared int) (blocks int, err error) {
	err = f.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", func() error {
		blocks, err = f.handle.MaxActiveBlocksPerMultiProcessor(threads, int64(shared))
		return err
	})
	return blocks, err
}

// SuggestBlock tries all sizes from the largest on, as the driver's own
// cuOccupancyMaxPotentialBlockSize does, which cu lacks.
func (f *function) SuggestBlock(shared, limit int) (threads, blocks int, err error) {
	a := f.module.gpu.device.info.Attributes
	most := f.attributes.MaxThreads
	if limit > 0 {
		most = min(most, limit)
	}
	running := 0
	for t := most / a.WarpSize * a.WarpSize; t > 0; t -= a.WarpSize {
		n, err := f.BlocksPerMultiprocessor(t, shared)
		if err != nil {
			return 0, 0, err
		}
		if n*t > running {
			threads, blocks, running = t, n*a.Multiprocessors, n*t
		}
	}
	return threads, blocks, nil
}

// Launch hands cu the address of each word; cu copies the words to C's heap for
// the time of the call.
func (s *stream) Launch(f driver.Function, shape cuda.Shape, params []int64) error {
	const name = "cuLaunchKernel"
	k, ok := f.(*function)
	if !ok || k.module.gpu != s.gpu {
		return foreign(name, f)
	}
	if shape.Cooperative {
		return unsupported("cuLaunchCooperativeKernel")
	}
	at := make([]unsafe.Pointer, len(params))
	for i := range params {
		at[i] = unsafe.Pointer(&params[i])
	}
	grid, block := shape.Grid, shape.Block
	err := s.gpu.call(name, func() error {
		return k.handle.Launch(
			int(grid.X), int(max(grid.Y, 1)), int(max(grid.Z, 1)),
			int(block.X), int(max(block.Y, 1)), int(max(block.Z, 1)),
			shape.Shared, s.handle, at)
	}, &s.object, &k.module.object)
	if err != nil {
		describe(err,
			"kernel %s, %v blocks of %v threads, %d bytes of shared memory, %d parameters",
			k.name, grid, block, shape.Shared, len(params))
	}
	return err
}
