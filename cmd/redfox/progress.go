package main

import (
	"fmt"
	"time"
)

const (
	// patience is how long a run is quiet before its progress is shown.
	patience = time.Second
	// repaint is the time between two texts that are shown.
	repaint = 100 * time.Millisecond
)

// progress repaints one line of standard error. It shows nothing if that is no
// terminal, and nothing before a second has passed.
type progress struct {
	con     *console
	started time.Time
	painted time.Time // zero: no line is there
}

func newProgress(con *console) *progress { return &progress{con: con, started: time.Now()} }

// Control sequences of terminals (ECMA-48, and DEC's for wrapping).
const (
	clearLine = "\r\x1b[K"
	wrapOff   = "\x1b[?7l"
	wrapOn    = "\x1b[?7h"
)

// show replaces the line. It is called by one goroutine at a time.
func (p *progress) show(text string) {
	if !p.con.errTerminal || time.Since(p.started) < patience || time.Since(p.painted) < repaint {
		return
	}
	p.painted = time.Now()
	// A failed repaint of a terminal is nothing that a user can mend.
	_, _ = fmt.Fprint(p.con.err, clearLine, wrapOff, text, wrapOn)
}

// done removes the line, so that what is printed next starts on a clean one.
func (p *progress) done() {
	if !p.painted.IsZero() {
		_, _ = fmt.Fprint(p.con.err, clearLine)
		p.painted = time.Time{}
	}
}
