package diag

import (
	"fmt"

	"github.com/redfoxdb/redfox/frontend/source"
)

// Level overrides the severity of a warning.
type Level uint8

// The levels. A program sets them by directives.
const (
	LevelDefault Level = iota
	LevelOff
	LevelWarning
	LevelError
)

// Reporter makes diagnostics and adds them to a list.
type Reporter struct {
	*List
	Levels map[*Code]Level
}

// NewReporter returns a reporter that adds to a list.
func NewReporter(list *List) *Reporter {
	return &Reporter{List: list, Levels: map[*Code]Level{}}
}

// Errorf reports an error. Labels, notes and helps are added to the result.
func (r *Reporter) Errorf(code *Code, span source.Span, format string, args ...any) *Diagnostic {
	d := &Diagnostic{Severity: Error, Code: code, Span: span, Message: fmt.Sprintf(format, args...)}
	r.Add(d)
	return d
}

// Warnf reports a warning with the severity of its level. The result of a
// warning that is off goes nowhere.
func (r *Reporter) Warnf(code *Code, span source.Span, format string, args ...any) *Diagnostic {
	d := &Diagnostic{Severity: Warning, Code: code, Span: span,
		Message: fmt.Sprintf(format, args...)}
	switch r.Levels[code] {
	case LevelOff:
		return d
	case LevelError:
		d.Severity = Error
	}
	r.Add(d)
	return d
}

// Label adds a remark at another place, unless the place is unknown.
func (d *Diagnostic) Label(span source.Span, format string, args ...any) {
	if span.IsValid() {
		d.Labels = append(d.Labels, Label{Span: span, Message: fmt.Sprintf(format, args...)})
	}
}

// Note adds a reason.
func (d *Diagnostic) Note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// Replace adds a text that mends the program in place of another one.
func (d *Diagnostic) Replace(at source.Span, text string) {
	d.Fixes = append(d.Fixes, Fix{at, text})
}

// Help adds what to do next.
func (d *Diagnostic) Help(format string, args ...any) {
	d.Helps = append(d.Helps, fmt.Sprintf(format, args...))
}
