package gpu

import (
	"context"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/enginetest"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestGrowth has the 1,830 tuples of a closure fill tables that have room for
// 42 at first. They grow fourfold three times, and each time the columns and
// the set stop one launch together.
func TestGrowth(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, apart(60))
	profile := func(rows int64) *runtime.DeviceProfile {
		e, _ := card{small: true}.open(t)
		e.sizes.rows, e.mem.RegionBytes = rows, 1<<40
		answer, err := e.Run(context.Background(), &runtime.Request{Plan: plan, Facts: db})
		if err != nil {
			t.Fatal(err)
		}
		if n := answer.Outputs["tc"].Table.Rows; n != 60*61/2 {
			t.Fatalf("the closure has %d tuples", n)
		}
		return answer.Device
	}
	small, large := profile(8), profile(4096)
	if large.Enlarged != 0 || small.Enlarged != 3*2 || small.Waits-large.Waits > 3 {
		t.Errorf("%d tables are enlarged and %d with room, in %d waits and %d", small.Enlarged,
			large.Enlarged, small.Waits, large.Waits)
	}
}

// TestGrowthInPlace has the columns of a closure grow by mapping more memory
// behind them, and a second run begin with the memory of the first.
func TestGrowthInPlace(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, apart(60))
	e, d := card{small: true}.open(t)
	e.sizes.rows, e.mem.RegionBytes = 8, 1<<10
	for range 2 {
		check(t, "in place", e, plan, db)
	}
	if d.Calls()["cuMemCreate"] == 0 {
		t.Error("no column has grown in place")
	}
	if err := e.Trim(); err != nil {
		t.Error(err)
	}
	check(t, "after the memory was given back", e, plan, db)
}

// TestGrowthWithoutRegions has a driver with pools that reserves no addresses.
func TestGrowthWithoutRegions(t *testing.T) {
	plan, db := enginetest.Stored(t, enginetest.Closure, apart(60))
	e, d := card{small: true}.open(t)
	e.sizes.rows, e.mem.RegionBytes = 8, 1<<10
	d.Inject(emulated.Fault{Calls: []string{"cuMemAddressReserve"}, Nth: 1,
		Code: emulated.OutOfMemory})
	check(t, "without regions", e, plan, db)
	if !d.Heal() {
		t.Error("no addresses were asked for")
	}
}
