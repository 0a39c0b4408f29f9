package redfox

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/runtime/hostcode"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/fuse"
)

// The targets that kernels are compiled for if none is named. PTX for sm_80 runs on
// every later GPU; code for the cpu is completed on the machine that runs it.
const (
	DefaultGPU = "gpu:sm_80"
	DefaultCPU = "cpu"
)

// oldestSM is the first compute capability that the primitives are written for.
const oldestSM = 80

// target is what kernels are compiled for.
type target struct {
	emit.Target
	sm     int // compute capability; 0 for the cpu
	ptx    int // the newest version of PTX that may be made: 78 is 7.8
	budget fuse.Budget
}

// parseTarget reads the name of a target: cpu, or gpu:sm_90.
func parseTarget(name string) (target, error) {
	if name == DefaultCPU {
		return target{Target: emit.CPU(), budget: fuse.CPU}, nil
	}
	if digits, ok := strings.CutPrefix(name, "gpu:sm_"); ok {
		sm, err := strconv.Atoi(digits)
		if err == nil && sm >= oldestSM && sm < 1000 && strconv.Itoa(sm) == digits {
			budget := fuse.SM80
			if sm >= 90 {
				budget = fuse.SM90
			}
			return target{Target: emit.GPU(sm), sm: sm, ptx: maxPTX, budget: budget}, nil
		}
	}
	return target{}, &EnvironmentError{
		Message: fmt.Sprintf("no target is called %q", name),
		Help:    "write cpu, or gpu:sm_ and the GPU's compute capability from 80 on, such as gpu:sm_80 or gpu:sm_90",
	}
}

// CheckTarget returns the error with which compiling for a target of that name
// would fail.
func CheckTarget(name string) error {
	_, err := parseTarget(name)
	return err
}

// primitives returns for what the target's primitives are compiled.
func (t target) primitives() (primitives.Target, error) {
	if t.GPU {
		return primitives.NVPTX64, nil
	}
	host, err := hostcode.Target()
	if err != nil {
		return "", &EnvironmentError{Message: "no native code can be generated: " + err.Error(), Help: "use --engine go", Err: err}
	}
	return host, nil
}
