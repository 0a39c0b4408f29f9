package joins

import (
	"slices"
	"strconv"

	"github.com/redfoxdb/redfox/internal/graph"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// Conjunction is a tree of inner joins, semi and anti joins, filters, maps and
// projections taken apart: a conjunctive query with negated and computed parts.
// Its columns have names of its own; columns of one name are equal.
type Conjunction struct {
	Rels []queryplan.Node // what is joined
	// Maps are in an order in which they can be computed. A name that a
	// relation has, too, is an equality.
	Maps  []queryplan.NamedExpr
	Conds []queryplan.Expr
	Semis []Semijoin
	Out   []queryplan.Rename // the result's columns
	Names *queryplan.Names
	// kept has the relations of KeepIndexes; nil for none.
	kept []bool
}

// Semijoin keeps the tuples with a match in right (Semi) or without one (Anti).
// Right has the columns to match and no others.
type Semijoin struct {
	Kind  queryplan.JoinKind
	Right queryplan.Node
}

// InConjunction reports whether an operator is part of a conjunction, its
// inputs (the left one of a semi or anti join) being further parts or
// relations.
func InConjunction(n queryplan.Node) bool {
	switch n := n.(type) {
	case *queryplan.Filter:
		return !queryplan.IsVolatile(n.Cond)
	case *queryplan.Map:
		return !slices.ContainsFunc(n.Exprs, func(e queryplan.NamedExpr) bool {
			return queryplan.IsVolatile(e.Expr)
		})
	case *queryplan.Project, *queryplan.Join:
		return true
	}
	return false
}

// Site is the use of the result of a conjunction.
type Site struct {
	// Set is set if repeated tuples do not matter.
	Set bool
	// Want lists the columns that are used; nil for all, in their order.
	Want []string
}

// EachConjunction replaces every maximal conjunction of a tree by the result of
// f, inner ones first.
func EachConjunction(
	n queryplan.Node, at Site, f func(n queryplan.Node, at Site) queryplan.Node,
) queryplan.Node {
	if !InConjunction(n) {
		in := n.Inputs()
		out := make([]queryplan.Node, len(in))
		for i, x := range in {
			next := Site{Set: InputSet(n, at.Set)}
			if a, ok := n.(*queryplan.Aggregate); ok {
				next.Want = Aggregated(a)
			}
			out[i] = EachConjunction(x, next, f)
		}
		if len(in) == 0 {
			return n
		}
		return queryplan.WithInputs(n, out)
	}
	var parts func(n queryplan.Node) queryplan.Node
	parts = func(n queryplan.Node) queryplan.Node {
		if !InConjunction(n) {
			return EachConjunction(n, Site{Set: at.Set}, f)
		}
		in := n.Inputs()
		out := []queryplan.Node{parts(in[0])}
		if j, ok := n.(*queryplan.Join); ok {
			if j.Kind == queryplan.Inner {
				out = append(out, parts(j.Right))
			} else {
				out = append(out, EachConjunction(j.Right, Site{Set: true}, f))
			}
		}
		return queryplan.WithInputs(n, out)
	}
	return f(parts(n), at)
}

// Aggregated returns the columns that an aggregate reads.
func Aggregated(n *queryplan.Aggregate) []string {
	out := slices.Clone(n.By)
	if out == nil {
		out = []string{}
	}
	for _, a := range n.Aggs {
		if a.Fn != queryplan.Count && !slices.Contains(out, a.In) {
			out = append(out, a.In)
		}
	}
	return out
}

// InputSet reports whether repeated tuples of an operator's input do not
// matter, given whether those of its result do not.
func InputSet(n queryplan.Node, set bool) bool {
	switch n := n.(type) {
	case *queryplan.Dedup:
		return true
	case *queryplan.Aggregate:
		return !slices.ContainsFunc(n.Aggs, func(a queryplan.Agg) bool {
			return a.Fn != queryplan.Min && a.Fn != queryplan.Max
		})
	case *queryplan.Seq, *queryplan.TopK:
		return false
	}
	return set
}

// RootSite is the site of a command's tree.
func RootSite(c queryplan.Command) Site {
	_, insert := c.(*queryplan.Insert)
	return Site{Set: insert}
}

// flattener numbers the columns of a tree; the numbers of columns that a join
// equates form classes.
type flattener struct {
	graph.Sets
	hints []string // the name of a column in its relation
	rels  []flatRel
	maps  []flatMap
	conds []queryplan.Expr
	semis []flatSemi
}

type flatRel struct {
	node queryplan.Node
	cols []int // numbers of its columns
}

type flatMap struct {
	col  int
	expr queryplan.Expr
}

type flatSemi struct {
	kind  queryplan.JoinKind
	right queryplan.Node
	on    []string // columns of right
	cols  []int    // what they match
}

func (f *flattener) column(hint string) int {
	f.hints = append(f.hints, hint)
	return f.Add()
}

// placeholder is the name of a numbered column until it gets its own.
func placeholder(i int) string { return "\x00" + strconv.Itoa(i) }

// rename replaces columns by their placeholders.
func rename(e queryplan.Expr, env map[string]int) queryplan.Expr {
	return queryplan.RewriteExpr(e, func(e queryplan.Expr) queryplan.Expr {
		if c, ok := e.(*queryplan.ColRef); ok {
			return &queryplan.ColRef{Col: queryplan.Column{Name: placeholder(env[c.Col.Name]),
				Type: c.Col.Type}}
		}
		return e
	})
}

// flatten takes a tree apart and returns the numbers of its columns.
func (f *flattener) flatten(n queryplan.Node) map[string]int {
	if !InConjunction(n) {
		env := map[string]int{}
		rel := flatRel{node: n}
		for _, c := range n.Columns() {
			env[c.Name] = f.column(c.Name)
			rel.cols = append(rel.cols, env[c.Name])
		}
		f.rels = append(f.rels, rel)
		return env
	}
	switch n := n.(type) {
	case *queryplan.Filter:
		env := f.flatten(n.Input)
		for _, c := range queryplan.Conjuncts(n.Cond) {
			f.conds = append(f.conds, rename(c, env))
		}
		return env
	case *queryplan.Map:
		env := f.flatten(n.Input)
		made := map[string]int{}
		for _, e := range n.Exprs {
			if ref, ok := e.Expr.(*queryplan.ColRef); ok {
				made[e.Name] = env[ref.Col.Name]
				continue
			}
			made[e.Name] = f.column(e.Name)
			f.maps = append(f.maps, flatMap{made[e.Name], rename(e.Expr, env)})
		}
		for name, i := range made {
			env[name] = i
		}
		return env
	case *queryplan.Project:
		in := f.flatten(n.Input)
		env := map[string]int{}
		for _, c := range n.Cols {
			env[c.To] = in[c.From]
		}
		return env
	case *queryplan.Join:
		env := f.flatten(n.Left)
		on := n.On()
		if n.Kind == queryplan.Inner || n.Kind == queryplan.Semi && queryplan.IsKey(n.Right, on) {
			right := f.flatten(n.Right)
			for name, r := range right {
				if l, shared := env[name]; shared {
					f.Union(l, r)
				} else if n.Kind == queryplan.Inner {
					env[name] = r
				}
			}
			return env
		}
		s := flatSemi{kind: n.Kind, right: n.Right, on: on}
		for _, name := range on {
			s.cols = append(s.cols, env[name])
		}
		f.semis = append(f.semis, s)
		return env
	}
	panic("rewrite: no part of a conjunction")
}

// Flatten takes the conjunction at the root of a tree apart.
func Flatten(n queryplan.Node) *Conjunction {
	f := &flattener{}
	env := f.flatten(n)
	f.equateColumns()
	c := &Conjunction{Names: queryplan.NewNames()}

	// A class has the name under which the result shows it, else that of its
	// first column.
	names := map[int]string{}
	for _, col := range n.Columns() {
		c.Names.Take(col.Name)
		root := f.Find(env[col.Name])
		if names[root] == "" {
			names[root] = col.Name
		}
		c.Out = append(c.Out, queryplan.Rename{From: names[root], To: col.Name})
	}
	for i, hint := range f.hints {
		if root := f.Find(i); names[root] == "" {
			names[root] = c.Names.Fresh(hint)
		}
	}
	substitution := func(e queryplan.Expr) queryplan.Expr {
		return queryplan.RewriteExpr(e, func(e queryplan.Expr) queryplan.Expr {
			if ref, ok := e.(*queryplan.ColRef); ok && ref.Col.Name[0] == 0 {
				i, _ := strconv.Atoi(ref.Col.Name[1:])
				return &queryplan.ColRef{Col: queryplan.Column{Name: names[f.Find(i)],
					Type: ref.Col.Type}}
			}
			return e
		})
	}
	for _, r := range f.rels {
		to := list.Map(r.cols, func(col int) string { return names[f.Find(col)] })
		c.Rels = append(c.Rels, c.Named(r.node, to))
	}
	stored := map[int]queryplan.Column{} // classes with a column of a relation
	for _, r := range f.rels {
		for i, col := range r.node.Columns() {
			root := f.Find(r.cols[i])
			stored[root] = queryplan.Column{Name: names[root], Type: col.Type}
		}
	}
	for _, m := range f.maps {
		root := f.Find(m.col)
		if value, ok := m.expr.(*queryplan.Const); ok && stored[root].Name != "" {
			c.Conds = trees.AddCond(c.Conds, trees.Equals(stored[root], value.Value))
			continue
		}
		c.AddMap(names[root], substitution(m.expr))
	}
	for _, cond := range f.conds {
		c.Conds = trees.AddCond(c.Conds, substitution(cond))
	}
	for _, s := range f.semis {
		to := make([]string, len(s.on))
		for i, col := range s.cols {
			to[i] = names[f.Find(col)]
		}
		c.Semis = append(c.Semis, Semijoin{s.kind, matching(s.right, s.on, to)})
	}
	return c
}

// Named gives the columns of a relation of c new names. If a name comes twice,
// its first column keeps it, and the others are compared with that one.
func (c *Conjunction) Named(n queryplan.Node, names []string) queryplan.Node {
	cols := n.Columns()
	renames := make([]queryplan.Rename, len(cols))
	seen := map[string]bool{}
	for i, col := range cols {
		name := names[i]
		if seen[name] {
			other := c.Names.Fresh(col.Name)
			first := queryplan.Column{Name: name, Type: col.Type}
			c.Conds = trees.AddCond(c.Conds,
				trees.EqualColumns(first, queryplan.Column{Name: other, Type: col.Type}))
			name = other
		}
		seen[name] = true
		renames[i] = queryplan.Rename{From: col.Name, To: name}
	}
	return trees.Rename(n, renames)
}

// matching chooses the columns on of the right side of a semijoin and gives
// them the names of the columns that they match. If several match one column,
// they have to be equal, and one of them stays.
func matching(right queryplan.Node, on, names []string) queryplan.Node {
	var renames []queryplan.Rename
	seen := map[string]bool{}
	for i, col := range on {
		if seen[names[i]] {
			right = equated(right, renames, col, names[i])
			continue
		}
		seen[names[i]] = true
		renames = append(renames, queryplan.Rename{From: col, To: names[i]})
	}
	return trees.Rename(right, renames)
}

// Rename replaces names of columns everywhere in c. Columns that get one name
// become equal; those of relations are compared.
func (c *Conjunction) Rename(to map[string]string) {
	nameOf := func(name string) string {
		if new, ok := to[name]; ok {
			return new
		}
		return name
	}
	namesOf := func(names []string) ([]string, bool) {
		out := list.Map(names, nameOf)
		return out, !slices.Equal(out, names)
	}
	inExpr := func(e queryplan.Expr) queryplan.Expr {
		return queryplan.RewriteExpr(e, func(e queryplan.Expr) queryplan.Expr {
			if ref, ok := e.(*queryplan.ColRef); ok {
				return &queryplan.ColRef{Col: queryplan.Column{Name: nameOf(ref.Col.Name),
					Type: ref.Col.Type}}
			}
			return e
		})
	}
	conds, computed := c.Conds, c.Maps
	c.Conds, c.Maps = nil, nil
	for _, cond := range conds {
		c.Conds = trees.AddCond(c.Conds, inExpr(cond))
	}
	for _, m := range computed {
		c.AddMap(nameOf(m.Name), inExpr(m.Expr))
	}
	for i, r := range c.Rels {
		if names, changed := namesOf(trees.Columns(r)); changed {
			c.Rels[i] = c.Named(r, names)
		}
	}
	for i, s := range c.Semis {
		on := trees.Columns(s.Right)
		if names, changed := namesOf(on); changed {
			c.Semis[i].Right = matching(s.Right, on, names)
		}
	}
	for i, o := range c.Out {
		c.Out[i].From = nameOf(o.From)
	}
}

// equated filters a relation by the equality of a column with the one that has
// been renamed to the given name.
func equated(n queryplan.Node, renames []queryplan.Rename, col, to string) queryplan.Node {
	cols := n.Columns()
	at := slices.IndexFunc(renames, func(r queryplan.Rename) bool { return r.To == to })
	x, _ := queryplan.FindColumn(cols, renames[at].From)
	y, _ := queryplan.FindColumn(cols, col)
	return trees.Filter(n, []queryplan.Expr{trees.EqualColumns(x, y)})
}

// AddMap adds a computed column, unless it is there already.
func (c *Conjunction) AddMap(name string, e queryplan.Expr) {
	for _, m := range c.Maps {
		if m.Name == name && queryplan.EqualExpr(m.Expr, e) {
			return
		}
	}
	c.Maps = append(c.Maps, queryplan.NamedExpr{Name: name, Expr: e})
}

// equateColumns turns conditions that a join can use into their form for joins.
// Two equal columns become a class. A column that equals an expression of
// others becomes a computed column. The columns must belong to relations.
func (f *flattener) equateColumns() {
	computed := map[int]bool{}
	for _, m := range f.maps {
		computed[f.Find(m.col)] = true
	}
	number := func(e queryplan.Expr) (int, bool) {
		ref, ok := e.(*queryplan.ColRef)
		if !ok {
			return 0, false
		}
		i, _ := strconv.Atoi(ref.Col.Name[1:])
		i = f.Find(i)
		return i, !computed[i]
	}
	var rest []queryplan.Expr
	for _, cond := range f.conds {
		call, ok := cond.(*queryplan.Call)
		if !ok || call.Func.Name != "eq" {
			rest = append(rest, cond)
			continue
		}
		x, isX := number(call.Args[0])
		y, isY := number(call.Args[1])
		switch {
		case isX && isY:
			f.Union(x, y)
		case isX && f.spansRelations(x, call.Args[1]):
			f.maps = append(f.maps, flatMap{x, call.Args[1]})
			computed[x] = true
		case isY && f.spansRelations(y, call.Args[0]):
			f.maps = append(f.maps, flatMap{y, call.Args[0]})
			computed[y] = true
		default:
			rest = append(rest, cond)
		}
	}
	f.conds = rest
}

// spansRelations reports whether an expression is computed from columns of
// relations that do not have the column col.
func (f *flattener) spansRelations(col int, e queryplan.Expr) bool {
	if _, call := e.(*queryplan.Call); !call {
		return false
	}
	classes := func(r flatRel) []int {
		return list.Map(r.cols, f.Find)
	}
	var used []int
	for _, name := range queryplan.ExprColumns(e) {
		i, _ := strconv.Atoi(name[1:])
		used = append(used, f.Find(i))
	}
	if len(used) == 0 || slices.Contains(used, col) {
		return false
	}
	for _, m := range f.maps {
		if slices.Contains(used, f.Find(m.col)) {
			return false
		}
	}
	for _, r := range f.rels {
		cs := classes(r)
		if slices.Contains(cs, col) && slices.ContainsFunc(used, func(u int) bool {
			return slices.Contains(cs, u)
		}) {
			return false
		}
	}
	return true
}

// Part returns the conjunction of some of the relations, with the conditions
// and semijoins on columns of one of them already applied.
func (c *Conjunction) Part(rels []int) *Conjunction {
	out := &Conjunction{Names: c.Names}
	done := make([]bool, len(c.Semis))
	for _, i := range rels {
		n := c.Rels[i]
		cols := trees.Columns(n)
		var conds []queryplan.Expr
		for _, cond := range c.Conds {
			if used := queryplan.ExprColumns(cond); len(used) > 0 && trees.HasAll(cols, used) {
				conds = append(conds, cond)
			}
		}
		n = trees.Filter(n, conds)
		for k, s := range c.Semis {
			if on := trees.Columns(s.Right); len(on) > 0 && trees.HasAll(cols, on) && !done[k] {
				done[k] = true
				j := &queryplan.Join{Kind: s.Kind, Left: n, Right: s.Right}
				j.Unique = j.MatchesOnce()
				n = j
			}
		}
		out.Rels = append(out.Rels, n)
	}
	return out
}

// ReplaceByMultijoin puts a multijoin of the part with rels in the place of the
// first of them, and nil in the places of the others. Conditions that the part
// has applied stay only if other relations need them.
func (c *Conjunction) ReplaceByMultijoin(rels []int, join *queryplan.MultiJoin) {
	in := func(used []string) bool {
		return len(used) > 0 && slices.ContainsFunc(rels, func(i int) bool {
			return trees.HasAll(trees.Columns(c.Rels[i]), used)
		})
	}
	out := func(used []string) bool {
		for i, n := range c.Rels {
			if n != nil && !slices.Contains(rels, i) && trees.HasAll(trees.Columns(n), used) {
				return true
			}
		}
		return false
	}
	c.Conds = slices.DeleteFunc(slices.Clone(c.Conds), func(e queryplan.Expr) bool {
		used := queryplan.ExprColumns(e)
		return in(used) && !out(used)
	})
	c.Semis = slices.DeleteFunc(slices.Clone(c.Semis), func(s Semijoin) bool {
		return in(trees.Columns(s.Right))
	})
	for _, i := range rels {
		c.Rels[i] = nil
	}
	c.Rels[rels[0]] = join
}

// Uses reports whether something beside relations uses a column of the
// conjunction.
func (c *Conjunction) Uses(name string) bool {
	has := func(names []string) bool { return slices.Contains(names, name) }
	return slices.ContainsFunc(c.Out, func(o queryplan.Rename) bool { return o.From == name }) ||
		slices.ContainsFunc(c.Conds,
			func(e queryplan.Expr) bool { return has(queryplan.ExprColumns(e)) }) ||
		slices.ContainsFunc(c.Maps, func(m queryplan.NamedExpr) bool {
			return m.Name == name ||
				has(queryplan.ExprColumns(m.Expr))
		}) ||
		slices.ContainsFunc(c.Semis, func(s Semijoin) bool { return has(trees.Columns(s.Right)) })
}

// Show adds a column to the result if it is used.
func (c *Conjunction) Show(name string, used map[string]bool) {
	out := queryplan.Rename{From: name, To: name}
	if used[name] && !slices.Contains(c.Out, out) {
		c.Out = append(c.Out, out)
	}
}
