package rewrite

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// conjuncts is a tree of joins as atoms over variables. It leaves out anti
// joins, and conditions other than equalities of columns, so it may hold for
// more tuples than the tree.
type conjuncts struct {
	reads  func(n queryplan.Node) bool // the recursion
	parent []int                       // a union-find forest of equal variables
	consts map[int]*queryplan.Const
	atoms  []*conjunct
	// inner lists conjunctions of their own below the tree: the right sides of
	// anti joins, and inputs of other operators.
	inner []*innerTree
	// loose means that something was left out.
	loose bool
	// groups means that the rows of groups belong to the conjunction: asking
	// for a group asks for its rows.
	groups bool
}

// innerTree is a tree that reads the recursion. If by is not nil, each tuple of
// by asks for the tuples that agree with it.
type innerTree struct{ node, by queryplan.Node }

// conjunct is an atom: a tree that does not read the recursion, or a scan of
// one of its variables.
type conjunct struct {
	node queryplan.Node
	scan *queryplan.Scan // nil unless it reads the recursion
	vars map[string]int  // the variables of the columns
}

// conjunctsOf returns a tree as atoms, and the variables of its columns.
func conjunctsOf(n queryplan.Node, reads func(n queryplan.Node) bool) (*conjuncts, []int) {
	c := &conjuncts{reads: reads, consts: map[int]*queryplan.Const{}}
	var head []int
	env := map[string]int{}
	for _, col := range n.Columns() {
		env[col.Name] = c.variable()
		head = append(head, env[col.Name])
	}
	c.flatten(n, env)
	return c, head
}

func (c *conjuncts) variable() int {
	c.parent = append(c.parent, len(c.parent))
	return len(c.parent) - 1
}

// find returns the representative of the variables that are equal to one.
func (c *conjuncts) find(id int) int {
	for c.parent[id] != id {
		id = c.parent[id]
	}
	return id
}

func (c *conjuncts) equate(a, b int) {
	a, b = c.find(a), c.find(b)
	if a == b {
		return
	}
	c.parent[b] = a
	if c.consts[a] == nil {
		c.consts[a] = c.consts[b]
	}
}

// constant returns the value to which a variable is bound, or nil.
func (c *conjuncts) constant(id int) *queryplan.Const { return c.consts[c.find(id)] }

// ids returns the variables of an atom's columns in order. For a scan, these
// are the variables of all columns of the scanned variable, with -1 for columns
// that are not read.
func (a *conjunct) ids(c *conjuncts) []int {
	names := trees.Columns(a.node)
	if a.scan != nil {
		names = a.scan.Names
	}
	out := make([]int, len(names))
	for i, name := range names {
		out[i] = -1
		if id, ok := a.vars[name]; ok && name != "" {
			out[i] = c.find(id)
		}
	}
	return out
}

// flatten adds the atoms of a tree. env holds the variables of the columns that
// are used elsewhere.
func (c *conjuncts) flatten(n queryplan.Node, env map[string]int) {
	env = maps.Clone(env)
	need := func(name string) int {
		id, ok := env[name]
		if !ok {
			id = c.variable()
			env[name] = id
		}
		return id
	}
	if !c.reads(n) && !joinsBelow(n) {
		c.atom(n, env)
		return
	}
	switch n := n.(type) {
	case *queryplan.Scan:
		c.atom(n, env)
	case *queryplan.Dedup:
		c.flatten(n.Input, env)
	case *queryplan.Project:
		inner := map[string]int{}
		for _, col := range n.Cols {
			id, ok := env[col.To]
			if !ok {
				continue
			}
			if had, ok := inner[col.From]; ok {
				c.equate(had, id)
			}
			inner[col.From] = id
		}
		c.flatten(n.Input, inner)
	case *queryplan.Map:
		c.loose = true
		for _, e := range n.Exprs {
			delete(env, e.Name)
		}
		c.flatten(n.Input, env)
	case *queryplan.Filter:
		for _, cond := range queryplan.Conjuncts(n.Cond) {
			c.condition(cond, need)
		}
		c.flatten(n.Input, env)
	case *queryplan.Join:
		c.join(n, env, need)
	default:
		if !c.reads(n) {
			c.atom(n, env)
			return
		}
		if a, ok := n.(*queryplan.Aggregate); ok && c.groups && len(a.By) > 0 {
			by := map[string]int{}
			for _, name := range a.By {
				by[name] = need(name)
			}
			c.loose = true
			c.flatten(a.Input, by)
			return
		}
		for _, in := range n.Inputs() {
			c.inner = append(c.inner, &innerTree{node: in})
		}
	}
}

func (c *conjuncts) condition(cond queryplan.Expr, need func(name string) int) {
	call, ok := cond.(*queryplan.Call)
	if ok && call.Func.Name == "eq" {
		left, isColumn := call.Args[0].(*queryplan.ColRef)
		switch right := call.Args[1].(type) {
		case *queryplan.ColRef:
			if isColumn {
				c.equate(need(left.Col.Name), need(right.Col.Name))
				return
			}
		case *queryplan.Const:
			if isColumn {
				if id := c.find(need(left.Col.Name)); c.consts[id] == nil {
					c.consts[id] = right
				}
			}
		}
	}
	c.loose = true
}

func (c *conjuncts) join(n *queryplan.Join, env map[string]int, need func(name string) int) {
	on := n.On()
	if n.Kind == queryplan.Anti {
		c.loose = true
		if c.reads(n.Right) {
			in := &innerTree{node: n.Right}
			if !c.reads(n.Left) && len(on) > 0 {
				in.by = trees.Project(n.Left, renamesOf(on, on))
			}
			c.inner = append(c.inner, in)
		}
		c.flatten(n.Left, env)
		return
	}
	for _, name := range on {
		need(name)
	}
	right := env
	if n.Kind == queryplan.Semi { // its other columns are not in the result
		right = map[string]int{}
		for _, name := range on {
			right[name] = env[name]
		}
	}
	c.flatten(n.Left, onlyOf(env, n.Left))
	c.flatten(n.Right, onlyOf(right, n.Right))
}

// onlyOf returns the part of env for the columns of a tree.
func onlyOf(env map[string]int, n queryplan.Node) map[string]int {
	out := map[string]int{}
	for _, name := range trees.Columns(n) {
		if id, ok := env[name]; ok {
			out[name] = id
		}
	}
	return out
}

func (c *conjuncts) atom(n queryplan.Node, env map[string]int) {
	a := &conjunct{node: n, vars: onlyOf(env, n)}
	if c.reads(n) {
		a.scan = n.(*queryplan.Scan)
	}
	c.atoms = append(c.atoms, a)
}

// joinsBelow reports whether a tree contains a join that belongs to the
// conjunction.
func joinsBelow(n queryplan.Node) bool {
	switch n := n.(type) {
	case *queryplan.Join:
		return n.Kind != queryplan.Anti
	case *queryplan.Filter, *queryplan.Project, *queryplan.Map, *queryplan.Dedup:
		return joinsBelow(n.Inputs()[0])
	}
	return false
}

// renamesOf pairs names.
func renamesOf(from, to []string) []queryplan.Rename {
	out := make([]queryplan.Rename, len(from))
	for i := range from {
		out[i] = queryplan.Rename{From: from[i], To: to[i]}
	}
	return out
}

// named returns the tuples of an atom, with a column for each variable in
// names. Columns with the same variable must be equal.
func (a *conjunct) named(c *conjuncts, names map[int]string) queryplan.Node {
	return byVariable(a.node, func(i int, name string) int {
		if id, ok := a.vars[name]; ok {
			return c.find(id)
		}
		return -1
	}, names)
}

// byVariable renames the columns of a tree to their variables and keeps those
// in names. Columns with the same variable must be equal.
func byVariable(n queryplan.Node, variable func(i int, column string) int,
	names map[int]string) queryplan.Node {
	first := map[int]queryplan.Column{}
	var cols []queryplan.Rename
	var equal []queryplan.Expr
	for i, col := range n.Columns() {
		id := variable(i, col.Name)
		if id < 0 {
			continue
		}
		if had, ok := first[id]; ok {
			equal = append(equal, trees.EqualColumns(had, col))
			continue
		}
		first[id] = col
		if name := names[id]; name != "" {
			cols = append(cols, queryplan.Rename{From: col.Name, To: name})
		}
	}
	return trees.Rename(trees.Filter(n, equal), slices.Clip(cols))
}
