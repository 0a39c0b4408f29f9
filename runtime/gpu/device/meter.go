package device

import (
	"time"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// meter counts what a run does on the device. It times the work if Timing is
// set.
type meter struct {
	Timing           bool
	Launches, Waits  int64
	Enlarged         int64 // tables
	LoopRounds       int64 // that the device ran by itself
	ToDevice, ToHost int64
	ResidentBytes    int64 // of columns that were there
	timers           int   // of the lane, in use
	base             driver.Event
	began            time.Time // when the base was recorded
	timed            []timedWork
}

// TimedKind is what was timed.
type TimedKind uint8

// The kinds of work that are timed.
const (
	TimedKernel TimedKind = iota
	TimedSend
	TimedFetch
)

// timedWork is work in the stream between two timers.
type timedWork struct {
	kind     TimedKind
	of       string // the kernel, index or relation
	from, to driver.Event
}

// StartTiming begins to time the work.
func (r *Run) StartTiming() (err error) {
	r.Timing = true
	if r.base, err = r.nextTimer(); err != nil {
		return err
	}
	if err = r.Lane.Stream.Record(r.base); err != nil {
		return err
	}
	if err = r.Lane.Wait(r.Ctx); err != nil {
		return err
	}
	r.began = time.Now()
	return nil
}

func (r *Run) nextTimer() (driver.Event, error) {
	t, err := r.Lane.timer(r.timers)
	r.timers++
	return t, err
}

// Begin times what is put into the stream until end is called.
func (r *Run) Begin(kind TimedKind, of string) (end func() error, err error) {
	if !r.Timing {
		return func() error { return nil }, nil
	}
	w := timedWork{kind: kind, of: of}
	if w.from, err = r.nextTimer(); err != nil {
		return nil, err
	}
	if w.to, err = r.nextTimer(); err != nil {
		return nil, err
	}
	if err := r.Lane.Stream.Record(w.from); err != nil {
		return nil, err
	}
	return func() error {
		r.timed = append(r.timed, w)
		return r.Lane.Stream.Record(w.to)
	}, nil
}

// EachTimed calls f for each piece of timed work, in order, with its start if
// starts is set. The stream must be done.
func (r *Run) EachTimed(
	starts bool, f func(kind TimedKind, of string, start time.Time, took time.Duration),
) error {
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
