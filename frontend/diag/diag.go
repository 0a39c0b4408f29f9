package diag

import (
	"sort"
	"strconv"

	"github.com/redfoxdb/redfox/frontend/source"
)

// Severity is the weight of a diagnostic.
type Severity uint8

// The severities.
const (
	Note Severity = iota
	Warning
	Error
)

// String returns "note", "warning" or "error".
func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// Label is a secondary place with a remark of its own.
type Label struct {
	Span    source.Span
	Message string
}

// Diagnostic is one finding.
type Diagnostic struct {
	Severity Severity
	Code     *Code
	Message  string      // headline: plain words, the user's names, lower-case start, no full stop
	Span     source.Span // primary place
	Data     DataPlace   // place in a file of facts, of a diagnostic without Span
	At       string      // remark at the primary place; may be empty
	Labels   []Label     // other places that matter, each with its remark
	Notes    []string    // reasons
	Helps    []string    // what to do next
	Fixes    []Fix       // advice that a program can follow
}

// Fix is advice that replaces a text. An empty Span is where to insert one.
type Fix struct {
	Span source.Span
	Text string
}

// Title words the fix as an instruction.
func (f *Fix) Title() string {
	switch old := f.Span.Text(); {
	case old == "":
		return "insert " + f.Text
	case f.Text == "":
		return "remove " + old
	default:
		return "write " + f.Text
	}
}

// DataPlace is a place in a file of facts; the zero value is none.
type DataPlace struct {
	File         string
	Line, Column int64 // from 1; 0 where the file, or the line, is meant as a whole
}

// String returns "FILE:LINE:COLUMN", without what is 0.
func (p DataPlace) String() string {
	text := p.File
	for _, n := range []int64{p.Line, p.Column} {
		if n > 0 {
			text += ":" + strconv.FormatInt(n, 10)
		}
	}
	return text
}

// Code is a stable identity of a kind of diagnostic, documented by example.
type Code struct {
	ID      string // "RF0101"
	Name    string // "UnboundVariable"
	When    string // when it is reported, one or two sentences
	Example string // a program that gets exactly this code; "" only if no program can
	Fix     string // how to mend the example
}

// List collects diagnostics of one compilation.
type List struct {
	items []*Diagnostic
}

// Add appends a diagnostic.
func (l *List) Add(d *Diagnostic) { l.items = append(l.items, d) }

// HasErrors reports whether a diagnostic of severity Error is there.
func (l *List) HasErrors() bool {
	for _, d := range l.items {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// All returns the diagnostics ordered by file, place, severity and code,
// without repetitions.
func (l *List) All() []*Diagnostic {
	out := append([]*Diagnostic(nil), l.items...)
	sort.SliceStable(out, func(i, j int) bool { return less(out[i], out[j]) })
	kept := out[:0]
	for i, d := range out {
		if i > 0 {
			p := kept[len(kept)-1]
			if p.Code == d.Code && p.Span == d.Span && p.Message == d.Message {
				continue
			}
		}
		kept = append(kept, d)
	}
	return kept
}

func less(a, b *Diagnostic) bool {
	an, bn := "", ""
	if a.Span.File != nil {
		an = a.Span.File.Name
	}
	if b.Span.File != nil {
		bn = b.Span.File.Name
	}
	switch {
	case an != bn:
		return an < bn
	case a.Span.Start != b.Span.Start:
		return a.Span.Start < b.Span.Start
	case a.Severity != b.Severity:
		return a.Severity > b.Severity
	case a.Code != b.Code && a.Code != nil && b.Code != nil:
		return a.Code.ID < b.Code.ID
	}
	return a.Message < b.Message
}
