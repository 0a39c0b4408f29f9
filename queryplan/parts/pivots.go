package parts

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
)

// pivots returns the ways of a plan: for each, every variable that the plan
// fills has a column of which all commands find a tuple's value in one part.
func pivots(p *queryplan.Plan) []way {
	s := &search{steps: mostSteps}
	flow := queryplan.NewFlow(p)
	var first *queryplan.Var
	for b, c := range p.Commands() {
		v := queryplan.CommandVar(c)
		switch c.(type) {
		case *queryplan.Assign, *queryplan.Clear:
			if flow.InLoop(b) {
				return nil // the rounds of one part could say what others are to do
			}
		}
		switch c := c.(type) {
		case *queryplan.Check:
			return nil
		case *queryplan.CheckKey:
			s.checked = append(s.checked, c.Var)
		case *queryplan.Insert, *queryplan.Assign:
			if first == nil {
				first = v
			}
			f := fill{v: v, node: queryplan.CommandNode(c)}
			for _, scan := range queryplan.Scans(f.node) {
				if scan.Position != "" {
					return nil
				}
				if isFilled(scan.Var) {
					f.reads = append(f.reads, scan)
				}
			}
			f.ways = waysOf(f.node)
			s.fills = append(s.fills, f)
		}
	}
	if first == nil {
		return nil
	}
	var out []way
	for col := range first.Cols {
		if w, ok := s.solve(map[*queryplan.Var]int{first: col}, make([]*way, len(s.fills))); ok {
			w.out = []string{first.Cols[col].Name}
			out = append(out, w)
		}
	}
	return out
}

// mostSteps bounds the search for pivots.
const mostSteps = 10_000

// search looks for a pivot: a column of each variable and a way of each command
// that fills one.
type search struct {
	fills   []fill
	checked []*queryplan.Var // whose keys are checked
	steps   int
}

// fill is a command that adds a tree's tuples to a variable.
type fill struct {
	v     *queryplan.Var
	node  queryplan.Node
	reads []*queryplan.Scan // of variables that the plan fills
	ways  []way
}

// solve extends columns of some variables to those of all, and chosen ways of
// some commands to one of each. It returns what the ways cut together.
func (s *search) solve(cols map[*queryplan.Var]int, chosen []*way) (way, bool) {
	if s.steps--; s.steps < 0 {
		return way{}, false
	}
	for _, v := range s.checked {
		if c, ok := cols[v]; ok && c >= v.Keys {
			return way{}, false // rows that agree on the key may be in different parts
		}
	}
	at := s.next(cols, chosen)
	if at < 0 {
		var all way
		for _, w := range chosen {
			all.places = append(all.places, w.places...)
		}
		return all, true
	}
	f := &s.fills[at]
	chosen = slices.Clone(chosen)
	for i := range f.ways {
		w := &f.ways[i]
		read, ok := f.agrees(w, cols)
		if !ok {
			continue
		}
		chosen[at] = w
		for c, col := range f.node.Columns() {
			if had, ok := read[f.v]; ok && had != c || !slices.Contains(w.out, col.Name) {
				continue
			}
			with := maps.Clone(read)
			with[f.v] = c
			if all, ok := s.solve(with, chosen); ok {
				return all, true
			}
		}
	}
	return way{}, false
}

// next returns a command without a way, or -1 if all have one. Commands that
// fill a variable whose column is chosen come first.
func (s *search) next(cols map[*queryplan.Var]int, chosen []*way) int {
	at := -1
	for i, f := range s.fills {
		if chosen[i] != nil {
			continue
		}
		if _, ok := cols[f.v]; ok {
			return i
		}
		if at < 0 {
			at = i
		}
	}
	return at
}

// agrees returns the columns of variables together with those in which a way
// cuts the command's scans of variables that the plan fills. It is not ok if
// the way does not cut one of them, or not by the variable's column.
func (f *fill) agrees(w *way, cols map[*queryplan.Var]int) (map[*queryplan.Var]int, bool) {
	out := maps.Clone(cols)
	for _, scan := range f.reads {
		at := slices.IndexFunc(w.places, func(p place) bool {
			return p.leaf == queryplan.Node(scan)
		})
		if at < 0 {
			return nil, false
		}
		col := w.places[at].col
		if had, ok := out[scan.Var]; ok && had != col {
			return nil, false
		}
		out[scan.Var] = col
	}
	return out, true
}
