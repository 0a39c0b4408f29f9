package emulated

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// Options describes a machine with emulated GPUs. The zero value has one GPU.
type Options struct {
	Library *llvm.Library  // nil: only images of Go kernels can be loaded
	Cache   hostcode.Cache // of objects; nil for none
	Quick   bool           // see hostcode.Options
	Seed    uint64
	Devices int    // 0 means 1
	Memory  uint64 // bytes of each device; 0 means 1 GiB
	// Multiprocessors is their number on each device; 0 means 3. Each runs two
	// blocks at a time.
	Multiprocessors int
	// Bare means that the driver lacks everything that, according to package
	// driver, may be missing.
	Bare bool
	// Stuck means that a device does not recover from a fault until the process
	// ends.
	Stuck bool
	// OnCall, if set, is called before every call of the driver, and before
	// Execution. It may be called by several goroutines.
	OnCall func(call string)
	// Kernels, if set, returns the Go kernels of further images, or the error
	// of the driver's compiler. It returns nil for images that it does not
	// know.
	Kernels func(code []byte) (map[string]*Kernel, error)
}

// Kernel is a kernel in Go or, if Variable is set, a variable of a module.
type Kernel struct {
	Variable []byte // the initial value
	Params   int    // their number; negative if one of them is not a word
	// Run does the work of all blocks. An error is a fault of the device.
	Run func(m *Memory, shape cuda.Shape, params []int64) error
}

// Driver is an emulated driver.
type Driver struct {
	opts    Options
	devices []*device

	mu     sync.Mutex
	random *rand.Rand
	faults []*Fault
	calls  map[string]int
	runs   map[string]int // of service kernels
	misuse []error
}

var _ driver.Driver = (*Driver)(nil)

// New returns a driver with its devices.
func New(o Options) *Driver {
	o.Devices = cmp.Or(o.Devices, 1)
	o.Memory = cmp.Or(o.Memory, 1<<30)
	o.Multiprocessors = cmp.Or(o.Multiprocessors, 3)
	d := &Driver{opts: o, random: rand.New(rand.NewPCG(o.Seed, 1)), calls: map[string]int{},
		runs: map[string]int{}}
	for i := range o.Devices {
		d.devices = append(d.devices, newDevice(d, i))
	}
	return d
}

// Name returns the driver's name.
func (d *Driver) Name() string { return "an emulated driver" }

// Version returns the version of the emulated interface.
func (d *Driver) Version() cuda.Version { return 12080 }

// Devices returns the emulated GPUs.
func (d *Driver) Devices() []driver.Device {
	out := make([]driver.Device, len(d.devices))
	for i, v := range d.devices {
		out[i] = v
	}
	return out
}

// number returns a random number below n.
func (d *Driver) number(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.IntN(n)
}

// fork returns a source of random numbers for one goroutine.
func (d *Driver) fork() *rand.Rand {
	d.mu.Lock()
	defer d.mu.Unlock()
	return rand.New(rand.NewPCG(d.random.Uint64(), 2))
}

// device is one GPU.
type device struct {
	driver *Driver
	info   cuda.DeviceInfo

	mu      sync.Mutex
	primary *primary // nil unless a context is open
}

func newDevice(d *Driver, index int) *device {
	optin := sharedOptin
	if d.opts.Bare {
		optin = sharedPerBlock
	}
	return &device{driver: d, info: cuda.DeviceInfo{
		Index:  index,
		Name:   "Emulated GPU",
		UUID:   fmt.Sprintf("GPU-00000000-0000-0000-0000-%012d", index),
		PCI:    fmt.Sprintf("0000:%02x:00.0", index),
		Memory: d.opts.Memory,
		Attributes: cuda.Attributes{
			Major: generation, Multiprocessors: d.opts.Multiprocessors, WarpSize: 32,
			ClockRate: 1_000_000, MemoryClockRate: 1_000_000, MemoryBusWidth: 512, L2Cache: 4 << 20,
			MaxThreadsPerBlock: maxThreads, MaxThreadsPerMultiprocessor: 2 * maxThreads,
			MaxBlocksPerMultiprocessor: blocksEach, MaxGridX: 1<<31 - 1,
			RegistersPerBlock: 1 << 16, RegistersPerMultiprocessor: 1 << 16,
			SharedPerBlock: sharedPerBlock, SharedPerBlockOptin: optin,
			SharedPerMultiprocessor: sharedOptin + 1024,
			CopyEngines:             2, ConcurrentKernels: true, CooperativeLaunch: !d.opts.Bare,
			UnifiedAddressing: true,
			VirtualMemory:     !d.opts.Bare, MemoryPools: !d.opts.Bare,
		},
	}}
}

// Limits of a block, and the number of blocks that a multiprocessor runs at a
// time.
const (
	maxThreads     = 1024
	blocksEach     = 2
	sharedPerBlock = 48 << 10
	sharedOptin    = 160 << 10
)

// Info describes the device.
func (v *device) Info() *cuda.DeviceInfo { return &v.info }

// OpenContext opens the device's primary context. After a fault, it is a new
// one.
func (v *device) OpenContext() (driver.Context, error) {
	const call = "cuDevicePrimaryCtxRetain"
	if err := v.driver.enter(call); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.primary; p != nil {
		if lost := p.lost.Load(); lost != nil {
			if v.driver.opts.Stuck {
				return nil, again(lost, call)
			}
			v.primary = nil
		}
	}
	if v.primary == nil {
		v.primary = newPrimary(v)
	}
	v.primary.users++
	return &share{primary: v.primary}, nil
}

// release drops a user of a primary context. The context ends with its last
// user.
func (v *device) release(p *primary) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.users--; p.users > 0 {
		return
	}
	p.end()
	if v.primary == p && !(v.driver.opts.Stuck && p.lost.Load() != nil) {
		v.primary = nil
	}
}
