package runtime

import (
	"cmp"
	"fmt"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
)

// Total says on which engine a run was and how long its parts took.
func Total(engine string, plan, compile, run time.Duration) string {
	short := func(t time.Duration) time.Duration { return t.Round(time.Microsecond) }
	return fmt.Sprintf("engine %s, total %v: plan %v, compile %v, run %v\n", engine,
		short(plan+compile+run), short(plan), short(compile), short(run))
}

// hotSpot returns the number of the costliest command and its share of the time
// of all, or -1 if no command took time.
func hotSpot(profile []CommandProfile) (costliest int, share float64) {
	costliest = -1
	var most, all time.Duration
	for i, c := range profile {
		all += c.Time
		if c.Time > most {
			costliest, most = i, c.Time
		}
	}
	if costliest >= 0 {
		share = float64(most) / float64(all)
	}
	return costliest, share
}

// Notes annotates the commands of a plan with the measurements of a run, and
// marks the costliest one.
func Notes(plan *queryplan.Plan, profile []CommandProfile) func(any) string {
	notes := map[queryplan.Command]string{}
	costliest, share := hotSpot(profile)
	for i, c := range profile {
		for _, b := range plan.Blocks {
			if b.Name == c.Block && c.Command < len(b.Cmds) {
				note := fmt.Sprintf("%v", c.Time.Round(time.Microsecond))
				if c.Rows > 0 || c.Kept > 0 {
					note += fmt.Sprintf(", %d tuples, %d new", c.Rows, c.Kept)
				}
				if c.ByBits {
					note += ", by bits"
				}
				if c.Device > 0 {
					note += fmt.Sprintf(", %v on the device", c.Device.Round(time.Microsecond))
				}
				if c.Calls > 1 {
					note += fmt.Sprintf(", %d times", c.Calls)
				}
				if i == costliest {
					note += fmt.Sprintf("  ◄ hot spot, %.0f%% of the commands' time", 100*share)
				}
				notes[b.Cmds[c.Command]] = note
			}
		}
	}
	return func(x any) string {
		if c, ok := x.(queryplan.Command); ok {
			return notes[c]
		}
		return ""
	}
}

// Note describes the cost of a kernel. The device is nil for a run on the host.
func (k KernelProfile) Note(device *DeviceProfile) string {
	took := cmp.Or(k.Device, k.Time)
	note := fmt.Sprintf("%v, %d times, %d rows, %d new, %d bytes", took.Round(time.Microsecond),
		k.Calls, k.Rows, k.Kept, k.Bytes)
	if k.Bytes == 0 || took <= 0 {
		return note
	}
	rate := float64(k.Bytes) / took.Seconds()
	note += fmt.Sprintf(", %.1f GB/s", rate/1e9)
	if device != nil && device.Bandwidth > 0 {
		note += fmt.Sprintf(", %.0f%% of the memory's bandwidth", 100*rate/device.Bandwidth)
	}
	return note
}
