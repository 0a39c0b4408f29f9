package parse

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// number scans `12`, `1.5`, `1e3` and the suffixed `5d`, `0f`. A dot belongs to
// the number only before a digit, so that `x = 30.` ends its clause.
func (s *scanner) number() lexer.TokenType {
	start := s.pos
	kind := tokInt
	s.digits()
	if s.at(0) == '.' && isDigit(s.at(1)) {
		kind = tokDecimal
		s.pos++
		s.digits()
	}
	if c := s.at(0); c == 'e' || c == 'E' {
		n := 1
		if sign := s.at(1); sign == '+' || sign == '-' {
			n = 2
		}
		if isDigit(s.at(n)) {
			kind = tokFloat
			s.pos += n
			s.digits()
		}
	}
	switch c := s.at(0); {
	case c == 'f':
		kind = tokFloat
		s.pos++
	case c == 'd' && kind != tokFloat:
		kind = tokDecimal
		s.pos++
	}
	if end := s.identEnd(s.pos); end > s.pos {
		s.pos = end
		s.report(&diag.Diagnostic{
			Code:    diag.MalformedNumber,
			Message: fmt.Sprintf("%s is not a number", s.text[start:end]),
			Span:    s.span(start),
			Notes: []string{"numbers are written 12, 1.5, 1.5d (decimal), 1.5f and 1e3 (float); a name " +
				"starts with a letter or _"},
		})
		return tokBad
	}
	return kind
}

func (s *scanner) digits() {
	for isDigit(s.at(0)) {
		s.pos++
	}
}

// str scans "..." on one line, or """...""" over several.
func (s *scanner) str() lexer.TokenType {
	start := s.pos
	quote := `"`
	if strings.HasPrefix(s.text[start:], `"""`) {
		quote = `"""`
	}
	s.pos += len(quote)
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"' && strings.HasPrefix(s.text[s.pos:], quote):
			s.pos += len(quote)
			s.checkEncoding(start, s.pos)
			return tokString
		case c == '\\' && s.pos+1 < len(s.text) && s.text[s.pos+1] != '\n':
			s.pos += 2
		case c == '\n' && quote == `"`:
			return s.unterminatedString(start)
		default:
			s.pos++
		}
	}
	return s.unterminatedString(start)
}

func (s *scanner) unterminatedString(start int) lexer.TokenType {
	d := &diag.Diagnostic{
		Code:    diag.UnterminatedString,
		Message: "string is never closed",
		Span:    s.span(start),
		At:      "this string runs to the end of the line",
		Helps:   []string{`close it with "; a string over several lines stands in """`},
	}
	if strings.HasPrefix(s.text[start:], `"""`) {
		d.Span.End = start + 3
		d.At = "this string runs to the end of the file"
		d.Helps = []string{`close it with """`}
	} else {
		s.pos = start + len(strings.TrimRight(s.text[start:s.pos], " \t\r"))
		d.Span.End = s.pos
	}
	s.checkEncoding(start, s.pos)
	s.report(d)
	return tokBad
}

// datetime scans #1998-09-02# and #1998-09-02T12:00:00Z#. Decoding the literal
// finds out whether the text is a date.
func (s *scanner) datetime() lexer.TokenType {
	start := s.pos
	line := s.text[start:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	if n := strings.IndexByte(line[1:], '#'); n >= 0 {
		s.pos += 1 + n + 1
		s.checkEncoding(start, s.pos)
		return tokDatetime
	}
	n := strings.IndexFunc(line[1:], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != ':'
	})
	if n < 0 {
		n = len(line) - 1
	}
	s.pos += 1 + n
	s.report(&diag.Diagnostic{
		Code:    diag.MalformedDatetime,
		Message: "datetime literal is never closed",
		Span:    s.span(start),
		Helps:   []string{"close it with #: #1998-09-02#"},
	})
	return tokBad
}

// unescape decodes the inside of a string literal. The second result is the
// byte range of the first bad escape, or 0, 0.
func unescape(inside string) (string, [2]int) {
	if strings.IndexByte(inside, '\\') < 0 {
		return inside, [2]int{}
	}
	var b strings.Builder
	for i := 0; i < len(inside); {
		if inside[i] != '\\' {
			b.WriteByte(inside[i])
			i++
			continue
		}
		if i+1 == len(inside) {
			return b.String(), [2]int{i, i + 1}
		}
		switch c := inside[i+1]; c {
		case '"', '\\':
			b.WriteByte(c)
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u':
			r, size := unicodeEscape(inside[i:])
			if size == 0 {
				return b.String(), [2]int{i, min(i+6, len(inside))}
			}
			b.WriteRune(r)
			i += size
			continue
		default:
			_, size := utf8.DecodeRuneInString(inside[i+1:])
			return b.String(), [2]int{i, i + 1 + size}
		}
		i += 2
	}
	return b.String(), [2]int{}
}

// unicodeEscape decodes \uXXXX, or a surrogate pair of two, at the start of s.
// The size is 0 when it is malformed.
func unicodeEscape(s string) (rune, int) {
	hex := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		var r rune
		for _, c := range []byte(s[2:6]) {
			switch {
			case isDigit(c):
				r = r<<4 | rune(c-'0')
			case 'a' <= c && c <= 'f':
				r = r<<4 | rune(c-'a'+10)
			case 'A' <= c && c <= 'F':
				r = r<<4 | rune(c-'A'+10)
			default:
				return 0, false
			}
		}
		return r, true
	}
	const highMin, lowMin, lowMax = 0xD800, 0xDC00, 0xDFFF
	r, ok := hex(s)
	switch {
	case !ok || lowMin <= r && r <= lowMax:
		return 0, 0
	case r < highMin || r > lowMax:
		return r, 6
	}
	low, ok := hex(s[6:])
	if !ok || low < lowMin || low > lowMax {
		return 0, 0
	}
	return 0x10000 + (r-highMin)<<10 + (low - lowMin), 12
}
