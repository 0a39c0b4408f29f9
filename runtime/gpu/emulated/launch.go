package emulated

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/llvm"
)

// function is a kernel.
type function struct {
	module     *module
	name       string
	parameters int // negative: one is not a word
	shared     int // static shared memory of a block, in bytes
	run        func(m *Memory, shape cuda.Shape, params []int64) error

	mu      sync.Mutex
	dynamic int // dynamic shared memory that was allowed, in bytes
}

// Name returns the kernel's name.
func (f *function) Name() string { return f.name }

// Attributes returns the kernel's resources, which are made up.
func (f *function) Attributes() cuda.FunctionAttributes {
	return cuda.FunctionAttributes{Registers: 32, Shared: f.shared, MaxThreads: maxThreads,
		PTXVersion: 80, BinaryVersion: 90}
}

// Parameters returns the number of the kernel's parameters, if all are words.
func (f *function) Parameters() (n int, known bool) {
	if f.module.ctx.driver.opts.Bare {
		return 0, false
	}
	return f.parameters, true
}

// SetMaxDynamicShared allows launches to use more shared memory.
func (f *function) SetMaxDynamicShared(bytes int) error {
	const call = "cuFuncSetAttribute"
	return f.module.call(call, func() error {
		if err := f.module.ctx.driver.unsupported(call); err != nil {
			return err
		}
		if bytes < 0 || bytes+f.shared > sharedOptin {
			return failure(call, InvalidValue, "kernel %s, %d bytes", f.name, bytes)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.dynamic = bytes
		return nil
	})
}

// SetSharedCarveout sets a hint, which the emulator ignores.
func (f *function) SetSharedCarveout(percent int) error {
	const call = "cuFuncSetAttribute"
	return f.module.call(call, func() error { return f.module.ctx.driver.unsupported(call) })
}

// BlocksPerMultiprocessor returns the number of blocks that run on a
// multiprocessor at a time.
func (f *function) BlocksPerMultiprocessor(threads, shared int) (blocks int, err error) {
	const call = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	err = f.module.call(call, func() error {
		if threads < 1 || threads > maxThreads {
			return failure(call, InvalidValue, "kernel %s, %d threads", f.name, threads)
		}
		blocks = blocksEach
		return nil
	})
	return blocks, err
}

// SuggestBlock returns a shape that fills the device.
func (f *function) SuggestBlock(shared, limit int) (threads, blocks int, err error) {
	err = f.module.call("cuOccupancyMaxPotentialBlockSize", func() error {
		threads, blocks = maxThreads, blocksEach*f.module.ctx.driver.opts.Multiprocessors
		if limit > 0 {
			threads = min(threads, limit)
		}
		return nil
	})
	return threads, blocks, err
}

// maxParameters is the number of words in 4 KB of parameters.
const maxParameters = 512

// Launch enqueues a kernel in the stream.
func (s *stream) Launch(other driver.Function, shape cuda.Shape, params []int64) error {
	call := "cuLaunchKernel"
	if shape.Cooperative {
		call = "cuLaunchCooperativeKernel"
	}
	f, ok := other.(*function)
	if !ok || f.module.ctx.primary != s.ctx.primary {
		return foreign(call, other)
	}
	if f.module.isClosed() {
		return closed(call)
	}
	return s.call(call, func() error {
		if err := f.accept(call, shape, params); err != nil {
			return err
		}
		words := slices.Clone(params)
		s.enqueue(func() error { return f.execute(shape, words) })
		return nil
	})
}

// accept checks a launch as a driver does.
func (f *function) accept(call string, shape cuda.Shape, params []int64) error {
	fail := func(code cuda.Code) error {
		return failure(call, code,
			"kernel %s, %v blocks of %v threads, %d bytes of shared memory, %d parameters",
			f.name, shape.Grid, shape.Block, shape.Shared, len(params))
	}
	d := f.module.ctx.driver
	f.mu.Lock()
	most := max(sharedPerBlock-f.shared, f.dynamic)
	f.mu.Unlock()
	grid, block := volume(shape.Grid), volume(shape.Block)
	switch {
	case grid < 1 || block < 1 || block > maxThreads || shape.Grid.X > 1<<31-1 ||
		shape.Shared < 0 || shape.Shared > most:
		return fail(InvalidValue)
	case len(params) > maxParameters || len(params) != f.parameters:
		d.wrong("kernel %s is given %d parameters and takes %d", f.name, len(params), f.parameters)
		return fail(InvalidValue)
	case shape.Cooperative && d.opts.Bare:
		return fail(notSupported)
	case shape.Cooperative && grid > int64(blocksEach*d.opts.Multiprocessors):
		return fail(cooperativeLarge)
	}
	return nil
}

// volume returns the number of blocks in a grid, or of threads in a block.
func volume(d cuda.Dim) int64 { return int64(d.X) * int64(max(d.Y, 1)) * int64(max(d.Z, 1)) }

// execute runs the kernel when the stream reaches it.
func (f *function) execute(shape cuda.Shape, params []int64) error {
	m := f.module
	if err := m.ctx.driver.enter(Execution); err != nil {
		return err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		m.ctx.wrong("kernel %s of a module that was closed before a stream came to it", f.name)
		return failure(Execution, IllegalAddress, "kernel %s", f.name)
	}
	err := f.run(m.ctx.memory, shape, params)
	m.ctx.memory.checkLive(", by kernel " + f.name + " or while it ran")
	if err != nil {
		return fmt.Errorf("kernel %s: %w", f.name, err)
	}
	return nil
}

// woven is a function of an abi.Module.
type woven struct {
	entry   *abi.Entry
	address uintptr
}

// blockWorkers is the number of goroutines that run a launch's blocks.
const blockWorkers = 3

// run calls the function for each block, in a random order.
func (w *woven) run(m *Memory, shape cuda.Shape, params []int64) error {
	blocks := volume(shape.Grid)
	if n := volume(shape.Block); n != int64(w.entry.Threads) {
		m.driver.wrong("%s is launched with %d threads a block and is for %d", w.entry.Symbol, n,
			w.entry.Threads)
		return fmt.Errorf("%d threads", n)
	}
	if shape.Shared != w.entry.Dynamic {
		m.driver.wrong("%s is launched with %d bytes of dynamic shared memory and has %d",
			w.entry.Symbol, shape.Shared, w.entry.Dynamic)
		return fmt.Errorf("%d bytes of shared memory", shape.Shared)
	}
	size := int64(w.entry.StateWords())
	states, err := m.Words(params[len(params)-1], blocks*size)
	if err != nil {
		m.driver.wrong("%s: the states of %d blocks: %v", w.entry.Symbol, blocks, err)
		return err
	}
	if w.entry.Role == abi.Loop {
		size = 0 // all blocks have one record
	}
	// The function does not read the last word. It keeps the list from being
	// empty.
	call := func(block int) {
		llvm.Call(w.address, uintptr(unsafe.Pointer(&params[0])),
			uintptr(unsafe.Pointer(&states[int64(block)*size])))
	}
	random := m.driver.fork()
	order := turns(random, int(blocks))
	workers := min(blockWorkers, len(order))
	if shape.Cooperative {
		workers = len(order)
	}
	if workers == 1 {
		call(order[0])
		return nil
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				at := int(next.Add(1)) - 1
				if at >= len(order) {
					return
				}
				call(order[at])
			}
		})
	}
	wg.Wait()
	return nil
}

// turns returns an order of blocks: ascending, descending or random.
func turns(random *rand.Rand, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	switch random.IntN(4) {
	case 0:
	case 1:
		slices.Reverse(out)
	default:
		random.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}
