package stats

import (
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Frequent is a value of a column and its share of the rows.
type Frequent struct {
	Value scalar.Value
	Share float64
}

// frequent keeps the significantly frequent values of a sample: those four
// standard deviations above the frequency of each of distinct equally frequent
// values. If top has all values, it keeps all.
func frequent(top []Frequent, distinct, rows float64) []Frequent {
	if float64(len(top)) >= distinct {
		return top
	}
	mean := rows / max(1, distinct)
	least := max(fewRows, mean+4*math.Sqrt(mean)+2)
	for i, f := range top {
		if f.Share*rows < least {
			return top[:i:i]
		}
	}
	return top
}

// shareOf returns the share of the rows with a value: its own if it is a
// frequent one, else an equal part of the rest (end-biased histograms:
// Ioannidis and Christodoulakis, TODS 1993).
func (c ColumnEstimate) shareOf(v scalar.Value) float64 {
	if i := slices.IndexFunc(c.Top, func(f Frequent) bool { return f.Value == v }); i >= 0 {
		return c.Top[i].Share
	}
	rest := 1.0
	for _, f := range c.Top {
		rest -= f.Share
	}
	return max(0, rest) / max(1, c.Distinct-float64(len(c.Top)))
}
