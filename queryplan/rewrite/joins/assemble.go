package joins

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// joinTree is an order in which to join the relations of a conjunction.
type joinTree struct {
	rel         int
	left, right *joinTree // nil for a relation
}

// LeftDeep joins n relations in their order.
func LeftDeep(n int) *joinTree {
	t := &joinTree{rel: 0}
	for i := 1; i < n; i++ {
		t = &joinTree{left: t, right: &joinTree{rel: i}}
	}
	return t
}

// relations lists the relations that a tree joins.
func (t *joinTree) relations() []int {
	if t.left == nil {
		return []int{t.rel}
	}
	return append(t.left.relations(), t.right.relations()...)
}

// assembler turns a conjunction into operators. It tests conditions as soon as
// their columns exist, and semijoins after them. It computes a column when
// something needs it, at the latest at the end.
type assembler struct {
	*Conjunction
	set                bool // repeated tuples of the result do not matter
	maps               []queryplan.NamedExpr
	condDone, semiDone []bool
	sources            map[string]int // relations that have a column, and maps that compute it
}

// Assemble returns the operators of a conjunction in the given join order. If
// the site allows it, joins become semijoins that only test whether a match
// exists.
func (c *Conjunction) Assemble(order *joinTree, at Site) queryplan.Node {
	c.Restrict(at)
	a := &assembler{
		Conjunction: c, set: at.Set, maps: slices.Clone(c.Maps),
		condDone: make([]bool, len(c.Conds)), semiDone: make([]bool, len(c.Semis)),
		sources: c.Sources(),
	}
	needed := map[string]bool{}
	for _, o := range c.Out {
		needed[o.From] = true
	}
	n := a.tree(order, needed)
	for len(a.maps) > 0 {
		cols := trees.Columns(n)
		at := slices.IndexFunc(a.maps, func(m queryplan.NamedExpr) bool {
			return trees.HasAll(cols, queryplan.ExprColumns(m.Expr))
		})
		n = a.compute(n, a.maps[at].Name)
	}
	n = a.ready(n)
	if at.Want != nil && !slices.ContainsFunc(c.Out, func(r queryplan.Rename) bool {
		return r.From != r.To
	}) {
		return n
	}
	return trees.Project(n, c.Out)
}

// Restrict reduces the result to the columns that the site uses.
func (c *Conjunction) Restrict(at Site) {
	if at.Want != nil {
		c.Out = slices.DeleteFunc(c.Out, func(r queryplan.Rename) bool {
			return !slices.Contains(at.Want, r.To)
		})
	}
}

// Sources counts, for each column, the relations that have it and the maps that
// compute it. Joins are on the columns with several.
func (c *Conjunction) Sources() map[string]int {
	out := map[string]int{}
	for _, r := range c.Rels {
		for _, col := range r.Columns() {
			out[col.Name]++
		}
	}
	for _, m := range c.Maps {
		out[m.Name]++
	}
	return out
}

// tree joins the relations under t. needed holds the columns that are used
// above, besides those of conditions, maps and semijoins that are still to be
// applied.
func (a *assembler) tree(t *joinTree, needed map[string]bool) queryplan.Node {
	if t.left == nil {
		return a.ready(a.Rels[t.rel])
	}
	forLeft, forRight := maps.Clone(needed), maps.Clone(needed)
	for _, r := range t.right.relations() {
		for _, col := range a.Rels[r].Columns() {
			forLeft[col.Name] = true
		}
	}
	left := a.tree(t.left, forLeft)
	whole := a.staysWhole(left, t.right)
	if whole {
		left = a.fix(left, t.right.rel)
	}
	for _, col := range left.Columns() {
		forRight[col.Name] = true
	}
	right := a.Rels[t.right.rel]
	if !whole {
		right = a.tree(t.right, forRight)
	}
	j := &queryplan.Join{Kind: queryplan.Inner, Left: left, Right: right}
	j.Unique = j.MatchesOnce()
	if (j.Unique || a.set) && a.onlyExists(j, needed) {
		j = &queryplan.Join{Kind: queryplan.Semi, Left: left, Right: right, Unique: j.Unique}
	}
	return a.ready(j)
}

// onlyExists reports whether nothing uses a column that only the right side
// has.
func (a *assembler) onlyExists(j *queryplan.Join, needed map[string]bool) bool {
	left := j.Left.Columns()
	var own []string
	for _, c := range j.Right.Columns() {
		if _, shared := queryplan.FindColumn(left, c.Name); !shared {
			own = append(own, c.Name)
		}
	}
	uses := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(own, name)
		})
	}
	for _, name := range own {
		if needed[name] {
			return false
		}
	}
	for i, c := range a.Conds {
		if !a.condDone[i] && uses(queryplan.ExprColumns(c)) {
			return false
		}
	}
	for _, m := range a.maps {
		if uses(queryplan.ExprColumns(m.Expr)) || slices.Contains(own, m.Name) {
			return false
		}
	}
	for i, s := range a.Semis {
		if !a.semiDone[i] && uses(trees.Columns(s.Right)) {
			return false
		}
	}
	return true
}

// ready applies to n everything that its columns allow: conditions, then the
// computed columns that conditions and joins wait for, then semijoins.
func (a *assembler) ready(n queryplan.Node) queryplan.Node {
	for {
		cols := trees.Columns(n)
		var conds []queryplan.Expr
		for i, c := range a.Conds {
			used := queryplan.ExprColumns(c)
			// A condition on columns of several relations restricts each of
			// them.
			if trees.HasAll(cols, used) && (!a.condDone[i] || len(used) > 0 && isLeaf(n)) {
				conds = append(conds, c)
				a.condDone[i] = true
			}
		}
		if len(conds) > 0 {
			n = trees.Filter(n, conds)
		}
		if name, ok := a.wanted(cols); ok {
			n = a.compute(n, name)
			continue
		}
		at := -1
		for i, s := range a.Semis {
			if at < 0 && !a.semiDone[i] && trees.HasAll(cols, trees.Columns(s.Right)) {
				at = i
			}
		}
		if at < 0 {
			return n
		}
		a.semiDone[at] = true
		j := &queryplan.Join{Kind: a.Semis[at].Kind, Left: n, Right: a.Semis[at].Right}
		j.Unique = j.MatchesOnce()
		n = j
	}
}

// wanted returns a map that can be computed from cols and that a join, a
// condition or a semijoin waits for.
func (a *assembler) wanted(cols []string) (string, bool) {
	if name, ok := a.equality(cols); ok {
		return name, true
	}
	for i, c := range a.Conds {
		if name, ok := a.computable(cols, queryplan.ExprColumns(c)); ok && !a.condDone[i] {
			return name, true
		}
	}
	for i, s := range a.Semis {
		if name, ok := a.computable(cols, trees.Columns(s.Right)); ok && !a.semiDone[i] {
			return name, true
		}
	}
	return "", false
}

// isLeaf reports whether n is an unchanged relation of a conjunction.
func isLeaf(n queryplan.Node) bool {
	if p, ok := n.(*queryplan.Project); ok {
		n = p.Input
	}
	return !InConjunction(n)
}

// computable returns a map to compute from cols on the way to all of used. Each
// missing column must be reachable.
func (a *assembler) computable(cols, used []string) (string, bool) {
	return a.reachAll(cols, used, nil)
}

// reachAll returns the map to compute first on the way to those of names that
// are missing from cols. The way must not pass through a name in under, because
// two columns that both a join and an expression give may be computed from each
// other.
func (a *assembler) reachAll(cols, names, under []string) (string, bool) {
	first := ""
	for _, name := range names {
		if slices.Contains(cols, name) {
			continue
		}
		next, ok := a.reach(cols, name, under)
		if !ok {
			return "", false
		}
		if first == "" {
			first = next
		}
	}
	return first, first != ""
}

// reach returns the map to compute first on the way to the column name.
func (a *assembler) reach(cols []string, name string, under []string) (string, bool) {
	if slices.Contains(under, name) {
		return "", false
	}
	under = append(slices.Clone(under), name)
	for _, m := range a.maps {
		if m.Name != name {
			continue
		}
		used := queryplan.ExprColumns(m.Expr)
		if trees.HasAll(cols, used) {
			return name, true
		}
		if next, ok := a.reachAll(cols, used, under); ok {
			return next, true
		}
	}
	return "", false
}

// equality returns a computable column that must equal a column of a relation.
func (a *assembler) equality(cols []string) (string, bool) {
	for _, m := range a.maps {
		if a.sources[m.Name] < 2 {
			continue
		}
		if used := queryplan.ExprColumns(m.Expr); trees.HasAll(cols, used) {
			return m.Name, true
		} else if next, ok := a.computable(cols, used); ok {
			return next, true
		}
	}
	return "", false
}

// compute computes the first pending map of a name. If the column exists
// already, it adds a condition that the two are equal.
func (a *assembler) compute(n queryplan.Node, name string) queryplan.Node {
	at := slices.IndexFunc(a.maps, func(m queryplan.NamedExpr) bool {
		return m.Name == name && trees.HasAll(trees.Columns(n), queryplan.ExprColumns(m.Expr))
	})
	m := a.maps[at]
	a.maps = slices.Delete(a.maps, at, at+1)
	if have, ok := queryplan.FindColumn(n.Columns(), name); ok {
		m.Name = a.Names.Fresh(name)
		n = trees.Map(n, m)
		return trees.Filter(n,
			[]queryplan.Expr{trees.EqualColumns(have,
				queryplan.Column{Name: m.Name, Type: have.Type})})
	}
	return trees.Map(n, m)
}
