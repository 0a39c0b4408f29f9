package replay

import (
	"cmp"
	"errors"
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
)

// Log holds the counters of one run: those that it takes from the record, and
// those that it leaves for the next one.
type Log struct {
	// Device is where a captured run logs its control blocks. If it is the zero
	// buffer, they go to the lane's pinned memory.
	Device device.Buffer

	record   *Record
	run      *device.Run
	fits     func(cursor func(gauge int) int64) bool
	source   *numbers // the record's counters when the run began, or nil
	replayed *numbers // equal to source, or nil if the run waits
	next     int      // the next point of replayed
	taken    []taken  // what the run took without waiting, in order, as logged
	compared int      // how many of taken have been compared
	drained  int64    // how many were compared and removed from taken
	made     *numbers // for the next run; nil if it cannot use them
	waited   bool     // the run waited for some of made
	at       point    // the run's current place
	counting bool     // the run needs what a kernel has counted
	most     int      // words of the log; mostLogged outside of tests
}

// taken is one set of counters that a run has taken from the record.
type taken struct {
	numbers []int64
	counted bool // includes the control block's count
}

const (
	// mostLogged bounds the words of control blocks in the log. When the log is
	// full, the run waits.
	mostLogged = 1 << 20
	// mostNumbers bounds the counters in a record.
	mostNumbers = 1 << 22
)

// ErrDiffers is the error of a run whose counters differ from the record.
var ErrDiffers = errors.New("the device does not repeat what it did with the same facts")

// Open returns the log of a run that neither replays the record nor leaves one.
func (r *Record) Open(run *device.Run) Log {
	return Log{record: r, run: run, most: cmp.Or(r.LogWords, mostLogged)}
}

// Replay makes the run replay the record, or leave one if there is none. fits
// reports whether the run's tables have room for the given cursors of gauges.
func (l *Log) Replay(fits func(cursor func(gauge int) int64) bool) {
	r := l.record
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lasts && !r.differs {
		l.fits, l.source, l.replayed, l.made = fits, r.numbers, r.numbers, &numbers{}
	}
}

// Replays reports whether the run replays the record.
func (l *Log) Replays() bool { return l.replayed != nil }

// IsWhole reports whether the run took all of its counters from the record.
func (l *Log) IsWhole() bool { return l.replayed != nil && !l.waited }

// Replayed returns how often the run took counters from the record.
func (l *Log) Replayed() int64 { return l.drained + int64(len(l.taken)) }

// Words returns the size of the log, in words.
func (l *Log) Words() int {
	if l.replayed == nil {
		return 0
	}
	words := l.run.Control.Words
	return min(len(l.replayed.points), max(l.most/words, 1)) * words
}

// Taken returns the logged control blocks, which Compare compares.
func (l *Log) Taken() []int64 { return l.run.Control.Log[:len(l.taken)*l.run.Control.Words] }

// Command starts a command.
func (l *Log) Command() { l.at = point{l.at.command + 1, 0} }

// Launched counts a launch of the current command.
func (l *Log) Launched() { l.at.launches++ }

// Aside calls f without counting its launches, which the record does not have.
func (l *Log) Aside(f func() error) error {
	at := l.at
	defer func() { l.at = at }()
	return f()
}

// Counting calls f, which reads the count of the control block.
func (l *Log) Counting(f func() error) error {
	l.counting = true
	defer func() { l.counting = false }()
	return f()
}

// numbersOf returns the words of a control block that depend on the facts
// alone: everything except the limits. The count is 0 unless counted is set.
func (l *Log) numbersOf(block []int64, counted bool) []int64 {
	out := []int64{block[device.DroppedWord], block[device.FaultWord], 0}
	if counted {
		out[device.CountWord] = block[device.CountWord]
	}
	for at := device.FirstGauge; at < l.run.Control.Words; at += device.GaugeWords {
		out = append(out, block[at])
	}
	return out
}

// Take sets the mirror of the control block from the record and logs the
// device's block. It returns false if the record does not have this point.
func (l *Log) Take() (done bool, err error) {
	if l.replayed == nil || l.run.Lane.Pinned == nil {
		return false, nil
	}
	points := l.replayed.points
	for l.next < len(points) && points[l.next].before(l.at) {
		l.next++ // the recorded run needed counters here and this one does not
	}
	if l.next == len(points) || points[l.next] != l.at {
		return false, nil
	}
	found := l.replayed.at[l.next]
	if len(found) != 3+(l.run.Control.Words-device.FirstGauge)/device.GaugeWords {
		l.replayed = nil // the record has another number of gauges
		return false, nil
	}
	// If memory is short, tables may be smaller than they were, so kernels stop
	// that ran to their end before.
	if !l.fits(func(gauge int) int64 {
		return found[3+(gauge-device.FirstGauge)/device.GaugeWords]
	}) {
		l.replayed = nil
		return false, nil
	}
	c := &l.run.Control
	if (len(l.taken)+1)*c.Words > l.Words() {
		if err := l.drain(); err != nil {
			return false, err
		}
	}
	if at := len(l.taken) * c.Words; l.Device.At != 0 {
		err = c.Stream.Copy(l.Device.At+cuda.Pointer(8*at), c.Device.At, uint64(8*c.Words))
	} else {
		err = c.Stream.CopyToHost(device.BytesOf(c.Log[at:][:c.Words]), c.Device.At)
	}
	if err != nil {
		return false, err
	}
	l.next++
	l.taken = append(l.taken, taken{found, l.counting})
	c.Mirror[device.DroppedWord], c.Mirror[device.FaultWord], c.Mirror[device.CountWord] = found[0],
		found[1], found[2]
	for i, n := range found[3:] {
		c.Mirror[device.FirstGauge+i*device.GaugeWords] = n
	}
	c.Fresh = true
	l.keep(found)
	return true, nil
}

// drain waits for the full log, compares it and empties it.
func (l *Log) drain() error {
	l.run.Waits++
	if err := l.run.Lane.Wait(l.run.Ctx); err != nil {
		return err
	}
	if err := l.Compare(); err != nil {
		return err
	}
	l.drained += int64(len(l.taken))
	l.taken, l.compared = l.taken[:0], 0
	return nil
}

// Waited records the counters in the mirror, for which the run has waited.
func (l *Log) Waited() {
	l.waited = true
	if l.made != nil {
		l.keep(l.numbersOf(l.run.Control.Mirror, l.counting))
	}
}

// Known records the counters in the mirror, which equal those of the device
// without a wait. The next run may have to wait for them here, because its
// tables may be larger.
func (l *Log) Known() {
	if m := l.made; m != nil && (len(m.points) == 0 || m.points[len(m.points)-1] != l.at) {
		l.keep(l.numbersOf(l.run.Control.Mirror, l.counting))
	}
}

func (l *Log) keep(numbers []int64) {
	if l.made == nil {
		return
	}
	if (len(l.made.points)+1)*len(numbers) > mostNumbers {
		l.made = nil
		return
	}
	l.made.points = append(l.made.points, l.at)
	l.made.at = append(l.made.at, numbers)
}

// Discard makes the run leave no record, because what it does depends on more
// than the facts.
func (l *Log) Discard() { l.made = nil }

// Again notes that the last launch stopped at a full table and is resumed.
// Later runs start with larger tables and have one launch instead of both, so
// Again drops the counters between the two.
func (l *Log) Again() {
	if m := l.made; m != nil {
		if n := len(m.points); n > 0 && m.points[n-1] == l.at {
			m.points, m.at = m.points[:n-1], m.at[:n-1]
		}
	}
	l.at.launches--
}

// Redo calls f, which resumes launches that stopped at full tables. Later runs
// start with larger tables, so Redo drops the counters of the current place and
// those that f records.
func (l *Log) Redo(f func() error) error {
	if m := l.made; m != nil {
		n := len(m.points)
		if n > 0 && m.points[n-1] == l.at {
			n--
		}
		defer func() {
			if n <= len(m.points) {
				m.points, m.at = m.points[:n], m.at[:n]
			}
		}()
	}
	return l.Aside(f)
}

// Compare compares the counters that the run took with those of the device. The
// stream must be idle.
func (l *Log) Compare() error {
	words := l.run.Control.Words
	for ; l.compared < len(l.taken); l.compared++ {
		had := l.taken[l.compared]
		block := l.run.Control.Log[l.compared*words:][:words]
		if !slices.Equal(l.numbersOf(block, had.counted), had.numbers) {
			l.record.void(l.source)
			return ErrDiffers
		}
	}
	return nil
}

// CompareAgain compares all counters of a further launch of a graph.
func (l *Log) CompareAgain() error {
	l.compared = 0
	return l.Compare()
}

// Leave makes the run's counters, launches and small allocations the record.
// The run is finished and its counters have been compared.
func (l *Log) Leave() {
	r := l.record
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.run.Slab.Closed {
		r.slab = l.run.Slab.Wanted
	}
	if r.lasts {
		r.launches = l.run.States.Likely()
	}
	r.ran = true
	if l.made != nil && l.waited && !r.differs {
		r.numbers, r.recalled = l.made, false
	}
}
