package irtext

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
)

// Printer collects the lines of a text.
type Printer struct{ strings.Builder }

// Line writes a line.
func (p *Printer) Line(indent int, text string) {
	for range indent {
		p.WriteString("  ")
	}
	p.WriteString(text)
	p.WriteByte('\n')
}

// Origin returns a comment with the place and the text of a span, or nothing if
// there is no span.
func Origin(span source.Span) string {
	if !span.IsValid() {
		return ""
	}
	pos := span.Position()
	text := strings.Join(strings.Fields(span.Text()), " ")
	return fmt.Sprintf("  // %s:%d:%d: %s", pos.File, pos.Line, pos.Column, text)
}
