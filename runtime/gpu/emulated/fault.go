package emulated

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda"
)

// Codes of the driver for faults.
const (
	InvalidValue   cuda.Code = 1
	OutOfMemory    cuda.Code = 2
	InvalidHandle  cuda.Code = 400
	IllegalAddress cuda.Code = 700
	LaunchTimeout  cuda.Code = 702
	LaunchFailed   cuda.Code = 719

	launchResources  cuda.Code = 701
	noBinary         cuda.Code = 209
	invalidPTX       cuda.Code = 218
	notFound         cuda.Code = 500
	notReady         cuda.Code = 600
	cooperativeLarge cuda.Code = 720
	notSupported     cuda.Code = 801
	captureWrong     cuda.Code = 900
)

// words has the driver's name and text of each code.
var words = map[cuda.Code][2]string{
	InvalidValue: {"CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	OutOfMemory:  {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	noBinary: {"CUDA_ERROR_NO_BINARY_FOR_GPU",
		"no kernel image is available for execution on the device"},
	invalidPTX:     {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
	InvalidHandle:  {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	notFound:       {"CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	notReady:       {"CUDA_ERROR_NOT_READY", "device not ready"},
	IllegalAddress: {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	launchResources: {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
		"too many resources requested for launch"},
	LaunchTimeout: {"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
	LaunchFailed:  {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	cooperativeLarge: {"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
		"too many blocks in cooperative launch"},
	notSupported: {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
	captureWrong: {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
		"operation not permitted when stream is capturing"},
}

// failure returns the error of a code.
func failure(call string, code cuda.Code, format string, args ...any) *cuda.Error {
	e := &cuda.Error{Call: call, Code: code, Detail: fmt.Sprintf(format, args...),
		Name: fmt.Sprintf("error %d", code)}
	if w, ok := words[code]; ok {
		e.Name, e.Text = w[0], w[1]
	}
	return e
}

// again returns an earlier fault as the error of a later call.
func again(lost *cuda.Error, call string) *cuda.Error {
	n := &cuda.Error{Call: call, Code: lost.Code, Name: lost.Name, Text: lost.Text}
	if call != lost.Call {
		n.Since = lost.Call
	}
	return n
}

// closed returns the error of a call with a closed object.
func closed(call string) error { return fmt.Errorf("CUDA: %s: %w", call, cuda.ErrClosed) }

// foreign returns the error of a call with an object of another driver or
// context.
func foreign(call string, object any) error {
	return fmt.Errorf("CUDA: %s: a %T is of another implementation of the driver or of another context", call, object)
}

// unsupported returns an error if the driver is bare and lacks the call.
func (d *Driver) unsupported(call string) error {
	if !d.opts.Bare {
		return nil
	}
	return failure(call, notSupported, "")
}

// Execution is the name that a [Fault] uses for the execution of a kernel on
// the device, in contrast to its launch, cuLaunchKernel.
const Execution = "execution"

// Allocations are the calls that can run out of memory.
var Allocations = []string{"cuMemAlloc", "cuMemAllocFromPoolAsync", "cuMemHostAlloc", "cuMemCreate"}

// Fault makes calls of the driver fail. Calls are identified by their names in
// C, without the version: "cuMemAlloc".
type Fault struct {
	Calls []string // nil means all
	Nth   int      // the first of them to fail, from 1; 0 means 1
	Times int      // how many fail; 0 means all from then on
	Code  cuda.Code

	seen int
}

// Inject makes calls fail from now on. A failing call does nothing else. If its
// code is one that destroys the context, the context is lost.
func (d *Driver) Inject(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f.Nth = max(f.Nth, 1)
	d.faults = append(d.faults, &f)
}

// Heal removes all injected faults. It reports whether each of them was
// reached.
func (d *Driver) Heal() (reached bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	reached = true
	for _, f := range d.faults {
		reached = reached && f.seen >= f.Nth
	}
	d.faults = nil
	return reached
}

// Calls returns how often each call was made.
func (d *Driver) Calls() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.calls)
}

// Runs returns how often each service kernel has run.
func (d *Driver) Runs() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.runs)
}

// ran counts a run of a service kernel.
func (d *Driver) ran(kernel string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.runs[kernel]++
}

// enter counts a call, and returns the error of an injected fault, if one
// matches.
func (d *Driver) enter(call string) error {
	if d.opts.OnCall != nil {
		d.opts.OnCall(call)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[call]++
	for _, f := range d.faults {
		if f.Calls != nil && !slices.Contains(f.Calls, call) {
			continue
		}
		f.seen++
		if f.seen >= f.Nth && (f.Times == 0 || f.seen < f.Nth+f.Times) {
			return failure(call, f.Code, "a fault that was injected")
		}
	}
	return nil
}

// wrong records a wrong use of the driver.
func (d *Driver) wrong(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// The list is bounded, because a mistake in a loop would fill it.
	if len(d.misuse) < 20 {
		d.misuse = append(d.misuse, fmt.Errorf(format, args...))
	}
}

// Check returns all wrong uses of the driver since the last Check, or nil.
// Wrong uses are writes outside of allocated memory or to freed memory,
// addresses without memory, memory that was not freed, and objects that were
// not closed.
func (d *Driver) Check() error {
	for _, v := range d.devices {
		v.mu.Lock()
		if v.primary != nil {
			v.primary.memory.checkAll("")
		}
		v.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err := errors.Join(d.misuse...)
	d.misuse = nil
	return err
}
