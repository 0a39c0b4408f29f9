package gpu

import (
	"time"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// meter counts what a run does on the device, and times it if somebody asks.
type meter struct {
	timing           bool
	launches, waits  int64
	toDevice, toHost int64
	residentBytes    int64 // of columns that were there
	timers           int   // of the lane, in use
	base             driver.Event
	began            time.Time // when the base was recorded
	timed            []timedWork
}

// timedKind is what was timed.
type timedKind uint8

const (
	timedKernel timedKind = iota
	timedSend
	timedFetch
)

// timedWork is work in the stream between two timers.
type timedWork struct {
	kind     timedKind
	of       string // the kernel, index or relation
	from, to driver.Event
}

// startMeter begins to time the run, if that is wanted.
func (r *run) startMeter() (err error) {
	r.timing = r.walk.Request.Profile || r.walk.Request.Trace != nil
	if !r.timing {
		return nil
	}
	if r.base, err = r.nextTimer(); err != nil {
		return err
	}
	if err = r.lane.stream.Record(r.base); err != nil {
		return err
	}
	if err = r.lane.wait(r.ctx); err != nil {
		return err
	}
	r.began = time.Now()
	return nil
}

func (r *run) nextTimer() (driver.Event, error) {
	t, err := r.lane.timer(r.timers)
	r.timers++
	return t, err
}

// begin times what is put into the stream until end is called.
func (r *run) begin(kind timedKind, of string) (end func() error, err error) {
	if !r.timing {
		return func() error { return nil }, nil
	}
	w := timedWork{kind: kind, of: of}
	if w.from, err = r.nextTimer(); err != nil {
		return nil, err
	}
	if w.to, err = r.nextTimer(); err != nil {
		return nil, err
	}
	if err := r.lane.stream.Record(w.from); err != nil {
		return nil, err
	}
	return func() error {
		r.timed = append(r.timed, w)
		return r.lane.stream.Record(w.to)
	}, nil
}

// Finish tells what the device did. The outputs are there.
func (r *run) Finish(a *runtime.Answer) error {
	if err := r.sync(r.ctx); err != nil {
		return err
	}
	a.Dropped += r.control.mirror[droppedWord]
	a.Peak = r.peak
	p := &runtime.DeviceProfile{
		Name: r.engine.info.Name, Bandwidth: r.engine.bandwidth, Peak: r.peak + r.residentHeld(),
		ToDevice: runtime.Transfer{Bytes: r.toDevice}, FromDevice: runtime.Transfer{Bytes: r.toHost},
		Resident: r.residentBytes, Launches: r.launches, Waits: r.waits,
	}
	a.Device = p
	if !r.timing {
		return nil
	}
	if err := r.lane.wait(r.ctx); err != nil {
		return err
	}
	commands := r.commandsByName()
	for _, w := range r.timed {
		took, err := w.to.Elapsed(w.from)
		if err != nil {
			return err
		}
		track, name := "kernels", w.of
		switch w.kind {
		case timedSend:
			track, name = "transfers", "to the device"
			p.ToDevice.Time += took
		case timedFetch:
			track, name = "transfers", "from the device"
			p.FromDevice.Time += took
		default:
			if c := commands[w.of]; c != nil {
				r.walk.Charge(c, 0, woven.Work{Device: took}, 0)
			}
		}
		if r.walk.Request.Trace != nil {
			since, err := w.from.Elapsed(r.base)
			if err != nil {
				return err
			}
			r.walk.Request.Trace(runtime.Span{Track: track, Name: name, Start: r.began.Add(since), Duration: took})
		}
	}
	return nil
}

// commandsByName finds the command that runs a kernel, builds an index or orders tuples
// of a relation or for it.
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
