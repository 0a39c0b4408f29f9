package rewrite

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// contents is what the commands of a plan reveal about the tuples of the
// variables that they fill.
type contents struct {
	dominators loops.DominatorTree
	// made holds the trees whose tuples become those of a variable.
	made map[*queryplan.Var][]queryplan.Node
	// merged is the site from which a variable has all its tuples. It lacks
	// variables that are filled in several blocks or in a loop.
	merged map[*queryplan.Var]site
}

// site is the place of a command in a plan.
type site struct {
	block *queryplan.Block
	index int
}

func contentsOf(p *queryplan.Plan) *contents {
	s := &contents{loops.Dominators(p), map[*queryplan.Var][]queryplan.Node{},
		map[*queryplan.Var]site{}}
	looping := loops.Changed(p)
	first, never := map[*queryplan.Var]*queryplan.Block{}, map[*queryplan.Var]bool{}
	for _, b := range p.Blocks {
		for i, c := range b.Cmds {
			v := queryplan.CommandVar(c)
			if v == nil {
				continue
			}
			if first[v] == nil {
				first[v] = b
			}
			never[v] = never[v] || looping[b] != nil || first[v] != b
			switch c := c.(type) {
			case *queryplan.Merge:
				s.merged[v] = site{b, i}
			case *queryplan.Insert:
				s.made[v] = append(s.made[v], c.Node)
				_, merged := s.merged[v]
				never[v] = never[v] || merged
			case *queryplan.Assign:
				s.made[v] = append(s.made[v], c.Node)
			case *queryplan.Clear:
				never[v] = true
			}
		}
	}
	maps.DeleteFunc(s.merged, func(v *queryplan.Var, _ site) bool { return never[v] })
	return s
}

// settled reports whether a variable has all its tuples before the command at a
// site runs.
func (s *contents) settled(v *queryplan.Var, at site) bool {
	m, ok := s.merged[v]
	if !ok || m.block == at.block {
		return ok && m.index < at.index
	}
	return s.dominators.Dominates(m.block, at.block)
}

// place is one or more columns of the tuples of a variable.
type place struct {
	v  *queryplan.Var
	at []int
}

// placeOf returns the columns of a variable that columns of a tree come from,
// if the tree has all tuples of the variable.
func placeOf(n queryplan.Node, cols []string) (place, bool) {
	switch n := n.(type) {
	case *queryplan.Scan:
		p, ok := columnsAt(n, cols)
		return p, ok && n.Version == queryplan.Full
	case *queryplan.Dedup:
		return placeOf(n.Input, cols)
	case *queryplan.Project:
		below, ok := belowProject(n, cols)
		if ok {
			return placeOf(n.Input, below)
		}
	}
	return place{}, false
}

// columnsAt returns the variable's columns behind columns of a scan.
func columnsAt(n *queryplan.Scan, cols []string) (place, bool) {
	p := place{v: n.Var, at: list.Map(cols, func(name string) int {
		return slices.Index(n.Names, name)
	})}
	return p, !slices.Contains(p.at, -1)
}

// belowProject returns the columns that a projection renames to the given ones.
func belowProject(n *queryplan.Project, cols []string) ([]string, bool) {
	below := make([]string, len(cols))
	for i, name := range cols {
		at := slices.IndexFunc(n.Cols, func(c queryplan.Rename) bool { return c.To == name })
		if at < 0 {
			return nil, false
		}
		below[i] = n.Cols[at].From
	}
	return below, true
}

// within decides whether the values in columns of a tree are certain to occur
// in a relation that has all its tuples.
type within struct {
	*contents
	// input decides this for columns of an input.
	input func(n *queryplan.Scan, cols []string) bool
	self  place // the relation's own columns, if it is derived
	// assumed holds columns of variables that are being decided. A tuple is
	// derived before the tuples that depend on it, so it is enough that each
	// tree preserves what holds for earlier tuples (induction). A place that
	// failed with assumptions also fails without them.
	assumed, failed []place
}

// valuesOf returns columns of inputs such that a derived variable has all their
// values in the given columns. ok is false if the variable does not have all
// its tuples yet.
func (s *contents) valuesOf(to place, at site) (whole []place, ok bool) {
	if len(to.at) == 0 || to.v.Kind != queryplan.Derived || !s.settled(to.v, at) ||
		slices.ContainsFunc(to.at, func(i int) bool {
			return to.v.Cols[i].Type.Kind == scalar.Float
		}) {
		return nil, false
	}
	for _, made := range s.made[to.v] {
		from, ok := placeOf(made, namesAt(made, to.at))
		if ok && (from.v.Kind == queryplan.Input || from.v.Kind == queryplan.Table) {
			whole = append(whole, from)
		}
	}
	return whole, true
}

func namesAt(n queryplan.Node, at []int) []string {
	cols := n.Columns()
	return list.Map(at, func(i int) string { return cols[i].Name })
}

func (p place) equal(q place) bool { return p.v == q.v && slices.Equal(p.at, q.at) }

func (w *within) has(n queryplan.Node, cols []string) bool {
	switch n := n.(type) {
	case *queryplan.Scan:
		if n.Var.Kind == queryplan.Input || n.Var.Kind == queryplan.Table {
			return w.input(n, cols)
		}
		p, ok := columnsAt(n, cols)
		return ok && w.hasPlace(p)
	case *queryplan.Project:
		below, ok := belowProject(n, cols)
		return ok && w.has(n.Input, below)
	case *queryplan.Filter, *queryplan.Map, *queryplan.Dedup, *queryplan.TopK, *queryplan.Seq:
		in := n.Inputs()[0]
		return trees.HasAll(trees.Columns(in), cols) && w.has(in, cols)
	case *queryplan.Aggregate:
		return trees.HasAll(n.By, cols) && w.has(n.Input, cols)
	case *queryplan.Union:
		return !slices.ContainsFunc(n.Nodes, func(in queryplan.Node) bool {
			return !w.has(in, cols)
		})
	case *queryplan.Join:
		in := n.Inputs()
		if n.Kind == queryplan.Anti {
			in = in[:1]
		}
		return slices.ContainsFunc(in, func(in queryplan.Node) bool {
			return trees.HasAll(trees.Columns(in), cols) && w.has(in, cols)
		})
	}
	return false
}

// hasPlace decides this for all tuples of a variable.
func (w *within) hasPlace(p place) bool {
	if p.equal(w.self) || slices.ContainsFunc(w.assumed, p.equal) {
		return true
	}
	if slices.ContainsFunc(w.failed, p.equal) {
		return false
	}
	made, before := w.made[p.v], len(w.assumed)
	w.assumed = append(w.assumed, p)
	if len(made) == 0 || slices.ContainsFunc(made, func(n queryplan.Node) bool {
		return !w.has(n, namesAt(n, p.at))
	}) {
		w.assumed = w.assumed[:before]
		w.failed = append(w.failed, p)
		return false
	}
	return true
}
