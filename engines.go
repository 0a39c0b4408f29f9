package redfox

import (
	"fmt"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/portable"
)

// EngineInfo says whether this machine can run programs with an engine.
type EngineInfo struct {
	Name      string
	Available bool
	Detail    string // what it uses, or why it is not available
}

// Engines lists the engines in order of preference, best first.
func Engines() []EngineInfo {
	return []EngineInfo{
		{Name: "gpu", Detail: "this version of redfox generates no GPU kernels"},
		{Name: "cpu", Detail: "this version of redfox generates no native code"},
		{Name: "go", Available: true, Detail: "portable, columnar, on all cores; needs nothing"},
	}
}

// CheckEngine returns the error with which a run on that engine would fail
// because the machine or this version does not have it.
func CheckEngine(name string) error {
	_, err := engine(name)
	return err
}

// engine returns the engine of that name; "auto" and "" take the best that the
// machine has.
func engine(name string) (runtime.Engine, error) {
	if name == "auto" || name == "" {
		for _, e := range Engines() {
			if e.Available {
				name = e.Name
				break
			}
		}
	}
	if name == "go" {
		return portable.New(), nil
	}
	var names []string
	for _, e := range Engines() {
		if e.Name == name {
			return nil, &EnvironmentError{
				Message: fmt.Sprintf("engine %s is not available: %s", name, e.Detail),
				Help:    "use --engine auto, or see redfox engines",
			}
		}
		names = append(names, e.Name)
	}
	return nil, &EnvironmentError{
		Message: fmt.Sprintf("no engine is called %q", name),
		Help:    suggestHelp(name, append(names, "auto")),
	}
}
