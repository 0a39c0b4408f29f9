package gorgonia

import (
	"bytes"
	goruntime "runtime"
	"strings"
	"time"

	"gorgonia.org/cu"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// module is code on a device.
type module struct {
	object
	handle cu.Module
	name   string
	log    string
	took   time.Duration
}

// logSize is how much the compiler can say before the driver cuts it off.
const logSize = 1 << 14

// optionsOf returns what is asked of the compiler.
func optionsOf(o cuda.ModuleOptions) []cu.JITOption {
	var out []cu.JITOption
	if o.MaxRegisters > 0 {
		out = append(out, &cu.JITMaxRegisters{Value: uint(o.MaxRegisters)})
	}
	if o.Optimization > 0 {
		out = append(out, &cu.JITOptimizationLevel{Value: uint(o.Optimization)})
	}
	if o.LineInfo {
		out = append(out, &cu.JITGenerateLineInfo{Enabled: true})
	}
	if o.Verbose {
		out = append(out, &cu.JITLogVerbose{Enabled: true})
	}
	return out
}

// isPTX tells text from machine code, which is ELF.
func isPTX(image cuda.Image) bool { return !bytes.HasPrefix(image.Code, []byte("\x7fELF")) }

// load compiles and loads an image, and returns what the compiler said, also of
// an error.
func (c *gpu) load(image cuda.Image, o cuda.ModuleOptions) (m cu.Module, log string, err error) {
	info := &cu.JITInfoLogBuffer{Buffer: make([]byte, logSize)}
	errors := &cu.JITErrorLogBuffer{Buffer: make([]byte, logSize)}
	options := append(optionsOf(o), info, errors)
	err = c.call("cuModuleLoadDataEx", func() error {
		m, err = cu.LoadDataEx(string(image.Code), options...) // cu adds the NUL
		return err
	})
	goruntime.KeepAlive(options) // cu hands the buffers over as numbers
	return m, text(errors.Buffer) + text(info.Buffer), err
}

// text is what lies before the first NUL.
func text(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return strings.TrimSpace(string(before))
}

func (c *gpu) LoadModule(image cuda.Image, o cuda.ModuleOptions) (driver.Module, error) {
	began := time.Now()
	handle, log, err := c.load(image, o)
	if err != nil {
		return nil, explain(err, image, log)
	}
	return &module{object: object{gpu: c}, handle: handle, name: image.Name, log: log,
		took: time.Since(began)}, nil
}

// explain adds an image and what the compiler said of it to an error.
func explain(err error, image cuda.Image, log string) error {
	if e, ok := err.(*cuda.Error); ok {
		e.Detail, e.Log = "module "+image.Name, log
	}
	return err
}

// Link has no log of what goes well: cu does not keep the array alive into
// which the driver writes a log's length when linking ends. The log of an error
// comes from loading the image.
func (c *gpu) Link(o cuda.ModuleOptions, images ...cuda.Image) (cuda.Linked, error) {
	// The driver's compiler keeps memory for each thread.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	began := time.Now()
	var link *cu.LinkState
	options := optionsOf(o)
	err := c.call("cuLinkCreate", func() (err error) {
		link, err = cu.NewLink(options...)
		return err
	})
	if err != nil {
		return cuda.Linked{}, err
	}
	defer c.call("cuLinkDestroy", func() error { return link.Destroy() })
	for _, image := range images {
		kind, code := cu.JITInputCUBIN, string(image.Code)
		if isPTX(image) {
			kind, code = cu.JITInputPTX, code+"\x00"
		}
		err := c.call("cuLinkAddData", func() error { return link.AddData(kind, code, image.Name) })
		if err != nil {
			m, log, failed := c.load(image, o)
			if failed == nil {
				c.call("cuModuleUnload", m.Unload)
			}
			return cuda.Linked{}, explain(err, image, log)
		}
	}
	var cubin string
	err = c.call("cuLinkComplete", func() (err error) {
		cubin, err = link.Complete()
		return err
	})
	if err != nil {
		return cuda.Linked{}, err
	}
	return cuda.Linked{Code: []byte(cubin), Took: time.Since(began)}, nil
}

func (m *module) Name() string { return m.name }

func (m *module) Log() string { return m.log }

func (m *module) LoadTime() time.Duration { return m.took }

func (m *module) Close() error { return m.close("cuModuleUnload", m.handle.Unload) }

func (m *module) Variable(name string) (p cuda.Pointer, size uint64, err error) {
	err = m.gpu.call("cuModuleGetGlobal", func() error {
		at, bytes, err := m.handle.Global(name)
		p, size = cuda.Pointer(at), uint64(bytes)
		return err
	}, &m.object)
	return p, size, describe(err, "variable %s of module %s", name, m.name)
}
