package abi

import (
	"math"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// FloatSumWords is the size of a sum of floats that does not depend on order:
// see primitives/src/fsum.h.
const FloatSumWords = 68

// Cell says how the runtime lays out and clears an accumulator of one slot.
type Cell struct {
	Words   int
	Initial int64 // what every word is cleared to
}

// CellOf returns the layout of an accumulator that has cells of its own:
//
//	count                a number
//	total of numbers     the low and the high word of a sum of 128 bits, also
//	                     for one of its words
//	total of floats      FloatSumWords words
//	min, max             the word that scalar.Ordered makes of the value
//	avg                  as total, and then a count
func CellOf(fn queryplan.AggFn, in scalar.Type) Cell {
	sum := 2
	if in.Kind == scalar.Float {
		sum = FloatSumWords
	}
	switch fn {
	case queryplan.Total, queryplan.TotalHigh, queryplan.TotalLow:
		return Cell{Words: sum}
	case queryplan.Avg:
		return Cell{Words: sum + 1}
	case queryplan.Min:
		return Cell{Words: 1, Initial: math.MaxInt64}
	case queryplan.Max:
		return Cell{Words: 1, Initial: math.MinInt64}
	}
	return Cell{Words: 1}
}
