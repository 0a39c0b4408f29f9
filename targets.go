package redfox

import (
	"fmt"

	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
	weaver "github.com/redfoxdb/redfox/weaver/target"
)

// The targets that kernels are compiled for by default. PTX for sm_80 runs on
// every later GPU; code for the cpu is completed on the machine that runs it.
const (
	DefaultGPU = "gpu:sm_80"
	DefaultCPU = weaver.CPUName
)

// target is a target of the weaver and the PTX that its GPU reads.
type target struct {
	weaver.Target
	ptx int // the newest version of PTX that may be generated: 78 is 7.8
}

// parseTarget reads the name of a target: cpu, or gpu:sm_90.
func parseTarget(name string) (target, error) {
	t, ok := weaver.Parse(name)
	if !ok {
		return target{}, &EnvironmentError{
			Message: fmt.Sprintf("no target is called %q", name),
			Help: "write cpu, or gpu:sm_ and the GPU's compute capability from 80 on, " +
				"such as gpu:sm_80 or gpu:sm_90",
		}
	}
	return target{Target: t, ptx: maxPTX}, nil
}

// CheckTarget returns the error with which compiling for a target of that name
// would fail.
func CheckTarget(name string) error {
	_, err := parseTarget(name)
	return err
}

// primitives returns the target that the primitives are compiled for.
func (t target) primitives() (primitives.Target, error) {
	if t.GPU {
		return primitives.NVPTX64, nil
	}
	host, err := hostcode.Target()
	if err != nil {
		return "", &EnvironmentError{
			Message: "no native code can be generated: " + err.Error(),
			Help:    "use --engine go",
			Err:     err,
		}
	}
	return host, nil
}
