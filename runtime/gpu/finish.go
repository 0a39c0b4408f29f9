package gpu

import (
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// Finish adds the statistics of the device to the answer. The outputs have
// arrived.
func (r *run) Finish(a *runtime.Answer) (err error) {
	if err := r.sync(r.Ctx); err != nil {
		return err
	}
	a.Dropped += r.Control.Mirror[device.DroppedWord]
	a.Peak = r.Peak
	p := &runtime.DeviceProfile{
		Name: r.engine.info.Name, Bandwidth: r.engine.bandwidth, Peak: r.Peak + r.ResidentHeld(),
		L2:              r.engine.info.Attributes.L2Cache,
		Multiprocessors: r.engine.info.Attributes.Multiprocessors,
		Clock:           1000 * float64(r.engine.info.Attributes.ClockRate),
		ToDevice:        runtime.Transfer{Bytes: r.ToDevice},
		FromDevice:      runtime.Transfer{Bytes: r.ToHost},
		Ahead:           r.AheadBytes,
		Resident:        r.ResidentBytes, Launches: r.Launches, Waits: r.Waits,
		Enlarged: r.Enlarged, Replayed: r.log.Replayed(), Origin: r.origin,
		Rounds: r.LoopRounds,
	}
	p.Packed.Columns, p.Packed.Bytes, p.Packed.Whole = r.PackedColumns()
	a.Device = p
	if !r.Timing {
		return nil
	}
	if err := r.Lane.Wait(r.Ctx); err != nil {
		return err
	}
	if p.Donated, err = r.donated(); err != nil {
		return err
	}
	commands, trace := r.commandsByName(), r.walk.Request.Trace
	return r.EachTimed(trace != nil,
		func(kind device.TimedKind, of string, start time.Time, took time.Duration) {
			track, name := "kernels", of
			switch kind {
			case device.TimedSend:
				track, name = "transfers", "to the device"
				p.ToDevice.Time += took
			case device.TimedFetch:
				track, name = "transfers", "from the device"
				p.FromDevice.Time += took
			default:
				if c := commands[of]; c != nil {
					r.walk.Charge(c, 0, woven.Work{Device: took}, 0)
				}
			}
			if trace != nil {
				trace(runtime.Span{Track: track, Name: name, Start: start, Duration: took})
			}
		})
}

// commandsByName maps the name of a kernel, an index or a relation to the
// command that runs, builds or orders it.
func (r *run) commandsByName() map[string]harmony.Command {
	out := map[string]harmony.Command{}
	for _, b := range r.Graph.Blocks {
		for _, c := range b.Cmds {
			switch c := c.(type) {
			case *harmony.Run:
				out[c.Kernel.Name] = c
			case *harmony.Build:
				out[c.Index.Name] = c
			case *harmony.Number:
				out[c.To.Name] = c
			case *harmony.TopK:
				out[c.To.Name] = c
			case *harmony.CheckKey:
				out[c.Rel.Name] = c
			}
		}
	}
	return out
}
