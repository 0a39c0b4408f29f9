package queryplan

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// SyntaxError is a place where the text of a plan is not one.
type SyntaxError struct {
	Span    source.Span
	Message string
}

// Error returns the message after file, line and column.
func (e *SyntaxError) Error() string {
	pos := e.Span.Position()
	return fmt.Sprintf("%s:%d:%d: %s", pos.File, pos.Line, pos.Column, e.Message)
}

type tokenKind uint8

const (
	endToken     tokenKind = iota // of the line
	wordToken                     // a bare word
	nameToken                     // a name between backquotes
	literalToken                  // a number, string or date
	punctToken
)

// token is a part of a line. Its text is the name itself for a name between
// backquotes, else what the file has.
type token struct {
	kind       tokenKind
	text       string
	value      scalar.Value // of a literal
	start, end int
}

// line is a line of the text with the lines indented under it.
type line struct {
	indent     int
	start, end int
	tokens     []token // the last is an endToken
	kids       []*line
}

// maxDepth bounds how deep operators and expressions may nest in a text, so that
// recursion over them cannot exhaust the stack.
const maxDepth = 2000

type lexer struct {
	file *source.File
	at   int
}

func (l *lexer) fail(start, end int, format string, args ...any) {
	panic(&SyntaxError{source.Span{File: l.file, Start: start, End: end}, fmt.Sprintf(format, args...)})
}

// lines splits the text into trees of lines by indentation. Blank lines and
// comments, from // to the end of the line, are left out.
func (l *lexer) lines() []*line {
	root := &line{indent: -1}
	open := []*line{root}
	for l.at < len(l.file.Text) {
		ln := l.line()
		if len(ln.tokens) == 1 {
			continue
		}
		for len(open) > 1 && open[len(open)-1].indent >= ln.indent {
			open = open[:len(open)-1]
		}
		parent := open[len(open)-1]
		if len(parent.kids) > 0 && parent.kids[0].indent != ln.indent {
			l.fail(ln.start, ln.end, "this line is indented by %d columns, the lines beside it by %d", ln.indent, parent.kids[0].indent)
		}
		if len(open) > maxDepth {
			l.fail(ln.start, ln.end, "lines are nested deeper than %d levels", maxDepth)
		}
		parent.kids = append(parent.kids, ln)
		open = append(open, ln)
	}
	return root.kids
}

// line scans one line and its line break.
func (l *lexer) line() *line {
	start := l.at
	for l.at < len(l.file.Text) && l.file.Text[l.at] == ' ' {
		l.at++
	}
	ln := &line{indent: l.at - start, start: l.at}
	for {
		t := l.token()
		ln.tokens = append(ln.tokens, t)
		if t.kind == endToken {
			ln.end = t.start
			return ln
		}
	}
}

func (l *lexer) token() token {
	text := l.file.Text
	for l.at < len(text) && (text[l.at] == ' ' || text[l.at] == '\r' || text[l.at] == '\t') {
		l.at++
	}
	if strings.HasPrefix(text[l.at:], "//") {
		if n := strings.IndexByte(text[l.at:], '\n'); n >= 0 {
			l.at += n
		} else {
			l.at = len(text)
		}
	}
	start := l.at
	if l.at == len(text) {
		return token{kind: endToken, start: start, end: start}
	}
	c := text[l.at]
	r, size := utf8.DecodeRuneInString(text[l.at:])
	kind := punctToken
	switch {
	case c == '\n':
		l.at++
		return token{kind: endToken, start: start, end: start}
	case startsLiteral(text[l.at:]):
		return l.literal()
	case c == '`':
		l.quotedName()
		return token{kind: nameToken, text: l.unquote(start, l.at), start: start, end: l.at}
	case strings.HasPrefix(text[l.at:], "->"):
		l.at += 2
	case strings.IndexByte("()[],;:=", c) >= 0:
		l.at++
	case r != utf8.RuneError && isWordRune(r, true):
		kind = wordToken
		l.word()
	default:
		l.fail(start, start+size, "unexpected character %s", strconv.QuoteRune(r))
	}
	return token{kind: kind, text: text[start:l.at], start: start, end: l.at}
}

// startsLiteral reports whether s starts with a constant other than true and
// false, which are words.
func startsLiteral(s string) bool {
	if s[0] == '-' {
		s = s[1:]
		return s != "" && isDigit(s[0]) || strings.HasPrefix(s, "inf:float")
	}
	return isDigit(s[0]) || s[0] == '"' || s[0] == '#' || strings.HasPrefix(s, "inf:float") || strings.HasPrefix(s, "nan:float")
}

func (l *lexer) literal() token {
	start, rest := l.at, l.file.Text[l.at:]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	v, n, err := scalar.ScanLiteral(rest)
	if err != nil {
		l.fail(start, start+len(rest), "%s", err)
	}
	l.at += n
	return token{literalToken, rest[:n], v, start, l.at}
}

// quotedName moves past a name between backquotes on one line, in which a
// backslash escapes the next character.
func (l *lexer) quotedName() {
	text, start := l.file.Text, l.at
	for l.at++; l.at < len(text) && text[l.at] != '\n'; l.at++ {
		switch text[l.at] {
		case '`':
			l.at++
			return
		case '\\':
			l.at++
		}
	}
	l.at = min(l.at, len(text))
	l.fail(start, l.at, "the name has no closing backquote on this line")
}

// unquote decodes a name between backquotes.
func (l *lexer) unquote(start, end int) string {
	var b strings.Builder
	s := l.file.Text[start+1 : end-1]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] != 'x' {
			b.WriteByte(s[i])
			continue
		}
		n := uint64(0)
		err := strconv.ErrSyntax
		if i+2 < len(s) {
			n, err = strconv.ParseUint(s[i+1:i+3], 16, 8)
		}
		if err != nil {
			l.fail(start, end, `\x in a name needs two hexadecimal digits`)
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String()
}

// word moves past a bare name. A colon belongs to it when a letter or digit
// follows.
func (l *lexer) word() {
	text := l.file.Text
	for l.at < len(text) {
		r, size := utf8.DecodeRuneInString(text[l.at:])
		if r == utf8.RuneError && size <= 1 || !isWordRune(r, false) {
			return
		}
		if r == ':' {
			next, _ := utf8.DecodeRuneInString(text[l.at+1:])
			if next == ':' || next == utf8.RuneError || !isWordRune(next, false) {
				return
			}
		}
		l.at += size
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
