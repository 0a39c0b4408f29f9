package cuda

import (
	"bytes"
	goruntime "runtime"
	"strings"
	"time"
	"unsafe"
)

// ModuleOptions say how the driver compiles PTX. They mean nothing for machine
// code. The zero value is the driver's own choice.
type ModuleOptions struct {
	MaxRegisters int  // of a thread; 0 is no bound
	Optimization int  // 1 to 4; 0 is the driver's own choice, 4
	LineInfo     bool // keep the lines of the source for profilers
	Verbose      bool // tell in the log what each kernel takes
}

// Image is code for the device: PTX, or the machine code that Link or ptxas
// made.
type Image struct {
	Name string // for messages
	Code []byte
}

// isPTX tells text from machine code, which is ELF.
func (m Image) isPTX() bool { return !bytes.HasPrefix(m.Code, []byte("\x7fELF")) }

// terminated returns the code with the NUL that the driver wants after a text.
func (m Image) terminated() []byte {
	if !m.isPTX() || bytes.HasSuffix(m.Code, []byte{0}) {
		return m.Code
	}
	return append(bytes.Clone(m.Code), 0)
}

// logSize is how much the compiler can say before the driver cuts it off.
const logSize = 1 << 14

// compilation holds the options of one use of the driver's compiler, and what
// it writes. The driver keeps the addresses while a link is open, so it is one
// object, kept alive to the end.
type compilation struct {
	info, errors [logSize]byte
	names        []int32
	values       []uintptr
}

// newCompilation makes the options. They lie in Go's heap, which does not move,
// and not on a stack: what a function that is not inlined returns escapes.
//
//go:noinline
func newCompilation(o ModuleOptions) *compilation {
	c := &compilation{}
	add := func(name int32, value uintptr) {
		c.names, c.values = append(c.names, name), append(c.values, value)
	}
	add(jitInfoLog, uintptr(unsafe.Pointer(&c.info[0])))
	add(jitInfoLogSize, logSize)
	add(jitErrorLog, uintptr(unsafe.Pointer(&c.errors[0])))
	add(jitErrorLogSize, logSize)
	if o.MaxRegisters > 0 {
		add(jitMaxRegisters, uintptr(o.MaxRegisters))
	}
	if o.Optimization > 0 {
		add(jitOptimizationLevel, uintptr(o.Optimization))
	}
	if o.LineInfo {
		add(jitLineInfo, 1)
	}
	if o.Verbose {
		add(jitLogVerbose, 1)
	}
	return c
}

// log returns what the compiler said.
func (c *compilation) log() string {
	var all []string
	for _, buffer := range []*[logSize]byte{&c.errors, &c.info} {
		said, _, _ := strings.Cut(string(buffer[:]), "\x00")
		if said = strings.TrimSpace(said); said != "" {
			all = append(all, said)
		}
	}
	return strings.Join(all, "\n")
}

// explain adds the log to an error.
func (c *compilation) explain(err error) error {
	if e, ok := err.(*Error); ok {
		e.Log = c.log()
	}
	return err
}

// Module is code on the device.
type Module struct {
	object[moduleHandle]
	name string
	log  string
	took time.Duration
}

// LoadModule puts code on the device. PTX is compiled first, which takes from
// some milliseconds to seconds; Link does that ahead. An error has the
// compiler's log. The driver compiles several modules at once if goroutines ask
// for them.
func (c *Context) LoadModule(image Image, o ModuleOptions) (*Module, error) {
	job := newCompilation(o)
	m := &Module{object: object[moduleHandle]{ctx: c}, name: image.Name}
	code := image.terminated()
	began := time.Now()
	err := c.call("cuModuleLoadDataEx", func() Code {
		return c.fn.ModuleLoadDataEx(&m.handle, unsafe.SliceData(code), uint32(len(job.names)),
			&job.names[0], &job.values[0])
	})
	goruntime.KeepAlive(job)
	if err != nil {
		return nil, job.explain(describe(err, "module %s", image.Name))
	}
	m.log, m.took = job.log(), time.Since(began)
	return m, nil
}

// Name returns the image's name.
func (m *Module) Name() string { return m.name }

// Log returns what the compiler said, "" if nothing.
func (m *Module) Log() string { return m.log }

// LoadTime returns how long LoadModule took, the compilation of PTX included.
// The driver keeps what it compiles in a cache of its own, on disk.
func (m *Module) LoadTime() time.Duration { return m.took }

// Close unloads the code. Work that uses it must be done.
func (m *Module) Close() error {
	return m.close("cuModuleUnload", m.ctx.fn.ModuleUnload)
}

// Variable returns the place and the size in bytes of a variable of the module.
func (m *Module) Variable(name string) (p Pointer, size uint64, err error) {
	err = m.call("cuModuleGetGlobal", func(h moduleHandle) Code {
		return m.ctx.fn.ModuleGetGlobal(&p, &size, h, name)
	})
	return p, size, describe(err, "variable %s of module %s", name, m.name)
}

// Linked is machine code for one kind of device.
type Linked struct {
	Code []byte // an ELF file, for LoadModule
	Log  string // what the compiler said, "" if nothing
	Took time.Duration
}

// Link compiles PTX for the context's device, links it with further images, and
// returns machine code that other processes can load without compiling, on
// devices of the same architecture. An error has the compiler's log.
func (c *Context) Link(o ModuleOptions, images ...Image) (Linked, error) {
	// The compiler keeps memory for each thread: a link that changes threads
	// between calls has crashed driver 580.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	job := newCompilation(o)
	defer goruntime.KeepAlive(job)
	began := time.Now()
	var link linkHandle
	err := c.call("cuLinkCreate", func() Code {
		return c.fn.LinkCreate(uint32(len(job.names)), &job.names[0], &job.values[0], &link)
	})
	if err != nil {
		return Linked{}, err
	}
	defer c.call("cuLinkDestroy", func() Code { return c.fn.LinkDestroy(link) })
	for _, image := range images {
		kind := int32(jitInputCubin)
		if image.isPTX() {
			kind = jitInputPTX
		}
		code := image.terminated()
		err := c.call("cuLinkAddData", func() Code {
			return c.fn.LinkAddData(link, kind, unsafe.SliceData(code), uintptr(len(code)),
				image.Name, 0, nil, nil)
		})
		if err != nil {
			return Linked{}, job.explain(describe(err, "module %s", image.Name))
		}
	}
	var cubin *byte // the link's own
	var size uintptr
	err = c.call("cuLinkComplete", func() Code { return c.fn.LinkComplete(link, &cubin, &size) })
	if err != nil {
		return Linked{}, job.explain(err)
	}
	return Linked{Code: bytes.Clone(unsafe.Slice(cubin, size)), Log: job.log(),
		Took: time.Since(began)}, nil
}
