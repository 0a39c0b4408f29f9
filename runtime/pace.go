package runtime

import "time"

// Pace bounds how often a run reports progress.
type Pace struct{ last time.Time }

// paceOfProgress is the least time from one report to the next.
const paceOfProgress = 100 * time.Millisecond

// StartPace begins a run.
func StartPace() Pace { return Pace{time.Now()} }

// Due reports whether the request wants progress and the last report is long
// enough ago; then this is when the last one was.
func (p *Pace) Due(req *Request) bool {
	if req.Progress == nil {
		return false
	}
	now := time.Now()
	if now.Sub(p.last) < paceOfProgress {
		return false
	}
	p.last = now
	return true
}
