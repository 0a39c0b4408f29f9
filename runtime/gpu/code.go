package gpu

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// hostTrack is where runs say what the host does.
const hostTrack = "host"

// code is a program's code on the device.
type code struct {
	modules   []driver.Module
	functions []*function
	made      time.Duration // to generate and compile it
	loaded    time.Duration // of that, by the driver
}

// function is a kernel on the device.
type function struct {
	entry  *abi.Entry
	f      driver.Function
	blocks int64 // that run at a time
}

func (c *code) close() {
	for _, m := range c.modules {
		if m != nil {
			_ = m.Close() // the code is gone either way
		}
	}
}

// compile generates code and loads it, for a request. The device may still be on its way to
// being open.
func (e *Engine) compile(req *runtime.Request, graph *harmony.Program, k woven.Knowledge) (*code, error) {
	began := time.Now()
	made, err := e.opts.Compile(graph, k)
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
	c.modules, err = e.loadAll(made.PTX)
	for _, entry := range made.Module.Entries {
		f := &function{entry: entry}
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
	for _, m := range c.modules {
		if f, err = m.Function(symbol); !errors.Is(err, cuda.ErrNotFound) {
			return f, err
		}
	}
	return nil, err
}

// loadAll puts the kernels of PTX on the device. The driver compiles one at a time of a
// module's and several modules at once, so each kernel is a module of its own.
func (e *Engine) loadAll(ptx string) ([]driver.Module, error) {
	parts := SplitKernels(ptx)
	modules, errs := make([]driver.Module, len(parts)), make([]error, len(parts))
	todo := make(chan int, len(parts))
	for i := range parts {
		todo <- i
	}
	close(todo)
	var wg sync.WaitGroup
	for range min(goruntime.GOMAXPROCS(0), len(parts)) {
		wg.Go(func() {
			for i := range todo {
				modules[i], errs[i] = e.load("kernels", parts[i])
			}
		})
	}
	wg.Wait()
	return modules, errors.Join(errs...)
}

// SplitKernels returns a module for each kernel of PTX, as LLVM writes it: after the head,
// with the size of addresses, comes each kernel behind what it alone refers to, variables
// and functions. A kernel or a function ends with a brace at the start of a line.
func SplitKernels(ptx string) []string {
	const headEnd, bodyEnd = ".address_size 64\n", "\n}\n"
	at := strings.Index(ptx, headEnd)
	if at < 0 {
		return []string{ptx}
	}
	head, rest := ptx[:at+len(headEnd)], ptx[at+len(headEnd):]
	var parts []string
	for before := 0; ; { // length of the functions in rest that the next kernel calls
		end := strings.Index(rest[before:], bodyEnd)
		if end < 0 {
			break
		}
		body := rest[before:][:end]
		before += end + len(bodyEnd)
		if strings.Contains(body, ".entry ") {
			parts = append(parts, head+rest[:before])
			rest, before = rest[before:], 0
		}
	}
	if len(parts) == 0 || strings.Contains(rest, ".entry ") || strings.Contains(rest, ".func ") {
		return []string{ptx}
	}
	return parts
}

// fill lets a kernel have the shared memory that its launches ask for, and returns how
// many blocks of it the device runs at a time.
func (e *Engine) fill(f driver.Function, entry *abi.Entry) (int64, error) {
	if entry.Dynamic > 0 {
		if has := e.info.Attributes.SharedPerBlockOptin; entry.Scratch > has {
			return 0, &runtime.DeviceError{
				Message: "the kernels are for a GPU with more shared memory",
				Needed:  fmt.Sprintf("%d bytes a block", entry.Scratch),
				Found:   fmt.Sprintf("%d bytes on %s", has, e.info.Name),
				Try:     "compile for gpu:" + e.architecture,
			}
		}
		if entry.Scratch > e.info.Attributes.SharedPerBlock {
			if err := f.SetMaxDynamicShared(entry.Dynamic); err != nil {
				return 0, err
			}
		}
	}
	n, err := f.BlocksPerMultiprocessor(entry.Threads, entry.Dynamic)
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, fmt.Errorf("kernel %s takes more than %s has: %+v", f.Name(), e.info.Name, f.Attributes())
	}
	return int64(n * e.info.Attributes.Multiprocessors), nil
}

// load puts PTX on the device. The machine code that the driver makes of it is kept
// on disk.
func (e *Engine) load(name, ptx string) (driver.Module, error) {
	key := strings.Join([]string{"cubin", e.architecture, e.version, ptx}, "\x00")
	if e.opts.Cache != nil {
		if object, ok := e.opts.Cache.Get(key); ok {
			if m, err := e.gpu.LoadModule(cuda.Image{Name: name, Code: object}, cuda.ModuleOptions{}); err == nil {
				return m, nil
			}
			// What is kept is of no use: make it again.
		}
	}
	image := cuda.Image{Name: name, Code: []byte(ptx)}
	linked, err := e.gpu.Link(cuda.ModuleOptions{}, image)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
	case err != nil:
		return nil, e.refused(err)
	default:
		image.Code = linked.Code
		if e.opts.Cache != nil {
			e.opts.Cache.Put(key, linked.Code)
		}
	}
	m, err := e.gpu.LoadModule(image, cuda.ModuleOptions{})
	if err != nil {
		return nil, e.refused(err)
	}
	return m, nil
}

// refused explains why the driver does not take code.
func (e *Engine) refused(err error) error {
	out := &runtime.DeviceError{Message: "the driver does not take the kernels: " + err.Error(), Err: err}
	switch {
	case errors.Is(err, cuda.ErrUnsupportedPTX):
		out.Message = "the driver does not know the kernels' version of PTX"
		out.Needed, out.Found, out.Try = "a driver for CUDA 11.8 or newer", "one for CUDA "+e.version, "update the NVIDIA driver, or use --engine cpu"
	case errors.Is(err, cuda.ErrNoBinary):
		out.Message = "the kernels are for another GPU"
		out.Needed, out.Found, out.Try = "code for "+e.architecture, "code for a newer GPU", "compile for gpu:"+e.architecture
	case errors.Is(err, cuda.ErrInvalidPTX):
		out.Try = "this is a bug of redfox: use --engine cpu meanwhile"
	}
	return out
}
