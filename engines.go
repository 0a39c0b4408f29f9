package redfox

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
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
		{Name: "cpu", Detail: "this version of redfox does not run native code"},
		{Name: "go", Available: true, Detail: "portable, columnar, on all cores; needs nothing"},
	}
}

// autoEngines are those that auto chooses from, best first. The last one is always
// available.
var autoEngines = []string{"go"}

// ChooseEngine resolves the name of an engine, of which "auto" and "" stand for the
// best that the machine has. It returns the engine, and those that auto would have
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

// engine returns the engine of that name.
func engine(name string) (runtime.Engine, error) {
	chosen, _, err := ChooseEngine(name)
	if err != nil {
		return nil, err
	}
	return makeEngine[chosen.Name](), nil
}

// makeEngine makes each engine that may be available.
var makeEngine = map[string]func() runtime.Engine{
	"go": func() runtime.Engine { return portable.New() },
}
