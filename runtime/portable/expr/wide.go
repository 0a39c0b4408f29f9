package expr

import (
	"math"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/queryplan"
)

// words compiles the functions that make wide decimals of their words, and words of wide
// decimals. Those that do not fit 64 bits are flagged, as all decimals are.
func (c *exprCompiler) words(name string, call *queryplan.Call) operand {
	a := c.compile(call.Args[0])
	switch name {
	case "high":
		return c.binary(a, a, interval.All, func(_ *Machine, dst, a, _ []int64) {
			for i, w := range a {
				dst[i] = w >> 63
			}
		})
	case "low":
		return c.binary(a, a, interval.All, func(_ *Machine, dst, a, _ []int64) {
			for i, w := range a {
				dst[i] = w ^ math.MinInt64
			}
		})
	}
	b := c.compile(call.Args[1])
	rng, _ := callRange(call, a, b)
	return c.binary(a, b, rng, func(m *Machine, dst, high, low []int64) {
		for i, w := range low {
			w ^= math.MinInt64
			if high[i] != w>>63 {
				m.flag(i, inexact)
			}
			dst[i] = w
		}
	})
}
