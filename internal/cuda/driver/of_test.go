package driver

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// Objects of another implementation.
type (
	otherFunction struct{ Function }
	otherEvent    struct{ Event }
	otherStream   struct{ Stream }
)

// TestForeign mixes two implementations: each call is an error that names it,
// and does not reach the driver.
func TestForeign(t *testing.T) {
	_, elapsed := nativeEvent{}.Elapsed(otherEvent{})
	_, alloc := nativePool{}.Alloc(otherStream{}, 8)
	for call, err := range map[string]error{
		"cuLaunchKernel":          nativeStream{}.Launch(otherFunction{}, cuda.Shape{}, nil),
		"cuEventRecord":           nativeStream{}.Record(otherEvent{}),
		"cuStreamWaitEvent":       nativeStream{}.Wait(otherEvent{}),
		"cuEventElapsedTime":      elapsed,
		"cuMemAllocFromPoolAsync": alloc,
		"cuGraphUpload":           nativeGraph{}.Upload(otherStream{}),
		"cuGraphLaunch":           nativeGraph{}.Launch(otherStream{}),
	} {
		if err == nil || !strings.Contains(err.Error(), call+": a driver.other") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// TestMade wants no interface that holds a nil object where making it failed.
func TestMade(t *testing.T) {
	e, err := event(nil, cuda.ErrOutOfMemory)
	if e != nil || err != cuda.ErrOutOfMemory {
		t.Errorf("%v, %v", e, err)
	}
}
