package joins

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

const (
	// shortestShare is the expected length of the shortest of several lists of
	// a row, relative to the lists of the input whose lists are shortest on
	// average. On cyclic closures of R-MAT graphs it is 0.35 to 0.8.
	shortestShare = 0.55
	// listCost is the cost of reading a value of a list. Tuples are made only
	// of values that the other inputs also have.
	listCost = 0.2
)

// Stepwise is a multijoin by steps and its cost.
type Stepwise struct {
	Join *queryplan.MultiJoin
	Cost float64
	// Lists are the relations of the first step with several lists, and Lengths
	// their expected lengths.
	Lists   []queryplan.Node
	Lengths []float64
}

// stepSearch searches an order of the steps of a multijoin.
type stepSearch struct {
	*joinGraph
	rels  []queryplan.Node
	left  []int // the relations that are not joined yet
	bound []string
	rows  *subPlan // the rows so far
	out   Stepwise
}

// Steps finds an order of the columns of relations of which one is a delta and
// others grow. Each next column has the shortest expected list. The inputs come
// in the order of binary joins. It returns nil if the relations cannot be
// joined by steps, or if no step has several lists.
func Steps(c *Conjunction, est *stats.Estimator, changed map[*queryplan.Var]bool) *Stepwise {
	lead := slices.IndexFunc(c.Rels, readsDelta)
	if lead < 0 {
		return nil
	}
	s := &stepSearch{joinGraph: NewGraph(c, est, changed), rels: c.Rels}
	for i := range c.Rels {
		if i != lead {
			s.left = append(s.left, i)
		}
	}
	s.bound = trees.Columns(c.Rels[lead])
	s.rows = s.leaf(lead)
	s.out.Join = &queryplan.MultiJoin{Nodes: []queryplan.Node{c.Rels[lead]}}
	s.out.Cost = s.rows.Stream
	s.test(s.take(""), s.rows.Rows)
	for len(s.left) > 0 {
		if !s.step() {
			return nil
		}
	}
	shared := queryplan.SharedColumns(c.Rels)
	s.out.Join.Order = list.Filter(s.bound, func(name string) bool {
		return slices.Contains(shared, name)
	})
	if _, ok := s.out.Join.Steps(); !ok || s.out.Lists == nil {
		return nil
	}
	return &s.out
}

// unbound returns the columns of a relation that are not bound.
func (s *stepSearch) unbound(rel int) []string {
	return list.Filter(trees.Columns(s.rels[rel]), func(name string) bool {
		return !slices.Contains(s.bound, name)
	})
}

// take removes the relations whose columns are all bound, except at most the
// given one.
func (s *stepSearch) take(name string) (taken []int) {
	s.left = slices.DeleteFunc(s.left, func(rel int) bool {
		open := s.unbound(rel)
		if len(open) > 1 || len(open) == 1 && open[0] != name {
			return false
		}
		taken = append(taken, rel)
		return true
	})
	return taken
}

// step binds the column with the shortest list and reports whether there is
// one.
func (s *stepSearch) step() bool {
	name, shortest := "", 0.0
	for _, rel := range s.left {
		open := s.unbound(rel)
		if len(open) != 1 || len(trees.Columns(s.rels[rel])) == 1 {
			continue
		}
		if l := s.length(rel); name == "" || l < shortest {
			name, shortest = open[0], l
		}
	}
	if name == "" {
		return false
	}
	var lists, whole []int
	for _, rel := range s.take(name) {
		if len(trees.Columns(s.rels[rel])) > 1 {
			lists = append(lists, rel)
		} else {
			whole = append(whole, rel)
		}
	}
	slices.SortStableFunc(lists, func(a, b int) int {
		return cmp.Compare(s.length(a), s.length(b))
	})
	made := s.rows.Rows * shortest
	if len(lists) > 1 {
		made *= shortestShare
		if s.out.Lists == nil {
			for _, rel := range lists {
				s.out.Lists = append(s.out.Lists, s.rels[rel])
				s.out.Lengths = append(s.out.Lengths, s.length(rel))
			}
		}
	}
	for _, rel := range lists {
		key := slices.DeleteFunc(trees.Columns(s.rels[rel]),
			func(other string) bool { return other == name })
		s.out.Cost += s.rows.Rows * s.probe(rel, key, s.rows.Rows, false)
	}
	s.out.Cost += listCost * made
	s.bound = append(s.bound, name)
	s.join(lists[0])
	s.test(slices.Concat(lists[1:], whole), made)
	s.out.Cost += EmitCost * s.rows.Rows
	return true
}

// length returns the expected length of the list of a relation for a row.
func (s *stepSearch) length(rel int) float64 {
	return s.shape(s.rows, s.leaf(rel)).Rows / s.rows.Rows
}

// join adds a relation to the rows.
func (s *stepSearch) join(rel int) {
	s.out.Join.Nodes = append(s.out.Join.Nodes, s.rels[rel])
	s.rows = s.shape(s.rows, s.leaf(rel))
}

// test looks tuples up in relations without a further column.
func (s *stepSearch) test(rels []int, tuples float64) {
	for _, rel := range rels {
		s.out.Cost += tuples * s.probe(rel, trees.Columns(s.rels[rel]), tuples, true)
		s.join(rel)
	}
}

// probe returns the cost of looking up a key of a relation: a list of values,
// or only whether a tuple exists.
func (s *stepSearch) probe(rel int, key []string, probes float64, exists bool) float64 {
	x := IndexShape{Rows: s.Rels[rel].Est.Rows, Columns: len(key), Size: 1, Probes: probes,
		exists: exists, Unique: exists}
	for _, name := range key {
		x.Size *= s.span[s.Number[name]]
	}
	_, probe := x.Cost()
	return probe
}
