package stats

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

// origin is a relation from which columns come, tuple by tuple.
type origin struct{ rows float64 }

// allFrom reports whether columns come from a relation.
func (e *Estimate) allFrom(cols []string, o *origin) bool {
	return !slices.ContainsFunc(cols, func(name string) bool {
		return !slices.Contains(e.column(name).from, o)
	})
}

// comeFrom records that the columns of an estimate occur in the tuples of an
// operator: all of them if it is a relation or an aggregate, else those without
// an origin further below.
func (e *Estimate) comeFrom(n queryplan.Node) {
	whole := false
	switch n.(type) {
	case *queryplan.Scan, *queryplan.Values, *queryplan.Union, *queryplan.Aggregate:
		whole = true
	}
	o := &origin{max(1, e.Rows)}
	for name, c := range e.Cols {
		if whole || len(c.from) == 0 {
			c.from = append(slices.Clip(c.from), o)
			e.Cols[name] = c
		}
	}
}

// dependent splits the columns of a join. The values of the first ones occur in
// tuples of one relation on the left side and of one on the right side. They
// are as many of the columns as possible, and at least one.
func dependent(l, r *Estimate, on []string) (together, apart []string) {
	if len(on) < 2 {
		return on, nil
	}
	left, right := make([][]*origin, len(on)), make([][]*origin, len(on))
	for i, name := range on {
		left[i], right[i] = l.column(name).from, r.column(name).from
	}
	for i := range on {
		for _, a := range left[i] {
			for _, b := range right[i] {
				var both []string
				for k, name := range on {
					if slices.Contains(left[k], a) && slices.Contains(right[k], b) {
						both = append(both, name)
					}
				}
				if len(both) == len(on) {
					return on, nil
				}
				if len(both) > len(together) {
					together = both
				}
			}
		}
	}
	if together == nil {
		together = on[:1]
	}
	for _, name := range on {
		if !slices.Contains(together, name) {
			apart = append(apart, name)
		}
	}
	return together, apart
}

// identified is the least share of different keys among tuples for which the
// key counts as one of each tuple.
const identified = 0.9

// identify reports whether columns are a key of an estimate's tuples.
func identify(e *Estimate, cols []string) bool {
	return len(cols) > 0 && e.Distinct(cols) >= identified*e.Rows
}

// bothFrom adds relations to those that a column comes from.
func bothFrom(from, more []*origin) []*origin {
	out := slices.Clone(from)
	for _, n := range more {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// oneTuple notes that each tuple of a join is made of one on either side, as
// the join columns are a key of both: columns of the two depend on each other
// like those of one relation.
func (e *Estimate) oneTuple(on []string) {
	var from []*origin
	for _, name := range on {
		from = append(from, e.column(name).from...)
	}
	for name, c := range e.Cols {
		c.from = bothFrom(c.from, from)
		e.Cols[name] = c
	}
}
