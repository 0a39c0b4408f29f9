package gpu

import (
	"errors"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
)

// A program makes the same tuples of the same facts in every run, so that all
// numbers that the host waits for in one run are known in the next: how many
// rows a kernel has left, whether a loop goes on. A run that follows another
// one over the same facts takes its numbers and does not wait. The device still
// copies them to the host, which compares them as soon as it has waited for
// something else, for results at the end at the latest. Should one differ, the
// run is void and another one begins, which waits.

// past is what runs of a program over facts leave to later ones.
type past struct {
	hints *tables.Hints
	lasts bool // facts and functions stay as they are

	mu        sync.Mutex
	recording *recording // of the last run that has waited, nil if there is none
	unlike    bool       // two runs have had other numbers
	slab      int64      // bytes of small allocations
	launches  []device.LaunchShape
	arriving  replaying // of runs whose results arrive at the host
	staying   replaying // of those whose results stay
}

// recording is the numbers of a run, at each point where the run needed them.
type recording struct {
	marks   []mark
	numbers [][]int64
}

// mark is a point of a run: a command, and how many kernels were launched for
// it.
type mark struct{ command, launches int64 }

func (m mark) before(o mark) bool {
	return m.command < o.command || m.command == o.command && m.launches < o.launches
}

// recall is what a run takes from a run before, and what it leaves to the next
// one.
type recall struct {
	past     *past
	believed *recording // nil if the run waits
	next     int        // of its points, the next one
	taken    []taken    // what was not waited for, in the order of the log
	compared int        // of these
	made     *recording // nil if the next run cannot use it
	waited   bool       // for some of what is made
	at       mark       // where the run is
	counting bool       // the run is about to need what a kernel has counted
	whole    bool       // the program came to its end
	keeps    []*kept
}

// taken is numbers that a run has taken from the one before.
type taken struct {
	numbers []int64
	counted bool // the other count is among them
}

// mostLogged bounds the words of all control blocks in a recording.
const mostLogged = 1 << 20

// errOtherPast is a number that is not what it was in the run before.
var errOtherPast = errors.New("the device does not repeat what it did with the same facts")

// repeats reports whether a program computes the same in every run.
func repeats(p *harmony.Program) bool {
	for _, k := range p.Kernels() {
		for _, s := range k.Stages {
			if m, ok := s.(*harmony.Map); ok && m.Func.Volatile {
				return false
			}
		}
	}
	return true
}

// remember begins a run that may follow others.
func (r *run) remember(p *past) {
	r.past = p
	req := r.walk.Request
	r.Slab.Closed = req.Resident && r.capture == nil // outputs outlive the run
	if !p.lasts || req.Profile || req.Trace != nil {
		return // who measures wants commands one after the other
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.unlike {
		r.believed, r.made = p.recording, &recording{}
	}
}

// expected returns what small allocations of the last run came to, and what it
// launched.
func (p *past) expected() (slab int64, launches []device.LaunchShape) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slab, p.launches
}

// logged returns how many control blocks the run may have to compare.
func (r *run) logged() int {
	if r.believed == nil {
		return 0
	}
	return len(r.believed.marks)
}

// command notes that a command begins.
func (r *run) command() { r.at = mark{r.at.command + 1, 0} }

// numbersOf returns what of a control block depends on facts alone: all but the
// limits, and but for a count that was needed before.
func (r *run) numbersOf(block []int64, counted bool) []int64 {
	out := []int64{block[device.DroppedWord], block[device.FaultWord], 0}
	if counted {
		out[device.CountWord] = block[device.CountWord]
	}
	for at := device.FirstGauge; at < r.Control.Words; at += device.GaugeWords {
		out = append(out, block[at])
	}
	return out
}

// recollect takes the numbers from the run before, if that has had them here.
func (r *run) recollect() (done bool, err error) {
	if r.believed == nil || r.Lane.Pinned == nil {
		return false, nil
	}
	marks := r.believed.marks
	for r.next < len(marks) && marks[r.next].before(r.at) {
		r.next++ // that run had to know more
	}
	if r.next == len(marks) || marks[r.next] != r.at {
		return false, nil
	}
	found := r.believed.numbers[r.next]
	if !r.fits(found) {
		r.believed = nil
		return false, nil
	}
	c := &r.Control
	if at := len(r.taken) * c.Words; r.capture != nil {
		err = c.Stream.Copy(r.capture.log.At+cuda.Pointer(8*at), c.Device.At, uint64(8*c.Words))
	} else {
		err = c.Stream.CopyToHost(device.BytesOf(c.Log[at:][:c.Words]), c.Device.At)
	}
	if err != nil {
		return false, err
	}
	r.next++
	r.taken = append(r.taken, taken{found, r.counting})
	c.Mirror[device.DroppedWord], c.Mirror[device.FaultWord], c.Mirror[device.CountWord] = found[0],
		found[1], found[2]
	for i, n := range found[3:] {
		c.Mirror[device.FirstGauge+i*device.GaugeWords] = n
	}
	c.Fresh = true
	r.keep(found)
	return true, nil
}

// fits reports whether tables have room for what they are to have: where memory
// is short they may be smaller than they were, and kernels leave off that went
// on.
func (r *run) fits(numbers []int64) bool {
	return r.State.Fits(func(gauge int) int64 {
		return numbers[3+(gauge-device.FirstGauge)/device.GaugeWords]
	})
}

// record keeps the numbers that the run has waited for.
func (r *run) record() {
	r.waited = true
	if r.made != nil {
		r.keep(r.numbersOf(r.Control.Mirror, r.counting))
	}
}

func (r *run) keep(numbers []int64) {
	if r.made == nil {
		return
	}
	if (len(r.made.marks)+1)*r.Control.Words > mostLogged {
		r.made = nil
		return
	}
	r.made.marks = append(r.made.marks, r.at)
	r.made.numbers = append(r.made.numbers, numbers)
}

// forgo leaves the next run nothing: tables had to grow, which it will not see
// again.
func (r *run) forgo() { r.made = nil }

// compare compares what was recalled with what the device has done. All that
// was put into the stream is done.
func (r *run) compare() error {
	c := &r.Control
	for ; r.compared < len(r.taken); r.compared++ {
		had := r.taken[r.compared]
		if !slices.Equal(r.numbersOf(c.Log[r.compared*c.Words:][:c.Words], had.counted),
			had.numbers) {
			r.past.mu.Lock()
			defer r.past.mu.Unlock()
			r.past.unlike, r.past.recording = true, nil
			return errOtherPast
		}
	}
	return nil
}

// note leaves what the run has found out to the next one. The numbers are
// compared.
func (r *run) note() {
	if !r.whole {
		return
	}
	r.NoteSizes()
	r.past.mu.Lock()
	defer r.past.mu.Unlock()
	if !r.Slab.Closed {
		r.past.slab = r.Slab.Wanted
	}
	if r.past.lasts {
		r.past.launches = r.States.Likely()
	}
	if r.made != nil && r.waited && !r.past.unlike {
		r.past.recording = r.made
	}
	r.past.noteReplay(r)
}
