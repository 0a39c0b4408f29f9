package rewrite

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// In path(x, z) <- path(x, y), path(y, z), the second atom asks for the values
// y that the first one has found. The demand then grows together with the
// recursion: it is filled in the same loop and has a delta of its own.

// growing is a recursion whose demand grows with it.
type growing struct {
	*recursion
	rules []*growingRule
	asked map[*queryplan.Var]*queryplan.Var // the demand of each variable
}

// growingRule is an insert of the loop as a conjunction over the whole
// recursion, without deltas.
type growingRule struct {
	insert *queryplan.Insert
	whole  queryplan.Node
	body   *conjuncts
	head   []int
	// order lists the atoms so that values of columns of each are known from
	// those before it.
	order []*conjunct
}

// grows returns the recursion if the demand of all atoms consists of constants,
// of few values, or of values that earlier atoms find. Otherwise it returns
// nil.
func (r *recursion) grows() *growing {
	g := &growing{recursion: r, asked: map[*queryplan.Var]*queryplan.Var{}}
	if r.loop.Term.(*queryplan.Branch).Unbounded || !r.readBlocks(g.read) ||
		len(r.base) == 0 || len(g.rules) == 0 || !r.asked() || !g.settle() ||
		slices.ContainsFunc(g.rules, g.repeats) {
		return nil
	}
	return g
}

// repeats reports whether a rule would join several recursive atoms again for
// each demanded value of its head. If most values are demanded, that costs more
// than it saves.
func (g *growing) repeats(rule *growingRule) bool {
	recursive := list.Filter(rule.order, func(a *conjunct) bool { return a.scan != nil })
	return len(recursive) > 1 && !g.covered(rule)
}

// covered reports whether an atom of a rule covers the demand of the head.
func (g *growing) covered(rule *growingRule) bool {
	return slices.ContainsFunc(rule.order, func(a *conjunct) bool { return g.covers(rule, a) })
}

// read adds an insert of the loop as a rule. It returns false if the insert has
// another shape.
func (g *growing) read(insert *queryplan.Insert) bool {
	deltas := 0
	for _, s := range queryplan.Scans(insert.Node) {
		switch {
		case s.Position != "":
			return false
		case !g.member(s.Var):
			if s.Version != queryplan.Full {
				return false
			}
		case s.Version == queryplan.Delta:
			deltas++
		case s.Version == queryplan.Last:
			return false
		}
	}
	rule := &growingRule{insert: insert, whole: g.versions(insert.Node, queryplan.Full)}
	rule.body, rule.head = conjunctsOf(rule.whole, g.reads)
	g.rules = append(g.rules, rule)
	return deltas == 1 && len(rule.body.inner) == 0 && !trees.IsVolatile(insert.Node)
}

// versions returns a tree whose scans of the recursion read a version.
func (g *growing) versions(n queryplan.Node, version queryplan.Version) queryplan.Node {
	if s, ok := n.(*queryplan.Scan); ok {
		if !g.member(s.Var) {
			return s
		}
		out := *s
		out.Version = version
		return &out
	}
	return queryplan.WithInputs(n, list.Map(n.Inputs(), func(in queryplan.Node) queryplan.Node {
		return g.versions(in, version)
	}))
}

// settle narrows the demanded columns to those whose values are known wherever
// the recursion is read. It returns false if a variable has none.
func (g *growing) settle() bool {
	for changed := true; changed; {
		changed = false
		for _, rule := range g.rules {
			if _, ok := g.columns[rule.insert.Var]; !ok {
				continue // not demanded so far
			}
			for a, bound := range rule.arrange(g.columns) {
				if len(bound) == 0 {
					return false
				}
				if had, ok := g.columns[a.scan.Var]; !ok || len(bound) < len(had) {
					g.columns[a.scan.Var], changed = bound, true
				}
			}
		}
	}
	return len(g.columns) == len(g.vars)
}

// arrange orders the atoms of a rule and returns, for each recursive one, the
// columns whose values are known before it.
func (rule *growingRule) arrange(columns map[*queryplan.Var][]int) map[*conjunct][]int {
	known := rule.known(columns)
	bound := map[*conjunct][]int{}
	left := slices.Clone(rule.body.atoms)
	rule.order = nil
	for len(left) > 0 {
		// A recursive atom comes as soon as its demanded columns are known.
		// Fewer relations are then joined to compute its demand.
		at, best := 0, 0
		for i, a := range left {
			cols := rule.boundBy(a, known, columns)
			of, set := 0, false
			if a.scan != nil {
				of, set = len(columns[a.scan.Var]), columns[a.scan.Var] != nil
			}
			rank := 0
			switch {
			case len(cols) == 0:
			case a.scan != nil && (!set || len(cols) == of):
				rank = 3
			case a.scan == nil:
				rank = 2
			default:
				rank = 1
			}
			if rank > best {
				at, best = i, rank
			}
		}
		a := left[at]
		if a.scan != nil {
			bound[a] = rule.boundBy(a, known, columns)
		}
		for _, id := range a.ids(rule.body) {
			known[id] = true
		}
		rule.order, left = append(rule.order, a), slices.Delete(left, at, at+1)
	}
	return bound
}

// known returns the variables of the demanded columns of the head.
func (rule *growingRule) known(columns map[*queryplan.Var][]int) map[int]bool {
	known := map[int]bool{}
	for _, i := range columns[rule.insert.Var] {
		known[rule.body.find(rule.head[i])] = true
	}
	return known
}

// boundBy returns the demanded columns of an atom whose values are known.
func (rule *growingRule) boundBy(a *conjunct, known map[int]bool,
	columns map[*queryplan.Var][]int) []int {
	var out []int
	for i, id := range a.ids(rule.body) {
		if id < 0 || !known[id] {
			continue
		}
		if a.scan != nil {
			if of, ok := columns[a.scan.Var]; ok && !slices.Contains(of, i) {
				continue
			}
		}
		out = append(out, i)
	}
	return out
}

// keeps reports whether a recursive atom reads the head's variable and asks for
// the same values as the head. The demand then has these values already.
func (g *growing) keeps(rule *growingRule, a *conjunct) bool {
	if a.scan == nil || a.scan.Var != rule.insert.Var {
		return false
	}
	ids := a.ids(rule.body)
	return !slices.ContainsFunc(g.columns[a.scan.Var], func(i int) bool {
		return rule.body.find(rule.head[i]) != ids[i]
	})
}

// covers reports whether a recursive atom has the demanded columns of the head
// among its own. The atom then has few tuples, and a join with the demand of
// the head would remove hardly any.
func (g *growing) covers(rule *growingRule, a *conjunct) bool {
	if a.scan == nil {
		return false
	}
	ids := a.ids(rule.body)
	return !slices.ContainsFunc(g.columns[rule.insert.Var], func(i int) bool {
		return !slices.ContainsFunc(g.columns[a.scan.Var], func(j int) bool {
			return ids[j] == rule.body.find(rule.head[i])
		})
	})
}

// restrict rewrites the recursion.
func (g *growing) restrict() {
	x := &restriction{recursion: g.recursion, names: queryplan.VarNames(g.Plan), asked: g.asked}
	own := x.takeOwn()
	x.declare()
	g.Vars = append(g.Vars, x.order...)
	merges := list.Map(x.order, func(v *queryplan.Var) queryplan.Command {
		return &queryplan.Merge{Var: v}
	})
	g.before.Cmds = append(append(g.before.Cmds, x.fill...), merges...)
	var cmds []queryplan.Command
	for _, c := range own {
		if in, ok := c.(*queryplan.Insert); ok {
			cmds = append(cmds, g.within(in, in.Node, queryplan.Delta))
		} else {
			g.before.Cmds = append(g.before.Cmds, c)
		}
	}
	for _, rule := range g.rules {
		cmds = append(cmds, g.asks(rule)...)
		if g.covered(rule) {
			cmds = append(cmds, rule.insert)
			continue
		}
		cmds = append(cmds, g.within(rule.insert, rule.insert.Node, queryplan.Full),
			g.within(rule.insert, rule.whole, queryplan.Delta))
	}
	rest := list.Filter(g.loop.Cmds, func(c queryplan.Command) bool {
		_, insert := c.(*queryplan.Insert)
		return !insert
	})
	g.loop.Cmds = slices.Concat(cmds, rest, merges)
	all := slices.Concat(g.vars, x.order)
	g.before.Term = &queryplan.Branch{Vars: all, Then: g.loop, Else: g.after}
	g.loop.Term = &queryplan.Branch{Vars: all, Then: g.loop, Else: g.after}
	dropSubsumed(g.loop) // versions of a rule ask for the same values
}

// within restricts an insert to tuples whose values are in a version of the
// demand of its variable.
func (g *growing) within(in *queryplan.Insert, n queryplan.Node,
	version queryplan.Version) queryplan.Command {
	names := trees.Columns(n)
	scan := &queryplan.Scan{Var: g.asked[in.Var], Version: version,
		Names: list.Map(g.columns[in.Var], func(i int) string { return names[i] })}
	return queryplan.WithNode(in, trees.Project(&queryplan.Join{Left: scan, Right: n},
		renamesOf(names, names)))
}

// asks returns the inserts that fill the demand: for each recursive atom of a
// rule, what the atoms before it ask for, given the demand of the head.
func (g *growing) asks(rule *growingRule) []queryplan.Command {
	body, head := rule.body, g.columns[rule.insert.Var]
	named := map[int]string{}
	for id := range body.parent {
		named[id] = fmt.Sprintf("asked%d", id)
	}
	var out []queryplan.Command
	for at, a := range rule.order {
		if a.scan == nil || g.keeps(rule, a) {
			continue
		}
		to := a.scan.Var
		wanted := list.Map(g.columns[to], func(i int) int { return a.ids(body)[i] })
		by := body.needed(rule.order[:at], rule.known(g.columns), wanted)
		// ask adds an insert that reads the delta of one of the atoms or, for
		// -1, of the head's demand.
		kept := slices.ContainsFunc(by, func(b *conjunct) bool { return g.keeps(rule, b) })
		ask := func(delta int) {
			var n queryplan.Node
			if !kept {
				version := queryplan.Full
				if delta < 0 {
					version = queryplan.Delta
				}
				set := g.asked[rule.insert.Var]
				n = byVariable(&queryplan.Scan{Var: set, Version: version,
					Names: queryplan.NamesOf(set.Cols)}, func(i int, _ string) int {
					return body.find(rule.head[head[i]])
				}, named)
			}
			for i, b := range by {
				if i == delta {
					changed := *b
					changed.node = g.versions(b.node, queryplan.Delta)
					b = &changed
				}
				if next := b.named(body, named); n == nil {
					n = next
				} else {
					n = &queryplan.Join{Left: n, Right: next}
				}
			}
			var cols []queryplan.Rename
			for i, id := range wanted {
				cols = append(cols, queryplan.Rename{From: named[id], To: g.asked[to].Cols[i].Name})
			}
			out = append(out, &queryplan.Insert{Var: g.asked[to], Span: rule.insert.Span,
				Node: &queryplan.Project{Input: n, Cols: cols}})
		}
		if !kept {
			ask(-1)
		}
		for i, b := range by {
			if b.scan != nil {
				ask(i)
			}
		}
	}
	return out
}
