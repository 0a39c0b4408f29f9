package irtext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// SyntaxError is a place where a text is not what its parser reads.
type SyntaxError struct {
	Span    source.Span
	Message string
}

// Error returns the message after file, line and column.
func (e *SyntaxError) Error() string {
	pos := e.Span.Position()
	return fmt.Sprintf("%s:%d:%d: %s", pos.File, pos.Line, pos.Column, e.Message)
}

// TokenKind tells tokens apart.
type TokenKind uint8

// The kinds of token.
const (
	EndToken     TokenKind = iota // of the line
	WordToken                     // a bare word
	NameToken                     // a name between backquotes
	LiteralToken                  // a number, string or date
	PunctToken
)

// Token is a part of a line. Its text is the name itself for a name between
// backquotes, else what the file has.
type Token struct {
	Kind       TokenKind
	Text       string
	Value      scalar.Value // of a literal
	Start, End int
}

// Line is a line of the text with the lines indented under it.
type Line struct {
	indent     int
	Start, End int
	Tokens     []Token // the last is an EndToken
	Kids       []*Line
}

// MaxDepth bounds how deep operators and expressions may nest in a text, so
// that recursion over them cannot exhaust the stack.
const MaxDepth = 2000

type lexer struct {
	file *source.File
	at   int
}

// Fail ends the parse with an error at a range of bytes.
func (l *lexer) Fail(start, end int, format string, args ...any) {
	panic(&SyntaxError{source.Span{File: l.file, Start: start, End: end},
		fmt.Sprintf(format, args...)})
}

// lines splits the text into trees of lines by indentation. Blank lines and
// comments, from // to the end of the line, are left out.
func (l *lexer) lines() []*Line {
	root := &Line{indent: -1}
	open := []*Line{root}
	for l.at < len(l.file.Text) {
		ln := l.line()
		if len(ln.Tokens) == 1 {
			continue
		}
		for len(open) > 1 && open[len(open)-1].indent >= ln.indent {
			open = open[:len(open)-1]
		}
		parent := open[len(open)-1]
		if len(parent.Kids) > 0 && parent.Kids[0].indent != ln.indent {
			l.Fail(ln.Start, ln.End,
				"this line is indented by %d columns, the lines beside it by %d",
				ln.indent, parent.Kids[0].indent)
		}
		if len(open) > MaxDepth {
			l.Fail(ln.Start, ln.End, "lines are nested deeper than %d levels", MaxDepth)
		}
		parent.Kids = append(parent.Kids, ln)
		open = append(open, ln)
	}
	return root.Kids
}

// line scans one line and its line break.
func (l *lexer) line() *Line {
	start := l.at
	for l.at < len(l.file.Text) && l.file.Text[l.at] == ' ' {
		l.at++
	}
	ln := &Line{indent: l.at - start, Start: l.at}
	for {
		t := l.token()
		ln.Tokens = append(ln.Tokens, t)
		if t.Kind == EndToken {
			ln.End = t.Start
			return ln
		}
	}
}

func (l *lexer) token() Token {
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
		return Token{Kind: EndToken, Start: start, End: start}
	}
	c := text[l.at]
	r, size := utf8.DecodeRuneInString(text[l.at:])
	kind := PunctToken
	switch {
	case c == '\n':
		l.at++
		return Token{Kind: EndToken, Start: start, End: start}
	case startsLiteral(text[l.at:]):
		return l.literal()
	case c == '`':
		l.quotedName()
		return Token{Kind: NameToken, Text: l.unquote(start, l.at), Start: start, End: l.at}
	case strings.HasPrefix(text[l.at:], "->"):
		l.at += 2
	case strings.IndexByte("()[],;:=*", c) >= 0:
		l.at++
	case r != utf8.RuneError && isWordRune(r, true):
		kind = WordToken
		l.word()
	default:
		l.Fail(start, start+size, "unexpected character %s", strconv.QuoteRune(r))
	}
	return Token{Kind: kind, Text: text[start:l.at], Start: start, End: l.at}
}

// startsLiteral reports whether s starts with a constant other than true and
// false, which are words.
func startsLiteral(s string) bool {
	if s[0] == '-' {
		s = s[1:]
		return s != "" && isDigit(s[0]) || strings.HasPrefix(s, "inf:float")
	}
	return isDigit(s[0]) || s[0] == '"' || s[0] == '#' || strings.HasPrefix(s, "inf:float") ||
		strings.HasPrefix(s, "nan:float")
}

func (l *lexer) literal() Token {
	start, rest := l.at, l.file.Text[l.at:]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	v, n, err := scalar.ScanLiteral(rest)
	if err != nil {
		l.Fail(start, start+len(rest), "%s", err)
	}
	l.at += n
	return Token{LiteralToken, rest[:n], v, start, l.at}
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
	l.Fail(start, l.at, "the name has no closing backquote on this line")
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
			l.Fail(start, end, `\x in a name needs two hexadecimal digits`)
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
