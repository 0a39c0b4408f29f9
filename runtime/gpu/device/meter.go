package device

import (
	"time"

	"github.com/redfoxdb/redfox/internal/cuda/driver"
)

// meter counts the work of a run on the device, and times it if Timing is set.
type meter struct {
	Timing           bool
	Launches, Waits  int64
	Enlarged         int64 // how often a table was enlarged
	LoopRounds       int64 // rounds of loops that ran on the device
	ToDevice, ToHost int64
	AheadBytes       int64 // bytes of columns that were sent while code was made
	ResidentBytes    int64 // bytes of columns that were resident already
	timers           int   // how many of the lane's timers are in use
	base             driver.Event
	began            time.Time // when the base was recorded
	timed            []timedWork
}

// TimedKind is a kind of timed work.
type TimedKind uint8

// The kinds of work that are timed.
const (
	TimedKernel TimedKind = iota
	TimedSend
	TimedFetch
)

// timedWork is a piece of work in the stream, between two timers.
type timedWork struct {
	kind     TimedKind
	of       string // the name of a kernel, an index or a relation
	from, to driver.Event
}

// StartTiming turns timing on.
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

// Begin starts timing the commands that are enqueued until the caller calls
// end.
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

// EachTimed calls f for each piece of timed work, in order. It passes the start
// of the work only if starts is set. The stream must be idle.
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
