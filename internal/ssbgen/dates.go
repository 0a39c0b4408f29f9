package ssbgen

import (
	"sync"
	"time"
)

var (
	firstDay = time.Date(1992, time.January, 1, 0, 0, 0, 0, time.UTC)
	// days is how many the dimension has: seven years, without the last day.
	days = 2556
	// orderDays is on how many of them there are orders. TPC-H's last order is
	// of 151 days before the end of 1998.
	orderDays = 2406
	// dateKeys returns the keys of days: year, month and day, as digits.
	dateKeys = sync.OnceValue(dayKeys)
)

func day(i int) time.Time { return firstDay.AddDate(0, 0, i) }

func dayKeys() []int32 {
	keys := make([]int32, days)
	for i := range keys {
		y, m, d := day(i).Date()
		keys[i] = int32(y*10000 + int(m)*100 + d)
	}
	return keys
}

// season returns the selling season of a month.
func season(m time.Month) string {
	switch {
	case m <= time.March:
		return "Winter"
	case m == time.April:
		return "Spring"
	case m <= time.August:
		return "Summer"
	case m <= time.October:
		return "Fall"
	}
	return "Christmas"
}

// holidays are ssb-dbgen's, by month and day.
var holidays = map[[2]int]bool{
	{1, 1}: true, {2, 20}: true, {4, 20}: true, {5, 20}: true, {7, 20}: true, {8, 20}: true,
	{9, 20}: true, {10, 20}: true, {11, 20}: true, {12, 24}: true,
}

// date returns rows of the dimension date.
func date(from, to int64) []column {
	n, keys := int(to-from), dateKeys()
	var name, weekday, month, yearMonth, selling []string
	key, yearMonthNumber := make([]int32, n), make([]int32, n)
	year, inYear := make([]int16, n), make([]int16, n)
	inWeek, inMonth, monthInYear, weekInYear := make([]int8, n), make([]int8, n), make([]int8, n),
		make([]int8, n)
	lastInWeek, lastInMonth, holiday, working := make([]int8, n), make([]int8, n), make([]int8, n),
		make([]int8, n)
	for i := range n {
		t := day(int(from) + i)
		y, m, d := t.Date()
		key[i] = keys[int(from)+i]
		name = append(name, t.Format("January 2, 2006"))
		weekday = append(weekday, t.Weekday().String())
		month = append(month, m.String())
		year[i] = int16(y)
		yearMonthNumber[i] = int32(y*100 + int(m))
		yearMonth = append(yearMonth, t.Format("Jan2006"))
		inWeek[i] = int8(t.Weekday()) + 1 // weeks begin on Sunday
		inMonth[i] = int8(d)
		inYear[i] = int16(t.YearDay())
		monthInYear[i] = int8(m)
		// ssb-dbgen's weeks: the first one of a year has six days.
		weekInYear[i] = int8(t.YearDay()/7 + 1)
		selling = append(selling, season(m))
		lastInWeek[i] = flag(t.Weekday() == time.Saturday)
		lastInMonth[i] = flag(t.AddDate(0, 0, 1).Day() == 1)
		holiday[i] = flag(holidays[[2]int{int(m), d}])
		working[i] = flag(t.Weekday() != time.Saturday && t.Weekday() != time.Sunday)
	}
	return []column{
		{name: "d_datekey", values: integers(key), plain: true},
		{name: "d_date", values: texts(name), plain: true},
		{name: "d_dayofweek", values: texts(weekday)},
		{name: "d_month", values: texts(month)},
		{name: "d_year", values: integers(year)},
		{name: "d_yearmonthnum", values: integers(yearMonthNumber)},
		{name: "d_yearmonth", values: texts(yearMonth)},
		{name: "d_daynuminweek", values: integers(inWeek)},
		{name: "d_daynuminmonth", values: integers(inMonth)},
		{name: "d_daynuminyear", values: integers(inYear)},
		{name: "d_monthnuminyear", values: integers(monthInYear)},
		{name: "d_weeknuminyear", values: integers(weekInYear)},
		{name: "d_sellingseason", values: texts(selling)},
		{name: "d_lastdayinweekfl", values: integers(lastInWeek)},
		{name: "d_lastdayinmonthfl", values: integers(lastInMonth)},
		{name: "d_holidayfl", values: integers(holiday)},
		{name: "d_weekdayfl", values: integers(working)},
	}
}

func flag(b bool) int8 {
	if b {
		return 1
	}
	return 0
}
