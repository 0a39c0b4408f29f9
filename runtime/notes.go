package runtime

import (
	"cmp"
	"fmt"
	"time"

	"github.com/redfoxdb/redfox/queryplan"
)

// Notes annotates the commands of a plan with the measurements of a run.
func Notes(plan *queryplan.Plan, profile []CommandProfile) func(any) string {
	notes := map[queryplan.Command]string{}
	for _, c := range profile {
		for _, b := range plan.Blocks {
			if b.Name == c.Block && c.Command < len(b.Cmds) {
				note := fmt.Sprintf("%v", c.Time.Round(time.Microsecond))
				if c.Rows > 0 || c.Kept > 0 {
					note += fmt.Sprintf(", %d tuples, %d new", c.Rows, c.Kept)
				}
				if c.Device > 0 {
					note += fmt.Sprintf(", %v on the device", c.Device.Round(time.Microsecond))
				}
				if c.Calls > 1 {
					note += fmt.Sprintf(", %d times", c.Calls)
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
