package rewrite

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// seed is a scan of the recursion from outside of it. The values of some of its
// columns are known there: constants, or values of another atom.
type seed struct {
	scan    *queryplan.Scan
	columns []int
	body    *conjuncts
	ids     []int // the variables of all columns
	from    *conjunct
}

// constant reports whether the values are constants.
func (s *seed) constant() bool { return s.from == nil }

// values returns a tree that yields the known values of columns.
func (s *seed) values(columns []int, names []string) queryplan.Node {
	if s.constant() {
		out := &queryplan.Values{Rows: make([][]scalar.Value, 1)}
		for i, at := range columns {
			c := s.body.constant(s.ids[at])
			out.Cols = append(out.Cols, queryplan.Column{Name: names[i], Type: c.Type()})
			out.Rows[0] = append(out.Rows[0], c.Value)
		}
		return out
	}
	// The first column by name serves if several have the values.
	var cols []queryplan.Rename
	for i, at := range columns {
		for name, id := range s.from.vars {
			if s.body.find(id) == s.ids[at] && (len(cols) == i || name < cols[i].From) {
				cols = append(cols[:i], queryplan.Rename{From: name, To: names[i]})
			}
		}
	}
	return trees.Project(s.from.node, cols)
}

// asked finds the columns of the recursion for which every outside reader knows
// values. It returns false if some reader knows none.
func (r *recursion) asked() bool {
	flow := queryplan.NewFlow(r.Plan)
	for _, b := range r.Blocks {
		if br, ok := b.Term.(*queryplan.Branch); ok && b != r.before && b != r.loop &&
			slices.ContainsFunc(br.Vars, r.member) {
			return false
		}
		if b == r.before || b == r.loop {
			continue
		}
		for _, c := range b.Cmds {
			n := queryplan.CommandNode(c)
			if n != nil && r.reads(n) && !r.ask(&innerTree{node: n}, flow) {
				return false
			}
		}
	}
	return len(r.seeds) > 0
}

// ask visits the scans of the recursion in a tree.
func (r *recursion) ask(tree *innerTree, flow *queryplan.Flow) bool {
	body := &conjuncts{reads: r.reads, consts: map[int]*queryplan.Const{}, groups: true}
	env := map[string]int{}
	if tree.by != nil {
		for _, name := range trees.Columns(tree.by) {
			env[name] = body.variable()
		}
	}
	body.flatten(tree.node, env)
	var from []*conjunct
	if tree.by != nil {
		from = append(from, &conjunct{node: tree.by, vars: env})
	}
	for _, a := range body.atoms {
		if a.scan == nil {
			from = append(from, a)
		}
	}
	for _, a := range body.atoms {
		if a.scan != nil && !r.askBy(a, body, from, flow) {
			return false
		}
	}
	return !slices.ContainsFunc(body.inner, func(in *innerTree) bool {
		return r.reads(in.node) && !r.ask(in, flow)
	})
}

// askBy adds the seed of a scan, by constants or by one of some atoms.
func (r *recursion) askBy(a *conjunct, body *conjuncts, from []*conjunct,
	flow *queryplan.Flow) bool {
	if a.scan.Version != queryplan.Full || a.scan.Position != "" {
		return false
	}
	best := &seed{scan: a.scan, body: body, ids: a.ids(body)}
	for i, id := range best.ids {
		if id >= 0 && body.constant(id) != nil {
			best.columns = append(best.columns, i)
		}
	}
	var moved map[queryplan.Command]bool
	if len(best.columns) == 0 {
		for _, other := range from {
			s := &seed{scan: a.scan, body: body, ids: best.ids, from: other}
			theirs := other.ids(body)
			for i, id := range s.ids {
				if id >= 0 && slices.Contains(theirs, id) {
					s.columns = append(s.columns, i)
				}
			}
			fills := map[queryplan.Command]bool{}
			if len(s.columns) > len(best.columns) && !trees.IsVolatile(other.node) &&
				r.early(other.node, flow, fills) && r.pays(s) {
				best, moved = s, fills
			}
		}
	}
	if len(best.columns) == 0 {
		return false
	}
	maps.Copy(r.moved, moved)
	r.seeds = append(r.seeds, best)
	columns := best.columns
	if had, ok := r.columns[a.scan.Var]; ok {
		columns = list.Filter(had, func(i int) bool { return slices.Contains(columns, i) })
	}
	r.columns[a.scan.Var] = columns
	return len(columns) > 0
}

// early reports whether a tree can be computed before the recursion. It
// collects the commands after the recursion that then have to move before it:
// those that fill what the tree reads and do not depend on the recursion.
func (r *recursion) early(n queryplan.Node, flow *queryplan.Flow,
	fills map[queryplan.Command]bool) bool {
	for _, s := range queryplan.Scans(n) {
		if r.member(s.Var) || s.Version != queryplan.Full {
			return false
		}
		late := false
		for b, c := range r.Commands() {
			late = late || queryplan.CommandVar(c) == s.Var && flow.RunsAfter(b, r.before)
		}
		if late && !r.moves(s.Var, flow, fills) {
			return false
		}
	}
	return true
}

// moves reports whether the commands that fill a variable can move before the
// recursion, and collects them.
func (r *recursion) moves(v *queryplan.Var, flow *queryplan.Flow,
	fills map[queryplan.Command]bool) bool {
	if !r.late {
		return false
	}
	for b, c := range r.Commands() {
		if queryplan.CommandVar(c) != v || fills[c] {
			continue
		}
		if _, clears := c.(*queryplan.Clear); clears || b != r.after {
			return false
		}
		fills[c] = true
		if n := queryplan.CommandNode(c); n != nil && !r.early(n, flow, fills) {
			return false
		}
	}
	return true
}
