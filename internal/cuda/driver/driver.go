package driver

import (
	"context"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// Driver is an initialised CUDA driver.
type Driver interface {
	// Name says what is called, and through what.
	Name() string
	// Version is the newest version of CUDA that the driver knows.
	Version() cuda.Version
	// Devices are the GPUs that this process may use, at least one, in the
	// driver's order.
	Devices() []Device
}

// Device is one GPU.
type Device interface {
	// Info describes the GPU. Callers leave it as it is.
	Info() *cuda.DeviceInfo
	// OpenContext makes the device ready for work.
	OpenContext() (Context, error)
}

// Context is what the process has on a device.
type Context interface {
	Device() Device
	// Lost returns the fault that made the context useless, or nil.
	Lost() error
	// Synchronize waits for all work of the context, without a way to interrupt
	// it.
	Synchronize() error
	Close() error

	// MemoryInfo returns how many bytes are free, for all processes, and how
	// many there are.
	MemoryInfo() (free, total uint64, err error)
	// Alloc allocates device memory, aligned to 256 bytes at least.
	Alloc(bytes uint64) (cuda.Pointer, error)
	// Free gives memory of Alloc back once all work under way is done.
	Free(p cuda.Pointer) error
	// AllocHost allocates host memory that the device reaches.
	AllocHost(bytes int, o cuda.HostOptions) (HostMemory, error)
	// NewPool makes a pool for allocations in the order of a stream.
	NewPool(o cuda.PoolOptions) (Pool, error)
	// Reserve sets addresses aside for memory that grows in place.
	Reserve(limit uint64) (Region, error)

	CopyToDevice(to cuda.Pointer, from []byte) error
	CopyToHost(to []byte, from cuda.Pointer) error
	Copy(to, from cuda.Pointer, bytes uint64) error
	// Fill8 sets n bytes, and Fill32 n words of 32 bits.
	Fill8(p cuda.Pointer, value uint8, n uint64) error
	Fill32(p cuda.Pointer, value uint32, n uint64) error

	// LoadModule loads PTX or machine code. An error of the driver's compiler
	// has its log.
	LoadModule(image cuda.Image, o cuda.ModuleOptions) (Module, error)
	// Link makes machine code for the context's device.
	Link(o cuda.ModuleOptions, images ...cuda.Image) (cuda.Linked, error)

	NewStream() (Stream, error)
	// NewEvent makes an event that streams and callers can wait for; NewTimer
	// one that also knows when it happened.
	NewEvent() (Event, error)
	NewTimer() (Event, error)
}

// Module is code on a device.
type Module interface {
	Name() string
	// Log is what the driver's compiler said, "" if nothing.
	Log() string
	// LoadTime is how long loading took, compilation included.
	LoadTime() time.Duration
	Function(name string) (Function, error)
	// Variable returns the place and the size in bytes of a variable.
	Variable(name string) (p cuda.Pointer, size uint64, err error)
	Close() error
}

// Function is a kernel, valid as long as its module.
type Function interface {
	Name() string
	Attributes() cuda.FunctionAttributes
	// Parameters returns how many words the kernel takes, if the driver tells.
	// A launch with another number of words is then refused; else it is
	// undefined.
	Parameters() (n int, known bool)
	// SetMaxDynamicShared lets launches ask for more than 48 KiB a block.
	SetMaxDynamicShared(bytes int) error
	// SetSharedCarveout asks for a share of the cache, in percent.
	SetSharedCarveout(percent int) error
	// BlocksPerMultiprocessor returns how many blocks run on one at a time.
	BlocksPerMultiprocessor(threads, shared int) (int, error)
	// SuggestBlock returns the number of threads a block, at most limit if that
	// is not 0, that keeps the most threads running, and how many such blocks
	// fill the device.
	SuggestBlock(shared, limit int) (threads, blocks int, err error)
}

// Stream is a queue of work, done in order.
type Stream interface {
	// Launch starts a kernel with its parameters, each a 64-bit word.
	Launch(f Function, shape cuda.Shape, params []int64) error
	CopyToDevice(to cuda.Pointer, from []byte) error
	CopyToHost(to []byte, from cuda.Pointer) error
	Copy(to, from cuda.Pointer, bytes uint64) error
	Fill8(p cuda.Pointer, value uint8, n uint64) error
	Fill32(p cuda.Pointer, value uint32, n uint64) error
	// Free gives memory of a pool back once the work in the stream is done.
	Free(p cuda.Pointer) error

	// Record has the event happen when the work that is in the stream now is
	// done.
	Record(e Event) error
	// Wait has work that comes later wait for the event as it was recorded
	// last.
	Wait(e Event) error
	IsDone() (bool, error)
	// Synchronize waits until all work is done or ctx is, whose error it then
	// returns.
	Synchronize(ctx context.Context) error

	// Capture records what f puts into the stream in place of doing it.
	Capture(f func() error) (Graph, error)
	Close() error
}

// Event is a point in a stream's work.
type Event interface {
	IsDone() (bool, error)
	Synchronize(ctx context.Context) error
	// Elapsed returns the time on the device from another timer to this one.
	Elapsed(from Event) (time.Duration, error)
	Close() error
}

// HostMemory is host memory that the device reaches.
type HostMemory interface {
	// Bytes is the memory, nil after Close.
	Bytes() []byte
	// Pointer is where kernels find it.
	Pointer() cuda.Pointer
	Close() error
}

// Pool hands out memory in the order of a stream.
type Pool interface {
	Alloc(s Stream, bytes uint64) (cuda.Pointer, error)
	SetReleaseThreshold(bytes uint64) error
	Trim(keep uint64) error
	Use() (cuda.PoolUse, error)
	Close() error
}

// Region is a range of addresses with memory behind its first part.
type Region interface {
	Base() cuda.Pointer
	Limit() uint64
	Size() uint64
	Grow(bytes uint64) error
	Shrink(bytes uint64) error
	Close() error
}

// Graph is recorded work that is launched as one.
type Graph interface {
	Nodes() int
	Upload(s Stream) error
	Launch(s Stream) error
	Close() error
}
