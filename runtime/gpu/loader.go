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

// loader loads kernels, each as soon as its PTX is there, concurrently with the
// generation of others. The device may still be opening. The driver compiles
// one kernel at a time of a module's and several modules at once, so each
// kernel is a module of its own.
type loader struct {
	engine *Engine
	req    *runtime.Request
	room   chan struct{} // for those that are compiled at a time

	mu   sync.Mutex
	jobs map[string]*loading // by PTX
}

// loading is a kernel on its way to the device.
type loading struct {
	done     chan struct{} // closed when module or err is there
	compiles chan struct{} // closed when the driver is to compile it
	module   driver.Module
	err      error
	taken    bool // the module is no longer the loader's
}

func (e *Engine) newLoader(req *runtime.Request) *loader {
	return &loader{engine: e, req: req, room: make(chan struct{}, goruntime.GOMAXPROCS(0)),
		jobs: map[string]*loading{}}
}

// begin starts to load the kernels of PTX. It is safe for concurrent use.
func (l *loader) begin(ptx string) {
	for _, part := range SplitKernels(ptx) {
		l.kernel(part)
	}
}

// kernel starts to load a kernel, unless it is loading already.
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
		if x.err = l.engine.isOpen(); x.err != nil {
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

// place is where the code of a kernel is: in a module, under the symbol of the
// first kernel with that code.
type place struct {
	module driver.Module
	symbol string
}

// finish hands the modules with the kernels of PTX over to code, also with an
// error, and the places of those that have a module of their own. Kernels that
// differ in nothing but their names share a module. It does not wait for loops,
// given by their symbols, that the driver has to compile: the host can do
// without.
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
			l.engine.comesLate(x)
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

// FirstEqual returns for each of some kernels of PTX the number of the first
// one that differs in nothing but its name.
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

// comesLate has Settle wait for a kernel.
func (e *Engine) comesLate(x *loading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.late = append(slices.DeleteFunc(e.late, (*loading).isDone), x)
}

func (x *loading) isDone() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// isCompiled waits until it is known whether the driver has to compile a
// kernel, and reports whether it does.
func (x *loading) isCompiled() bool {
	select {
	case <-x.compiles:
		return true
	case <-x.done:
		return false
	}
}

// close waits for all loads, and closes the modules that were not taken.
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

// SplitKernels returns a module for each kernel of PTX, as LLVM writes it:
// after the head, with the size of addresses, comes each kernel behind what it
// alone refers to, variables and functions. A kernel or a function ends with a
// brace at the start of a line. The modules do not depend on what other kernels
// there are.
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
			parts = append(parts, head+strings.TrimLeft(rest[:before], "\n"))
			rest, before = rest[before:], 0
		}
	}
	if len(parts) == 0 || strings.Contains(rest, ".entry ") || strings.Contains(rest, ".func ") {
		return []string{ptx}
	}
	return parts
}

// driverTrack is the track of a trace for the driver's compiler.
const driverTrack = "driver"

// traceDriver traces what the driver did with the kernel of PTX.
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

// moduleName names the code of programs in the driver's messages.
const moduleName = "kernels"

// cubinKey is the key under which the cache keeps what the driver makes of PTX.
func (e *Engine) cubinKey(ptx string) string {
	return strings.Join([]string{"cubin", e.architecture, e.version, ptx}, "\x00")
}

// cached loads the machine code that the driver has made of PTX before. It
// returns nil if the cache has none that loads.
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

// build has the driver compile PTX for a request, and loads the code. The cache
// keeps it.
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

// refused explains why the driver does not take code.
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
