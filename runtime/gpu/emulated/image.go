package emulated

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"strings"
	"time"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
)

// An image is imageMark, the module's text, irMark, and IR. Machine code, which
// begins with codeMark, is linked from several images.
const (
	imageMark = "// emulated GPU\n"
	irMark    = "\n; LLVM IR, for the large code model\n"
	codeMark  = "\x7fELFemulated"
)

// Image returns the emulator's replacement for PTX: IR for this machine's
// processor with tiles of one thread, and the module that describes its
// functions.
func Image(module *abi.Module,
	ir string) string {
	return imageMark + module.String() + irMark + ir
}

// part is a part of linked machine code. It has either objects, or the text
// that identifies Go kernels.
type part struct {
	Name    string
	Module  string
	Objects [][]byte
	Calls   []string // primitives that the objects call
	Known   []byte
}

// build compiles an image, or splits machine code into its parts.
func (c *share) build(call string, image cuda.Image) ([]part, error) {
	if data, ok := bytes.CutPrefix(image.Code, []byte(codeMark)); ok {
		var parts []part
		if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&parts); err != nil {
			return nil, failure(call, noBinary, "module %s", image.Name)
		}
		return parts, nil
	}
	if bytes.HasPrefix(image.Code, []byte("\x7fELF")) {
		if serviceOf(image.Code) == nil {
			return nil, failure(call, noBinary, "module %s", image.Name)
		}
		return []part{{Name: image.Name, Known: image.Code}}, nil
	}
	code := bytes.TrimSuffix(image.Code, []byte{0})
	text, ok := strings.CutPrefix(string(code), imageMark)
	if !ok {
		known, err := c.driver.kernelsOf(code)
		if err != nil {
			return nil, err
		}
		if known == nil {
			return nil, refusedImage(call, image, "line 1: no code for an emulated GPU")
		}
		return []part{{Name: image.Name, Known: code}}, nil
	}
	header, ir, _ := strings.Cut(text, irMark)
	module, err := abi.Parse(image.Name, header)
	if err == nil {
		err = abi.Verify(module)
	}
	if err == nil && c.driver.opts.Library == nil {
		err = fmt.Errorf("there is no LLVM to compile it")
	}
	if err != nil {
		return nil, refusedImage(call, image, err.Error())
	}
	for _, e := range module.Entries {
		if len(e.Hosts) > 0 {
			return nil, refusedImage(call, image,
				fmt.Sprintf("%s calls the host's %s", e.Symbol, e.Hosts[0].Func))
		}
		if e.Threads != 1 {
			return nil, refusedImage(call, image,
				fmt.Sprintf("%s is for blocks of %d threads", e.Symbol, e.Threads))
		}
	}
	objects, err := hostcode.Objects(c.driver.compiling(), ir, symbolsOf(module))
	if err != nil {
		return nil, refusedImage(call, image, err.Error())
	}
	return []part{{Name: image.Name, Module: header, Objects: objects, Calls: hostcode.Calls(ir)}},
		nil
}

func (d *Driver) compiling() hostcode.Options {
	return hostcode.Options{Library: d.opts.Library, Cache: d.opts.Cache, Quick: d.opts.Quick}
}

func symbolsOf(m *abi.Module) []string {
	var out []string
	for _, e := range m.Entries {
		out = append(out, e.Symbol)
	}
	return out
}

// refusedImage returns the error of the driver's compiler.
func refusedImage(call string, image cuda.Image, log string) error {
	e := failure(call, invalidPTX, "module %s", image.Name)
	e.Log = log
	return e
}

// kernelsOf returns the Go kernels of an image, or nil if it has none.
func (d *Driver) kernelsOf(code []byte) (map[string]*Kernel, error) {
	if s := serviceOf(code); s != nil {
		return services[s], nil
	}
	if d.opts.Kernels == nil {
		return nil, nil
	}
	return d.opts.Kernels(code)
}

// generation is the major number of the device's compute capability.
const generation = 9

// services are the Go kernels of each module of service kernels.
var services = map[*service.Module]map[string]*Kernel{service.Base: serviceKernels,
	service.Sorting: sortKernels, service.Pages: pageKernels}

// serviceOf returns the module of service kernels with this PTX or machine
// code, or nil.
func serviceOf(code []byte) *service.Module {
	for _, m := range service.Modules {
		if string(code) == m.PTX || bytes.Equal(code, m.Machine(generation)) {
			return m
		}
	}
	return nil
}

// Link compiles images and links them to machine code.
func (c *share) Link(o cuda.ModuleOptions, images ...cuda.Image) (cuda.Linked, error) {
	const name = "cuLinkComplete"
	began := time.Now()
	var out bytes.Buffer
	out.WriteString(codeMark)
	err := c.call(name, func() error {
		var all []part
		for _, image := range images {
			parts, err := c.build(name, image)
			if err != nil {
				return err
			}
			all = append(all, parts...)
		}
		return gob.NewEncoder(&out).Encode(all)
	})
	if err != nil {
		return cuda.Linked{}, err
	}
	return cuda.Linked{Code: out.Bytes(), Took: time.Since(began)}, nil
}

// LoadModule loads an image or machine code.
func (c *share) LoadModule(image cuda.Image, o cuda.ModuleOptions) (driver.Module, error) {
	const name = "cuModuleLoadDataEx"
	began := time.Now()
	var m *module
	err := c.call(name, func() error {
		parts, err := c.build(name, image)
		if err != nil {
			return err
		}
		made := &module{name: image.Name, functions: map[string]*function{},
			variables: map[string]*block{}}
		for _, p := range parts {
			if err := made.add(c, name, p); err != nil {
				made.unload(c)
				return err
			}
		}
		m, made.object = made, newObject(c, "module")
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.took = time.Since(began)
	return m, nil
}

// module is loaded code.
type module struct {
	object
	name      string
	took      time.Duration
	code      []*hostcode.Code
	functions map[string]*function
	variables map[string]*block
}

// add loads a part.
func (m *module) add(c *share, call string, p part) error {
	if p.Known != nil {
		kernels, err := c.driver.kernelsOf(p.Known)
		if err != nil {
			return err
		}
		for name, k := range kernels {
			if k.Variable != nil {
				b, err := c.memory.take(uint64(len(k.Variable)), ofModule)
				if err != nil {
					return err
				}
				copy(b.data(), k.Variable)
				m.variables[name] = b
				continue
			}
			m.functions[name] = &function{module: m, name: name, parameters: k.Params, run: k.Run}
		}
		return nil
	}
	text, err := abi.Parse(p.Name, p.Module)
	if err != nil {
		return failure(call, noBinary, "module %s: %v", p.Name, err)
	}
	code, err := hostcode.Link(c.driver.compiling(), p.Objects, p.Calls, symbolsOf(text))
	if err != nil {
		return failure(call, noBinary, "module %s: %v", p.Name, err)
	}
	m.code = append(m.code, code)
	for _, e := range text.Entries {
		w := &woven{entry: e, address: code.Functions[e.Symbol]}
		m.functions[e.Symbol] = &function{module: m, name: e.Symbol, parameters: len(e.Params) + 1,
			shared: e.Scratch - e.Dynamic, run: w.run}
	}
	return nil
}

func (m *module) unload(c *share) {
	for _, code := range m.code {
		code.Close()
	}
	for _, b := range m.variables {
		c.memory.drop(b)
	}
}

// Name returns the image's name.
func (m *module) Name() string { return m.name }

// Log returns "", because the emulated compiler has no messages.
func (m *module) Log() string { return "" }

// LoadTime returns how long loading took.
func (m *module) LoadTime() time.Duration { return m.took }

// Close unloads the code. A kernel of it that is still queued in a stream
// faults.
func (m *module) Close() error {
	return m.close("cuModuleUnload", func() error {
		m.unload(m.ctx)
		return nil
	})
}

// Function finds a kernel.
func (m *module) Function(name string) (driver.Function, error) {
	const call = "cuModuleGetFunction"
	var f *function
	err := m.call(call, func() error {
		if f = m.functions[name]; f == nil {
			return failure(call, notFound, "kernel %s of module %s", name, m.name)
		}
		if f.parameters < 0 {
			return failure("cuFuncGetParamInfo", 0,
				"kernel %s of module %s: a parameter is not of 64 bits", name, m.name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Variable finds a variable.
func (m *module) Variable(name string) (p cuda.Pointer, size uint64, err error) {
	const call = "cuModuleGetGlobal"
	err = m.call(call, func() error {
		b := m.variables[name]
		if b == nil {
			return failure(call, notFound, "variable %s of module %s", name, m.name)
		}
		p, size = b.base(), b.bytes
		return nil
	})
	return p, size, err
}
