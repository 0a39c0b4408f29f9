package diag

import (
	"encoding/json"
	"io"

	"github.com/redfoxdb/redfox/frontend/source"
)

// jsonPlace is a span in JSON. Lines and columns count from 1, columns are
// Unicode code points, and the end is exclusive. A diagnostic that belongs to
// no place in a program has an empty file name and zeros.
type jsonPlace struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
}

// jsonLabel is a secondary place with its remark.
type jsonLabel struct {
	jsonPlace
	Message string `json:"message"`
}

// jsonFix is a text to write in place of another one.
type jsonFix struct {
	jsonPlace
	Text string `json:"text"`
}

// jsonDiagnostic is one diagnostic in JSON.
type jsonDiagnostic struct {
	Severity string `json:"severity"` // "error", "warning" or "note"
	Code     string `json:"code"`     // "RF0101"; empty where there is no code
	Name     string `json:"name"`     // "UnboundVariable"
	Message  string `json:"message"`  // the headline
	jsonPlace
	At     string      `json:"at"` // remark at the primary place, or empty
	Labels []jsonLabel `json:"labels"`
	Notes  []string    `json:"notes"`
	Helps  []string    `json:"helps"`
	Fixes  []jsonFix   `json:"fixes"`
}

// JSON writes diagnostics as one array of objects with the members severity,
// code, name, message, file, line, column, end_line, end_column, at, labels,
// notes, helps and fixes. No member is ever left out. A label has the members
// of a place (file to end_column) and a message, a fix those of a place and a
// text. The error is that of w.
func JSON(w io.Writer, ds []*Diagnostic) error {
	out := make([]jsonDiagnostic, 0, len(ds))
	for _, d := range ds {
		j := jsonDiagnostic{
			Severity:  d.Severity.String(),
			Message:   d.Message,
			jsonPlace: placeOf(d),
			At:        d.At,
			Labels:    []jsonLabel{},
			Notes:     append([]string{}, d.Notes...),
			Helps:     append([]string{}, d.Helps...),
			Fixes:     []jsonFix{},
		}
		if d.Code != nil {
			j.Code, j.Name = d.Code.ID, d.Code.Name
		}
		for _, l := range d.Labels {
			j.Labels = append(j.Labels, jsonLabel{placeOfSpan(l.Span), l.Message})
		}
		for _, f := range d.Fixes {
			j.Fixes = append(j.Fixes, jsonFix{placeOfSpan(f.Span), f.Text})
		}
		out = append(out, j)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// placeOf returns the place of a diagnostic. One in a file of facts has no
// extent.
func placeOf(d *Diagnostic) jsonPlace {
	if at := d.Data; !d.Span.IsValid() && at.File != "" {
		line, column := int(at.Line), int(at.Column)
		return jsonPlace{at.File, line, column, line, column}
	}
	return placeOfSpan(d.Span)
}

func placeOfSpan(s source.Span) jsonPlace {
	if !s.IsValid() {
		return jsonPlace{}
	}
	start, end := s.Position(), s.File.Position(s.End)
	return jsonPlace{start.File, start.Line, start.Column, end.Line, end.Column}
}
