package gpu

import (
	"testing"

	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestCloseAtOnce closes engines that no run has waited for: what is made for
// the first run beside the opening of the device is given back, too.
func TestCloseAtOnce(t *testing.T) {
	d := emulated.New(emulated.Options{})
	for range 200 {
		e := Start(Options{Device: d.Devices()[0], Version: d.Version()})
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if err := d.Check(); err != nil { // no lane is left
			t.Fatal(err)
		}
	}
}
