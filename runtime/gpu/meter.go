package gpu

import (
	"time"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
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

// startTiming begins to time the work.
func (r *work) startTiming() (err error) {
	r.timing = true
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

func (r *work) nextTimer() (driver.Event, error) {
	t, err := r.lane.timer(r.timers)
	r.timers++
	return t, err
}

// begin times what is put into the stream until end is called.
func (r *work) begin(kind timedKind, of string) (end func() error, err error) {
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

// eachTimed calls f for what was timed, in order, with when it started if that is wanted.
// The stream is done.
func (r *work) eachTimed(starts bool, f func(kind timedKind, of string, start time.Time, took time.Duration)) error {
	for _, w := range r.timed {
		took, err := w.to.Elapsed(w.from)
		if err != nil {
			return err
		}
		var start time.Time
		if starts {
			since, err := w.from.Elapsed(r.base)
			if err != nil {
				return err
			}
			start = r.began.Add(since)
		}
		f(w.kind, w.of, start, took)
	}
	return nil
}
