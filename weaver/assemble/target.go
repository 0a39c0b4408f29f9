package assemble

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/primitives"
	"github.com/redfoxdb/redfox/weaver/assemble/hostcode"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Target is a target of the weaver and the PTX that its GPU reads.
type Target struct {
	target.Target
	PTX int // the newest version of PTX that may be generated: 78 is 7.8
	// Lines gives the code the places of rules. Such code is not cached for a
	// graph, whose key has no places: an edited comment must not compile the
	// graph again.
	Lines bool
}

// maxPTX bounds the version of PTX by 7.8, the first one with sm_90: drivers of
// CUDA 11.8 and later read it. That of the newest LLVM would need the newest
// driver.
const maxPTX = 78

// ParseTarget reads the name of a target: cpu, or gpu:sm_90.
func ParseTarget(name string) (Target, error) {
	t, ok := target.Parse(name)
	if !ok {
		return Target{}, &failure.Environment{
			Message: fmt.Sprintf("no target is called %q", name),
			Help: "write cpu, or gpu:sm_ and the GPU's compute capability from 80 on, " +
				"such as gpu:sm_80 or gpu:sm_90",
		}
	}
	return Target{Target: t, PTX: maxPTX}, nil
}

// primitives returns the target that the primitives are compiled for.
func (t Target) primitives() (primitives.Target, error) {
	if t.GPU {
		return primitives.NVPTX64, nil
	}
	host, err := hostcode.Target()
	if err != nil {
		return "", &failure.Environment{
			Message: "no native code can be generated: " + err.Error(),
			Help:    "use --engine go",
			Err:     err,
		}
	}
	return host, nil
}
