package replay

import (
	"cmp"
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
	source   *numbers // the record's when the run began, or nil
	replayed *numbers // those, or nil if the run waits
	next     int      // index into the points of replayed
	taken    []taken  // numbers that were not waited for, in order, as logged
	compared int      // how many of these are compared
	drained  int64    // how many were compared before, and are no longer logged
	made     *numbers // nil if the next run cannot use them
	waited   bool     // for some of made
	at       point    // where the run is
	counting bool     // the run needs what a kernel has counted
	most     int      // words of the log, mostLogged but for tests
}

// taken is numbers that a run has taken from the record.
type taken struct {
	numbers []int64
	counted bool // the control block's count is among them
}

const (
	// mostLogged bounds the words of the control blocks in the log. A run that
	// takes more waits when the log is full.
	mostLogged = 1 << 20
	// mostNumbers bounds the numbers of a record.
	mostNumbers = 1 << 22
)

// ErrDiffers is the error of a run whose numbers differ from the record.
var ErrDiffers = errors.New("the device does not repeat what it did with the same facts")

// Open returns the log of a run that neither replays nor leaves numbers.
func (r *Record) Open(run *device.Run) Log {
	return Log{record: r, run: run, most: cmp.Or(r.LogWords, mostLogged)}
}

// Replay has the run replay the record, or leave numbers if there are none. The
// tables of the run have room for the cursors of the record's gauges if fits
// reports it.
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

// IsWhole reports whether the run took all of its numbers from the record.
func (l *Log) IsWhole() bool { return l.replayed != nil && !l.waited }

// Replayed returns how often the run took numbers from the record.
func (l *Log) Replayed() int64 { return l.drained + int64(len(l.taken)) }

// Words returns the length of the control blocks that are logged at a time.
func (l *Log) Words() int {
	if l.replayed == nil {
		return 0
	}
	words := l.run.Control.Words
	return min(len(l.replayed.points), max(l.most/words, 1)) * words
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
	if len(found) != 3+(l.run.Control.Words-device.FirstGauge)/device.GaugeWords {
		l.replayed = nil // an earlier process had another number of gauges
		return false, nil
	}
	// Where memory is short, tables may be smaller than they were, and kernels
	// stop that ran through.
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

// drain waits for the log, which is full, and empties it.
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

// Waited keeps the numbers of the mirror, for which the run has waited.
func (l *Log) Waited() {
	l.waited = true
	if l.made != nil {
		l.keep(l.numbersOf(l.run.Control.Mirror, l.counting))
	}
}

// Known keeps the numbers of the mirror, which are those of the device. The
// next run may have to ask for them here, as its tables can be larger.
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

// Discard leaves the next run no numbers: what it will do depends on more than
// facts.
func (l *Log) Discard() { l.made = nil }

// Again notes that the last launch stopped at a full table and goes on in
// another one. Later runs begin with larger tables and have one launch in the
// place of both, so the numbers between the two are dropped.
func (l *Log) Again() {
	if m := l.made; m != nil {
		if n := len(m.points); n > 0 && m.points[n-1] == l.at {
			m.points, m.at = m.points[:n-1], m.at[:n-1]
		}
	}
	l.at.launches--
}

// Redo calls f, which has launches go on that stopped at full tables. Later
// runs begin with larger tables, so the numbers since the run got here are
// dropped.
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

// Compare compares the numbers that were taken with those of the device. The
// stream is done.
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
	r.ran = true
	if l.made != nil && l.waited && !r.differs {
		r.numbers, r.recalled = l.made, false
	}
}
