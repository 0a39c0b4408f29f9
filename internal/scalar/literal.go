package scalar

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Literal returns a value as programs and plans write it, so that ParseLiteral
// gives back the same value of the same type: 12, 12:int[8], 12:uint, 1.50,
// 12d, 1.50:decimal[38,2], 1.5f, 1.5:float[32], inf:float, "text", true,
// #1998-09-02#.
func Literal(v Value) string {
	text := Format(v)
	switch v.Type.Kind {
	case Int, Uint:
		if v.Type != IntType {
			return text + ":" + v.Type.String()
		}
	case Decimal:
		switch {
		case v.Type.IsWide() || v.Type.Word != Whole:
			return text + ":" + v.Type.String()
		case v.Type.Scale == 0:
			return text + "d"
		}
	case Float:
		if v.Type != FloatType || math.IsInf(v.Float(), 0) || math.IsNaN(v.Float()) {
			return text + ":" + v.Type.String()
		}
		return text + "f"
	case String:
		return Quote(text)
	case Datetime:
		return "#" + text + "#"
	}
	return text
}

// Quote returns a string literal: quotes, backslashes and control characters
// are escaped, everything else stands for itself.
func Quote(s string) string {
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < ' ' || c == 0x7f:
			b = fmt.Appendf(b, "\\u%04X", c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// Unquote returns the text of what stands between the quotes of a string
// literal, with the escapes \" \\ \n \t \r \uXXXX replaced. The error's offset
// is that of the escape that is wrong.
func Unquote(s string) (text string, offset int, err error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, 0, nil
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b = append(b, s[i])
			i++
			continue
		}
		r, n, err := unescape(s[i:])
		if err != nil {
			return "", i, err
		}
		b = utf8.AppendRune(b, r)
		i += n
	}
	return string(b), 0, nil
}

// unescape reads the escape that s starts with.
func unescape(s string) (r rune, n int, err error) {
	if len(s) < 2 {
		return 0, 0, fmt.Errorf("the string ends in a lone backslash")
	}
	switch s[1] {
	case '"', '\\':
		return rune(s[1]), 2, nil
	case 'n':
		return '\n', 2, nil
	case 't':
		return '\t', 2, nil
	case 'r':
		return '\r', 2, nil
	case 'u':
		high, ok := hexEscape(s)
		if !ok {
			return 0, 0, fmt.Errorf(`\u needs four hexadecimal digits`)
		}
		if !utf16.IsSurrogate(high) {
			return high, 6, nil
		}
		if low, ok := hexEscape(s[6:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, 12, nil
			}
		}
		return 0, 0, fmt.Errorf(`%s is half of a surrogate pair and no character`, s[:6])
	}
	r, _ = utf8.DecodeRuneInString(s[1:])
	return 0, 0, fmt.Errorf(`\%c is no escape; there are \" \\ \n \t \r \uXXXX`, r)
}

func hexEscape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	v := rune(0)
	for _, c := range []byte(s[2:6]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | rune(c)
	}
	return v, true
}

// ParseLiteral reads what Literal writes, and the other spellings of LogiQL's
// literals: 1.5d, 1e3, 1e3f.
func ParseLiteral(s string) (Value, error) {
	v, n, err := ScanLiteral(s)
	if err == nil && n < len(s) {
		return Value{}, fmt.Errorf("%s goes on after the literal %s", s, s[:n])
	}
	return v, err
}

// ScanLiteral reads the literal that s starts with and returns its length.
func ScanLiteral(s string) (v Value, n int, err error) {
	switch {
	case s == "":
		return Value{}, 0, fmt.Errorf("expected a literal, found nothing")
	case s[0] == '"':
		return scanString(s)
	case s[0] == '#':
		return scanDatetime(s)
	}
	for _, word := range []string{"true", "false"} {
		if strings.HasPrefix(s, word) {
			return OfBool(word == "true"), len(word), nil
		}
	}
	return scanNumber(s)
}

func scanString(s string) (Value, int, error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			text, _, err := Unquote(s[1:i])
			return OfString(text), i + 1, err
		}
	}
	return Value{}, 0, fmt.Errorf("the string literal %s has no closing quote", s)
}

func scanDatetime(s string) (Value, int, error) {
	end := strings.IndexByte(s[1:], '#')
	if end < 0 {
		return Value{}, 0, fmt.Errorf("the datetime literal %s has no closing #", s)
	}
	v, err := ParseText(DatetimeType, s[1:end+1])
	return v, end + 2, err
}

// scanNumber reads digits, point, exponent and then a suffix, which decides the
// type.
func scanNumber(s string) (v Value, n int, err error) {
	for _, special := range []string{"inf", "-inf", "nan"} {
		if strings.HasPrefix(s, special+":float") {
			n = len(special)
			break
		}
	}
	point, exponent := false, false
	if n == 0 {
		n, point, exponent = scanDigits(s)
	}
	if n == 0 {
		return Value{}, 0, fmt.Errorf("%s is no literal", s)
	}
	text, rest := s[:n], s[n:]
	suffix := ""
	t := IntType
	switch {
	case strings.HasPrefix(rest, ":"):
		if t, suffix, err = scanType(rest); err != nil {
			return Value{}, 0, err
		}
	case strings.HasPrefix(rest, "f"):
		t, suffix = FloatType, "f"
	case strings.HasPrefix(rest, "d"):
		t, suffix = decimalLiteralType(text), "d"
	case exponent:
		t = FloatType
	case point:
		t = decimalLiteralType(text)
	}
	if t.Kind == Decimal && len(text)-strings.IndexByte(text, '.')-1 > t.Digits() && point {
		return Value{}, 0, fmt.Errorf("%s has more than %d digits after the point", text,
			t.Digits())
	}
	v, err = ParseText(t, text)
	return v, n + len(suffix), err
}

func decimalLiteralType(text string) Type {
	at := strings.IndexByte(text, '.')
	if at < 0 {
		return DecimalOf(0)
	}
	return DecimalOf(uint8(min(len(text)-at-1, MaxScale)))
}

// scanDigits returns the length of the number that s starts with. A point
// counts only if a digit follows, so that the full stop of a clause is left
// alone.
func scanDigits(s string) (n int, point, exponent bool) {
	digits := func() int {
		start := n
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return n - start
	}
	if n < len(s) && s[n] == '-' {
		n++
	}
	if digits() == 0 {
		return 0, false, false
	}
	if n+1 < len(s) && s[n] == '.' && s[n+1] >= '0' && s[n+1] <= '9' {
		n++
		point = true
		digits()
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		mark := n
		n++
		if n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		if exponent = digits() > 0; !exponent {
			n = mark
		}
	}
	return n, point, exponent
}

// scanType reads ":int[8]" and the like.
func scanType(s string) (Type, string, error) {
	end := 1
	for end < len(s) && s[end] >= 'a' && s[end] <= 'z' {
		end++
	}
	if end < len(s) && s[end] == '[' {
		if closing := strings.IndexByte(s[end:], ']'); closing > 0 {
			end += closing + 1
		}
	}
	t, ok := ParseType(s[1:end])
	if !ok || !t.IsNumeric() {
		return Type{}, "", fmt.Errorf("%s is no type of a number", Quote(s[1:end]))
	}
	return t, s[:end], nil
}

// ParseType reads a type as Type.String writes it, and LB3's spellings int[64],
// float[64], decimal[64] and decimal[128].
func ParseType(s string) (Type, bool) {
	name, parameter, indexed := strings.Cut(s, "[")
	if indexed {
		var ok bool
		if parameter, ok = strings.CutSuffix(parameter, "]"); !ok {
			return Type{}, false
		}
	}
	return TypeOf(name, parameter)
}

// TypeOf returns the type of a name and the text between its brackets, "" when
// there are none: ("int", "8"), ("decimal", "18,2"), ("string", "").
func TypeOf(name, parameter string) (Type, bool) {
	bits, err := strconv.ParseUint(parameter, 10, 8)
	width := err == nil && (bits == 8 || bits == 16 || bits == 32 || bits == 64)
	if parameter == "" {
		bits, width = 64, true
	}
	switch {
	case name == "int" && width:
		return IntOf(uint8(bits)), true
	case name == "uint" && width:
		return UintOf(uint8(bits)), true
	case name == "float" && width && bits >= 32:
		return Type{Kind: Float, Bits: uint8(bits)}, true
	case name == "decimal" && width && bits == 64:
		return DecimalType, true
	case name == "decimal" && parameter == "128":
		return WideDecimalOf(DecimalType.Scale), true
	case name == "decimal":
		precision, scale, ok := strings.Cut(parameter, ",")
		p, err1 := strconv.ParseUint(strings.TrimSpace(precision), 10, 8)
		s, err2 := strconv.ParseUint(strings.TrimSpace(scale), 10, 8)
		if !ok || err1 != nil || err2 != nil || p < 1 || p > MaxWideScale || s > p {
			return Type{}, false
		}
		if p > MaxScale {
			return WideDecimalOf(uint8(s)), true
		}
		return DecimalOf(uint8(s)), true
	case name == "high" || name == "low":
		scale, err := strconv.ParseUint(parameter, 10, 8)
		if err != nil || scale > MaxWideScale {
			return Type{}, false
		}
		word := High
		if name == "low" {
			word = Low
		}
		return WideDecimalOf(uint8(scale)).WordOf(word), true
	case parameter != "":
		return Type{}, false
	case name == "boolean":
		return BooleanType, true
	case name == "datetime":
		return DatetimeType, true
	case name == "string":
		return StringType, true
	}
	return Type{}, false
}
