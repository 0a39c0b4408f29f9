package gorgonia

import (
	"unsafe"

	"gorgonia.org/cu"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

func (c *gpu) MemoryInfo() (free, total uint64, err error) {
	err = c.call("cuMemGetInfo", func() error {
		f, t, err := cu.MemInfo()
		free, total = uint64(f), uint64(t)
		return err
	})
	return free, total, err
}

func (c *gpu) Alloc(bytes uint64) (p cuda.Pointer, err error) {
	err = c.call("cuMemAlloc", func() error {
		at, err := cu.MemAlloc(int64(bytes))
		p = cuda.Pointer(at)
		return err
	})
	if err != nil {
		return 0, describe(err, "%d bytes", bytes)
	}
	return p, nil
}

func (c *gpu) Free(p cuda.Pointer) error {
	return c.call("cuMemFree", func() error { return cu.MemFree(cu.DevicePtr(p)) })
}

func (c *gpu) AllocHost(int, cuda.HostOptions) (driver.HostMemory, error) {
	return nil, unsupported("cuMemHostAlloc")
}

func (c *gpu) NewPool(cuda.PoolOptions) (driver.Pool, error) {
	return nil, unsupported("cuMemPoolCreate")
}

func (c *gpu) Reserve(uint64) (driver.Region, error) {
	return nil, unsupported("cuMemAddressReserve")
}

// move is a copy or a fill of n things of a size, done at once or in a stream.
// One of nothing is not the driver's affair.
func (c *gpu) move(name string, n, size uint64, f func() error, uses ...*object) error {
	if n == 0 {
		return nil
	}
	err := c.call(name, f, uses...)
	if err != nil {
		describe(err, "%d bytes", n*size)
	}
	return err
}

func (c *gpu) CopyToDevice(to cuda.Pointer, from []byte) error {
	return c.move("cuMemcpyHtoD", uint64(len(from)), 1, func() error {
		return cu.MemcpyHtoD(cu.DevicePtr(to), unsafe.Pointer(&from[0]), int64(len(from)))
	})
}

func (c *gpu) CopyToHost(to []byte, from cuda.Pointer) error {
	return c.move("cuMemcpyDtoH", uint64(len(to)), 1, func() error {
		return cu.MemcpyDtoH(unsafe.Pointer(&to[0]), cu.DevicePtr(from), int64(len(to)))
	})
}

func (c *gpu) Copy(to, from cuda.Pointer, bytes uint64) error {
	return c.move("cuMemcpyDtoD", bytes, 1, func() error {
		return cu.MemcpyDtoD(cu.DevicePtr(to), cu.DevicePtr(from), int64(bytes))
	})
}

func (c *gpu) Fill8(p cuda.Pointer, value uint8, n uint64) error {
	return c.move("cuMemsetD8", n, 1, func() error {
		return cu.MemsetD8(cu.DevicePtr(p), value, int64(n))
	})
}

func (c *gpu) Fill32(p cuda.Pointer, value uint32, n uint64) error {
	return c.move("cuMemsetD32", n, 4, func() error {
		return cu.MemsetD32(cu.DevicePtr(p), value, int64(n))
	})
}

func (s *stream) CopyToDevice(to cuda.Pointer, from []byte) error {
	return s.gpu.move("cuMemcpyHtoDAsync", uint64(len(from)), 1, func() error {
		return cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(&from[0]), int64(len(from)),
			s.handle)
	}, &s.object)
}

func (s *stream) CopyToHost(to []byte, from cuda.Pointer) error {
	return s.gpu.move("cuMemcpyDtoHAsync", uint64(len(to)), 1, func() error {
		return cu.MemcpyDtoHAsync(unsafe.Pointer(&to[0]), cu.DevicePtr(from), int64(len(to)),
			s.handle)
	}, &s.object)
}

func (s *stream) Copy(to, from cuda.Pointer, bytes uint64) error {
	return s.gpu.move("cuMemcpyDtoDAsync", bytes, 1, func() error {
		return cu.MemcpyDtoDAsync(cu.DevicePtr(to), cu.DevicePtr(from), int64(bytes), s.handle)
	}, &s.object)
}

func (s *stream) Fill8(p cuda.Pointer, value uint8, n uint64) error {
	return s.gpu.move("cuMemsetD8Async", n, 1, func() error {
		return cu.MemsetD8Async(cu.DevicePtr(p), value, int64(n), s.handle)
	}, &s.object)
}

func (s *stream) Fill32(p cuda.Pointer, value uint32, n uint64) error {
	return s.gpu.move("cuMemsetD32Async", n, 4, func() error {
		return cu.MemsetD32Async(cu.DevicePtr(p), uint(value), int64(n), s.handle)
	}, &s.object)
}
