package read

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Place is a place in a file of facts.
type Place struct {
	File         string
	Line, Column int64 // from 1; 0 means the whole file, or the whole line
}

// String returns "FILE:LINE:COLUMN" without the parts that are 0.
func (p Place) String() string {
	text := p.File
	for _, n := range []int64{p.Line, p.Column} {
		if n > 0 {
			text += ":" + strconv.FormatInt(n, 10)
		}
	}
	return text
}

// LoadError is an error in a file of facts, with its place.
type LoadError struct {
	File   string // as the user gave it
	Line   int64  // from 1; 0 if the error is about the whole file
	Row    int64  // from 1, of a file without lines or with several rows in one
	Column int    // number of the field, from 1; 0 if the error is about the line
	Name   string // of the column, when it has one
	Reason string
	Help   string // what to do, or ""
	Err    error  // what caused it, or nil

	missing bool   // a value is missing that field must have
	refused string // the text that is no value of field, or ""
	field   int
	object  int64 // of JSON, from 1 in its block
}

// at adds the place of an error in a block, given the line and the row at which
// the block begins. JSON may have all rows in one line; then the row is named.
func (e *LoadError) at(line, rows int64) {
	e.Line += line
	if e.object > 0 && rows+e.object > e.Line {
		e.Row = rows + e.object
	}
}

// Error returns "FILE:LINE:COLUMN: column COLUMN (NAME): reason".
func (e *LoadError) Error() string { return e.Place().String() + ": " + e.Text() }

// Place returns the place without the number of a row.
func (e *LoadError) Place() Place {
	if e.Line == 0 {
		return Place{File: e.File}
	}
	return Place{e.File, e.Line, int64(e.Column)}
}

// Text returns the message without the place.
func (e *LoadError) Text() string {
	var b strings.Builder
	if e.Row > 0 {
		fmt.Fprintf(&b, "row %d: ", e.Row)
	}
	if e.Column > 0 {
		fmt.Fprintf(&b, "column %d", e.Column)
		if e.Name != "" {
			fmt.Fprintf(&b, " (%s)", e.Name)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Reason)
	return b.String()
}

// Unwrap returns the cause.
func (e *LoadError) Unwrap() error { return e.Err }

var errFolder = errors.New("this is a folder, not a file")

// fileError is a LoadError of a whole file.
func fileError(file string, err error) *LoadError {
	var le *LoadError
	if errors.As(err, &le) {
		if le.File == "" {
			le.File = file
		}
		return le
	}
	reason := err.Error()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		reason = "the file ends early; it may be truncated"
	default:
		// Errors of the operating system contain the path as well.
		if i := strings.LastIndex(reason, file+": "); i >= 0 {
			reason = reason[i+len(file)+2:]
		}
	}
	return &LoadError{File: file, Reason: reason, Err: err}
}

// KeyError means that a functional predicate has two values for one key.
type KeyError struct {
	Predicate string
	File      string // empty for facts that come from Go
	Key       []scalar.Value
	Values    [2]scalar.Value
	Lines     [2]int64 // of the file; rows for a file without lines
	Rows      bool     // Lines are rows
	// Files holds the files of the second value and of the first, if two files
	// of a predicate disagree.
	Files [2]string
}

// Error shows the key, both values and where they stand.
func (e *KeyError) Error() string {
	if place := e.Place().String(); place != "" {
		return place + ": " + e.Text()
	}
	return e.Text()
}

// Place returns the place of the second value. It is zero for facts that a Go
// program passes.
func (e *KeyError) Place() Place {
	switch {
	case e.Files[0] != "":
		return Place{File: e.Files[0]}
	case e.File == "":
		return Place{}
	}
	return Place{File: e.File, Line: e.Lines[1]}
}

// Text returns the message without the place.
func (e *KeyError) Text() string {
	what := "line"
	if e.Rows {
		what = "row"
	}
	row := ""
	first := fmt.Sprintf("%s %d", what, e.Lines[0])
	switch {
	case e.Files[0] != "":
		first = e.Files[1]
	case e.File == "":
		row = fmt.Sprintf("row %d: ", e.Lines[1])
	}
	return fmt.Sprintf("%s%s[%s] has two values: %s here and %s in %s", row, e.Predicate,
		strings.Join(list.Map(e.Key, quoted), ", "), quoted(e.Values[1]), quoted(e.Values[0]),
		first)
}

func quoted(v scalar.Value) string {
	if v.Type.Kind == scalar.String {
		return scalar.Quote(v.Str())
	}
	return scalar.Format(v)
}

// notA turns scalar's parse error into the reason why a text is not a value of
// the type.
func notA(t scalar.Type, text []byte, err error) string {
	s := string(text)
	if s == "" {
		return fmt.Sprintf("the field is empty; expected %s", article(t))
	}
	const most = 40
	shown := s
	if utf8.RuneCountInString(s) > most {
		shown = scalar.Substring(s, 0, most) + "..."
	}
	reason := fmt.Sprintf("%s is not %s", scalar.Quote(shown), article(t))
	if _, why, ok := strings.Cut(err.Error(), scalar.Quote(shown)+": "); ok {
		reason += ": " + why
	}
	return reason
}

func article(t scalar.Type) string {
	name := t.Joined().String()
	if strings.HasPrefix(name, "int") {
		return "an " + name
	}
	return "a " + name
}

// counted is "1 column", "2 columns".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
