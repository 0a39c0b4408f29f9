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

// hostTrack is the track of a trace for the host's work.
const hostTrack = "host"

// code is a program's code on the device.
type code struct {
	modules   []driver.Module
	places    map[string]place    // of kernels that have a module of their own, by symbol
	late      map[string]*loading // of loops that are still compiled, by symbol
	functions []*function
	made      time.Duration // to generate and compile it
	loaded    time.Duration // of that, by the driver, when all was generated
}

// function is a kernel on the device.
type function struct {
	entry  *abi.Entry
	f      driver.Function
	blocks int64 // that run at a time

	mu   sync.Mutex
	late *loading // a loop's code that the driver is still compiling, or nil
}

// isReady reports whether a loop's code is there. Until then the host leads the
// rounds.
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
	if f.blocks, err = e.fill(f.f, f.entry); err != nil {
		return false, err
	}
	f.late = nil
	return true, nil
}

// Settle waits until the driver has compiled the loops that runs do without
// meanwhile, so that later runs and other processes have them. It returns the
// error of a context that ends before.
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

// close unloads the code. It waits for code that is being compiled: the cache
// keeps it for the next process.
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

// compile generates and loads code for a request. The device may still be
// opening. The driver compiles kernels while others are generated.
func (e *Engine) compile(req *runtime.Request, graph *harmony.Program,
	k woven.Knowledge) (*code, error) {
	began := time.Now()
	l := e.newLoader(req)
	defer l.close()
	made, err := e.opts.Compile(graph, k, l.begin)
	if err != nil {
		return nil, err
	}
	c := &code{made: time.Since(began)}
	req.Traced(hostTrack, "make code", began, time.Now())
	if err := e.isOpen(); err != nil {
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
			f.blocks, err = e.fill(f.f, entry)
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

// find looks a kernel up.
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

// fill allows a kernel the shared memory of its launches, and returns the
// number of its blocks that the device runs at a time.
func (e *Engine) fill(f driver.Function, entry *abi.Entry) (int64, error) {
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
			// Kernels of the same code may ask for more or less.
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
