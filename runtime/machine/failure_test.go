package machine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/runtime"
)

// TestDeviceErrors words what a driver says.
func TestDeviceErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&runtime.DeviceError{Message: "the driver is too old", Needed: "CUDA 11.8",
			Found: "CUDA 11.4", Try: "install a newer one"},
			"the driver is too old (needs CUDA 11.8, found CUDA 11.4); install a newer one"},
		{fmt.Errorf("loading: %w",
			&cuda.Error{Call: "cuModuleLoadDataEx", Code: 222,
				Name: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}), "driver is too old for the code"},
		{&cuda.Error{Call: "cuLaunchKernel", Code: 700, Name: "CUDA_ERROR_ILLEGAL_ADDRESS"},
			"the GPU was lost to a fault"},
		{&cuda.Error{Call: "cuMemAlloc", Code: 2}, "out of memory of the GPU"},
		{&cuda.Error{Call: "cuModuleLoadDataEx", Code: 209}, "the code is not for this GPU"},
	} {
		var environment *failure.Environment
		if err := DeviceFailure(tt.err); !errors.As(err, &environment) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v becomes %v", tt.err, err)
		}
	}
	other := errors.New("a bug")
	if err := DeviceFailure(other); err != other {
		t.Errorf("a bug becomes %v", err)
	}
}
