package bounds

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/interval"
)

// Columns are bounds of the columns of variables.
type Columns[V comparable] map[V][]interval.Interval

// Program is a program whose commands add rows to variables.
type Program[V comparable] interface {
	// Added calls visit with the bounds of what each command adds to a
	// variable, given those of all columns.
	Added(cols Columns[V], visit func(v V, added []interval.Interval))
	// Widest returns the bound of a column that its type or dictionary implies.
	Widest(v V, i int) interval.Interval
}

const (
	// maxGrowths is how often a bound may grow before it is widened. Bounds
	// that only come from loaded columns settle long before.
	maxGrowths = 16
	// narrowings is how many rounds undo what was widened too far.
	narrowings = 2
)

// None returns empty bounds of n columns.
func None(n int) []interval.Interval { return slices.Repeat([]interval.Interval{interval.None}, n) }

// Solve returns bounds that hold for all rows of a program, given bounds of the
// rows that variables have before anything runs.
func Solve[V comparable](p Program[V], loaded Columns[V]) Columns[V] {
	cols := clone(loaded)
	growths := map[V][]int{}
	for v := range cols {
		growths[v] = make([]int, len(cols[v]))
	}
	for changed := true; changed; {
		changed = false
		p.Added(cols, func(v V, added []interval.Interval) {
			for i, c := range added {
				had := cols[v][i]
				grown := had.Union(c)
				if grown == had {
					continue
				}
				changed = true
				if growths[v][i]++; growths[v][i] > maxGrowths {
					grown = had.Widened(grown, p.Widest(v, i))
				}
				cols[v][i] = grown
			}
		})
	}
	for range narrowings {
		narrowed := clone(loaded)
		p.Added(cols, func(v V, added []interval.Interval) {
			for i, c := range added {
				narrowed[v][i] = narrowed[v][i].Union(c)
			}
		})
		cols = narrowed
	}
	return cols
}

func clone[V comparable](cols Columns[V]) Columns[V] {
	out := Columns[V]{}
	for v := range cols {
		out[v] = slices.Clone(cols[v])
	}
	return out
}
