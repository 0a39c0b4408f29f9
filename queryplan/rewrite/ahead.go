package rewrite

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// The demand of a recursion is the set of values that its readers ask for. In
// path(x, z) <- path(x, y), path(y, z), the second atom asks for the values y
// that the first one finds. Each such y is the end of a chain of tuples that
// the recursion starts from. So a superset of the demand can be computed
// without the recursion: one set for each column through which values are
// passed along. A loop ahead of the recursion fills these sets. If rules have
// conditions beside the chain, the sets may have more values than the demand.

// ahead is a recursion whose demand is computed before it.
type ahead struct {
	*restriction
	rules  []*growingRule
	starts []*growingRule // the trees that the recursion starts from; insert is nil
	// passed lists the columns through which values are passed along, in the
	// order in which they were needed. sets holds the set of each.
	passed []passedColumn
	sets   map[passedColumn]*queryplan.Var
	steps  []step
}

// passedColumn is a column of a variable of the recursion.
type passedColumn struct {
	of  *queryplan.Var
	col int
}

// step adds to a set the values of a variable of a rule, computed from the
// values of another set.
type step struct {
	rule *growingRule
	to   *queryplan.Var
	id   int // the variable
	from knownBy
}

// knownBy is how the values of a variable are computed: from a set of values of
// another variable, through atoms that connect the two.
type knownBy struct {
	set   *queryplan.Var
	id    int
	atoms []*conjunct
}

// foresees returns the recursion with its demand computed ahead. It returns nil
// unless each variable is asked for by one column and the whole demand can be
// computed ahead.
func (r *recursion) foresees() *ahead {
	g := &growing{recursion: r}
	if r.loop.Term.(*queryplan.Branch).Unbounded || !r.readBlocks(g.read) ||
		len(r.base) == 0 || len(g.rules) == 0 || !r.asked() {
		return nil
	}
	var starts []*growingRule
	for _, in := range r.base {
		body, head := conjunctsOf(in.Node, r.reads)
		starts = append(starts, &growingRule{insert: in, body: body, head: head})
	}
	asked := r.columns
	for col := range r.vars[0].Cols {
		columns := map[*queryplan.Var][]int{}
		for _, v := range r.vars {
			if had, ok := asked[v]; col < len(v.Cols) && (!ok || slices.Contains(had, col)) {
				columns[v] = []int{col}
			}
		}
		if len(columns) < len(r.vars) {
			continue
		}
		r.columns = columns
		a := &ahead{restriction: &restriction{recursion: r, names: queryplan.VarNames(r.Plan),
			asked: map[*queryplan.Var]*queryplan.Var{}}, rules: g.rules, starts: starts,
			sets: map[passedColumn]*queryplan.Var{}}
		for _, v := range r.vars {
			a.asked[v] = a.newSet(v, col, "$asked")
		}
		if a.plan() {
			return a
		}
	}
	r.columns = asked
	return nil
}

// newSet declares a set of values of a column.
func (a *ahead) newSet(v *queryplan.Var, col int, suffix string) *queryplan.Var {
	return &queryplan.Var{Name: a.names.Fresh(v.Name + suffix), Kind: queryplan.Derived,
		Cols: []queryplan.Column{v.Cols[col]}, Keys: 1, Limit: -1, Span: v.Span}
}

// plan finds the steps that fill the sets. It returns false if the demand of
// some recursive atom cannot be computed.
func (a *ahead) plan() bool {
	for _, rule := range a.rules {
		known, ok := a.follow(rule)
		if !ok {
			return false
		}
		for _, atom := range rule.body.atoms {
			if atom.scan != nil {
				id := atom.ids(rule.body)[a.columns[atom.scan.Var][0]]
				a.add(rule, a.asked[atom.scan.Var], id, known[id])
			}
		}
	}
	for at := 0; at < len(a.passed); at++ { // steps may append to it
		need := a.passed[at]
		for _, rule := range slices.Concat(a.starts, a.rules) {
			if rule.insert.Var != need.of {
				continue
			}
			known, _ := a.follow(rule)
			id := rule.body.find(rule.head[need.col])
			from, ok := known[id]
			if !ok {
				return false
			}
			a.add(rule, a.sets[need], id, from)
		}
	}
	return true
}

// follow finds the variables of a rule whose values follow from the demand of
// its head. It returns false if that does not include the demand of a recursive
// atom.
func (a *ahead) follow(rule *growingRule) (known map[int]knownBy, ok bool) {
	head := rule.insert.Var
	asked := rule.body.find(rule.head[a.columns[head][0]])
	known = map[int]knownBy{asked: {set: a.asked[head], id: asked}}
	left := slices.Clone(rule.body.atoms)
	for {
		// The atom that is closest to what is asked for comes first.
		best, by := -1, 0
		for i, atom := range left {
			for c, id := range atom.ids(rule.body) {
				o, has := known[id]
				if id < 0 || !has || atom.scan != nil && c != a.columns[atom.scan.Var][0] {
					continue
				}
				if best < 0 || len(o.atoms) < len(known[by].atoms) {
					best, by = i, id
				}
			}
		}
		if best < 0 {
			break
		}
		atom := left[best]
		left = slices.Delete(left, best, best+1)
		for c, id := range atom.ids(rule.body) {
			if _, has := known[id]; has || id < 0 {
				continue
			}
			if atom.scan != nil {
				known[id] = knownBy{set: a.setOf(passedColumn{atom.scan.Var, c}), id: id}
			} else {
				o := known[by]
				known[id] = knownBy{set: o.set, id: o.id, atoms: append(slices.Clip(o.atoms), atom)}
			}
		}
	}
	return known, !slices.ContainsFunc(left, func(c *conjunct) bool { return c.scan != nil })
}

// setOf returns the set of a column through which values are passed along.
func (a *ahead) setOf(c passedColumn) *queryplan.Var {
	if a.sets[c] == nil {
		a.sets[c] = a.newSet(c.of, c.col, "$passed")
	}
	return a.sets[c]
}

// add adds a step, unless it is a repetition or leads from a set to itself.
func (a *ahead) add(rule *growingRule, to *queryplan.Var, id int, from knownBy) {
	if len(from.atoms) == 0 && from.set == to {
		return
	}
	for c, set := range a.sets {
		if set == from.set && !slices.Contains(a.passed, c) {
			a.passed = append(a.passed, c)
		}
	}
	a.steps = append(a.steps, step{rule, to, id, from})
}

// isTight reports whether conditions beside the chains of the rules exclude few
// tuples. The sets then have few values beyond the demand.
func (a *ahead) isTight() bool {
	used := map[*conjunct]bool{}
	for _, s := range a.steps {
		for _, atom := range s.from.atoms {
			used[atom] = true
		}
	}
	return !slices.ContainsFunc(a.rules, func(rule *growingRule) bool {
		return slices.ContainsFunc(rule.body.atoms, func(c *conjunct) bool {
			return c.scan == nil && !used[c]
		}) || restricts(rule.insert.Node)
	})
}

// restricts reports whether a tree has conditions that more than a few tuples
// fail.
func restricts(n queryplan.Node) (is bool) {
	queryplan.Walk(n, func(n queryplan.Node) {
		switch n := n.(type) {
		case *queryplan.Filter:
			for _, cond := range queryplan.Conjuncts(n.Cond) {
				call, ok := cond.(*queryplan.Call)
				is = is || !ok || call.Func.Name != "ne"
			}
		case *queryplan.Join:
			is = is || n.Kind == queryplan.Anti
		}
	})
	return is
}

// restrict rewrites the recursion.
func (a *ahead) restrict() {
	own := a.takeOwn()
	for _, v := range a.vars {
		a.order = append(a.order, a.asked[v])
	}
	a.seed(func(s *seed) (*queryplan.Var, queryplan.Node) {
		set := a.asked[s.scan.Var]
		return set, s.values(a.columns[s.scan.Var], queryplan.NamesOf(set.Cols))
	})
	for _, c := range a.passed {
		a.order = append(a.order, a.sets[c])
	}
	for _, s := range a.steps {
		n := a.node(s)
		if !slices.ContainsFunc(a.again, func(c queryplan.Command) bool {
			in := c.(*queryplan.Insert)
			return in.Var == s.to && queryplan.Equal(in.Node, n)
		}) {
			a.again = append(a.again, &queryplan.Insert{Var: s.to, Node: n,
				Span: s.rule.insert.Span})
		}
	}
	for i, c := range own {
		if in, ok := c.(*queryplan.Insert); ok {
			own[i] = a.within(in)
		}
	}
	for i, c := range a.loop.Cmds {
		at := slices.IndexFunc(a.rules, func(r *growingRule) bool {
			return queryplan.Command(r.insert) == c
		})
		if at >= 0 && !a.covered(a.rules[at]) {
			a.loop.Cmds[i] = a.within(a.rules[at].insert)
		}
	}
	start := a.enter(own)
	start.Term = &queryplan.Branch{Vars: a.vars, Then: a.loop, Else: a.after}
	joinBlocks(a.Plan)
}

// covered reports whether a recursive atom of a rule has the value that its
// head is asked for.
func (a *ahead) covered(rule *growingRule) bool {
	asked := rule.body.find(rule.head[a.columns[rule.insert.Var][0]])
	return slices.ContainsFunc(rule.body.atoms, func(c *conjunct) bool {
		return c.scan != nil && c.ids(rule.body)[a.columns[c.scan.Var][0]] == asked
	})
}

// within restricts an insert to the demanded tuples.
func (a *ahead) within(in *queryplan.Insert) queryplan.Command {
	names := trees.Columns(in.Node)
	scan := &queryplan.Scan{Var: a.asked[in.Var], Names: []string{names[a.columns[in.Var][0]]}}
	return queryplan.WithNode(in, trees.Project(&queryplan.Join{Left: scan, Right: in.Node},
		renamesOf(names, names)))
}

// node returns what a step inserts.
func (a *ahead) node(s step) queryplan.Node {
	body, named := s.rule.body, map[int]string{}
	name := func(id int) { // the versions of a rule get the same names
		if _, has := named[id]; !has && id >= 0 {
			named[id] = fmt.Sprintf("asked%d", len(named))
		}
	}
	name(s.from.id)
	for _, atom := range s.from.atoms {
		for _, id := range atom.ids(body) {
			name(id)
		}
	}
	var n queryplan.Node = &queryplan.Scan{Var: s.from.set, Version: queryplan.Delta,
		Names: []string{named[s.from.id]}}
	for _, atom := range s.from.atoms {
		n = &queryplan.Join{Left: n, Right: atom.named(body, named)}
	}
	return &queryplan.Project{Input: n,
		Cols: []queryplan.Rename{{From: named[s.id], To: s.to.Cols[0].Name}}}
}
