package gpu

import (
	"errors"
	"sync"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/primitives/service"
	"github.com/redfoxdb/redfox/runtime"
)

// onDemand is a module of service kernels that is loaded at its first use,
// because few programs need it.
type onDemand struct {
	kernels   *service.Module
	mu        sync.Mutex
	module    driver.Module
	functions map[string]driver.Function
}

func (e *Engine) loadServices() (err error) {
	e.base, e.services, err = e.loadService(service.Base)
	return err
}

// loadService loads a module of service kernels and returns its functions by
// name. After an error m may still be a loaded module. The map lacks kernels
// that need more shared memory than the driver allows.
func (e *Engine) loadService(s *service.Module) (m driver.Module, f map[string]driver.Function,
	err error) {
	if m, err = e.loadMachine(s); err != nil {
		// A driver that is older than the machine code compiles the PTX.
		if m = e.cached(s.Name, s.PTX); m == nil {
			m, err = e.build(&runtime.Request{}, s.Name, s.PTX)
			if err != nil {
				return nil, nil, err
			}
		}
	}
	f = map[string]driver.Function{}
	for _, k := range s.Kernels {
		if f[k.Name], err = m.Function(k.Name); err == nil && k.Shared > 0 {
			err = f[k.Name].SetMaxDynamicShared(k.Shared)
		}
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			delete(f, k.Name)
		case err != nil:
			return m, nil, err
		}
	}
	return m, f, nil
}

// loadMachine loads the prebuilt machine code of a service module, or returns
// cuda.ErrNoBinary if there is none for the device.
func (e *Engine) loadMachine(s *service.Module) (driver.Module, error) {
	code := s.Machine(e.info.Attributes.Major)
	if code == nil {
		return nil, cuda.ErrNoBinary
	}
	return e.gpu.LoadModule(cuda.Image{Name: s.Name, Code: code}, cuda.ModuleOptions{})
}

// functionsOf returns the kernels of an on-demand module, and loads it at the
// first call.
func (e *Engine) functionsOf(d *onDemand) (map[string]driver.Function, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.functions != nil {
		return d.functions, nil
	}
	m, f, err := e.loadService(d.kernels)
	if err != nil {
		if m != nil {
			_ = m.Close() // err says what is wrong
		}
		return nil, err
	}
	d.module, d.functions = m, f
	return f, nil
}

// waitServices waits for the service kernels, and retries if loading them has
// failed.
func (e *Engine) waitServices() error {
	<-e.loaded
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unloaded == nil {
		return nil
	}
	if e.base != nil {
		_ = e.base.Close() // loaded, but its kernels were not
		e.base = nil
	}
	e.unloaded = e.loadServices()
	return e.unloaded
}
