package replay

import (
	"errors"
	"slices"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
)

// Log is the numbers of one run: those that it takes from the record, and those
// that it leaves.
type Log struct {
	// Device is where a captured run logs its control blocks. The zero buffer
	// stands for the lane's pinned memory.
	Device device.Buffer

	record   *Record
	run      *device.Run
	fits     func(cursor func(gauge int) int64) bool
	replayed *numbers // the record's, or nil if the run waits
	next     int      // index into the points of replayed
	taken    []taken  // numbers that were not waited for, in order
	compared int      // how many of these are compared
	made     *numbers // nil if the next run cannot use them
	waited   bool     // for some of made
	at       point    // where the run is
	counting bool     // the run needs what a kernel has counted
}

// taken is numbers that a run has taken from the record.
type taken struct {
	numbers []int64
	counted bool // the control block's count is among them
}

// mostLogged bounds the words of all control blocks in a record.
const mostLogged = 1 << 20

// ErrDiffers is the error of a run whose numbers differ from the record.
var ErrDiffers = errors.New("the device does not repeat what it did with the same facts")

// Open returns the log of a run that neither replays nor leaves numbers.
func (r *Record) Open(run *device.Run) Log { return Log{record: r, run: run} }

// Replay has the run replay the record, or leave numbers if there are none. The
// tables of the run have room for the cursors of the record's gauges if fits
// reports it.
func (l *Log) Replay(fits func(cursor func(gauge int) int64) bool) {
	r := l.record
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lasts && !r.differs {
		l.fits, l.replayed, l.made = fits, r.numbers, &numbers{}
	}
}

// Replays reports whether the run replays the record.
func (l *Log) Replays() bool { return l.replayed != nil }

// IsWhole reports whether the run took all of its numbers from the record.
func (l *Log) IsWhole() bool { return l.replayed != nil && !l.waited }

// Words returns the length of all control blocks that the run may compare.
func (l *Log) Words() int {
	if l.replayed == nil {
		return 0
	}
	return len(l.replayed.points) * l.run.Control.Words
}

// Taken returns the control blocks to compare.
func (l *Log) Taken() []int64 { return l.run.Control.Log[:len(l.taken)*l.run.Control.Words] }

// Command notes that a command begins.
func (l *Log) Command() { l.at = point{l.at.command + 1, 0} }

// Launched notes that a kernel of the command is launched.
func (l *Log) Launched() { l.at.launches++ }

// Aside calls f, whose launches the record does not have.
func (l *Log) Aside(f func() error) error {
	at := l.at
	defer func() { l.at = at }()
	return f()
}

// Counting calls f, which needs what a kernel has counted.
func (l *Log) Counting(f func() error) error {
	l.counting = true
	defer func() { l.counting = false }()
	return f()
}

// numbersOf returns the words of a control block that depend on facts alone:
// all but the limits. The count is 0 unless the run needs it here.
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

// Take makes the mirror of the control block what the record has, and logs the
// device's block. It reports whether the record has this point.
func (l *Log) Take() (done bool, err error) {
	if l.replayed == nil || l.run.Lane.Pinned == nil {
		return false, nil
	}
	points := l.replayed.points
	for l.next < len(points) && points[l.next].before(l.at) {
		l.next++ // the record's run needed more
	}
	if l.next == len(points) || points[l.next] != l.at {
		return false, nil
	}
	found := l.replayed.at[l.next]
	// Where memory is short, tables may be smaller than they were, and kernels
	// stop that ran through.
	if !l.fits(func(gauge int) int64 {
		return found[3+(gauge-device.FirstGauge)/device.GaugeWords]
	}) {
		l.replayed = nil
		return false, nil
	}
	c := &l.run.Control
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

// Waited keeps the numbers of the mirror, for which the run has waited.
func (l *Log) Waited() {
	l.waited = true
	if l.made != nil {
		l.keep(l.numbersOf(l.run.Control.Mirror, l.counting))
	}
}

func (l *Log) keep(numbers []int64) {
	if l.made == nil {
		return
	}
	if (len(l.made.points)+1)*l.run.Control.Words > mostLogged {
		l.made = nil
		return
	}
	l.made.points = append(l.made.points, l.at)
	l.made.at = append(l.made.at, numbers)
}

// Discard leaves the next run no numbers. A table had to grow, which the next
// run does not repeat.
func (l *Log) Discard() { l.made = nil }

// Compare compares the numbers that were taken with those of the device. The
// stream is done.
func (l *Log) Compare() error {
	words := l.run.Control.Words
	for ; l.compared < len(l.taken); l.compared++ {
		had := l.taken[l.compared]
		block := l.run.Control.Log[l.compared*words:][:words]
		if !slices.Equal(l.numbersOf(block, had.counted), had.numbers) {
			l.record.mu.Lock()
			defer l.record.mu.Unlock()
			l.record.differs, l.record.numbers = true, nil
			return ErrDiffers
		}
	}
	return nil
}

// CompareAgain compares all numbers, those of a graph's next launch.
func (l *Log) CompareAgain() error {
	l.compared = 0
	return l.Compare()
}

// Leave makes the run's numbers, launches and small allocations the record. The
// run is through, and its numbers are compared.
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
	if l.made != nil && l.waited && !r.differs {
		r.numbers = l.made
	}
}
