package gpu

import (
	"errors"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime"
)

// loader loads the kernels of one program, each as soon as its PTX is
// generated. The device may still be opening. Each kernel is a module of its
// own, because the driver compiles the kernels of a module one after the other,
// but several modules at once.
type loader struct {
	engine *Engine
	req    *runtime.Request
	room   chan struct{} // a semaphore of concurrent compilations

	mu   sync.Mutex
	jobs map[string]*loading // the kernels, by PTX
}

// loading is a kernel that is being loaded.
type loading struct {
	done     chan struct{} // closed when module or err is set
	compiles chan struct{} // closed when the cache lacks the kernel, so the driver compiles it
	module   driver.Module
	err      error
	taken    bool // code owns the module
}

func (e *Engine) newLoader(req *runtime.Request) *loader {
	return &loader{engine: e, req: req, room: make(chan struct{}, goruntime.GOMAXPROCS(0)),
		jobs: map[string]*loading{}}
}

// begin starts loading the kernels of PTX. It is safe for concurrent use.
func (l *loader) begin(ptx string) {
	for _, part := range SplitKernels(ptx) {
		l.kernel(part)
	}
}

// kernel starts loading a kernel, unless that has begun already.
func (l *loader) kernel(ptx string) *loading {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.jobs[ptx]; x != nil {
		return x
	}
	x := &loading{done: make(chan struct{}), compiles: make(chan struct{})}
	l.jobs[ptx] = x
	go func() {
		defer close(x.done)
		if x.err = l.engine.waitOpen(); x.err != nil {
			return
		}
		l.room <- struct{}{}
		defer func() { <-l.room }()
		if x.module = l.engine.cached(moduleName, ptx); x.module == nil {
			close(x.compiles)
			x.module, x.err = l.engine.build(l.req, moduleName, ptx)
		}
	}()
	return x
}

// place is where the code of a kernel is: a module, and the symbol of the first
// kernel with the same code.
type place struct {
	module driver.Module
	symbol string
}

// finish waits for the kernels of PTX and hands their modules to c, also after
// an error. Kernels that differ only in their names share a module. It does not
// wait for loops (symbols for which loops is true) that the driver has to
// compile, because the host can lead their rounds meanwhile.
func (l *loader) finish(c *code, ptx string, loops map[string]bool) error {
	parts := SplitKernels(ptx)
	same := FirstEqual(parts)
	jobs := make([]*loading, len(parts))
	for i, part := range parts {
		if loops[kernelOf(part)] {
			same[i] = i
		}
		if same[i] == i {
			jobs[i] = l.kernel(part)
		}
	}
	c.places, c.late = map[string]place{}, map[string]*loading{}
	var errs []error
	for i, x := range jobs {
		name := kernelOf(parts[i])
		switch {
		case x == nil:
			x = jobs[same[i]]
		case loops[name] && len(parts) > 1 && x.isCompiled():
			x.taken, c.late[name] = true, x
			continue
		default:
			<-x.done
			if x.err != nil {
				errs = append(errs, x.err)
			} else if !x.taken {
				c.modules = append(c.modules, x.module)
				x.taken = true
			}
		}
		if len(parts) > 1 && name != "" && x.err == nil {
			c.places[name] = place{x.module, kernelOf(parts[same[i]])}
		}
	}
	return errors.Join(errs...)
}

// FirstEqual returns, for each kernel of PTX, the number of the first kernel
// that differs from it at most in its name.
func FirstEqual(kernels []string) []int {
	first := map[string]int{} // by the text without the name
	numbers := make([]int, len(kernels))
	for i, ptx := range kernels {
		text := strings.ReplaceAll(ptx, kernelOf(ptx), "")
		if _, ok := first[text]; !ok {
			first[text] = i
		}
		numbers[i] = first[text]
	}
	return numbers
}

// awaits makes Settle wait for the loops of code that a run uses. Code that was
// made ahead of a run that never came is not worth a wait.
func (e *Engine) awaits(c *code) {
	if len(c.late) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.late = slices.DeleteFunc(e.late, (*loading).isDone)
	for _, x := range c.late {
		if !x.isDone() && !slices.Contains(e.late, x) {
			e.late = append(e.late, x)
		}
	}
}

func (x *loading) isDone() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// isCompiled waits until the cache has been consulted, and reports whether the
// driver has to compile the kernel.
func (x *loading) isCompiled() bool {
	select {
	case <-x.compiles:
		return true
	case <-x.done:
		return false
	}
}

// close waits for all loads and closes the modules that code does not own.
func (l *loader) close() {
	for _, x := range l.jobs {
		if x.taken {
			continue
		}
		if <-x.done; x.err == nil {
			_ = x.module.Close() // the code is gone either way
		}
	}
}

// SplitKernels returns a module for each kernel of PTX in the form that LLVM
// writes: a head that ends with the address size, then each kernel, preceded by
// the variables and functions that it alone uses. Kernels and functions end
// with a brace at the start of a line. A kernel's module does not depend on
// which other kernels there are. Text that is not of that form stays one
// module.
func SplitKernels(ptx string) []string {
	const headEnd, bodyEnd = ".address_size 64\n", "\n}\n"
	at := strings.Index(ptx, headEnd)
	if at < 0 {
		return []string{ptx}
	}
	head, rest := ptx[:at+len(headEnd)], ptx[at+len(headEnd):]
	var parts []string
	for before := 0; ; { // the length of the functions ahead of the next kernel
		end := strings.Index(rest[before:], bodyEnd)
		if end < 0 {
			break
		}
		body := rest[before:][:end]
		before += end + len(bodyEnd)
		if strings.Contains(body, ".entry ") {
			parts = append(parts, head+strings.TrimLeft(rest[:before], "\n"))
			rest, before = rest[before:], 0
		}
	}
	if len(parts) == 0 || strings.Contains(rest, ".entry ") || strings.Contains(rest, ".func ") {
		return []string{ptx}
	}
	return parts
}

// driverTrack is the trace track of the driver's compiler.
const driverTrack = "driver"

// traceDriver adds a span for what the driver did with a kernel.
func traceDriver(req *runtime.Request, what, ptx string, began time.Time) {
	if req.Trace == nil {
		return
	}
	req.Traced(driverTrack, what+" "+kernelOf(ptx), began, time.Now())
}

// kernelOf returns the name of the first kernel in PTX.
func kernelOf(ptx string) string {
	_, kernel, _ := strings.Cut(ptx, ".entry ")
	kernel, _, _ = strings.Cut(kernel, "(")
	return strings.TrimSpace(kernel)
}

// moduleName is the name of programs' code in messages of the driver.
const moduleName = "kernels"

// cubinKey returns the cache key of the machine code of PTX.
func (e *Engine) cubinKey(ptx string) string {
	return strings.Join([]string{"cubin", e.architecture, e.version, ptx}, "\x00")
}

// cached loads machine code from the cache. It returns nil if the cache has
// none or the code does not load.
func (e *Engine) cached(name, ptx string) driver.Module {
	if e.opts.Cache == nil {
		return nil
	}
	object, ok := e.opts.Cache.Get(e.cubinKey(ptx))
	if !ok {
		return nil
	}
	m, err := e.gpu.LoadModule(cuda.Image{Name: name, Code: object}, cuda.ModuleOptions{})
	if err != nil {
		return nil
	}
	return m
}

// build has the driver compile PTX, stores the machine code in the cache, and
// loads it.
func (e *Engine) build(req *runtime.Request, name, ptx string) (driver.Module, error) {
	image := cuda.Image{Name: name, Code: []byte(ptx)}
	began := time.Now()
	linked, err := e.gpu.Link(cuda.ModuleOptions{}, image)
	traceDriver(req, "compile", ptx, began)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
	case err != nil:
		return nil, e.refused(err)
	default:
		image.Code = linked.Code
		if e.opts.Cache != nil {
			e.opts.Cache.Put(e.cubinKey(ptx), linked.Code)
		}
	}
	began = time.Now()
	m, err := e.gpu.LoadModule(image, cuda.ModuleOptions{})
	traceDriver(req, "load", ptx, began)
	if err != nil {
		return nil, e.refused(err)
	}
	return m, nil
}

// refused explains why the driver refused code.
func (e *Engine) refused(err error) error {
	out := &runtime.DeviceError{Message: "the driver does not take the kernels: " + err.Error(),
		Err: err}
	switch {
	case errors.Is(err, cuda.ErrUnsupportedPTX):
		out.Message = "the driver does not know the kernels' version of PTX"
		out.Needed, out.Found, out.Try = "a driver for CUDA 11.8 or newer", "one for CUDA "+
			e.version, "update the NVIDIA driver, or use --engine cpu"
	case errors.Is(err, cuda.ErrNoBinary):
		out.Message = "the kernels are for another GPU"
		out.Needed, out.Found, out.Try = "code for "+
			e.architecture, "code for a newer GPU", "compile for gpu:"+e.architecture
	case errors.Is(err, cuda.ErrInvalidPTX):
		out.Try = "this is a bug of redfox: use --engine cpu meanwhile"
	}
	return out
}
