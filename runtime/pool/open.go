package pool

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/cost"
	"github.com/redfoxdb/redfox/runtime/gpu"
	"github.com/redfoxdb/redfox/runtime/machine"
	"github.com/redfoxdb/redfox/runtime/mixed"
	"github.com/redfoxdb/redfox/runtime/native"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/tiers"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// open makes the engine that was chosen.
func (p *Pool) open(c machine.Choice, how assemble.Fusing) (runtime.Engine, error) {
	switch c.Name {
	case machine.GPU:
		return p.openGPU(c, how)
	case machine.CPU:
		e, err := p.openCPU(how)
		if err != nil {
			return nil, err
		}
		return p.withCard(e, c, how), nil
	case machine.Mixed:
		host, err := p.openCPU(how)
		if err != nil {
			return nil, err
		}
		device, err := p.openGPU(c, how)
		if err != nil {
			return nil, err
		}
		return mixed.New(device, host, portable.New(), p.mixed(c.Card.Info())), nil
	}
	if !c.Adaptive {
		return portable.New(), nil
	}
	open := func() (runtime.Engine, error) { return p.openNative(how) }
	return p.withCard(tiers.NewLate(portable.New(), open, p.tiers()), c, how), nil
}

// openCPU returns the engine of native code, with its tiers.
func (p *Pool) openCPU(how assemble.Fusing) (*tiers.Engine, error) {
	whole, err := p.native(how)
	if err != nil {
		return nil, err
	}
	return tiers.NewLazy(portable.New(), whole, p.canCompile, p.tiers()), nil
}

// tiers returns the thresholds of engines with tiers.
func (p *Pool) tiers() tiers.Sizes {
	if p.Tiers != nil {
		return *p.Tiers
	}
	return tiers.DefaultSizes
}

// mixed returns the thresholds of the mixed engine for a GPU.
func (p *Pool) mixed(card *cuda.DeviceInfo) mixed.Sizes {
	if p.Mixed != nil {
		return *p.Mixed
	}
	sizes := mixed.DefaultSizes
	sizes.Card = cost.Device{Name: card.Name, Bandwidth: card.PeakBandwidth(),
		L2:         float64(card.Attributes.L2Cache),
		Processors: float64(card.Attributes.Multiprocessors),
		Clock:      1000 * float64(card.Attributes.ClockRate)}
	return sizes
}

// openGPU returns an engine for a GPU. If the GPU cannot be opened, each run
// returns the error.
func (p *Pool) openGPU(c machine.Choice, how assemble.Fusing) (*gpu.Engine, error) {
	t, version, err := p.Machine.TargetOf(c.Card)
	if err != nil {
		return nil, err
	}
	return gpu.Start(gpu.Options{
		Device:  c.Card,
		Version: version,
		Limit:   c.Memory,
		Cache:   kernelcache.Open(),
		Lower:   lowering(t, how),
		Compile: func(graph *harmony.Program, k woven.Knowledge,
			early func(ptx string)) (*gpu.Code, error) {
			code, err := p.Machine.Tools.PTX(&p.Shelf, t, graph, k, early)
			if err != nil {
				return nil, err
			}
			return &gpu.Code{Module: code.Module, PTX: code.Text}, nil
		},
		Find: func(graph *harmony.Program, k woven.Knowledge) (*gpu.Code, error) {
			code, err := p.Machine.Tools.MadePTX(t, graph, k)
			if code == nil {
				return nil, err
			}
			return &gpu.Code{Module: code.Module, PTX: code.Text}, nil
		},
	}), nil
}

// canCompile finds libLLVM. The error is the reason why it cannot be used.
func (p *Pool) canCompile() error {
	_, err := p.Machine.Tools.LLVM()
	return err
}

// openNative returns the engine of native code if there is libLLVM.
func (p *Pool) openNative(how assemble.Fusing) (runtime.Engine, error) {
	if err := p.canCompile(); err != nil {
		return nil, err
	}
	return p.native(how)
}

// native returns the engine of native code, which asks for libLLVM when there
// is code to make or to load.
func (p *Pool) native(how assemble.Fusing) (runtime.Engine, error) {
	t, err := assemble.ParseTarget(machine.DefaultCPU)
	if err != nil {
		return nil, err
	}
	return native.New(native.Options{
		Library:   p.Machine.Tools.LLVM,
		Cache:     kernelcache.Open(),
		Lower:     lowering(t, how),
		Generator: generator{p.Machine.Tools, t},
	}), nil
}

// lowering returns a function that turns plans into the kernels of a target.
func lowering(t assemble.Target,
	how assemble.Fusing) func(*queryplan.Plan) (*harmony.Program, error) {
	return func(plan *queryplan.Plan) (*harmony.Program, error) {
		return assemble.Kernels(plan, t, how)
	}
}

// generator makes native code for the cpu engine.
type generator struct {
	tools  *assemble.Tools
	target assemble.Target
}

// Generate returns objects for the kernels of a graph.
func (g generator) Generate(graph *harmony.Program, k woven.Knowledge,
	cores int) (*native.Code, error) {
	code, err := g.tools.Objects(graph, g.target, k, cores)
	if err != nil {
		return nil, err
	}
	return nativeCode(code), nil
}

// Find returns what Generate returned before.
func (g generator) Find(graph *harmony.Program, k woven.Knowledge) (*native.Code, error) {
	code, err := g.tools.Made(graph, g.target, k)
	if err != nil || code == nil {
		return nil, err
	}
	return nativeCode(code), nil
}

// Improve returns better objects for a function of a graph.
func (g generator) Improve(graph *harmony.Program, k woven.Knowledge,
	symbol string) (*native.Code, error) {
	code, err := g.tools.Improve(graph, g.target, k, symbol)
	if err != nil {
		return nil, err
	}
	return nativeCode(code), nil
}

func nativeCode(n *assemble.Native) *native.Code {
	return &native.Code{Module: n.Module, Objects: n.Objects, Calls: n.Calls, Cold: n.Cold}
}
