package expr

import (
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// unitArgs are the places of units of time, which have to be literals.
var unitArgs = map[string]int{"datetime:part": 1, "datetime:add": 2, "datetime:subtract": 2}

// unit returns the unit that a literal names.
func unit(v Value) (scalar.Unit, bool) { return scalar.ParseUnit(v.Literal.Str()) }

// lengths are those of units in microseconds, months the others' in months.
var (
	lengths = map[scalar.Unit]int64{
		scalar.Week: 7 * scalar.MicrosPerDay, scalar.Day: scalar.MicrosPerDay,
		scalar.Hour:   scalar.MicrosPerHour,
		scalar.Minute: scalar.MicrosPerMinute, scalar.Second: scalar.MicrosPerSecond,
		scalar.Millisecond: 1000, scalar.Microsecond: 1,
	}
	months = map[scalar.Unit]int64{scalar.Year: 12, scalar.Quarter: 3, scalar.Month: 1}
)

// never is a value that no row has.
func never() Value { return Value{Word: word(0), Present: constant.False} }

// splitDay returns the day of a datetime and the microseconds since its
// midnight, which are not negative.
func (b *Block) splitDay(micros value.Value) (days, rest value.Value) {
	q := b.Cur.NewSDiv(micros, word(scalar.MicrosPerDay))
	r := b.Cur.NewSub(micros, b.Cur.NewMul(q, word(scalar.MicrosPerDay)))
	early := b.negative(r)
	days = b.Cur.NewAdd(q, b.sext(early, I64))
	return days, b.Cur.NewAdd(r, b.choose(early, word(scalar.MicrosPerDay), word(0)))
}

// joinDay is the inverse of splitDay. ok says where the days are within the
// datetimes, for any days at all.
func (b *Block) joinDay(days, rest value.Value) (micros, ok value.Value) {
	// Days that are near enough to overflow once at most give a datetime of
	// their own sign, or have overflowed.
	const far = 200_000_000
	near := b.icmp(enum.IPredULE, b.Cur.NewAdd(days, word(far)), word(2*far))
	micros = b.Cur.NewAdd(b.Cur.NewMul(days, word(scalar.MicrosPerDay)), rest)
	same := b.icmp(enum.IPredSGE, b.Cur.NewXor(micros, days), word(0))
	return micros, b.all(near, same)
}

func emitPart(b *Block, _ scalar.Type, args []Value) Value {
	u, ok := unit(args[1])
	if !ok || u == scalar.Week {
		return never()
	}
	days, rest := b.splitDay(args[0].Word)
	var w value.Value
	switch u {
	case scalar.Year:
		w = b.Call("rf_date_year", days)
	case scalar.Quarter:
		month := b.trunc(b.Call("rf_date_month", days), I32)
		w = b.zext(b.Cur.NewUDiv(b.Cur.NewAdd(month, constant.NewInt(I32, 2)),
			constant.NewInt(I32, 3)), I64)
	case scalar.Month:
		w = b.Call("rf_date_month", days)
	case scalar.Day:
		w = b.Call("rf_date_day", days)
	case scalar.DayOfWeek:
		w = b.Call("rf_date_weekday", days)
	case scalar.DayOfYear:
		w = b.Call("rf_date_yearday", days)
	case scalar.Hour:
		w = b.Cur.NewUDiv(rest, word(scalar.MicrosPerHour))
	case scalar.Minute:
		w = b.Cur.NewURem(b.Cur.NewUDiv(rest, word(scalar.MicrosPerMinute)), word(60))
	case scalar.Second:
		w = b.Cur.NewURem(b.Cur.NewUDiv(rest, word(scalar.MicrosPerSecond)), word(60))
	case scalar.Millisecond:
		w = b.Cur.NewUDiv(b.Cur.NewURem(rest, word(scalar.MicrosPerSecond)), word(1000))
	case scalar.Microsecond:
		w = b.Cur.NewURem(rest, word(scalar.MicrosPerSecond))
	}
	return bounded(w, interval.DatetimePart(u, args[0].bounds()))
}

func emitDatetimeAdd(b *Block, _ scalar.Type, args []Value) Value {
	u, _ := unit(args[2])
	at, n := args[0], args[1]
	if length, ok := lengths[u]; ok {
		return b.addMicros(at, n, length)
	}
	m, ok := months[u]
	if !ok {
		return never()
	}
	// The calendar ends before this many years, quarters or months.
	const far = 10_000_000
	near := b.icmp(enum.IPredULE, b.Cur.NewAdd(n.Word, word(far)), word(2*far))
	count := b.Cur.NewMul(b.choose(near, n.Word, word(0)), word(m))
	days, rest := b.splitDay(at.Word)
	micros, inside := b.joinDay(b.Call("rf_date_add_months", days, count), rest)
	return Value{Word: micros, Present: b.all(near, inside)}
}

// addMicros adds n lengths.
func (b *Block) addMicros(at, n Value, length int64) Value {
	unit := scalar.OfInt(scalar.IntType, length)
	span := Value{Type: scalar.IntType, Word: word(length), Literal: &unit}
	moved, exact := callBounds("mul", scalar.IntType, []Value{n, span})
	var micros, present value.Value
	if exact {
		micros = b.Cur.NewMul(n.Word, word(length))
	} else {
		pair := b.intrinsic("llvm.smul.with.overflow.i64", types.NewStruct(I64, I1), n.Word,
			word(length))
		micros = b.Cur.NewExtractValue(pair, 0)
		present = b.not(b.Cur.NewExtractValue(pair, 1))
	}
	if length == 1 && n.bounds().Lo == interval.All.Lo {
		// The least number has no negation, which the language's meaning takes.
		present = b.all(present, b.icmp(enum.IPredNE, n.Word, word(interval.All.Lo)))
	}
	step := bounded(micros, moved)
	step.Type = scalar.IntType
	from := at
	from.Type = scalar.IntType
	sum := b.Cur.NewAdd(at.Word, micros)
	bound, exact := callBounds("add", scalar.IntType, []Value{from, step})
	if !exact {
		over := b.negative(b.Cur.NewAnd(b.Cur.NewXor(at.Word, sum), b.Cur.NewXor(micros, sum)))
		present = b.all(present, b.not(over))
	}
	v := bounded(sum, bound)
	v.Present = present
	return v
}

func emitDatetimeSubtract(b *Block, _ scalar.Type, args []Value) Value {
	u, _ := unit(args[2])
	if length, ok := lengths[u]; ok {
		return b.subtractMicros(args[0], args[1], length)
	}
	m, ok := months[u]
	if !ok {
		return never()
	}
	n := b.monthsBetween(args[0].Word, args[1].Word)
	if m > 1 {
		n = b.Cur.NewSDiv(n, constant.NewInt(I32, m))
	}
	return b.extended32(n, false, interval.OfType(scalar.IntOf(32)))
}

// subtractMicros is the difference in lengths, truncated.
func (b *Block) subtractMicros(x, y Value, length int64) Value {
	p, q := x, y
	p.Type, q.Type = scalar.IntType, scalar.IntType
	bound, exact := callBounds("sub", scalar.IntType, []Value{p, q})
	diff := b.Cur.NewSub(x.Word, y.Word)
	if exact {
		return bounded(b.Cur.NewSDiv(diff, word(length)),
			interval.Interval{Lo: bound.Lo / length, Hi: bound.Hi / length})
	}
	over := b.negative(b.Cur.NewAnd(b.Cur.NewXor(x.Word, y.Word), b.Cur.NewXor(x.Word, diff)))
	if length == 1 {
		return Value{Word: diff, Present: b.not(over)}
	}
	// A difference of 65 bits is taken by parts, whole lengths and rests.
	unit := word(length)
	whole := b.Cur.NewSub(b.Cur.NewSDiv(x.Word, unit), b.Cur.NewSDiv(y.Word, unit))
	rests := b.Cur.NewSub(b.Cur.NewSRem(x.Word, unit), b.Cur.NewSRem(y.Word, unit))
	// The rests' difference is between two lengths of either sign: bring it
	// within one, and then to the sign of the difference.
	n := b.Cur.NewAdd(whole, b.Cur.NewSDiv(rests, unit))
	rest := b.Cur.NewSRem(rests, unit)
	less := b.Cur.NewAnd(b.icmp(enum.IPredSGT, n, word(0)), b.negative(rest))
	more := b.Cur.NewAnd(b.negative(n), b.icmp(enum.IPredSGT, rest, word(0)))
	return Value{Word: b.sum(n, b.sext(less, I64), b.zext(more, I64))}
}

// monthsBetween is the greatest count of months, an i32, that DatetimeAdd moves
// the second datetime by without passing the first.
func (b *Block) monthsBetween(x, y value.Value) value.Value {
	i32 := func(n int64) *constant.Int { return constant.NewInt(I32, n) }
	type civil struct{ year, month, day, rest value.Value }
	split := func(micros value.Value) civil {
		days, rest := b.splitDay(micros)
		part := func(name string) value.Value { return b.trunc(b.Call(name, days), I32) }
		return civil{part("rf_date_year"), part("rf_date_month"), part("rf_date_day"), rest}
	}
	p, q := split(x), split(y)
	n := b.sum(b.Cur.NewMul(b.Cur.NewSub(p.year, q.year), i32(12)), p.month,
		b.Cur.NewSub(i32(0), q.month))
	// The day of y that counts in x's month is the last one at most.
	last := b.monthLength(p.year, p.month)
	day := b.choose(b.icmp(enum.IPredSLT, q.day, last), q.day, last)
	sameDay := b.icmp(enum.IPredEQ, p.day, day)
	short := b.Cur.NewOr(b.icmp(enum.IPredSLT, p.day, day),
		b.Cur.NewAnd(sameDay, b.icmp(enum.IPredSLT, p.rest, q.rest)))
	past := b.Cur.NewOr(b.icmp(enum.IPredSGT, p.day, day),
		b.Cur.NewAnd(sameDay, b.icmp(enum.IPredSGT, p.rest, q.rest)))
	less := b.Cur.NewAnd(b.icmp(enum.IPredSGT, n, i32(0)), short)
	more := b.Cur.NewAnd(b.negative(n), past)
	return b.sum(n, b.sext(less, I32), b.zext(more, I32))
}

// monthLength returns the days of a month, all as i32.
func (b *Block) monthLength(year, month value.Value) value.Value {
	i32 := func(n int64) *constant.Int { return constant.NewInt(I32, n) }
	multiple := func(n int64) value.Value {
		return b.icmp(enum.IPredEQ, b.Cur.NewSRem(year, i32(n)), i32(0))
	}
	// A multiple of 100 is one of 400 if it is one of 16.
	leap := b.choose(multiple(100), multiple(16), multiple(4))
	february := b.choose(leap, i32(29), i32(28))
	odd := b.Cur.NewAnd(b.Cur.NewAdd(month, b.Cur.NewLShr(month, i32(3))), i32(1))
	return b.choose(b.icmp(enum.IPredEQ, month, i32(2)), february, b.Cur.NewAdd(odd, i32(30)))
}

// emitCreate makes a datetime of its fields where they denote one.
func emitCreate(b *Block, _ scalar.Type, args []Value) Value {
	i32 := func(n int64) *constant.Int { return constant.NewInt(I32, n) }
	var ok value.Value
	// field is an argument as an i32, or another number where it is out of
	// range, as that of a row that does not count may be in spite of bounds.
	field := func(i int, least, most int64) value.Value {
		in := b.icmp(enum.IPredULE, b.Cur.NewSub(args[i].Word, word(least)), word(most-least))
		if r := args[i].bounds(); r.Lo < least || r.Hi > most {
			ok = b.all(ok, in)
		}
		return b.choose(in, b.trunc(args[i].Word, I32), i32(least))
	}
	year, month := field(0, -300_000, 300_000), field(1, 1, 12)
	day, hour := field(2, 1, 31), field(3, 0, 23)
	minute, second := field(4, 0, 59), field(5, 0, 59)
	ok = b.all(ok, b.icmp(enum.IPredSLE, day, b.monthLength(year, month)))
	minutes := b.Cur.NewAdd(b.Cur.NewMul(hour, i32(60)), minute)
	seconds := b.Cur.NewAdd(b.Cur.NewMul(minutes, i32(60)), second)
	rest := b.Cur.NewMul(b.zext(seconds, I64), word(scalar.MicrosPerSecond))
	micros, inside := b.joinDay(b.Call("rf_days_from_civil", b.sext(year, I64), month, day), rest)
	return Value{Word: micros, Present: b.all(ok, inside)}
}
