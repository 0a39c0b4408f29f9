package queryplan

import "slices"

// Mode is the value that most pairs of each group have, the least or greatest
// of several, as three commands of a round make it: a tally, the greatest count
// of each group, and an aggregate of the values with that count. Nothing else
// reads the first two.
type Mode struct {
	Tally, Most *Assign
	Pick        *Aggregate
	// By are the places of Pick's groups among the columns of the tally, and
	// Value is that of its argument.
	By    []int
	Value int
}

// Modes returns the modes of a block, which a loop repeats.
func (f *Flow) Modes(b *Block) []Mode {
	var out []Mode
	if !f.InLoop(b) {
		return nil
	}
	for i, c := range b.Cmds {
		a, ok := c.(*Assign)
		if !ok {
			continue
		}
		n, ok := a.Node.(*Aggregate)
		if !ok || len(n.Aggs) != 1 {
			continue
		}
		if s, ok := f.Fold(n, b); ok && s.Tally && f.assignsOnce(a.Var) {
			if m, ok := f.mode(a, s, b.Cmds[i+1:]); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// mode returns the mode of a tally.
func (f *Flow) mode(tally *Assign, s Fold, later []Command) (m Mode, ok bool) {
	m = Mode{Tally: tally, Value: -1}
	var groups []int
	for i, ofValues := range s.OfValues {
		switch {
		case !ofValues:
			groups = append(groups, i)
		case m.Value >= 0:
			return m, false // several columns of values
		default:
			m.Value = i
		}
	}
	for i, c := range later {
		if a, isAssign := c.(*Assign); isAssign && m.isMost(a, groups) && f.assignsOnce(a.Var) {
			m.Most = a
			for _, c := range later[i+1:] {
				Walk(CommandNode(c), func(n Node) {
					if p, is := n.(*Aggregate); is && m.Pick == nil && m.isPick(p, groups) {
						m.Pick = p
					}
				})
			}
			break
		}
	}
	return m, m.Pick != nil && f.scans(tally.Var) == 2 && f.scans(m.Most.Var) == 1
}

// isMost reports whether a command finds the greatest count of each group, in
// the order of the groups' columns.
func (m *Mode) isMost(a *Assign, groups []int) bool {
	n, ok := a.Node.(*Aggregate)
	if !ok || len(n.Aggs) != 1 || n.Aggs[0].Fn != Max {
		return false
	}
	s, ok := n.Input.(*Scan)
	if !ok || s.Var != m.Tally.Var {
		return false
	}
	return n.Aggs[0].In == s.Names[m.count()] && slices.Equal(placesOf(s, n.By), groups)
}

// count is the place of the count among the columns of the tally.
func (m *Mode) count() int { return len(m.Tally.Var.Cols) - 1 }

// isPick reports whether an aggregate is over the values with the greatest
// count, and sets By.
func (m *Mode) isPick(n *Aggregate, groups []int) bool {
	j, ok := n.Input.(*Join)
	if !ok || j.Kind != Inner && j.Kind != Semi || len(n.Aggs) != 1 ||
		n.Aggs[0].Fn != Min && n.Aggs[0].Fn != Max {
		return false
	}
	all, ok := j.Left.(*Scan)
	most, isScan := j.Right.(*Scan)
	if ok && isScan && all.Var == m.Most.Var && j.Kind == Inner {
		all, most = most, all
	}
	if !ok || !isScan || all.Var != m.Tally.Var || most.Var != m.Most.Var ||
		n.Aggs[0].In != all.Names[m.Value] {
		return false
	}
	for i, at := range append(slices.Clip(groups), m.count()) {
		if most.Names[i] == "" || most.Names[i] != all.Names[at] {
			return false // something else is compared
		}
	}
	m.By = placesOf(all, n.By)
	by := slices.Sorted(slices.Values(m.By))
	return slices.Equal(by, groups)
}

// placesOf returns the places of columns in a scanned variable.
func placesOf(s *Scan, names []string) []int {
	out := make([]int, len(names))
	for i, name := range names {
		out[i] = slices.Index(s.Names, name)
	}
	return out
}

// assignsOnce reports whether one command fills a variable.
func (f *Flow) assignsOnce(v *Var) bool {
	n := 0
	for _, c := range f.plan.Commands() {
		switch c.(type) {
		case *Assign, *Insert:
			if CommandVar(c) == v {
				n++
			}
		}
	}
	return n == 1
}

// scans returns how many scans of a variable there are.
func (f *Flow) scans(v *Var) (n int) {
	for _, c := range f.plan.Commands() {
		if tree := CommandNode(c); tree != nil {
			for _, s := range Scans(tree) {
				n += bit(s.Var == v)
			}
		}
	}
	return n
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}
