package scalar

import (
	"fmt"
	"strconv"
	"strings"
)

// The directives of datetime:format and datetime:parse. They are strftime's,
// but for the four that LogicBlox takes from Boost.Date_Time: %f is the point
// and six digits of the fraction, %F the same but nothing for whole seconds, %s
// is %S with %f, and %Q the offset from UTC.
const directives = "YymbBdaAHIMSpjQsFf%"

var monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"}

var dayNames = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
	"Saturday"}

// checkFormat looks at a constant format in the second argument.
func checkFormat(constants []*Value) error {
	if constants[1] == nil {
		return nil
	}
	return validFormat(constants[1].str)
}

func validFormat(format string) error {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		if i == len(format) {
			return fmt.Errorf("the format ends in a lone %%; write %%%% for a percent sign")
		}
		if strings.IndexByte(directives, format[i]) < 0 {
			return fmt.Errorf("%%%c is no directive of a datetime's format; there are %%Y %%y %%m %%b %%B %%d %%a %%A %%H %%I %%M %%S %%p %%j %%Q %%s %%F %%f %%%%", format[i])
		}
	}
	return nil
}

func evalFormat(_ Type, args []Value) (Value, bool) {
	s, err := FormatDatetime(args[0].Int(), args[1].str)
	return OfString(s), err == nil
}

// FormatDatetime writes a datetime by a format.
func FormatDatetime(micros int64, format string) (string, error) {
	if err := validFormat(format); err != nil {
		return "", err
	}
	days, rest := SplitDay(micros)
	year, month, day := CivilFromDays(days)
	part := func(u Unit) int {
		n, _ := DatetimePart(micros, u)
		return int(n)
	}
	var b []byte
	two := func(n int) { b = append(b, byte('0'+n/10), byte('0'+n%10)) }
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b = append(b, format[i])
			continue
		}
		i++
		switch format[i] {
		case 'Y':
			b = appendYear(b, year)
		case 'y':
			two(int(year - floorDiv(year, 100)*100))
		case 'm':
			two(month)
		case 'b':
			b = append(b, monthNames[month-1][:3]...)
		case 'B':
			b = append(b, monthNames[month-1]...)
		case 'd':
			two(day)
		case 'a':
			b = append(b, dayNames[part(DayOfWeek)][:3]...)
		case 'A':
			b = append(b, dayNames[part(DayOfWeek)]...)
		case 'H':
			two(part(Hour))
		case 'I':
			two((part(Hour)+11)%12 + 1)
		case 'M':
			two(part(Minute))
		case 'S':
			two(part(Second))
		case 'p':
			if part(Hour) < 12 {
				b = append(b, "AM"...)
			} else {
				b = append(b, "PM"...)
			}
		case 'j':
			b = fmt.Appendf(b, "%03d", part(DayOfYear))
		case 'Q':
			b = append(b, "+00:00"...)
		case 's':
			two(part(Second))
			b = fmt.Appendf(b, ".%06d", rest%MicrosPerSecond)
		case 'f':
			b = fmt.Appendf(b, ".%06d", rest%MicrosPerSecond)
		case 'F':
			if rest%MicrosPerSecond != 0 {
				b = fmt.Appendf(b, ".%06d", rest%MicrosPerSecond)
			}
		case '%':
			b = append(b, '%')
		}
	}
	return string(b), nil
}

func evalParse(_ Type,
	args []Value) (Value, bool) {
	return ParseDatetime(args[0].str, args[1].str)
}

// ParseDatetime reads a datetime by a format. The whole text must match;
// letters' case does not matter in names, and a number may have fewer digits
// than %m and its kin write. Fields that the format leaves out are those of
// 1970-01-01 00:00:00 UTC. It has no value where text and format disagree or
// the fields denote no datetime.
func ParseDatetime(s, format string) (Value, bool) {
	if validFormat(format) != nil {
		return Value{}, false
	}
	p := datetimeParser{rest: s, year: 1970, month: 1, day: 1, twelve: -1, pm: -1, dayOfYear: -1}
	for i := 0; i < len(format); i++ {
		ok := false
		if format[i] != '%' {
			ok = p.literal(format[i])
		} else {
			i++
			ok = p.directive(format[i])
		}
		if !ok {
			return Value{}, false
		}
	}
	if p.rest != "" {
		return Value{}, false
	}
	return p.result()
}

type datetimeParser struct {
	rest                 string
	year                 int64
	month, day           int
	hour, minute, second int
	micros, offset       int64
	twelve, pm           int // %I and %p; -1 when not given
	dayOfYear            int // -1 when not given
}

func (p *datetimeParser) literal(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// number reads between 1 and width digits.
func (p *datetimeParser) number(width, least, most int, to *int) bool {
	n := 0
	for n < width && n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(p.rest[:n])
	if err != nil || v < least || v > most {
		return false
	}
	p.rest = p.rest[n:]
	*to = v
	return true
}

// name reads one of the names, or its first three letters.
func (p *datetimeParser) name(list []string, short bool) (int, bool) {
	for i, name := range list {
		if short {
			name = name[:3]
		}
		if len(p.rest) >= len(name) && strings.EqualFold(p.rest[:len(name)], name) {
			p.rest = p.rest[len(name):]
			return i, true
		}
	}
	return 0, false
}

func (p *datetimeParser) directive(c byte) bool {
	switch c {
	case 'Y':
		sign := int64(1)
		width := 4
		if p.rest != "" && (p.rest[0] == '-' || p.rest[0] == '+') {
			if p.rest[0] == '-' {
				sign = -1
			}
			p.rest = p.rest[1:]
			width = 6
		}
		var y int
		ok := p.number(width, 0, 999999, &y)
		p.year = sign * int64(y)
		return ok
	case 'y':
		var y int
		ok := p.number(2, 0, 99, &y)
		// As POSIX has it: 69 to 99 are of the last century.
		p.year = 2000 + int64(y)
		if y >= 69 {
			p.year -= 100
		}
		return ok
	case 'm':
		return p.number(2, 1, 12, &p.month)
	case 'b', 'B':
		m, ok := p.name(monthNames[:], c == 'b')
		p.month = m + 1
		return ok
	case 'd':
		return p.number(2, 1, 31, &p.day)
	case 'a', 'A':
		_, ok := p.name(dayNames[:], c == 'a')
		return ok
	case 'H':
		return p.number(2, 0, 23, &p.hour)
	case 'I':
		return p.number(2, 1, 12, &p.twelve)
	case 'M':
		return p.number(2, 0, 59, &p.minute)
	case 'S':
		return p.number(2, 0, 59, &p.second)
	case 'p':
		i, ok := p.name([]string{"AM", "PM"}, false)
		p.pm = i
		return ok
	case 'j':
		return p.number(3, 1, 366, &p.dayOfYear)
	case 'Q':
		return p.zone()
	case 's':
		return p.number(2, 0, 59, &p.second) && p.fraction()
	case 'f':
		return p.fraction()
	case 'F':
		return !strings.HasPrefix(p.rest, ".") || p.fraction()
	}
	return p.literal('%')
}

// fraction reads a point and up to six digits.
func (p *datetimeParser) fraction() bool {
	if !p.literal('.') {
		return false
	}
	micros, n, ok := scanFraction(p.rest)
	p.micros = micros
	p.rest = p.rest[n:]
	return ok
}

// zone reads Z, UTC, +hh:mm or +hhmm.
func (p *datetimeParser) zone() bool {
	for _, name := range []string{"UTC", "Z"} {
		if rest, ok := strings.CutPrefix(p.rest, name); ok {
			p.rest = rest
			return true
		}
	}
	sign := int64(1)
	if strings.HasPrefix(p.rest, "-") {
		sign = -1
	}
	var hours, minutes int
	if !p.literal('+') && !p.literal('-') || !p.number(2, 0, 23, &hours) {
		return false
	}
	p.rest = strings.TrimPrefix(p.rest, ":")
	ok := p.number(2, 0, 59, &minutes)
	p.offset = sign * (int64(hours)*MicrosPerHour + int64(minutes)*MicrosPerMinute)
	return ok
}

func (p *datetimeParser) result() (Value, bool) {
	if p.twelve >= 0 {
		p.hour = p.twelve % 12
		if p.pm == 1 {
			p.hour += 12
		}
	}
	if p.dayOfYear >= 0 {
		days := DaysFromCivil(p.year, 1, 1) + int64(p.dayOfYear) - 1
		var year int64
		year, p.month, p.day = CivilFromDays(days)
		if year != p.year {
			return Value{}, false
		}
	}
	v, ok := civil(p.year, p.month, p.day, p.hour, p.minute, p.second, p.micros)
	if !ok {
		return v, false
	}
	utc, _ := Int128Of(v.Int()).Sub(Int128Of(p.offset))
	return OfDatetime(utc.Int64()), utc.Fits64()
}
