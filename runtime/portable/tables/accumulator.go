package tables

import (
	"math"

	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/store"
)

// accumulator is one aggregate of all groups.
type accumulator interface {
	grow(n int)
	add(groups []uint32, col []int64) // nil groups: all rows are of group 0
	// merge adds groups of another accumulator: from's group numbers[k] to
	// group ids[k]; nil numbers are 0, 1, and so on. Different groups may be
	// merged out of one accumulator at the same time.
	merge(from accumulator, numbers, ids []uint32)
	// Results sets the words of the groups, and calls misfit with each whose
	// word does not fit the type.
	Results(col []int64, agg *queryplan.Agg, in scalar.Type, counts []int64, misfit func(g int))
}

// numberAt is numbers[k], or k if there are no numbers.
func numberAt(numbers []uint32, k int) uint32 {
	if numbers == nil {
		return uint32(k)
	}
	return numbers[k]
}

// AccSpec is what an accumulator is made for.
type AccSpec struct {
	Fn    queryplan.AggFn // Total, Min or Max
	Col   string
	Type  scalar.Type
	Bound interval.Interval
	// Codes is the dictionary of strings whose codes do not order as they do,
	// else nil.
	Codes *store.Dict
}

func newAccumulator(s AccSpec) accumulator {
	switch {
	case s.Fn != queryplan.Total && s.Codes != nil:
		return &stringExtreme{dict: s.Codes, max: s.Fn == queryplan.Max}
	case s.Fn != queryplan.Total:
		return &extreme{kind: s.Type.Kind, max: s.Fn == queryplan.Max}
	case s.Type.Kind == scalar.Float:
		return &floatSum{}
	}
	return newWholeSum(s.Type, s.Bound)
}

// Results are Total, its words and Avg of ints and decimals.
func (s *wholeSum) Results(col []int64, agg *queryplan.Agg, in scalar.Type, counts []int64,
	misfit func(g int)) {
	if agg.Fn == queryplan.Total && s.wide == nil && s.limit > 0 &&
		interval.OfType(agg.Out.Type) == interval.All {
		copy(col, s.part)
		return
	}
	for g := range col {
		var ok bool
		if col[g], ok = s.result(g, agg, in, counts); !ok {
			misfit(g)
		}
	}
}

func (s *wholeSum) result(g int, agg *queryplan.Agg, in scalar.Type, counts []int64) (int64, bool) {
	sum, ok := s.total(g), true
	out := agg.Out.Type
	switch agg.Fn {
	case queryplan.TotalHigh:
		return sum.Hi, true
	case queryplan.TotalLow:
		return sum.LowWord(), true
	}
	if agg.Fn == queryplan.Avg {
		if out.Kind == scalar.Float {
			total := sum.Float64() / math.Pow10(int(in.Scale))
			return work.FloatWord(total / float64(counts[g])), true
		}
		if sum, ok = sum.Mul(scalar.Pow10(int(out.Scale) - int(in.Scale))); !ok {
			return 0, false
		}
		if sum, ok = sum.QuoRound(scalar.Int128Of(counts[g])); !ok {
			return 0, false
		}
	}
	if out == scalar.UintType {
		return int64(sum.Lo), sum.Hi == 0
	}
	w := sum.Int64()
	return w, sum.Fits64() && interval.OfType(out).Contains(w)
}

// Results are Total and Avg of floats.
func (s *floatSum) Results(col []int64, agg *queryplan.Agg, _ scalar.Type, counts []int64,
	_ func(int)) {
	if len(s.rounded) > 0 && agg.Fn == queryplan.Total && agg.Out.Type.Bits != 32 {
		for g, f := range s.rounded[:len(col)] {
			col[g] = work.FloatWord(f)
		}
		return
	}
	for g := range col {
		f := s.total(g)
		if agg.Fn == queryplan.Avg {
			f /= float64(counts[g])
		}
		if agg.Out.Type.Bits == 32 {
			f = float64(float32(f))
		}
		col[g] = work.FloatWord(f)
	}
}

// extreme is Min and Max of types whose words order by scalar.Ordered.
type extreme struct {
	kind scalar.Kind
	max  bool
	best []int64 // as order words; complemented for Max
}

func (a *extreme) grow(n int) {
	had := len(a.best)
	a.best = growTo(a.best, n)
	for i := had; i < n; i++ {
		a.best[i] = math.MaxInt64
	}
}

// flip turns the greatest into the least.
func (a *extreme) flip() int64 {
	if a.max {
		return -1
	}
	return 0
}

func (a *extreme) add(groups []uint32, col []int64) {
	flip := a.flip()
	best := a.best
	if groups == nil {
		m := best[0]
		for _, w := range col {
			m = min(m, scalar.Ordered(a.kind, w)^flip)
		}
		best[0] = m
		return
	}
	groups = groups[:len(col)]
	for i, w := range col {
		g := groups[i]
		best[g] = min(best[g], scalar.Ordered(a.kind, w)^flip)
	}
}

func (a *extreme) merge(from accumulator, numbers, ids []uint32) {
	best := from.(*extreme).best
	for k, to := range ids {
		a.best[to] = min(a.best[to], best[numberAt(numbers, k)])
	}
}

func (a *extreme) Results(col []int64, _ *queryplan.Agg, _ scalar.Type, _ []int64, _ func(int)) {
	flip := a.flip()
	for g := range col {
		// scalar.Ordered is its own inverse.
		col[g] = scalar.Ordered(a.kind, a.best[g]^flip)
	}
}

// stringExtreme is Min and Max of strings whose codes are in no order.
type stringExtreme struct {
	dict *store.Dict
	max  bool
	best []int64 // codes; -1 before the first
}

func (a *stringExtreme) grow(n int) {
	had := len(a.best)
	a.best = growTo(a.best, n)
	for i := had; i < n; i++ {
		a.best[i] = -1
	}
}

func (a *stringExtreme) offer(g uint32, w int64) {
	have := a.best[g]
	if have == w {
		return
	}
	if have < 0 || a.dict.Compare(uint32(w), uint32(have)) < 0 != a.max {
		a.best[g] = w
	}
}

func (a *stringExtreme) add(groups []uint32, col []int64) {
	g := uint32(0)
	for i, w := range col {
		if groups != nil {
			g = groups[i]
		}
		a.offer(g, w)
	}
}

func (a *stringExtreme) merge(from accumulator, numbers, ids []uint32) {
	best := from.(*stringExtreme).best
	for k, to := range ids {
		a.offer(to, best[numberAt(numbers, k)])
	}
}

func (a *stringExtreme) Results(col []int64, _ *queryplan.Agg, _ scalar.Type, _ []int64,
	_ func(int)) {
	copy(col, a.best)
}
