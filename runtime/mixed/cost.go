package mixed

import (
	goruntime "runtime"
	"time"

	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/cost"
)

// rates are the seconds per row of a use, on the host and on the GPU. They come
// from the model until runs have measured them.
type rates struct {
	host, device         float64
	seenHost, seenDevice bool
	modelHost            float64
	modelDevice          float64
	merge                float64 // seconds of a merge
	// passed counts the runs in which the GPU was left out because it was
	// slower. After patience of them it is measured again.
	passed, patience int
}

// Constants of the model: bytes per second and seconds per probe of one core of
// the host, and the least time of a run on a GPU. Most probes of the host hit a
// cache. The rates of the GPU are those of package cost.
const (
	hostBytes   = 8e9
	hostProbe   = 4e-9
	deviceStart = 150e-6
	mergeTime   = 100e-6
)

// patience is the initial number of runs after which a GPU that was slower is
// measured again.
const patience = 256

// modelled returns the rates that the model predicts for a use, given its rows,
// the bytes of all its columns, its probes per row, and the GPU. Tables that
// are probed stay in the GPU's second-level cache, and rows go through a queue
// on their way.
func modelled(rows int, bytes int64, probes int, card cost.Device) rates {
	cores := float64(min(goruntime.GOMAXPROCS(0), 16))
	each := float64(bytes) / float64(max(rows, 1))
	r := rates{merge: mergeTime, patience: patience}
	r.modelHost = each/(hostBytes*cores) + float64(probes)*hostProbe/cores
	gpu := card.Rates()
	r.modelDevice = each*gpu.Byte + float64(probes)*gpu.L2 + gpu.Queue
	r.host, r.device = r.modelHost, r.modelDevice
	return r
}

// pass counts a run without the GPU. Each time patience is reached, it doubles,
// and the GPU gets its modelled rate back, so that the next run measures it.
func (r *rates) pass() {
	if r.passed++; r.passed < r.patience {
		return
	}
	r.passed, r.patience = 0, 2*r.patience
	r.device, r.seenDevice = r.modelDevice, false
}

// saving is the number of seconds that a segment saves on the GPU.
func (u *use) saving() float64 { return float64(u.segment) * (u.host - u.device) }

// rowsOnDevice returns how many rows of a step run on the GPU: all that it
// holds if the two sides together are expected to beat the host alone, else
// none.
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

// refuse has a step run on the host from now on. The GPU lacks memory for it,
// or a total over part of its rows overflows.
func (e *Engine) refuse(s *step) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.use.refused = true
	for _, of := range s.joins {
		of.use.refused = true
	}
	e.cache.stale = true
}

// learnJoined scales the rates of several steps that were measured together:
// each by the ratio of the measured to the expected time.
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

// learn updates the GPU's rate from a run over some rows. Runs that compiled
// are ignored, and so is the first one after the cache has changed if it copied
// columns. Copies in later runs count: the columns had made room for derived
// relations.
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
	if d := answer.Device; first && d != nil && d.ToDevice.Bytes+d.Ahead > bytes/16 {
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

// learnHost updates the host's rate from a run over some rows.
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

// learnMerge updates the time of a merge.
func (e *Engine) learnMerge(s *step, took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.use.merge = averaged(s.use.merge, took.Seconds(), true)
}

// averaged returns the mean of the known and the measured value, or the
// measured one if it is the first.
func averaged(known, measured float64, seen bool) float64 {
	if !seen {
		return measured
	}
	return (known + measured) / 2
}

// bytes returns the size of the columns that a use reads for some of its rows.
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
