package machine

import (
	"errors"
	"fmt"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// Machine is what runs programs: compilers and GPUs, each opened when it is
// first asked for.
type Machine struct {
	Tools *assemble.Tools
	// Driver returns the driver of the GPUs: driver.Open, or what a test has in
	// its place.
	Driver func() (driver.Driver, error)

	mu         sync.Mutex
	selections map[Want]*Selection
}

// Host returns the machine that this process runs on.
func Host() *Machine {
	tools := &assemble.Tools{Find: assemble.FindLLVM, Installed: llvm.Installed}
	return &Machine{Tools: tools, Driver: driver.Open}
}

// Info says whether this machine can run programs with an engine.
type Info struct {
	Name      string
	Available bool
	Detail    string // what it uses, or why it is not available
	Help      string // what to do about that; may be empty
}

// Engines describes all engines, fastest first. It opens libLLVM, even if it is
// known from an earlier process.
func (m *Machine) Engines() []Info {
	wrong := m.Tools.OpenLLVM()
	var out []Info
	for _, k := range Kinds {
		info := m.Engine(k.Name)
		if wrong != nil && info.Available && k.Name != Go {
			info = unavailable(k.Name, wrong)
		}
		out = append(out, info)
	}
	return out
}

// Engine describes an engine. The gpu engine is available if it can run any
// program on the first GPU that can be used.
func (m *Machine) Engine(name string) Info {
	switch name {
	case GPU:
		return m.gpu()
	case Mixed: // native code for the host needs what that for the GPU needs
		info := m.gpu()
		info.Name = Mixed
		return info
	case CPU:
		lib, err := m.Tools.LLVM()
		if err != nil {
			return unavailable(CPU, err)
		}
		return Info{Name: CPU, Available: true,
			Detail: fmt.Sprintf("native code for this machine, compiled by LLVM %v (%s)",
				lib.Version(), lib.Path())}
	}
	return Info{Name: Go, Available: true,
		Detail: "portable, columnar, on all cores; needs nothing"}
}

// gpu describes the gpu engine.
func (m *Machine) gpu() Info {
	found, err := m.CUDA()
	if err != nil {
		return unavailable(GPU, err)
	}
	card, err := pick(found.Devices(), "")
	if err != nil {
		return unavailable(GPU, err)
	}
	lib, err := m.Tools.LLVM()
	if err != nil {
		info := unavailable(GPU, err)
		info.Detail = fmt.Sprintf(
			"%s is there, for compiled programs with code for it; for others: %s",
			CardText(card), info.Detail)
		return info
	}
	return Info{Name: GPU, Available: true,
		Detail: fmt.Sprintf("%s, with a driver for CUDA %v; PTX compiled by LLVM %v (%s)",
			CardText(card), found.Version(), lib.Version(), lib.Path())}
}

// unavailable describes an engine that an error keeps from running.
func unavailable(name string, err error) Info {
	info := Info{Name: name, Detail: err.Error()}
	var missing *failure.Environment
	if errors.As(err, &missing) {
		info.Detail, info.Help = missing.Message, missing.Help
	}
	return info
}

// missing is the error of a run that names the engine.
func (e Info) missing() error {
	help := "use --engine auto, or see redfox engines"
	if e.Help != "" {
		help = e.Help
	}
	message := fmt.Sprintf("engine %s is not available: %s", e.Name, e.Detail)
	return &failure.Environment{Message: message, Help: help}
}

// CUDA opens the driver.
func (m *Machine) CUDA() (driver.Driver, error) {
	opened, err := m.Driver()
	var none *cuda.NotFoundError
	switch {
	case errors.As(err, &none):
		return nil, failure.Missing(none)
	case err != nil:
		return nil, &failure.Environment{Message: err.Error(), Err: err}
	}
	return opened, nil
}

// hasGPUProblem reports whether the machine seems to have a GPU although none
// can be used. On a machine without one, that is not worth a word.
func (m *Machine) hasGPUProblem() bool {
	_, err := m.Driver()
	var none *cuda.NotFoundError
	if !errors.As(err, &none) {
		return true
	}
	return none.Named || none.Problem() == cuda.DriverTooOld || none.Problem() == cuda.DriverRefuses
}
