package scalar

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Format returns a value as result files have it: no quotes, no type. A decimal
// has all digits of its scale; a float the fewest digits that read back as the
// same number, and inf, -inf or nan; a datetime is 2006-01-02 at midnight and
// otherwise 2006-01-02T15:04:05Z, with six digits of fraction where it is not
// zero. ParseText reads it back.
func Format(v Value) string {
	if v.Type.Kind == String {
		return v.str
	}
	var buf [40]byte
	return string(AppendFormat(buf[:0], v))
}

// AppendFormat appends Format(v) to dst.
func AppendFormat(dst []byte, v Value) []byte {
	switch v.Type.Kind {
	case String:
		return append(dst, v.str...)
	case Decimal:
		if !v.FitsWord() {
			return v.Int128().appendText(dst, int(v.Type.Scale))
		}
	}
	return AppendBits(dst, v.Type, v.word)
}

// AppendBits appends Format of the value of a fixed-size type with the given
// bits (see OfBits) to dst.
func AppendBits(dst []byte, t Type, word uint64) []byte {
	switch t.Kind {
	case Boolean:
		return strconv.AppendBool(dst, word != 0)
	case Uint:
		return strconv.AppendUint(dst, word, 10)
	case Float:
		return appendFloat(dst, t, math.Float64frombits(word))
	case Decimal:
		if t.Word != Whole {
			return strconv.AppendInt(dst, int64(word), 10)
		}
		return appendDecimal(dst, int64(word), int(t.Scale))
	case Datetime:
		return appendDatetime(dst, int64(word))
	}
	return strconv.AppendInt(dst, int64(word), 10)
}

func appendDecimal(dst []byte, n int64, scale int) []byte {
	if scale == 0 {
		return strconv.AppendInt(dst, n, 10)
	}
	magnitude := uint64(n)
	if scale > MaxScale {
		return Int128Of(n).appendText(dst, scale)
	}
	if n < 0 {
		dst = append(dst, '-')
		magnitude = -magnitude
	}
	unit := powersOfTen[scale].Lo
	dst = strconv.AppendUint(dst, magnitude/unit, 10)
	dst = append(dst, '.')
	return appendPadded(dst, magnitude%unit, scale)
}

// appendPadded appends n with leading zeros to the given width.
func appendPadded(dst []byte, n uint64, width int) []byte {
	for w := width - 1; w > 0 && n < powersOfTen[w].Lo; w-- {
		dst = append(dst, '0')
	}
	return strconv.AppendUint(dst, n, 10)
}

func appendFloat(dst []byte, t Type, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	bits := int(t.Bits)
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

func appendDatetime(dst []byte, micros int64) []byte {
	days, rest := SplitDay(micros)
	year, month, day := CivilFromDays(days)
	two := func(separator byte, n int64) {
		dst = append(dst, separator, byte('0'+n/10), byte('0'+n%10))
	}
	dst = appendYear(dst, year)
	two('-', int64(month))
	two('-', int64(day))
	if rest == 0 {
		return dst
	}
	two('T', rest/MicrosPerHour)
	two(':', rest/MicrosPerMinute%60)
	two(':', rest/MicrosPerSecond%60)
	if fraction := rest % MicrosPerSecond; fraction != 0 {
		dst = append(dst, '.')
		dst = appendPadded(dst, uint64(fraction), 6)
	}
	return append(dst, 'Z')
}

// appendYear writes four digits, and beyond them a sign and six as ISO 8601's
// expanded form has it.
func appendYear(dst []byte, year int64) []byte {
	switch {
	case year >= 0 && year <= 9999:
		return appendPadded(dst, uint64(year), 4)
	case year < 0:
		return appendPadded(append(dst, '-'), uint64(-year), 6)
	}
	return appendPadded(append(dst, '+'), uint64(year), 6)
}

// ParseText reads a value of a type from a field of a data file, as Format
// writes it. It is strict: no blanks around, no digits that would be lost. The
// error says what was expected and what is wrong.
func ParseText(t Type, s string) (Value, error) {
	if t.Kind == String {
		if !utf8.ValidString(s) {
			return Value{}, fmt.Errorf("expected string, but the text is not valid UTF-8")
		}
		return OfString(s), nil
	}
	if t.IsWide() {
		n, why := parseWide(s, int(t.Scale))
		if why != "" {
			return Value{}, textError(t, s, why)
		}
		return OfInt128(t, n), nil
	}
	word, err := ParseBits(t, s)
	if err != nil {
		return Value{}, err
	}
	return OfBits(t, word), nil
}

// ParseDecimal reads a decimal with as many digits after the point as are
// written: one of 18 digits if that holds it, else a wide one.
func ParseDecimal(s string) (Value, error) {
	_, fraction, _ := strings.Cut(s, ".")
	v, err := ParseText(WideDecimalOf(uint8(min(len(fraction), MaxWideScale))), s)
	if n := v.Int128(); err == nil && len(fraction) <= MaxScale && n.hasDigits(MaxScale) {
		return OfDecimal(v.Type.Scale, n.Int64()), nil
	}
	return v, err
}

// ParseWord reads a decimal of a data file and returns the word of it that the
// type t is. The error speaks of the whole decimal.
func ParseWord[S ~string | ~[]byte](t Type, s S) (uint64, error) {
	v, err := ParseText(t.Joined(), string(s))
	if err != nil {
		return 0, err
	}
	return v.Part(t).word, nil
}

// ParseBits is ParseText for the types of one word, giving the bits that OfBits
// takes. It does not allocate unless there is an error.
func ParseBits[S ~string | ~[]byte](t Type, s S) (uint64, error) {
	why := ""
	switch t.Kind {
	case Int:
		n, ok := parseInt(s)
		if ok && wrap(t, uint64(n)) == uint64(n) {
			return uint64(n), nil
		}
		why = integerProblem(t, string(s))
	case Uint:
		n, ok := parseUint(s)
		if ok && wrap(t, n) == n {
			return n, nil
		}
		why = integerProblem(t, string(s))
	case Decimal:
		if t.Word != Whole {
			if n, ok := parseInt(s); ok {
				return uint64(n), nil
			}
			break
		}
		var n int64
		if n, why = parseDecimal(s, int(t.Scale)); why == "" {
			return uint64(n), nil
		}
	case Float:
		f, ok := parseFloat(t, s)
		if ok {
			return OfFloat(t, f).word, nil
		}
	case Boolean:
		switch {
		case len(s) == 4 && string(s) == "true":
			return 1, nil
		case len(s) == 5 && string(s) == "false":
			return 0, nil
		}
		why = "write true or false"
	case Datetime:
		var n int64
		if n, why = parseDatetime(s); why == "" {
			return uint64(n), nil
		}
	}
	return 0, textError(t, string(s), why)
}

func textError(t Type, s, why string) error {
	const most = 40
	if utf8.RuneCountInString(s) > most {
		s = Substring(s, 0, most) + "..."
	}
	if s == "" {
		return fmt.Errorf("expected %s, found nothing", t)
	}
	if why != "" {
		why = ": " + why
	}
	return fmt.Errorf("expected %s, found %s%s", t, Quote(s), why)
}

// parseInt reads an optional minus and digits that fit 64 bits.
func parseInt[S ~string | ~[]byte](s S) (int64, bool) {
	if len(s) > 0 && s[0] == '-' {
		n, ok := parseUint(s[1:])
		return -int64(n), ok && n <= 1<<63
	}
	n, ok := parseUint(s)
	return int64(n), ok && n < 1<<63
}

func parseUint[S ~string | ~[]byte](s S) (uint64, bool) {
	if len(s) == 0 {
		return 0, false
	}
	n := uint64(0)
	for i := 0; i < len(s); i++ {
		digit := uint64(s[i] - '0')
		if digit > 9 {
			return 0, false
		}
		// Nineteen digits always fit; beyond, the step is watched.
		if i >= 19 && (n > math.MaxUint64/10 || n*10 > math.MaxUint64-digit) {
			return 0, false
		}
		n = n*10 + digit
	}
	return n, true
}

func integerProblem(t Type, s string) string {
	digits := s
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" {
		return ""
	}
	for i := 0; i < len(digits); i++ {
		if digits[i] < '0' || digits[i] > '9' {
			return ""
		}
	}
	lo, hi := integerRange(t)
	return fmt.Sprintf("the range is %s to %s", lo, hi)
}

// parseDecimal reads digits with an optional point between them. Digits beyond
// the scale must be zeros.
func parseDecimal[S ~string | ~[]byte](s S, scale int) (n int64, why string) {
	i, negative := 0, false
	if len(s) > 0 && s[0] == '-' {
		i, negative = 1, true
	}
	const tooLarge = "the number has more digits than 64 bits hold"
	const malformed = "write digits, a point and digits"
	magnitude, start, point := uint64(0), i, -1
	step := func(digit uint64) bool {
		if magnitude > (1<<63)/10 {
			return false
		}
		magnitude = magnitude*10 + digit
		return magnitude <= 1<<63
	}
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '.' && point < 0 && i > start:
			point = i
		case c < '0' || c > '9':
			return 0, malformed
		case point >= 0 && i-point > scale:
			if c != '0' {
				return 0, fmt.Sprintf("more than %s after the point", plural(scale, "digit"))
			}
		case !step(uint64(c - '0')):
			return 0, tooLarge
		}
	}
	if i == start || point == i-1 {
		return 0, malformed
	}
	written := 0
	if point >= 0 {
		written = min(i-point-1, scale)
	}
	for ; written < scale; written++ {
		if !step(0) {
			return 0, tooLarge
		}
	}
	if negative {
		return -int64(magnitude), ""
	}
	if magnitude == 1<<63 {
		return 0, tooLarge
	}
	return int64(magnitude), ""
}

// parseWide is parseDecimal for 38 digits.
func parseWide(s string, scale int) (n Int128, why string) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" || point && fraction == "" || strings.Trim(whole, "0123456789") != "" ||
		strings.Trim(fraction, "0123456789") != "" {
		return n, "write digits, a point and digits"
	}
	if fraction = strings.TrimRight(fraction, "0"); len(fraction) > scale {
		return n, fmt.Sprintf("more than %s after the point", plural(scale, "digit"))
	}
	all := strings.TrimLeft(whole+fraction+strings.Repeat("0", scale-len(fraction)), "0")
	if len(all) > MaxWideScale {
		return n, fmt.Sprintf("the number has more than %d digits", MaxWideScale)
	}
	// Each half has at most 19 digits, which 64 bits hold; all 38 are within
	// 127 bits.
	half := min(len(all), MaxWideScale/2)
	upper, _ := parseUint(all[:len(all)-half])
	lower, _ := parseUint(all[len(all)-half:])
	n, _ = Uint128Of(upper).Mul(Pow10(half))
	n, _ = n.Add(Uint128Of(lower))
	if negative {
		n, _ = n.Neg()
	}
	return n, ""
}

// parseFloat reads what strconv does but for hexadecimal numbers, underscores
// and spelled-out names: the special values are inf, -inf and nan.
func parseFloat[S ~string | ~[]byte](t Type, s S) (float64, bool) {
	if t.Bits == 64 {
		if f, ok := shortFloat(s); ok {
			return f, true
		}
	}
	switch string(s) {
	case "inf":
		return math.Inf(1), true
	case "-inf":
		return math.Inf(-1), true
	case "nan":
		return math.NaN(), true
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '-', c == '+' && i > 0, c == '.', c == 'e', c == 'E':
		default:
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(string(s), int(t.Bits))
	return f, err == nil
}

// shortFloat reads digits with a point among them, which is how most numbers
// are written: an integer below 2^53 and a power of ten up to 10^22 are exact,
// so their quotient is rounded once (Clinger, "How to Read Floating Point
// Numbers Accurately", 1990).
func shortFloat[S ~string | ~[]byte](s S) (f float64, ok bool) {
	const most = 15
	if len(s) == 0 || len(s) > most+2 {
		return 0, false
	}
	i, negative := 0, s[0] == '-'
	if negative {
		i = 1
	}
	n, digits, point := int64(0), 0, len(s)
	for first := i; i < len(s); i++ {
		switch c := s[i] - '0'; {
		case c <= 9:
			n = n*10 + int64(c)
			digits++
		case s[i] == '.' && point == len(s) && i > first:
			point = i
		default:
			return 0, false
		}
	}
	if digits == 0 || digits > most || point == len(s)-1 {
		return 0, false
	}
	f = float64(n)
	if point < len(s) {
		f /= exactPowers[len(s)-1-point]
	}
	if negative {
		f = -f
	}
	return f, true
}

// exactPowers are the powers of ten that shortFloat divides by.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
	1e13, 1e14, 1e15}

// isoDay reads 2006-01-02, and returns the days since 1970-01-01. It refuses
// days after the 28th, which not every month has.
func isoDay[S ~string | ~[]byte](s S) (days int64, ok bool) {
	if len(s) != len("2006-01-02") {
		return 0, false
	}
	a, b, c, d := s[0]-'0', s[1]-'0', s[2]-'0', s[3]-'0'
	m, n, x, y := s[5]-'0', s[6]-'0', s[8]-'0', s[9]-'0'
	bad := a | b | c | d | m | n | x | y
	// A digit stays below 16 if 6 is added; other bytes do not, or were not.
	bad |= (a + 6) | (b + 6) | (c + 6) | (d + 6) | (m + 6) | (n + 6) | (x + 6) | (y + 6)
	month, day := 10*int(m)+int(n), 10*int(x)+int(y)
	if bad >= 16 || s[4] != '-' || s[7] != '-' || month-1 > 11 || month == 0 || day-1 > 27 ||
		day == 0 {
		return 0, false
	}
	return DaysFromCivil(1000*int64(a)+100*int64(b)+10*int64(c)+int64(d), month, day), true
}

// parseDatetime reads 2006-01-02, optionally followed by T or a blank,
// 15:04:05, a fraction of up to six digits, and Z.
func parseDatetime[S ~string | ~[]byte](s S) (micros int64, why string) {
	if days, ok := isoDay(s); ok {
		return days * MicrosPerDay, ""
	}
	const malformed = "write 2006-01-02 or 2006-01-02T15:04:05Z"
	const missing = "there is no such date or time"
	digits := func(from, n int) (int, bool) {
		if from+n > len(s) {
			return 0, false
		}
		v := 0
		for _, c := range []byte(s[from : from+n]) {
			if c < '0' || c > '9' {
				return 0, false
			}
			v = v*10 + int(c-'0')
		}
		return v, true
	}
	is := func(at int, c byte) bool { return at < len(s) && s[at] == c }
	at, width, negative := 0, 4, false
	if is(0, '-') || is(0, '+') {
		at, width, negative = 1, 6, s[0] == '-'
	}
	year, ok1 := digits(at, width)
	month, ok2 := digits(at+width+1, 2)
	day, ok3 := digits(at+width+4, 2)
	if !ok1 || !ok2 || !ok3 || !is(at+width, '-') || !is(at+width+3, '-') {
		return 0, malformed
	}
	if negative {
		year = -year
	}
	at += width + 6
	var hour, minute, second int
	if at < len(s) {
		var ok4 bool
		hour, ok1 = digits(at+1, 2)
		minute, ok2 = digits(at+4, 2)
		second, ok3 = digits(at+7, 2)
		ok4 = is(at, 'T') || is(at, ' ')
		if !ok1 || !ok2 || !ok3 || !ok4 || !is(at+3, ':') || !is(at+6, ':') {
			return 0, malformed
		}
		at += 9
		if is(at, '.') {
			fraction, n, ok := scanFraction(s[at+1:])
			if !ok {
				return 0, "the fraction has one to six digits"
			}
			micros = fraction
			at += 1 + n
		}
		if is(at, 'Z') {
			at++
		}
		if at != len(s) {
			return 0, malformed
		}
	}
	v, ok := civil(int64(year), month, day, hour, minute, second, micros)
	if !ok {
		return 0, missing
	}
	return v.Int(), ""
}

// scanFraction reads one to six digits as millionths and returns how many there
// were.
func scanFraction[S ~string | ~[]byte](s S) (micros int64, n int, ok bool) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		if n == 6 {
			return 0, n, false
		}
		micros = micros*10 + int64(s[n]-'0')
		n++
	}
	for i := n; i < 6; i++ {
		micros *= 10
	}
	return micros, n, n > 0
}
