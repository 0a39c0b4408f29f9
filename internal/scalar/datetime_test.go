package scalar

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// randomMicros draws times of the years 0 to 9999, whole days as often as
// others.
func randomMicros(r *rand.Rand) int64 {
	day := r.Int64N(3652059) - 719528
	if r.IntN(2) == 0 {
		return day * MicrosPerDay
	}
	return day*MicrosPerDay + r.Int64N(MicrosPerDay)
}

func TestPartsAgainstTime(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 20_000 {
		micros := randomMicros(r)
		at := time.UnixMicro(micros).UTC()
		want := map[Unit]int{
			Year: at.Year(), Quarter: (int(at.Month()) + 2) / 3, Month: int(at.Month()),
			Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(),
			Second: at.Second(), Millisecond: at.Nanosecond() / 1e6,
			Microsecond: at.Nanosecond() / 1e3, DayOfWeek: int(at.Weekday()),
			DayOfYear: at.YearDay(),
		}
		for unit, n := range want {
			if got, ok := DatetimePart(micros, unit); !ok || got != int64(n) {
				t.Fatalf("part %d of %s is %d, want %d", unit, at, got, n)
			}
		}
	}
}

func TestFormatAgainstTime(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	const format = "%y %Y|%m|%b|%B|%d|%a|%A|%H|%I|%M|%S|%p|%j|%Q|%s|%%"
	const layout = "06 2006|01|Jan|January|02|Mon|Monday|15|03|04|05|PM|002|-07:00|05.000000|%"
	for range 5_000 {
		micros := randomMicros(r)
		want := time.UnixMicro(micros).UTC().Format(layout)
		got, err := FormatDatetime(micros, format)
		if err != nil || got != want {
			t.Fatalf("got %s, %v; want %s", got, err, want)
		}
		if back, ok := ParseDatetime(got, format); !ok || back.Int() != micros {
			t.Fatalf("%s is read as %s, %t", got, Format(back), ok)
		}
	}
}

func TestParseDatetime(t *testing.T) {
	for _, c := range []struct{ text, format, want string }{
		{"9/2/1998", "%m/%d/%Y", "1998-09-02"},
		{"19980902", "%Y%m%d", "1998-09-02"},
		{"245 1998", "%j %Y", "1998-09-02"},
		{"366 1998", "%j %Y", ""},
		{"12:30 AM", "%I:%M %p", "1970-01-01T00:30:00Z"},
		{"12:30 pm", "%I:%M %p", "1970-01-01T12:30:00Z"},
		{"september 2, 1998", "%B %d, %Y", "1998-09-02"},
		{"Wed Sep 02 1998", "%a %b %d %Y", "1998-09-02"},
		{"10:11:12", "%H:%M:%S%F", "1970-01-01T10:11:12Z"},
		{"10:11:12.25", "%H:%M:%S%F", "1970-01-01T10:11:12.250000Z"},
		{"10:11:12.25", "%H:%M:%s", "1970-01-01T10:11:12.250000Z"},
		{"10:11:12", "%H:%M:%s", ""},
		{"10:11:12Z", "%H:%M:%S%Q", "1970-01-01T10:11:12Z"},
		{"10:11:12-0130", "%H:%M:%S%Q", "1970-01-01T11:41:12Z"},
		{"68", "%y", "2068-01-01"}, {"69", "%y", "1969-01-01"},
		{"1998-09-02 ", "%Y-%m-%d", ""}, {"1998-09", "%Y-%m-%d", ""}, {"1998-09-02", "%Y-%m", ""},
		{"1998-02-29", "%Y-%m-%d", ""}, {"2000-02-29", "%Y-%m-%d", "2000-02-29"},
		{"1900-02-29", "%Y-%m-%d", ""},
		{"24:00", "%H:%M", ""}, {"x", "%k", ""}, {"50%", "%M%%", "1970-01-01T00:50:00Z"},
	} {
		got := ""
		if v, ok := ParseDatetime(c.text, c.format); ok {
			got = Format(v)
		}
		if got != c.want {
			t.Errorf("parse[%q, %q] = %q, want %q", c.text, c.format, got, c.want)
		}
	}
}

func TestDatetimeAddAndSubtract(t *testing.T) {
	for _, c := range []struct {
		from string
		n    int64
		unit string
		want string
	}{
		{"1996-01-31", 1, "month", "1996-02-29"}, {"1997-01-31", 1, "months", "1997-02-28"},
		{"1996-03-31", -1, "months", "1996-02-29"},
		{"1996-02-29", 4, "years", "2000-02-29"}, {"1996-02-29", -1, "years", "1995-02-28"},
		{"1995-11-30", 1, "quarters", "1996-02-29"},
		{"1996-02-28", 2, "days", "1996-03-01"}, {"1996-02-28", 1, "week", "1996-03-06"},
		{"1969-12-31", 36, "hours", "1970-01-01T12:00:00Z"},
		{"1970-01-01", -1, "milliseconds", "1969-12-31T23:59:59.999000Z"},
		{"1970-01-01", 1, "microsecond", "1970-01-01T00:00:00.000001Z"},
		{"1970-01-01", math.MaxInt64, "days", ""}, {"1970-01-01", math.MinInt64, "seconds", ""},
		{"1970-01-01", 400_000, "years", ""},
		{"1970-01-01", math.MinInt64, "months", ""},
		{"1970-01-01", math.MaxInt64, "microseconds", "+294247-01-10T04:00:54.775807Z"},
	} {
		v, err := ParseText(DatetimeType, c.from)
		if err != nil {
			t.Fatal(err)
		}
		unit, ok := ParseUnit(c.unit)
		if !ok {
			t.Fatalf("no unit %s", c.unit)
		}
		got := ""
		if sum, ok := DatetimeAdd(v.Int(), c.n, unit); ok {
			got = Format(OfDatetime(sum))
		}
		if got != c.want {
			t.Errorf("add[%s, %d, %s] = %q, want %q", c.from, c.n, c.unit, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(15, 16))
	for range 20_000 {
		a, b := randomMicros(r), randomMicros(r)
		if r.IntN(2) == 0 {
			b = a + r.Int64N(200*MicrosPerDay) - 100*MicrosPerDay
		}
		for _, unit := range []Unit{Year, Quarter, Month, Week, Day, Hour, Second} {
			n, ok := DatetimeSubtract(a, b, unit)
			if !ok {
				t.Fatalf("no difference of %s and %s", Format(OfDatetime(a)), Format(OfDatetime(b)))
			}
			step := int64(1)
			if a < b {
				step = -1
			}
			at, ok1 := DatetimeAdd(b, n, unit)
			beyond, ok2 := DatetimeAdd(b, n+step, unit)
			passes := func(x int64) bool { return step > 0 && x > a || step < 0 && x < a }
			if !ok1 || !ok2 || passes(at) || !passes(beyond) {
				t.Fatalf("subtract[%s, %s, unit %d] = %d, but adding it gives %s and one more %s",
					Format(OfDatetime(a)), Format(OfDatetime(b)), unit, n, Format(OfDatetime(at)),
					Format(OfDatetime(beyond)))
			}
		}
	}
}
