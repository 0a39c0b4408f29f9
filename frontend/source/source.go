package source

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// File is one immutable source file.
type File struct {
	Name  string // as the user wrote it, or a label such as "<query>"
	Text  string
	lines []int // byte offset of the start of each line
	marks []mark
}

// mark is a line marker of the C preprocessor: what follows comes from a line
// of a file.
type mark struct {
	at   int // the line that follows, counted from 1
	file string
	line int
}

// NewFile returns a file with the given name and UTF-8 text.
func NewFile(name, text string) *File {
	f := &File{Name: name, Text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	if strings.Contains(text, "#") {
		f.readMarks()
	}
	return f
}

// readMarks finds the lines of the forms `# 3 "file"` and `#line 3 "file"`. A
// marker without a file keeps the one before.
func (f *File) readMarks() {
	file := f.Name
	for n := 1; n <= len(f.lines); n++ {
		rest, ok := strings.CutPrefix(strings.TrimLeft(f.Line(n), " \t"), "#")
		if !ok {
			continue
		}
		number, rest, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(rest, "line"), " \t"), " ")
		line, err := strconv.Atoi(strings.TrimRight(number, "\t"))
		if err != nil || line < 0 {
			continue
		}
		if _, name, ok := strings.Cut(rest, `"`); ok {
			if name, _, ok = strings.Cut(name, `"`); ok && name != "" {
				file = name
			}
		}
		f.marks = append(f.marks, mark{at: n + 1, file: file, line: line})
	}
}

// Origin returns the file and line that a line of the text, counted from 1,
// comes from by the line markers before it.
func (f *File) Origin(n int) (file string, line int) {
	i := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].at > n })
	if i == 0 {
		return f.Name, n
	}
	m := f.marks[i-1]
	return m.file, m.line + n - m.at
}

// Span is the byte range [Start, End) of a file. The zero Span has no file and
// stands for "nowhere in the user's text".
type Span struct {
	File       *File
	Start, End int
}

// IsValid reports whether the span points into a file.
func (s Span) IsValid() bool { return s.File != nil }

// Text returns the spanned text.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.Text[s.Start:s.End]
}

// To returns the smallest span of the same file that covers s and t.
func (s Span) To(t Span) Span {
	if s.File == nil {
		return t
	}
	if t.File != s.File {
		return s
	}
	return Span{File: s.File, Start: min(s.Start, t.Start), End: max(s.End, t.End)}
}

// Position is a place as people read it: lines and columns count from 1, and a
// column is a Unicode code point.
type Position struct {
	File         string
	Line, Column int
}

// Position returns where the span starts.
func (s Span) Position() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(s.Start)
}

// Position converts a byte offset to the place that it comes from.
func (f *File) Position(offset int) Position {
	n := f.LineOf(offset)
	file, line := f.Origin(n)
	return Position{
		File:   file,
		Line:   line,
		Column: utf8.RuneCountInString(f.Text[f.lines[n-1]:offset]) + 1,
	}
}

// LineOf returns the line of the text that an offset is in, counted from 1.
func (f *File) LineOf(offset int) int { return sort.SearchInts(f.lines, offset+1) }

// Line returns the text of a line, counted from 1, without its line break.
func (f *File) Line(n int) string {
	start := f.lines[n-1]
	end := len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	if end > start && f.Text[end-1] == '\r' {
		end--
	}
	return f.Text[start:end]
}

// LineStart returns the byte offset at which line n, counted from 1, starts.
func (f *File) LineStart(n int) int { return f.lines[n-1] }

// Lines returns the number of lines.
func (f *File) Lines() int { return len(f.lines) }
