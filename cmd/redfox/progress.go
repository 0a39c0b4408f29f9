package main

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long a run is quiet before its progress is shown.
const patience = time.Second

// progress repaints one line of standard error. It shows nothing when that is
// no terminal, and nothing before a second has passed.
type progress struct {
	con     *console
	started time.Time
	bar     *progressbar.ProgressBar
}

func newProgress(con *console) *progress { return &progress{con: con, started: time.Now()} }

// show replaces the line. It is called by one goroutine at a time.
func (p *progress) show(text string) {
	if !p.con.errTerminal || time.Since(p.started) < patience {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(-1,
			progressbar.OptionSetWriter(p.con.err),
			progressbar.OptionSpinnerType(14),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionUseANSICodes(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(text)
}

// done removes the line, so that what is printed next starts on a clean one.
func (p *progress) done() {
	if p.bar != nil {
		// A failed repaint of a terminal is nothing that a user can mend.
		_ = p.bar.Clear()
		_ = p.bar.Close()
		p.bar = nil
	}
}
