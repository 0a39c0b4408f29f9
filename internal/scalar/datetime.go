package scalar

import (
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Lengths in microseconds, the unit of a datetime.
const (
	MicrosPerSecond int64 = 1_000_000
	MicrosPerMinute       = 60 * MicrosPerSecond
	MicrosPerHour         = 60 * MicrosPerMinute
	MicrosPerDay          = 24 * MicrosPerHour
)

// DaysFromCivil returns the days since 1970-01-01 of a date of the proleptic
// Gregorian calendar, month 1 to 12. Years start in March here, so that the
// leap day is the last of a year and months' lengths follow a line.
func DaysFromCivil(year int64, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := int64((153*(month-3)+2)/5 + day - 1)
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*146097 + dayOfEra - 719468
}

// CivilFromDays is the inverse of DaysFromCivil.
func CivilFromDays(days int64) (year int64, month, day int) {
	days += 719468
	era := floorDiv(days, 146097)
	dayOfEra := days - era*146097
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153
	day = int(dayOfYear - (153*shifted+2)/5 + 1)
	month = int(shifted) + 3
	year = yearOfEra + era*400
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

// DaysInMonth returns the length of a month.
func DaysInMonth(year int64, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// SplitDay returns the day of a datetime and the microseconds since its
// midnight.
func SplitDay(micros int64) (days, rest int64) {
	days = floorDiv(micros, MicrosPerDay)
	return days, micros - days*MicrosPerDay
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// joinDay is the inverse of SplitDay; it fails outside of the datetimes, which
// end some 292,000 years from 1970.
func joinDay(days, rest int64) (Value, bool) {
	n, ok := Int128Of(days).Mul(Int128Of(MicrosPerDay))
	if !ok {
		return Value{}, false
	}
	n, _ = n.Add(Int128Of(rest))
	return OfDatetime(n.Int64()), n.Fits64()
}

// civil makes a datetime of its fields where they denote one.
func civil(year int64, month, day, hour, minute, second int, micros int64) (Value, bool) {
	if year < -300_000 || year > 300_000 || month < 1 || month > 12 || day < 1 ||
		day > DaysInMonth(year, month) ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return Value{}, false
	}
	rest := int64(hour)*MicrosPerHour + int64(minute)*MicrosPerMinute +
		int64(second)*MicrosPerSecond + micros
	return joinDay(DaysFromCivil(year, month, day), rest)
}

// Unit is a unit of time as datetime:part, add and subtract name it.
type Unit uint8

// The units.
const (
	Year Unit = iota + 1
	Quarter
	Month
	Week
	Day
	Hour
	Minute
	Second
	Millisecond
	Microsecond
	DayOfWeek
	DayOfYear
)

var unitNames = []struct {
	unit Unit
	name string
}{
	{Year, "year"}, {Quarter, "quarter"}, {Month, "month"}, {Week, "week"}, {Day, "day"},
	{Hour, "hour"}, {Minute, "minute"},
	{Second, "second"}, {Millisecond, "millisecond"}, {Microsecond, "microsecond"},
	{DayOfWeek, "dayofweek"}, {DayOfYear, "dayofyear"},
}

// ParseUnit returns the unit of a name in singular or plural.
func ParseUnit(name string) (Unit, bool) {
	for _, u := range unitNames {
		if name == u.name || len(name) == len(u.name)+1 && name[:len(u.name)] == u.name &&
			name[len(u.name)] == 's' && u.unit <= Microsecond {
			return u.unit, true
		}
	}
	return 0, false
}

// checkUnit looks at a constant unit in the given argument.
func checkUnit(arg int, duration bool) func([]*Value) error {
	return func(constants []*Value) error {
		if constants[arg] == nil {
			return nil
		}
		name := constants[arg].str
		u, ok := ParseUnit(name)
		switch {
		case duration && (!ok || u == DayOfWeek || u == DayOfYear):
			return fmt.Errorf("%s is no unit of time; use years, quarters, months, weeks, days, hours, minutes, seconds, milliseconds or microseconds", Quote(name))
		case !duration && (!ok || u == Week):
			return fmt.Errorf("%s is no part of a datetime; use year, quarter, month, day, hour, minute, second, millisecond, microsecond, dayofweek or dayofyear", Quote(name))
		}
		return nil
	}
}

func evalPart(_ Type, args []Value) (Value, bool) {
	unit, ok := ParseUnit(args[1].str)
	if !ok {
		return Value{}, false
	}
	n, ok := DatetimePart(args[0].Int(), unit)
	return OfInt(IntType, n), ok
}

// HasOneLength reports whether every unit of the kind is as long as another.
func (u Unit) HasOneLength() bool {
	months, _, ok := u.length()
	return ok && months == 0
}

// DatetimePart returns a field of a datetime. Millisecond and Microsecond are
// the rest after whole seconds; DayOfWeek counts from 0 for Sunday,
// DayOfYear and Quarter from 1.
func DatetimePart(micros int64, unit Unit) (int64, bool) {
	days, rest := SplitDay(micros)
	switch unit {
	case Hour:
		return rest / MicrosPerHour, true
	case Minute:
		return rest / MicrosPerMinute % 60, true
	case Second:
		return rest / MicrosPerSecond % 60, true
	case Millisecond:
		return rest % MicrosPerSecond / 1000, true
	case Microsecond:
		return rest % MicrosPerSecond, true
	case DayOfWeek:
		return days + 4 - floorDiv(days+4, 7)*7, true
	}
	year, month, day := CivilFromDays(days)
	switch unit {
	case Year:
		return year, true
	case Quarter:
		return int64(month+2) / 3, true
	case Month:
		return int64(month), true
	case Day:
		return int64(day), true
	case DayOfYear:
		return days - DaysFromCivil(year, 1, 1) + 1, true
	}
	return 0, false
}

// length returns the months or the microseconds of a unit; one of them is 0.
func (u Unit) length() (months, micros int64, ok bool) {
	switch u {
	case Year:
		return 12, 0, true
	case Quarter:
		return 3, 0, true
	case Month:
		return 1, 0, true
	case Week:
		return 0, 7 * MicrosPerDay, true
	case Day:
		return 0, MicrosPerDay, true
	case Hour:
		return 0, MicrosPerHour, true
	case Minute:
		return 0, MicrosPerMinute, true
	case Second:
		return 0, MicrosPerSecond, true
	case Millisecond:
		return 0, 1000, true
	case Microsecond:
		return 0, 1, true
	}
	return 0, 0, false
}

func evalDatetimeAdd(_ Type, args []Value) (Value, bool) {
	unit, ok := ParseUnit(args[2].str)
	if !ok {
		return Value{}, false
	}
	micros, ok := DatetimeAdd(args[0].Int(), args[1].Int(), unit)
	return OfDatetime(micros), ok
}

// DatetimeAdd moves a datetime by n units. Years, quarters and months keep the
// day of the month, or take the last one of a month that is too short.
func DatetimeAdd(micros, n int64, unit Unit) (int64, bool) {
	months, length, ok := unit.length()
	if !ok {
		return 0, false
	}
	if months == 0 {
		hi, lo := bits.Mul64(uint64(max(n, -n)), uint64(length))
		if hi != 0 || lo > math.MaxInt64 || n == math.MinInt64 {
			return 0, false
		}
		sum, _ := Int128Of(micros).Add(Int128Of(n * length))
		return sum.Int64(), sum.Fits64()
	}
	// Bounding n keeps the sums below far from overflow; the calendar ends
	// before anyway.
	if n < -10_000_000 || n > 10_000_000 {
		return 0, false
	}
	days, rest := SplitDay(micros)
	year, month, day := CivilFromDays(days)
	total := year*12 + int64(month-1) + n*months
	year = floorDiv(total, 12)
	month = int(total-year*12) + 1
	v, ok := joinDay(DaysFromCivil(year, month, min(day, DaysInMonth(year, month))), rest)
	return v.Int(), ok
}

func evalDatetimeSubtract(_ Type, args []Value) (Value, bool) {
	unit, ok := ParseUnit(args[2].str)
	if !ok {
		return Value{}, false
	}
	n, ok := DatetimeSubtract(args[0].Int(), args[1].Int(), unit)
	return OfInt(IntType, n), ok
}

// DatetimeSubtract returns a - b in whole units, truncated toward zero. For
// months and longer units it is the greatest count whose DatetimeAdd to b does
// not pass a.
func DatetimeSubtract(a, b int64, unit Unit) (int64, bool) {
	months, length, ok := unit.length()
	if !ok {
		return 0, false
	}
	if months == 0 {
		d, _ := Int128Of(a).Sub(Int128Of(b))
		q, _ := d.Quo(Int128Of(length))
		return q.Int64(), q.Fits64()
	}
	ad, ar := SplitDay(a)
	bd, br := SplitDay(b)
	ay, am, aday := CivilFromDays(ad)
	by, bm, bday := CivilFromDays(bd)
	n := (ay-by)*12 + int64(am-bm)
	// The day of b that counts in a's month is clamped as DatetimeAdd does.
	bday = min(bday, DaysInMonth(ay, am))
	short := aday < bday || aday == bday && ar < br
	past := aday > bday || aday == bday && ar > br
	switch {
	case n > 0 && short:
		n--
	case n < 0 && past:
		n++
	}
	return n / months, true
}

func evalCreate(_ Type, args []Value) (Value, bool) {
	var f [6]int
	for i := range f {
		n := args[i].Int()
		if n < -400_000 || n > 400_000 {
			return Value{}, false
		}
		f[i] = int(n)
	}
	return civil(int64(f[0]), f[1], f[2], f[3], f[4], f[5], 0)
}

func evalNow(Type, []Value) (Value, bool) { return OfDatetime(time.Now().UnixMicro()), true }
