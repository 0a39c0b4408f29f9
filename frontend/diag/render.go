package diag

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
)

// RenderOptions are the options of Render.
type RenderOptions struct {
	Color bool // with ANSI escape sequences
	Max   int  // diagnostics shown; 0 shows all
	// Program stands where a diagnostic has no place.
	Program string
}

// Render writes diagnostics for people, with the source text that they refer
// to:
//
//	program.logic:7:35: error: variable z is not bound by a positive atom [RF0101]
//
//	  7 │ out(x, z) <- edge(x, y), !edge(y, z).
//	    │                                   ^
//	  note: z occurs only in the head and under negation
//	  help: bind it first, for example with node(z)
//
// Carets mark the primary place and dashes the others. A remark without a place
// becomes a note. An empty line separates diagnostics. The error is that of w.
func Render(w io.Writer, ds []*Diagnostic, opt RenderOptions) error {
	r := &renderer{color: opt.Color, program: opt.Program}
	for i, d := range ds {
		if opt.Max > 0 && i == opt.Max {
			fmt.Fprintf(&r.out, "\n... and %d more\n", len(ds)-i)
			break
		}
		if i > 0 {
			r.out.WriteString("\n")
		}
		r.diagnostic(d)
	}
	_, err := io.WriteString(w, r.out.String())
	return err
}

type renderer struct {
	out     strings.Builder
	color   bool
	program string
}

// style is the parameter of an ANSI "select graphic rendition" sequence.
type style string

const (
	bold   style = "1"
	red    style = "1;31"
	yellow style = "1;33"
	cyan   style = "1;36"
	blue   style = "1;34"
)

var severityStyles = [...]style{Note: cyan, Warning: yellow, Error: red}

func (r *renderer) paint(s style, text string) string {
	if !r.color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func (r *renderer) diagnostic(d *Diagnostic) {
	place := r.program
	switch {
	case d.Span.IsValid():
		p := d.Span.Position()
		place = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	case d.Data.File != "":
		place = d.Data.String()
	}
	if place != "" {
		r.out.WriteString(r.paint(bold, place+":") + " ")
	}
	message := d.Message
	if d.Code != nil {
		message += " [" + d.Code.ID + "]"
	}
	r.out.WriteString(r.paint(severityStyles[d.Severity], d.Severity.String()+":") + " " +
		r.paint(bold, printable(message)) + "\n")

	marks := []mark{{span: d.Span, text: d.At, sign: "^", style: severityStyles[d.Severity]}}
	for _, l := range d.Labels {
		marks = append(marks, mark{span: l.Span, text: l.Message, sign: "-", style: blue})
	}
	r.snippets(marks)
	for _, m := range marks {
		if !m.span.IsValid() && m.text != "" {
			r.remark(cyan, "note: ", m.text)
		}
	}
	for _, n := range d.Notes {
		r.remark(cyan, "note: ", n)
	}
	for _, h := range d.Helps {
		r.remark(cyan, "help: ", h)
	}
}

// remark writes a note or a help, with all of its lines indented alike.
func (r *renderer) remark(s style, title, message string) {
	lines := strings.Split(message, "\n")
	for i, l := range lines {
		lines[i] = printable(l)
	}
	r.out.WriteString("  " + r.paint(s, title) + strings.Join(lines,
		"\n  "+strings.Repeat(" ", len(title))) + "\n")
}

// mark is a place to underline.
type mark struct {
	span  source.Span
	text  string
	sign  string
	style style
}

// underline is the part of a mark on one line.
type underline struct {
	mark
	line       int
	start, end int // byte offsets in the line
}

// snippets shows the marked lines, file by file, in the order in which the
// marks mention the files.
func (r *renderer) snippets(marks []mark) {
	var files []*source.File
	for _, m := range marks {
		if m.span.IsValid() && !slices.Contains(files, m.span.File) {
			files = append(files, m.span.File)
		}
	}
	for i, f := range files {
		var lines []underline
		for _, m := range marks {
			if m.span.File == f {
				lines = append(lines, underlines(m)...)
			}
		}
		slices.SortStableFunc(lines, func(a, b underline) int {
			return cmp.Compare(a.line, b.line)
		})
		r.out.WriteString("\n")
		home, _ := f.Origin(f.LineOf(marks[0].span.Start))
		if i > 0 {
			home, _ = f.Origin(lines[0].line)
			p := f.Position(f.LineStart(lines[0].line) + lines[0].start)
			fmt.Fprintf(&r.out, "  %s\n",
				r.paint(bold, fmt.Sprintf("%s:%d:%d:", p.File, p.Line, p.Column)))
		}
		r.lines(f, home, lines)
	}
}

// underlines splits a mark into lines. A mark over more than two lines keeps
// the first and the last, and its text stands at the last.
func underlines(m mark) []underline {
	f := m.span.File
	first := f.LineOf(m.span.Start)
	last := f.LineOf(max(m.span.Start, m.span.End-1))
	start := m.span.Start - f.LineStart(first)
	if first == last {
		return []underline{{mark: m, line: first, start: start,
			end: m.span.End - f.LineStart(first)}}
	}
	text := f.Line(last)
	silent := m
	silent.text = ""
	return []underline{
		{mark: silent, line: first, start: start, end: len(f.Line(first))},
		{mark: m, line: last, start: len(text) - len(strings.TrimLeft(text, " \t")),
			end: m.span.End - f.LineStart(last)},
	}
}

// lines shows underlined lines in order. One line between two of them is shown,
// more become dots. The place of a line that does not come from the file home
// stands above it.
func (r *renderer) lines(f *source.File, home string, marked []underline) {
	number := func(line int) string {
		_, n := f.Origin(line)
		return strconv.Itoa(n)
	}
	width := 0
	for _, u := range marked {
		width = max(width, len(number(u.line)))
	}
	gutter := func(number string) {
		r.out.WriteString("  " + r.paint(blue, fmt.Sprintf("%*s │", width, number)))
	}
	shown, from := 0, home
	for i := 0; i < len(marked); {
		n := marked[i].line
		if file, line := f.Origin(n); file != from {
			fmt.Fprintf(&r.out, "  %s\n", r.paint(bold, fmt.Sprintf("%s:%d:", file, line)))
			shown, from = 0, file
		}
		same := i
		for same < len(marked) && marked[same].line == n {
			same++
		}
		switch {
		case shown > 0 && n == shown+2:
			c := newCells(f.Line(shown+1), 0)
			gutter(number(shown + 1))
			r.row(c.text())
		case shown > 0 && n > shown+2:
			r.out.WriteString("  " + r.paint(blue, strings.Repeat(" ", width)+" ·") + "\n")
		}
		c := newCells(f.Line(n), marked[i].start)
		gutter(number(n))
		r.row(c.text())
		for _, u := range marked[i:same] {
			gutter("")
			from, to := c.columns(u.start, u.end)
			row := strings.Repeat(" ", from) + r.paint(u.style, strings.Repeat(u.sign, to-from))
			if u.text != "" {
				row += " " + r.paint(u.style, printable(u.text))
			}
			r.row(row)
		}
		shown, i = n, same
	}
}

// row writes a line behind the gutter.
func (r *renderer) row(text string) {
	if text = strings.TrimRight(text, " "); text != "" {
		r.out.WriteString(" " + text)
	}
	r.out.WriteString("\n")
}
