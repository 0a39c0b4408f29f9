package redfox

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/native"
	"github.com/redfoxdb/redfox/runtime/portable"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/weaver/emit"
)

// EngineInfo says whether this machine can run programs with an engine.
type EngineInfo struct {
	Name      string
	Available bool
	Detail    string // what it uses, or why it is not available
	Help      string // what to do about that; may be empty
}

// Engines lists the engines, fastest first.
func Engines() []EngineInfo {
	return []EngineInfo{
		{Name: "gpu", Detail: "this version of redfox compiles PTX and does not run it"},
		cpuInfo(),
		{Name: "go", Available: true, Detail: "portable, columnar, on all cores; needs nothing"},
	}
}

// cpuInfo says whether there is a libLLVM, which the cpu engine compiles with.
func cpuInfo() EngineInfo {
	info := EngineInfo{Name: "cpu"}
	lib, err := openLLVM()
	var missing *EnvironmentError
	switch {
	case errors.As(err, &missing):
		info.Detail, info.Help = missing.Message, missing.Help
	case err != nil:
		info.Detail = err.Error()
	default:
		info.Available = true
		info.Detail = fmt.Sprintf("native code for this machine, compiled by LLVM %v (%s)", lib.Version(), lib.Path())
	}
	return info
}

// autoEngines are those that auto chooses from, best first. The last one is always
// available.
var autoEngines = []string{"cpu", "go"}

// fewFacts is the number of rows below which auto takes the go engine although there
// is a faster one: compiling kernels takes longer than such runs mostly do.
const fewFacts = 1 << 15

// ChooseEngine is the function ChooseEngine for runs over these facts.
func (db *Database) ChooseEngine(name string) (chosen EngineInfo, passed []EngineInfo, err error) {
	if (name == "auto" || name == "") && db.rows() < fewFacts {
		name = "go"
	}
	return ChooseEngine(name)
}

// rows returns the number of rows that were loaded.
func (db *Database) rows() int {
	seen := map[*store.Table]bool{}
	n := 0
	for _, rel := range db.store.Relations() {
		if !seen[rel.Table] {
			seen[rel.Table] = true
			n += rel.Table.Rows
		}
	}
	return n
}

// ChooseEngine resolves the name of an engine, of which "auto" and "" stand for the
// best that the machine has; over few facts auto takes the go engine all the same. It returns the engine, and those that auto would have
// taken had they been available. The error is that with which a run would fail.
func ChooseEngine(name string) (chosen EngineInfo, passed []EngineInfo, err error) {
	engines := Engines()
	if name == "auto" || name == "" {
		for _, candidate := range autoEngines {
			i := slices.IndexFunc(engines, func(e EngineInfo) bool { return e.Name == candidate })
			if engines[i].Available {
				return engines[i], passed, nil
			}
			passed = append(passed, engines[i])
		}
	}
	names := []string{}
	for _, e := range engines {
		if e.Name == name {
			if !e.Available {
				help := "use --engine auto, or see redfox engines"
				if e.Help != "" {
					help = e.Help
				}
				return e, nil, &EnvironmentError{Message: fmt.Sprintf("engine %s is not available: %s", name, e.Detail), Help: help}
			}
			return e, nil, nil
		}
		names = append(names, e.Name)
	}
	return EngineInfo{}, nil, &EnvironmentError{
		Message: fmt.Sprintf("no engine is called %q", name),
		Help:    suggestHelp(name, append(names, "auto")),
	}
}

// engine returns an engine that is available, to run programs whose kernels are fused in
// a way.
func engine(chosen EngineInfo, how fusing) (runtime.Engine, error) {
	if chosen.Name == "cpu" {
		return cpuEngine(how)
	}
	return portable.New(), nil
}

// cpuEngines has one engine a process for each way to fuse, because an engine keeps
// the code of what it has run, and kernels that are fused otherwise are other code.
var cpuEngines struct {
	sync.Mutex
	made map[string]runtime.Engine
}

func cpuEngine(how fusing) (runtime.Engine, error) {
	cpuEngines.Lock()
	defer cpuEngines.Unlock()
	key := fmt.Sprintf("%t %q", how.off, how.apart)
	if e := cpuEngines.made[key]; e != nil {
		return e, nil
	}
	e, err := newCPU(how)
	if err != nil {
		return nil, err
	}
	if cpuEngines.made == nil {
		cpuEngines.made = map[string]runtime.Engine{}
	}
	cpuEngines.made[key] = e
	return e, nil
}

func newCPU(how fusing) (runtime.Engine, error) {
	lib, err := openLLVM()
	if err != nil {
		return nil, err
	}
	t, err := parseTarget(DefaultCPU)
	if err != nil {
		return nil, err
	}
	return native.New(native.Options{
		Library: lib,
		Cache:   kernelcache.Open(),
		Lower: func(plan *queryplan.Plan) (*harmony.Program, error) {
			graph, _, err := kernelsOf(plan, t, how)
			return graph, err
		},
		Generator: cpuGenerator{t},
	}), nil
}

// cpuGenerator makes code for what the engine knows of the facts.
type cpuGenerator struct{ target }

// Generate returns IR for the kernels of a graph.
func (g cpuGenerator) Generate(graph *harmony.Program, k woven.Knowledge) (*native.Code, error) {
	code, err := emitKernels(graph, emit.Options{Target: g.Target, Fix: k.Fix, Range: k.Range, Domains: k.Domains})
	if err != nil {
		return nil, err
	}
	return &native.Code{Module: code.Module, IR: code.IR}, nil
}
