package runtime

import "time"

// SpillProfile says what a run cost that kept relations in a file because they
// did not fit its memory.
type SpillProfile struct {
	Folder  string
	Written int64 // bytes
	Read    int64
	Peak    int64 // most bytes of the file that were in use
	Writing time.Duration
	Reading time.Duration
	// Boxes counts the parts that were evaluated, Tries those that did not fit
	// and were cut.
	Boxes, Tries int64
	Pieces       []SpillPiece
}

// SpillPiece says how a part of the plan was evaluated.
type SpillPiece struct {
	// Fills are the predicates that it adds tuples to.
	Fills []string
	// By are the columns by whose values it was cut, Ranges those that are kept
	// in order and were cut into ranges of rows; none if it fit.
	By, Ranges []string

	Boxes  int64
	Rounds int64 // of loops that ran round by round over the file; else 0
	Time   time.Duration
}

// SpillError is a folder or a file of it that a run cannot spill to.
type SpillError struct {
	Message string
	Err     error
}

// Error says what failed and what to try.
func (e *SpillError) Error() string { return e.Message }

// Unwrap returns the error of the file system.
func (e *SpillError) Unwrap() error { return e.Err }
