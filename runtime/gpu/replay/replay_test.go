package replay

import (
	"context"
	"errors"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// play runs a program of three commands on an emulated GPU, each of which moves
// the cursor of one gauge, and returns for which of them the host waited.
func play(t *testing.T, r *Record, cursors [3]int64, fits bool) (waits [3]bool, err error) {
	t.Helper()
	ctx, d := context.Background(), emulated.New(emulated.Options{})
	gpu, err := d.Devices()[0].OpenContext()
	if err != nil {
		t.Fatal(err)
	}
	mem, err := device.NewMemory(gpu, 0)
	if err != nil {
		t.Fatal(err)
	}
	lanes := device.Lanes{GPU: gpu}
	lane, err := lanes.Take()
	if err != nil {
		t.Fatal(err)
	}
	run := &device.Run{Ctx: ctx, Memory: mem, Lane: lane, Owned: map[cuda.Pointer]int64{}}
	run.Control.Lane, run.Control.Words = lane, device.FirstGauge
	gauge := run.Control.NewGauge()
	log := r.Open(run)
	log.Replay(func(cursor func(int) int64) bool { return fits && cursor(gauge) >= 0 })
	if err := run.Start(log.Words(), 0, nil); err != nil {
		t.Fatal(err)
	}
	for i, cursor := range cursors {
		log.Command()
		log.Launched()
		// The kernel: the host does not see what it does.
		if err := lane.Stream.CopyToDevice(run.Control.At(gauge),
			device.BytesOf([]int64{cursor})); err != nil {
			t.Fatal(err)
		}
		run.Control.Fresh = false
		replayed, err := log.Take()
		if err != nil {
			t.Fatal(err)
		}
		if waits[i] = !replayed; !replayed {
			if err := run.Control.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			log.Waited()
		}
	}
	if err := lane.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err = log.Compare(); err == nil {
		log.Leave()
	}
	if e := errors.Join(mem.Free(lane.Stream, run.Control.Device), lane.Wait(ctx), lane.Close(),
		mem.Close(), gpu.Close(), d.Check()); e != nil {
		t.Error(e)
	}
	return waits, err
}

// TestRecord has a second run replay the first one, a run without room wait
// from there on, and a run whose cursors differ void the record.
func TestRecord(t *testing.T) {
	r, all := NewRecord(&harmony.Program{}, nil), [3]bool{true, true, true}
	for i, c := range []struct {
		cursors [3]int64
		fits    bool
		waits   [3]bool
		err     error
		differs bool
	}{
		{[3]int64{3, 8, 8}, true, all, nil, false},
		{[3]int64{3, 8, 8}, true, [3]bool{}, nil, false},
		{[3]int64{3, 8, 8}, false, all, nil, false},
		{[3]int64{3, 8, 9}, true, [3]bool{}, ErrDiffers, true},
		{[3]int64{3, 8, 9}, true, all, nil, true},
		{[3]int64{3, 8, 9}, true, all, nil, true},
	} {
		waits, err := play(t, r, c.cursors, c.fits)
		if waits != c.waits || err != c.err || r.Differs() != c.differs {
			t.Errorf("run %d waits for %v, %v; the record differs: %v", i, waits, err, r.Differs())
		}
	}
	// A record of sizes has no numbers.
	r = NewRecordOfSizes(NewSizes())
	for range 2 {
		if waits, err := play(t, r, [3]int64{1, 2, 3}, true); waits != all || err != nil ||
			r.Numbers() != nil {
			t.Errorf("waits for %v, %v, and leaves %v", waits, err, r.Numbers())
		}
	}
}
