package machine

import (
	"errors"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/runtime"
)

// DeviceFailure words an error of a GPU or its driver as a
// *failure.Environment. Other errors stay as they are.
func DeviceFailure(err error) error {
	var device *runtime.DeviceError
	if errors.As(err, &device) {
		short := *device
		short.Try = ""
		return &failure.Environment{Message: short.Error(), Help: device.Try, Err: err}
	}
	var failed *cuda.Error
	if !errors.As(err, &failed) {
		return err
	}
	for _, k := range deviceFailures {
		if errors.Is(err, k.kind) {
			return &failure.Environment{Message: k.message + ": " + failed.Error(), Help: k.help,
				Err: err}
		}
	}
	return err
}

// deviceFailures words the kinds of failure of the driver.
var deviceFailures = []struct {
	kind          error
	message, help string
}{
	{cuda.ErrLost, "the GPU was lost to a fault",
		"run again; if that fails, start the program again, and see what dmesg says of Xid; " +
			"--engine cpu needs no GPU"},
	{cuda.ErrOutOfMemory, "out of memory of the GPU",
		"free some, name another GPU with --device, or use --engine cpu"},
	{cuda.ErrUnsupportedPTX, "the GPU's driver is too old for the code",
		"install a newer driver, or compile the program on this machine"},
	{cuda.ErrNoBinary, "the code is not for this GPU",
		"compile it for this one, with redfox compile --target"},
	{errors.ErrUnsupported, "the GPU or its driver lacks what the engine needs",
		"install a newer driver, or use --engine cpu"},
}
