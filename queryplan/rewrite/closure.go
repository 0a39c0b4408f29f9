package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// closure is the recursion p(x, z) <- p(x, y), p(y, z) in which the second atom
// is replaced by the relation that p starts from. Both forms derive all chains,
// so the result is the same.
type closure struct {
	assign *queryplan.Assign // assigns what p starts from; may be nil
	base   []*queryplan.Insert
	rule   *queryplan.Insert
}

// composes reports whether an insert of the loop does nothing but compose a
// variable with itself, and whether it reads the delta first.
func (r *recursion) composes(insert *queryplan.Insert) (first, ok bool) {
	body, head := conjunctsOf(insert.Node, r.reads)
	if body.loose || len(body.consts) > 0 || len(body.inner) > 0 || len(body.atoms) != 2 ||
		len(head)%2 != 0 || slices.ContainsFunc(body.atoms, func(a *conjunct) bool {
		return a.scan == nil || a.scan.Var != insert.Var || a.scan.Position != ""
	}) {
		return false, false
	}
	seen := map[int]bool{}
	for i, id := range head {
		head[i] = body.find(id)
		seen[head[i]] = true
	}
	half := len(head) / 2
	for i, a := range body.atoms {
		left, right := a.ids(body), body.atoms[1-i].ids(body)
		if slices.Equal(left[:half], head[:half]) && slices.Equal(left[half:], right[:half]) &&
			slices.Equal(right[half:], head[half:]) {
			for _, id := range left {
				seen[id] = true
			}
			first = a.scan.Version == queryplan.Delta
			return first, !seen[-1] && len(seen) == 3*half
		}
	}
	return false, false
}

// linearise replaces the inserts that compose the recursion's variable with
// itself by one rule with one recursive atom.
func (r *recursion) linearise() bool {
	if len(r.vars) != 1 || len(r.rules) > 0 || len(r.base) == 0 || len(r.deltas) != 2 {
		return false
	}
	v := r.vars[0]
	names := queryplan.NewNames()
	var x, y, z []string
	half := len(v.Cols) / 2
	for i := range v.Cols {
		name := names.Fresh(v.Cols[i].Name)
		if i < half {
			x = append(x, name)
		} else {
			z = append(z, name)
		}
	}
	for _, c := range v.Cols[:half] {
		y = append(y, names.Fresh(c.Name))
	}
	out := &closure{base: r.base}
	start := r.base[0].Node
	if rowWise, _ := isRowWise(start); !rowWise || len(r.base) > 1 {
		bag := &queryplan.Var{Name: queryplan.VarNames(r.Plan).Fresh(v.Name + "$start"),
			Kind: queryplan.Temp, Cols: v.Cols, Keys: len(v.Cols), Limit: -1, Span: v.Span}
		all := list.Map(r.base, func(in *queryplan.Insert) queryplan.Node {
			return &queryplan.Project{Input: in.Node,
				Cols: renamesOf(trees.Columns(in.Node), queryplan.NamesOf(v.Cols))}
		})
		out.assign = &queryplan.Assign{Var: bag,
			Node: &queryplan.Dedup{Input: &queryplan.Union{Nodes: all}}}
		start = &queryplan.Scan{Var: bag, Names: queryplan.NamesOf(v.Cols)}
		out.base = []*queryplan.Insert{{Var: v, Node: start, Span: r.base[0].Span}}
	}
	chain := &queryplan.Join{
		Left:  &queryplan.Scan{Var: v, Version: queryplan.Delta, Names: slices.Concat(x, y)},
		Right: trees.Rename(start, renamesOf(trees.Columns(start), slices.Concat(y, z))),
	}
	out.rule = &queryplan.Insert{Var: v, Span: r.composed[0].Span,
		Node: trees.Project(chain, renamesOf(slices.Concat(x, z), slices.Concat(x, z)))}
	rule := r.rule(out.rule)
	if rule == nil {
		return false
	}
	r.closure, r.base, r.rules = out, out.base, []*recursiveRule{rule}
	return true
}

// replace puts the rule with one recursive atom into the plan.
func (r *recursion) replace() {
	if r.closure == nil {
		return
	}
	var cmds []queryplan.Command
	for _, c := range r.before.Cmds {
		if in, ok := c.(*queryplan.Insert); ok && r.member(in.Var) {
			continue
		}
		if m, ok := c.(*queryplan.Merge); ok && r.member(m.Var) {
			if r.closure.assign != nil {
				r.Vars = append(r.Vars, r.closure.assign.Var)
				cmds = append(cmds, r.closure.assign)
			}
			for _, in := range r.closure.base {
				cmds = append(cmds, in)
			}
		}
		cmds = append(cmds, c)
	}
	r.before.Cmds = cmds
	r.loop.Cmds = slices.DeleteFunc(r.loop.Cmds, func(c queryplan.Command) bool {
		in, ok := c.(*queryplan.Insert)
		return ok && r.member(in.Var)
	})
	r.loop.Cmds = slices.Insert(r.loop.Cmds, 0, queryplan.Command(r.closure.rule))
}
