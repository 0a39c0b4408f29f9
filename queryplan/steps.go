package queryplan

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
)

// Steps is how the tuples of a multijoin follow from those of one of its
// inputs, a delta: each step binds one more column. The values of the column
// are in the shortest of several lists that differ from tuple to tuple, as in
// Free Join (Wang, Willsey, Suciu, SIGMOD 2023). No input has to be sorted, so
// indexes that grow with their relations serve.
type Steps struct {
	Lead   int   // the delta
	Within []int // inputs that have no other columns than the delta
	Binds  []Step
}

// Step binds a column. All inputs of it have no other unbound column.
type Step struct {
	Name string
	// Lists are the inputs that have bound columns, too. Each has a list of
	// values for each tuple.
	Lists []int
	Whole []int // inputs that have no other column
}

// Steps returns the steps of a multijoin with one delta. It is not ok if an
// input has a column of its own, or tuples that repeat, or if some column has
// no list.
func (n *MultiJoin) Steps() (s Steps, ok bool) {
	deltas := 0
	for i, in := range n.Nodes {
		for _, scan := range Scans(in) {
			if scan.Version == Delta {
				s.Lead = i
				deltas++
			}
		}
		if slices.ContainsFunc(in.Columns(), func(c Column) bool {
			return !slices.Contains(n.Order, c.Name)
		}) {
			return s, false
		}
	}
	if deltas != 1 {
		return s, false
	}
	bound := NamesOf(n.Nodes[s.Lead].Columns())
	left := map[int][]string{} // the unbound columns of inputs that are not joined
	for i, in := range n.Nodes {
		if i == s.Lead {
			continue
		}
		if len(Keys(in)) == 0 {
			return s, false
		}
		unbound := func(name string) bool { return !slices.Contains(bound, name) }
		if left[i] = list.Filter(NamesOf(in.Columns()), unbound); len(left[i]) == 0 {
			s.Within = append(s.Within, i)
			delete(left, i)
		}
	}
	for len(left) > 0 {
		step, found := n.step(left)
		if !found {
			return s, false
		}
		s.Binds = append(s.Binds, step)
		for _, i := range slices.Concat(step.Lists, step.Whole) {
			delete(left, i)
		}
		for i := range left {
			left[i] = slices.DeleteFunc(left[i], func(name string) bool {
				return name == step.Name
			})
		}
	}
	return s, true
}

// step returns the step that binds the first column of the order with a list.
func (n *MultiJoin) step(left map[int][]string) (step Step, found bool) {
	for _, name := range n.Order {
		step = Step{Name: name}
		for i, in := range n.Nodes {
			switch {
			case !slices.Equal(left[i], []string{name}):
			case len(in.Columns()) == 1:
				step.Whole = append(step.Whole, i)
			default:
				step.Lists = append(step.Lists, i)
			}
		}
		if len(step.Lists) > 0 {
			return step, true
		}
	}
	return step, false
}
