package rewrite

import (
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// restriction is a recursion that is being restricted to what is asked for.
type restriction struct {
	*recursion
	names *queryplan.Names
	// asked has, for each variable, the set of values that it is asked for.
	asked map[*queryplan.Var]*queryplan.Var
	order []*queryplan.Var // the sets
	fill  []queryplan.Command
	again []queryplan.Command // of the loop that fills the sets
}

// restrict rewrites the recursion.
func (r *recursion) restrict() {
	x := &restriction{recursion: r, names: queryplan.VarNames(r.Plan),
		asked: map[*queryplan.Var]*queryplan.Var{}}
	r.replace()
	own := x.takeOwn()
	switch {
	case r.passesOn():
		x.pairs(own)
	case x.single() != nil:
		x.filter(x.single(), own)
	default:
		x.sets(own)
	}
	joinBlocks(r.Plan)
}

// keeps reports whether the recursive atom of a rule is asked for the same
// values as its head.
func (rule *recursiveRule) keeps(columns []int) bool {
	ids := rule.atom.ids(rule.body)
	return rule.insert.Var == rule.atom.scan.Var && !slices.ContainsFunc(columns,
		func(i int) bool { return rule.body.find(rule.head[i]) != ids[i] })
}

// single returns the only seed, if it has constants and all rules keep them.
func (x *restriction) single() *seed {
	if len(x.seeds) != 1 || !x.seeds[0].constant() || len(x.vars) != 1 {
		return nil
	}
	for _, rule := range x.rules {
		if !rule.keeps(x.columns[x.vars[0]]) {
			return nil
		}
	}
	return x.seeds[0]
}

// filter restricts the tuples that the recursion starts from to constants.
func (x *restriction) filter(s *seed, own []queryplan.Command) {
	for i, c := range own {
		in, ok := c.(*queryplan.Insert)
		if !ok {
			continue
		}
		var conds []queryplan.Expr
		for _, at := range x.columns[in.Var] {
			conds = append(conds, trees.Equals(in.Node.Columns()[at],
				s.body.constant(s.ids[at]).Value))
		}
		own[i] = queryplan.WithNode(c, trees.Filter(in.Node, conds))
	}
	x.before.Cmds = append(x.before.Cmds, own...)
}

// declare declares the sets, and the commands that fill them with what the rest
// of the plan asks for.
func (x *restriction) declare() {
	for _, v := range x.vars {
		set := &queryplan.Var{Name: x.names.Fresh(v.Name + "$asked"), Kind: queryplan.Derived,
			Limit: -1, Span: v.Span}
		for _, i := range x.columns[v] {
			set.Cols = append(set.Cols, v.Cols[i])
		}
		set.Keys = len(set.Cols)
		x.asked[v], x.order = set, append(x.order, set)
	}
	x.seed(func(s *seed) (*queryplan.Var, queryplan.Node) {
		set := x.asked[s.scan.Var]
		return set, s.values(x.columns[s.scan.Var], queryplan.NamesOf(set.Cols))
	})
}

// sets restricts the recursion to sets of values.
func (x *restriction) sets(own []queryplan.Command) {
	x.declare()
	for _, rule := range x.rules {
		head, to := rule.insert.Var, rule.atom.scan.Var
		if rule.keeps(x.columns[head]) {
			continue
		}
		names := queryplan.NamesOf(x.asked[to].Cols)
		wanted := list.Map(x.columns[to], func(i int) int { return rule.atom.ids(rule.body)[i] })
		x.ask(rule, rule.prefixTo(x.columns[head], wanted), x.asked[to], x.columns[head],
			&queryplan.Scan{Var: x.asked[head], Version: queryplan.Delta,
				Names: queryplan.NamesOf(x.asked[head].Cols)}, nil,
			x.columns[to], names)
	}
	x.restrictInserts(own)
	start := x.enter(own)
	start.Term = &queryplan.Branch{Vars: x.vars, Then: x.loop, Else: x.after}
	x.restrictInserts(x.loop.Cmds)
}

// restrictInserts joins the inserts of the recursion with the sets, except for
// rules whose tuples are in them anyway.
func (x *restriction) restrictInserts(cmds []queryplan.Command) {
	for i, c := range cmds {
		in, ok := c.(*queryplan.Insert)
		if !ok || !x.member(in.Var) {
			continue
		}
		at := slices.IndexFunc(x.rules, func(r *recursiveRule) bool { return r.insert == in })
		if at >= 0 && x.rules[at].staysWithin(x.columns) {
			continue
		}
		names := trees.Columns(in.Node)
		scan := &queryplan.Scan{Var: x.asked[in.Var], Names: list.Map(x.columns[in.Var],
			func(i int) string { return names[i] })}
		cmds[i] = queryplan.WithNode(c, trees.Project(
			&queryplan.Join{Left: scan, Right: in.Node}, renamesOf(names, names)))
	}
}

// staysWithin reports whether a rule copies the columns that are asked for from
// its recursive atom.
func (rule *recursiveRule) staysWithin(columns map[*queryplan.Var][]int) bool {
	ids := rule.atom.ids(rule.body)
	return !slices.ContainsFunc(columns[rule.insert.Var], func(i int) bool {
		return !slices.ContainsFunc(columns[rule.atom.scan.Var], func(j int) bool {
			return ids[j] == rule.body.find(rule.head[i])
		})
	})
}

// passesOn reports whether all rules copy the columns that are not asked for,
// and use them for nothing else.
func (r *recursion) passesOn() bool {
	if len(r.vars) != 1 {
		return false
	}
	columns := r.columns[r.vars[0]]
	for _, rule := range r.rules {
		if rule.body.loose || len(rule.body.consts) > 0 || rule.keeps(columns) {
			return false
		}
		ids := rule.atom.ids(rule.body)
		for i, id := range ids {
			if slices.Contains(columns, i) {
				continue
			}
			if id < 0 || rule.body.find(rule.head[i]) != id || rule.occurrences(id) != 2 {
				return false
			}
		}
	}
	return len(columns) < len(r.vars[0].Cols)
}

// occurrences counts the columns of the head and the atoms with a variable.
func (rule *recursiveRule) occurrences(id int) int {
	n := 0
	for _, h := range rule.head {
		if rule.body.find(h) == id {
			n++
		}
	}
	for _, a := range rule.body.atoms {
		n += len(list.Filter(a.ids(rule.body), func(other int) bool { return other == id }))
	}
	return n
}

// pairs factors the recursion. A set holds pairs of a value that is asked for
// and one that its derivation asks for. The tuples that the recursion starts
// from then add the columns that are passed on.
func (x *restriction) pairs(own []queryplan.Command) {
	v := x.vars[0]
	columns := x.columns[v]
	set := &queryplan.Var{Name: x.names.Fresh(v.Name + "$asked"), Kind: queryplan.Derived,
		Limit: -1, Span: v.Span}
	taken := queryplan.NewNames()
	for _, c := range v.Cols {
		taken.Take(c.Name)
	}
	var asked, values []string // the first columns of the set, and the others
	for _, i := range columns {
		c := v.Cols[i]
		asked, values = append(asked, taken.Fresh(c.Name)), append(values, c.Name)
		set.Cols = append(set.Cols, queryplan.Column{Name: asked[len(asked)-1], Type: c.Type})
	}
	for _, i := range columns {
		set.Cols = append(set.Cols, v.Cols[i])
	}
	set.Keys = len(set.Cols)
	x.asked[v], x.order = set, []*queryplan.Var{set}
	x.seed(func(s *seed) (*queryplan.Var, queryplan.Node) {
		both := append(renamesOf(values, asked), renamesOf(values, values)...)
		return set, &queryplan.Project{Input: s.values(columns, values), Cols: both}
	})
	for _, rule := range x.rules {
		from := &queryplan.Scan{Var: set, Version: queryplan.Delta,
			Names: queryplan.NamesOf(set.Cols)}
		x.ask(rule, rule.all(columns), set, columns, from, asked, columns, values)
	}
	for i, c := range own {
		in, ok := c.(*queryplan.Insert)
		if !ok {
			continue
		}
		names := trees.Columns(in.Node)
		fresh := queryplan.NewNames()
		for _, name := range names {
			fresh.Take(name)
		}
		scan := &queryplan.Scan{Var: set}
		to := slices.Clone(names)
		for _, at := range columns {
			to[at] = fresh.Fresh(names[at])
			scan.Names = append(scan.Names, to[at])
		}
		for _, at := range columns {
			scan.Names = append(scan.Names, names[at])
		}
		own[i] = queryplan.WithNode(c, trees.Project(
			&queryplan.Join{Left: scan, Right: in.Node}, renamesOf(to, names)))
	}
	start := x.enter(own)
	start.Term = &queryplan.Jump{To: x.after}
	x.Blocks = slices.DeleteFunc(x.Blocks, func(b *queryplan.Block) bool { return b == x.loop })
}

// seed inserts the values that the rest of the plan asks for.
func (x *restriction) seed(of func(s *seed) (*queryplan.Var, queryplan.Node)) {
	for _, s := range x.seeds {
		set, n := of(s)
		x.fill = append(x.fill, &queryplan.Insert{Var: set, Node: n, Span: s.scan.Var.Span})
	}
}

// ask adds a rule to the loop that fills the sets: for the tuples of from that
// the head of a rule is asked for, the values for which the rule asks its
// recursive atom. from has the columns in carry, which are passed on, followed
// by those of the head.
func (x *restriction) ask(rule *recursiveRule, by []*conjunct, set *queryplan.Var, head []int,
	from *queryplan.Scan, carry []string, to []int, names []string) {
	body := rule.body
	ids := rule.atom.ids(body)
	named := map[int]string{}
	for id := range body.parent {
		named[id] = fmt.Sprintf("asked%d", id)
	}
	// Columns that are passed on are variables beyond those of the rule.
	beyond := len(body.parent)
	for i, name := range carry {
		named[beyond+i] = name
	}
	n := byVariable(from, func(i int, _ string) int {
		if i < len(carry) {
			return beyond + i
		}
		return body.find(rule.head[head[i-len(carry)]])
	}, named)
	for _, a := range by {
		n = &queryplan.Join{Left: n, Right: a.named(body, named)}
	}
	cols := renamesOf(carry, carry)
	for i, at := range to {
		cols = append(cols, queryplan.Rename{From: named[ids[at]], To: names[i]})
	}
	x.again = append(x.again, &queryplan.Insert{Var: set, Span: rule.insert.Span,
		Node: &queryplan.Project{Input: n, Cols: cols}})
}

// all returns the atoms of a rule except for the recursive one. Those that
// share variables with columns of the head come first.
func (rule *recursiveRule) all(head []int) []*conjunct {
	known := rule.known(head)
	var out []*conjunct
	left := list.Filter(rule.body.atoms, func(a *conjunct) bool { return a != rule.atom })
	for len(left) > 0 {
		at := max(0, slices.IndexFunc(left, func(a *conjunct) bool {
			return slices.ContainsFunc(a.ids(rule.body), func(id int) bool { return known[id] })
		}))
		for _, id := range left[at].ids(rule.body) {
			known[id] = true
		}
		out, left = append(out, left[at]), slices.Delete(left, at, at+1)
	}
	return out
}

// prefixTo returns the atoms through which some variables follow from columns
// of the head, and no others.
func (rule *recursiveRule) prefixTo(head, wanted []int) []*conjunct {
	return rule.body.needed(rule.prefix(rule.known(head)), rule.known(head), wanted)
}

// needed returns those of some atoms by which the wanted variables follow from
// known ones.
func (c *conjuncts) needed(atoms []*conjunct, from map[int]bool, wanted []int) []*conjunct {
	reaches := func(with []*conjunct) bool {
		known := maps.Clone(from)
		for _, a := range with {
			ids := a.ids(c)
			if !slices.ContainsFunc(ids, func(id int) bool { return known[id] }) {
				return false
			}
			for _, id := range ids {
				known[id] = true
			}
		}
		return allKnown(wanted, known)
	}
	atoms = slices.Clone(atoms)
	for i := len(atoms) - 1; i >= 0; i-- {
		if without := slices.Delete(slices.Clone(atoms), i, i+1); reaches(without) {
			atoms = without
		}
	}
	return atoms
}

// enter puts the loop that fills the sets before the recursion, and returns the
// block that follows it.
func (x *restriction) enter(own []queryplan.Command) *queryplan.Block {
	x.Vars = append(x.Vars, x.order...)
	merges := list.Map(x.order, func(v *queryplan.Var) queryplan.Command {
		return &queryplan.Merge{Var: v}
	})
	x.before.Cmds = append(append(x.before.Cmds, x.fill...), merges...)
	if len(x.again) == 0 {
		x.before.Cmds = append(x.before.Cmds, own...)
		return x.before
	}
	names := queryplan.NewNames()
	for _, b := range x.Blocks {
		names.Take(b.Name)
	}
	ask := &queryplan.Block{Name: names.Fresh(x.before.Name),
		Cmds: append(x.again, slices.Clone(merges)...)}
	start := &queryplan.Block{Name: names.Fresh(x.before.Name), Cmds: own}
	ask.Term = &queryplan.Branch{Vars: x.order, Then: ask, Else: start}
	x.before.Term = &queryplan.Branch{Vars: x.order, Then: ask, Else: start}
	x.Blocks = slices.Insert(x.Blocks, slices.Index(x.Blocks, x.before)+1, ask, start)
	return start
}
