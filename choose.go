package redfox

import (
	"errors"
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime/store"
)

// EngineInfo says whether this machine can run programs with an engine.
type EngineInfo struct {
	Name      string
	Available bool
	Detail    string // what it uses, or why it is not available
	Help      string // what to do about that; may be empty
}

// engineNames are those of all engines, fastest first. The last one is always
// available.
var engineNames = []string{"gpu", "cpu", "go"}

// Engines lists the engines, fastest first. The gpu engine is available if it can run
// any program; Devices tells more.
func Engines() []EngineInfo {
	var out []EngineInfo
	for _, name := range engineNames {
		out = append(out, engineInfo(name))
	}
	return out
}

// engineInfo looks for what an engine needs.
func engineInfo(name string) EngineInfo {
	switch name {
	case "gpu":
		return gpuInfo()
	case "cpu":
		return cpuInfo()
	}
	return EngineInfo{Name: "go", Available: true, Detail: "portable, columnar, on all cores; needs nothing"}
}

// unavailable is an engine that can not run, because of an error.
func unavailable(name string, err error) EngineInfo {
	info := EngineInfo{Name: name, Detail: err.Error()}
	var missing *EnvironmentError
	if errors.As(err, &missing) {
		info.Detail, info.Help = missing.Message, missing.Help
	}
	return info
}

// cpuInfo says whether there is a libLLVM, which the cpu engine compiles with.
func cpuInfo() EngineInfo {
	lib, err := openLLVM()
	if err != nil {
		return unavailable("cpu", err)
	}
	return EngineInfo{Name: "cpu", Available: true,
		Detail: fmt.Sprintf("native code for this machine, compiled by LLVM %v (%s)", lib.Version(), lib.Path())}
}

// error is that of a run for which the engine was named.
func (e EngineInfo) error() error {
	help := "use --engine auto, or see redfox engines"
	if e.Help != "" {
		help = e.Help
	}
	return &EnvironmentError{Message: fmt.Sprintf("engine %s is not available: %s", e.Name, e.Detail), Help: help}
}

// The numbers of rows below which auto does not take an engine although it is there:
// making code, and on a GPU copying the facts, takes longer than such runs mostly do.
const (
	fewFacts    = 1 << 15 // for native code
	fewGPUFacts = 1 << 20
)

// CheckEngine returns an error if no engine has that name.
func CheckEngine(name string) error {
	if name == "" || name == "auto" || slices.Contains(engineNames, name) {
		return nil
	}
	return &EnvironmentError{
		Message: fmt.Sprintf("no engine is called %q", name),
		Help:    suggestHelp(name, append(slices.Clone(engineNames), "auto")),
	}
}

// ChooseEngine resolves the name of an engine, of which "auto" and "" stand for the
// best that the machine has for any program over many facts. It returns the engine,
// and those that auto would have taken had they been available. Of the gpu engine it
// looks at the first GPU that can be used.
func ChooseEngine(name string) (chosen EngineInfo, passed []EngineInfo, err error) {
	if err := CheckEngine(name); err != nil {
		return EngineInfo{}, nil, err
	}
	if name != "auto" && name != "" {
		if chosen = engineInfo(name); !chosen.Available {
			return chosen, nil, chosen.error()
		}
		return chosen, nil, nil
	}
	for _, name := range engineNames {
		if chosen = engineInfo(name); chosen.Available {
			break
		}
		if name != "gpu" || isGPUProblem() {
			passed = append(passed, chosen)
		}
	}
	return chosen, passed, nil
}

// EngineFor returns the engine that is meant by one of RunOptions.Engine and a device of
// RunOptions.Device: who names a GPU wants it, so that auto then stands for gpu.
func EngineFor(engine, device string) string {
	if device != "" && (engine == "" || engine == "auto") {
		return "gpu"
	}
	return engine
}

// settle decides what the options alone say of the engine. The error is that of an engine
// that does not exist, or that what is said of a GPU would say nothing.
func (o RunOptions) settle() (RunOptions, error) {
	if err := CheckEngine(o.Engine); err != nil {
		return o, err
	}
	o.Engine = EngineFor(o.Engine, o.Device)
	given := ""
	switch {
	case o.Engine == "" || o.Engine == "auto" || o.Engine == "gpu":
		return o, nil
	case o.Device != "":
		given = fmt.Sprintf("GPU %s is named", o.Device)
	case o.DeviceMemory != 0:
		given = "the memory of a GPU is bounded"
	default:
		return o, nil
	}
	return o, &EnvironmentError{
		Message: fmt.Sprintf("%s, and engine %s uses none", given, o.Engine),
		Help:    "take engine gpu or auto, or say nothing of a GPU",
	}
}

// choice is an engine that was chosen for a run.
type choice struct {
	EngineInfo
	card   driver.Device // of the gpu engine
	passed []EngineInfo  // that auto would have taken had they been available
}

// ChooseEngine returns the engine that a run with these options takes, and those that
// auto would have taken had they been available; over few facts auto does not look for
// the faster ones. With a nil db the facts are not known yet. The error is that with
// which the run would fail.
func (p *Program) ChooseEngine(db *Database, opts RunOptions) (chosen EngineInfo, passed []EngineInfo, err error) {
	c, err := p.choose(db, opts)
	return c.EngineInfo, c.passed, err
}

func (p *Program) choose(db *Database, opts RunOptions) (choice, error) {
	opts, err := opts.settle()
	if err != nil {
		return choice{}, err
	}
	switch opts.Engine {
	case "", "auto":
		return p.chooseBest(db, opts)
	case "gpu":
		card, err := p.chooseCard(opts)
		if err != nil {
			return choice{}, err
		}
		return choice{EngineInfo: EngineInfo{Name: "gpu", Available: true, Detail: cardText(card)}, card: card}, nil
	}
	info := engineInfo(opts.Engine)
	if !info.Available {
		return choice{}, info.error()
	}
	return choice{EngineInfo: info}, nil
}

// chooseBest is what auto does.
func (p *Program) chooseBest(db *Database, opts RunOptions) (choice, error) {
	var passed []EngineInfo
	rows := db.rows()
	if rows >= fewGPUFacts {
		card, err := p.chooseCard(opts)
		switch {
		case err != nil && isGPUProblem():
			passed = append(passed, unavailable("gpu", err))
		case err != nil:
		case !holds(card, opts.DeviceMemory, db.bytes):
			passed = append(passed, EngineInfo{Name: "gpu", Detail: fmt.Sprintf("the facts take %d MB, and the GPU's memory is too small for them", db.bytes>>20)})
		default:
			return choice{EngineInfo{Name: "gpu", Available: true, Detail: cardText(card)}, card, nil}, nil
		}
	}
	if rows >= fewFacts {
		info := engineInfo("cpu")
		if info.Available {
			return choice{EngineInfo: info, passed: passed}, nil
		}
		passed = append(passed, info)
	}
	return choice{EngineInfo: engineInfo("go"), passed: passed}, nil
}

// holds reports whether a GPU has room for facts and as much again, which is the least
// that most runs need.
func holds(card driver.Device, limit, facts int64) bool {
	room := int64(card.Info().Memory)
	if limit > 0 {
		room = min(room, limit)
	}
	return facts <= room/2
}

// rows returns the number of rows that were loaded.
func (db *Database) rows() int {
	if db == nil {
		return 0
	}
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
