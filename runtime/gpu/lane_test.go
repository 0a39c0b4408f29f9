package gpu

import (
	"testing"

	"github.com/redfoxdb/redfox/runtime/gpu/device"
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
		if n := len(e.lanes.Idle); n > 0 {
			t.Fatalf("%d lanes are left", n)
		}
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}

// TestLanes gives more lanes back than are kept, and one that is large.
func TestLanes(t *testing.T) {
	e, _ := card{}.open(t)
	var all []*device.Lane
	for range device.MostIdle + 3 {
		l, err := e.lanes.Take()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	for _, l := range all {
		e.lanes.Give(l)
	}
	if n := len(e.lanes.Idle); n != device.MostIdle {
		t.Errorf("%d lanes are kept of %d", n, len(all))
	}
	large, err := e.lanes.Take()
	if err == nil {
		err = large.Fit(0, 0, 3*device.ResultWords)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.lanes.Give(large)
	if n := len(e.lanes.Idle); n != device.MostIdle-1 {
		t.Errorf("%d lanes are kept beside a large one", n)
	}
	if err := e.Trim(); err != nil {
		t.Fatal(err)
	}
	if n := len(e.lanes.Idle); n != 0 {
		t.Errorf("%d lanes are kept after a trim", n)
	}
}
