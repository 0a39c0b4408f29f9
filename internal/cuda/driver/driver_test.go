package driver_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/cuda/driver/conformance"
)

// open opens the machine's first GPU, or skips with the reason.
func open(t *testing.T) driver.Device {
	t.Helper()
	d, err := cuda.Open()
	if err != nil {
		t.Skip(err)
	}
	return driver.Of(d).Devices()[0]
}

// TestCard holds package cuda behind the interface against it. Package cuda
// lacks nothing.
func TestCard(t *testing.T) {
	v := open(t)
	gpu, err := v.OpenContext()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range conformance.Checks() {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(gpu); err != nil {
				t.Error(err)
			}
		})
	}
	if err := gpu.Close(); err != nil {
		t.Error(err)
	}
}

// TestCardFault takes a process of its own.
func TestCardFault(t *testing.T) {
	const inner = "REDFOX_TEST_FAULT"
	v := open(t)
	if os.Getenv(inner) != "" {
		if err := conformance.Fault(v); err != nil {
			t.Error(err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCardFault$")
	cmd.Env = append(os.Environ(), inner+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
