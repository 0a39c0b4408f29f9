package interval

import "math"

// Comparison returns the words x for which the comparison `x name w` holds, or
// false if they are no interval, as those of ne. The words have to order as
// their values do.
func Comparison(name string, w int64) (Interval, bool) {
	switch name {
	case "eq":
		return Of(w), true
	case "le":
		return Interval{math.MinInt64, w}, true
	case "ge":
		return Interval{w, math.MaxInt64}, true
	case "lt":
		if w == math.MinInt64 {
			return None, true
		}
		return Interval{math.MinInt64, w - 1}, true
	case "gt":
		if w == math.MaxInt64 {
			return None, true
		}
		return Interval{w + 1, math.MaxInt64}, true
	}
	return Interval{}, false
}

// Mirrored returns the comparison that holds of (y, x) where the given one
// holds of (x, y).
func Mirrored(name string) string {
	switch name {
	case "lt":
		return "gt"
	case "le":
		return "ge"
	case "gt":
		return "lt"
	case "ge":
		return "le"
	}
	return name
}
