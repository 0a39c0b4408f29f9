package mixed

import (
	goruntime "runtime"
	"time"

	"github.com/redfoxdb/redfox/runtime"
)

// rates are the seconds that a row of a use takes on each side. They are
// modelled until runs have measured them.
type rates struct {
	host, device         float64
	seenHost, seenDevice bool
	modelHost            float64
	modelDevice          float64
	merge                float64 // seconds of a merge
	// passed counts the runs that left out the GPU because it was slower. After
	// patience of them it is measured again.
	passed, patience int
}

// The model: what a core of the host reads in a second, and the seconds that a
// probe takes it; the same of a GPU; and what a run on a GPU takes at least. A
// probe of the host is an access to its caches, mostly. The GPU's are those of
// an H100 or later.
const (
	hostBytes   = 8e9
	hostProbe   = 4e-9
	deviceBytes = 2e12
	deviceProbe = 2e-11
	deviceStart = 150e-6
	mergeTime   = 100e-6
)

// patience is how many runs leave out a GPU that was slower at first.
const patience = 256

// modelled returns the rates that the model predicts for a use. Rows is its
// number of rows, bytes the size of all columns it reads, and probes the number
// of probes for each row.
func modelled(rows int, bytes int64, probes int) rates {
	cores := float64(min(goruntime.GOMAXPROCS(0), 16))
	each := float64(bytes) / float64(max(rows, 1))
	r := rates{merge: mergeTime, patience: patience}
	r.modelHost = each/(hostBytes*cores) + float64(probes)*hostProbe/cores
	r.modelDevice = each/deviceBytes + float64(probes)*deviceProbe
	r.host, r.device = r.modelHost, r.modelDevice
	return r
}

// pass notes a run that left out the GPU. Now and then, and ever more rarely,
// it takes the GPU to be as fast as the model says, so that it is measured
// again.
func (r *rates) pass() {
	if r.passed++; r.passed < r.patience {
		return
	}
	r.passed, r.patience = 0, 2*r.patience
	r.device, r.seenDevice = r.modelDevice, false
}

// saving is the number of seconds that a segment saves on the GPU.
func (u *use) saving() float64 { return float64(u.segment) * (u.host - u.device) }

// rowsOnDevice returns how many rows of a step the GPU takes: those that it
// holds, if that is expected to take less time than the host alone.
func (e *Engine) rowsOnDevice(s *step) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := s.use
	if u.refused {
		return 0
	}
	on := u.on
	if e.sizes.Most > 0 && u.segments > 1 {
		on = min(on, e.sizes.Most)
	}
	rows := min(on*u.segment, u.rows)
	if rows == 0 || e.sizes.Always {
		return rows
	}
	both := max(deviceStart+float64(rows)*u.device, float64(u.rows-rows)*u.host)
	if rows < u.rows {
		both += u.merge
	}
	if both < float64(u.rows)*u.host {
		return rows
	}
	u.pass()
	return 0
}

// refuse notes that the GPU has no memory for a step, or that a total of a part
// of its rows fits no word. It then runs on the host.
func (e *Engine) refuse(s *step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.use.refused = true
	for _, of := range s.joins {
		of.use.refused = true
	}
	e.cache.stale = true
}

// learnJoined notes what several steps took together: each as much more or less
// than was expected as all of them.
func (e *Engine) learnJoined(steps []*step, took time.Duration, device bool) {
	expected := 0.0
	rate := func(u *use) *float64 {
		if device {
			return &u.device
		}
		return &u.host
	}
	for _, s := range steps {
		expected += float64(s.use.rows) * *rate(s.use)
	}
	if expected <= 0 {
		return
	}
	for _, s := range steps {
		r := rate(s.use)
		*r = (*r + *r*took.Seconds()/expected) / 2
	}
}

// learn notes what rows took on the GPU. A run that made code says little of
// later ones, and so does the first that copies columns. Later runs that do so
// have lost them to what runs derive.
func (e *Engine) learn(s *step, rows int, took time.Duration, answer *runtime.Answer) {
	if answer.Compile > 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	bytes, first := s.use.bytes(rows), s.use.moved
	for _, of := range s.joins {
		bytes, first = bytes+of.use.bytes(of.use.rows), first || of.use.moved
	}
	if first && answer.Device != nil && answer.Device.ToDevice.Bytes > bytes/16 {
		s.use.moved = false
		for _, of := range s.joins {
			of.use.moved = false
		}
		return
	}
	if s.joins != nil {
		e.learnJoined(s.joins, max(took-deviceStart*1e9, 0), true)
		return
	}
	rate := max(took.Seconds()-deviceStart, 0) / float64(rows)
	s.use.device = averaged(s.use.device, rate, s.use.seenDevice)
	s.use.seenDevice = true
}

// learnHost notes what rows took on the host.
func (e *Engine) learnHost(s *step, rows int, took time.Duration, answer *runtime.Answer) {
	if answer.Compile > 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.joins != nil {
		e.learnJoined(s.joins, took, false)
		return
	}
	s.use.host = averaged(s.use.host, took.Seconds()/float64(rows), s.use.seenHost)
	s.use.seenHost = true
}

// learnMerge notes what a merge took.
func (e *Engine) learnMerge(s *step, took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.use.merge = averaged(s.use.merge, took.Seconds(), true)
}

// averaged returns the mean of what was known and what was measured.
func averaged(known, measured float64, seen bool) float64 {
	if !seen {
		return measured
	}
	return (known + measured) / 2
}

// bytes returns the size of what rows of a use read.
func (u *use) bytes(rows int) int64 {
	n := int64(0)
	for _, x := range u.cols {
		n += x.width * int64(rows)
	}
	for _, x := range u.others {
		n += x.width * int64(x.rows)
	}
	return n
}
