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

// Options is what a machine with emulated GPUs is like. The zero value has one
// GPU.
type Options struct {
	Library *llvm.Library  // nil: no image but those of Go kernels can be loaded
	Cache   hostcode.Cache // of objects; nil for none
	Quick   bool           // see hostcode.Options
	Seed    uint64
	Devices int    // 0 stands for 1
	Memory  uint64 // bytes of each device; 0 stands for 1 GiB
	// Multiprocessors of each device, 0 stands for 3; each runs two blocks at a
	// time.
	Multiprocessors int
	// Bare says that the driver lacks all that package driver says may be
	// missing.
	Bare bool
	// Stuck says that a device does not recover from a fault as long as the
	// process lives.
	Stuck bool
	// OnCall, if set, hears of every call before it is made, and of Execution.
	// Several goroutines may call it.
	OnCall func(call string)
	// Kernels, if set, knows further images: it returns their kernels in Go, or
	// what the driver's compiler says of them. It returns nil for what it does
	// not know.
	Kernels func(code []byte) (map[string]*Kernel, error)
}

// Kernel is a kernel in Go, or if it has a Variable, a variable of a module.
type Kernel struct {
	Variable []byte // what it is at first
	Params   int    // negative if one of them is not a word
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

// Name says that nothing of this is real.
func (d *Driver) Name() string { return "an emulated driver" }

// Version is that of the interface that is emulated.
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

// fork returns random numbers for one goroutine.
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

// Bounds of a block, and how many run on a multiprocessor at a time.
const (
	maxThreads     = 1024
	blocksEach     = 2
	sharedPerBlock = 48 << 10
	sharedOptin    = 160 << 10
)

// Info describes the device.
func (v *device) Info() *cuda.DeviceInfo { return &v.info }

// OpenContext opens the device's primary context, a new one after a fault.
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

// release takes one user of a primary context away. The last one takes all of
// it.
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
