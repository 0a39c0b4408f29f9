package gpu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// hostTrack is the trace track of the host's work.
const hostTrack = "host"

// code is the code of a program, loaded on the device.
type code struct {
	modules   []driver.Module
	places    map[string]place    // where each kernel is, by symbol, if it has its own module
	late      map[string]*loading // loops that the driver still compiles, by symbol
	functions []*function
	made      time.Duration // generating, compiling and loading
	loaded    time.Duration // the part of made after all PTX was generated
}

// function is a kernel, index build or loop, loaded on the device.
type function struct {
	entry  *abi.Entry
	f      driver.Function
	blocks int64 // how many blocks are resident on the device at a time

	mu   sync.Mutex
	late *loading // a loop that the driver still compiles, or nil
}

// isReady reports whether a loop's code is loaded. Until then the host leads
// the rounds.
func (e *Engine) isReady(f *function) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.late == nil {
		return true, nil
	}
	if !f.late.isDone() {
		return false, nil
	}
	if f.late.err != nil {
		return false, f.late.err
	}
	var err error
	if f.f, err = f.late.module.Function(f.entry.Symbol); err != nil {
		return false, err
	}
	if f.blocks, err = e.occupancy(f.f, f.entry); err != nil {
		return false, err
	}
	f.late = nil
	return true, nil
}

// Settle waits until the driver has compiled the loops that runs do not wait
// for, so that later runs and other processes have their code. If ctx ends
// first, it returns the cause.
func (e *Engine) Settle(ctx context.Context) error {
	e.mu.Lock()
	late := e.late
	e.late = nil
	e.mu.Unlock()
	for _, x := range late {
		select {
		case <-x.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// close unloads the code. It waits for kernels that are being compiled, because
// their machine code goes to the cache.
func (c *code) close() {
	for _, late := range c.late {
		if <-late.done; late.err == nil {
			_ = late.module.Close() // the code is gone either way
		}
	}
	for _, m := range c.modules {
		if m != nil {
			_ = m.Close() // the code is gone either way
		}
	}
}

// maker returns the code of a kernel graph, as Options.Compile does.
type maker func(g *harmony.Program, k woven.Knowledge, early func(ptx string)) (*Code, error)

// Compile compiles the code of a request. It uses all cores whatever their
// number is to be: a run that waits for the device leaves them soon.
func (e *Engine) Compile(ctx context.Context, req *runtime.Request, _ int) error {
	return e.with(ctx, req, e.opts.Compile, nil)
}

// errHostLoop says that the host evaluates a part of each round of a loop. The
// rounds then wait for it, so that loops on the host are faster.
var errHostLoop = errors.New("a loop has functions that GPUs have no code for")

// hasHostLoop reports whether a kernel in a loop runs on the host.
func hasHostLoop(p *woven.Program) bool {
	for _, b := range p.Graph.Blocks {
		if !p.Reach[b][b] {
			continue
		}
		for _, c := range b.Cmds {
			if k, ok := c.(*harmony.Run); ok && k.Kernel.Host {
				return true
			}
		}
	}
	return false
}

// errNoCode is the error of a search for code that was not made before.
var errNoCode = errors.New("there is no code")

// Find loads the code of a request if that needs no LLVM, and reports whether
// it did.
func (e *Engine) Find(ctx context.Context, req *runtime.Request) (bool, error) {
	finding := func(g *harmony.Program, k woven.Knowledge, _ func(string)) (*Code, error) {
		made, err := e.opts.Find(g, k)
		if made == nil && err == nil {
			err = errNoCode
		}
		return made, err
	}
	err := e.with(ctx, req, finding, nil)
	if errors.Is(err, errNoCode) {
		return false, nil
	}
	return err == nil, err
}

// compile makes and loads the code of a request. The driver compiles kernels
// while others are generated, and the device may still be opening.
func (e *Engine) compile(req *runtime.Request, graph *harmony.Program, k woven.Knowledge,
	makes maker) (*code, error) {
	began := time.Now()
	l := e.newLoader(req)
	defer l.close()
	made, err := makes(graph, k, l.begin)
	if err != nil {
		return nil, err
	}
	c := &code{made: time.Since(began)}
	req.Traced(hostTrack, "make code", began, time.Now())
	if err := e.waitOpen(); err != nil {
		return nil, err
	}
	if e.ended.After(began) {
		req.Traced("device", "open the device", e.began, e.ended)
	}
	if len(made.Module.Entries) == 0 {
		return c, nil
	}
	loading := time.Now()
	loops := map[string]bool{}
	for _, entry := range made.Module.Entries {
		loops[entry.Symbol] = entry.Role == abi.Loop
	}
	err = l.finish(c, made.PTX, loops)
	for _, entry := range made.Module.Entries {
		f := &function{entry: entry, late: c.late[entry.Symbol]}
		if f.late != nil {
			c.functions = append(c.functions, f)
			continue
		}
		if err == nil {
			f.f, err = c.find(entry.Symbol)
		}
		if err == nil {
			f.blocks, err = e.occupancy(f.f, entry)
		}
		if err != nil {
			c.close()
			return nil, err
		}
		c.functions = append(c.functions, f)
	}
	c.loaded = time.Since(loading)
	req.Traced(hostTrack, "load code", loading, time.Now())
	c.made += c.loaded
	return c, nil
}

// find returns the kernel with a symbol.
func (c *code) find(symbol string) (f driver.Function, err error) {
	if p, ok := c.places[symbol]; ok {
		return p.module.Function(p.symbol)
	}
	for _, m := range c.modules {
		if f, err = m.Function(symbol); !errors.Is(err, cuda.ErrNotFound) {
			return f, err
		}
	}
	return nil, err
}

// occupancy allows a kernel the dynamic shared memory of its launches, and
// returns how many of its blocks are resident on the device at a time.
func (e *Engine) occupancy(f driver.Function, entry *abi.Entry) (int64, error) {
	if entry.Dynamic > 0 {
		has := e.info.Attributes.SharedPerBlockOptin
		if entry.Scratch > has {
			return 0, &runtime.DeviceError{
				Message: "the kernels are for a GPU with more shared memory",
				Needed:  fmt.Sprintf("%d bytes a block", entry.Scratch),
				Found:   fmt.Sprintf("%d bytes on %s", has, e.info.Name),
				Try:     "compile for gpu:" + e.architecture,
			}
		}
		if entry.Scratch > e.info.Attributes.SharedPerBlock {
			// Kernels that share this code may need different sizes.
			static := entry.Scratch - entry.Dynamic
			if err := f.SetMaxDynamicShared(has - static); err != nil {
				return 0, err
			}
		}
	}
	n, err := f.BlocksPerMultiprocessor(entry.Threads, entry.Dynamic)
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, fmt.Errorf("kernel %s takes more than %s has: %+v", f.Name(), e.info.Name,
			f.Attributes())
	}
	return int64(n * e.info.Attributes.Multiprocessors), nil
}
