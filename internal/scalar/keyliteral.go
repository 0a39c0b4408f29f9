package scalar

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// KeyLiteral returns a value as programs write it where a declaration gives the
// type: 12, 1.50, 1d, 1.5f, "text", true, #1998-09-02#. Floats without a
// literal are inf, -inf and nan. ScanKey reads it back.
func KeyLiteral(v Value) string {
	text := Format(v)
	switch v.Type.Kind {
	case Int, Uint:
		return text
	case Decimal:
		if v.Type.Scale == 0 {
			return text + "d"
		}
		return text
	case Float:
		if strings.HasSuffix(text, "inf") || text == "nan" {
			return text
		}
		return text + "f"
	}
	return Literal(v)
}

// ScanKey reads the literal of a type that s starts with and returns its
// length. The suffix of a number may be missing.
func ScanKey(t Type, s string) (v Value, n int, err error) {
	switch {
	case t.Kind == String && strings.HasPrefix(s, `"`):
		if v, n, err = scanString(s); err == nil && !utf8.ValidString(v.str) {
			err = fmt.Errorf("the text of %s is not valid UTF-8", s[:n])
		}
		return v, n, err
	case t.Kind == Datetime && strings.HasPrefix(s, "#"):
		return scanDatetime(s)
	case t.Kind == String || t.Kind == Datetime:
		return Value{}, 0, fmt.Errorf("expected %s, such as %s", t, KeyLiteral(Value{Type: t}))
	}
	n = strings.IndexAny(s, ",] \t")
	if n < 0 {
		n = len(s)
	}
	text := s[:n]
	switch {
	case t.Kind == Decimal:
		text = strings.TrimSuffix(text, "d")
	case t.Kind == Float && !strings.HasSuffix(text, "inf"):
		text = strings.TrimSuffix(text, "f")
	}
	v, err = ParseText(t, text)
	return v, n, err
}
