package rewrite

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var restrictToDemand = &Pass{
	Name: "RestrictToDemand",
	Reason: "Of a recursion that is only asked for tuples with some values in some columns, the " +
		"tuples for those values are derived. A set has the values that are asked for, and what their " +
		"derivations ask for in turn. Where a rule passes the other columns on as they are, the set " +
		"has pairs of both, and takes the place of the recursion. Where an atom is asked for what " +
		"another recursive atom finds, sets have what it can find, along chains of what the recursion " +
		"starts from; or, if rules have more conditions, the set grows together with the recursion.",
	Unless: "The recursion is an output, has a key to check, is asked for whole, or a rule has " +
		"groups or best values, unless each atom of the recursion has the value that is asked for; or " +
		"a predicate is asked for different columns; or no chain of atoms leads from what the head of " +
		"a rule is asked for to what its recursive atoms are. No value that a rule computes is asked " +
		"for: there may be no end to them. The values that a relation asks for must be few beside " +
		"those that there are.",
	Before: "insert tc\n  scan edge(x, y)\nloop:\n  insert tc\n    project x, z\n      join y\n" +
		"        scan delta tc(x, y)\n        scan edge(y, z)\ninsert out\n  filter eq(x, 1)\n" +
		"    scan tc(x, y)",
	After: "insert tc$asked\n  values (x: int)\n    (1)\ninsert tc\n  join x\n    scan tc$asked(x)\n" +
		"    scan edge(x, y)\nloop:\n  insert tc\n    project x, z\n      join y\n" +
		"        scan delta tc(x, y)\n        scan edge(y, z)\ninsert out\n  filter eq(x, 1)\n" +
		"    scan tc(x, y)",
	Source: "magic sets: Beeri, Ramakrishnan, On the power of magic, PODS 1987; linear recursions: " +
		"Naughton, Ramakrishnan, Sagiv, Ullman, SIGMOD 1989",
	run: func(p *program) error {
		var blocks []*queryplan.Block
		loop := loops.Changed(p.Plan)
		for b := range loop {
			blocks = append(blocks, b)
		}
		// Start with the last recursion, because it may read the others.
		slices.SortFunc(blocks, func(a, b *queryplan.Block) int {
			return slices.Index(p.Blocks, b) - slices.Index(p.Blocks, a)
		})
		for _, b := range blocks {
			r := p.recursion(b, loop)
			if r == nil {
				continue
			}
			if r.readCommands() && r.asked() && r.follows() {
				r.restrict()
			} else if k := p.recursion(b, loop).carries(); k != nil {
				k.restrict()
			} else if a := p.recursion(b, loop).foresees(); a != nil && a.isTight() {
				a.restrict()
			} else if g := p.recursion(b, loop).grows(); g != nil {
				g.restrict()
			} else if a := p.recursion(b, loop).foresees(); a != nil {
				a.restrict()
			} else {
				continue
			}
			loop = loops.Changed(p.Plan)
		}
		return nil
	},
}

// leastAsked is the factor by which the values of a relation must outnumber the
// demanded ones.
var leastAsked = 4.0

// recursion is a loop of one block. Each of its rules has one recursive atom,
// unless the recursion carries the demand along or grows with it.
type recursion struct {
	*program
	before, loop, after *queryplan.Block
	vars                []*queryplan.Var
	base                []*queryplan.Insert // in before
	rules               []*recursiveRule
	// composed lists the inserts that closure, unless it is nil, replaces.
	// deltas contains true if some of them read the delta first, and false if
	// some read it second.
	composed []*queryplan.Insert
	deltas   map[bool]bool
	closure  *closure
	// columns holds the positions of the demanded columns. seeds yield the
	// first values.
	columns map[*queryplan.Var][]int
	seeds   []*seed
	// moved holds the commands of after that fill what the seeds read. late
	// means that the commands of after run once.
	moved map[queryplan.Command]bool
	late  bool
}

// recursiveRule is an insert of the loop as a conjunction. One of its atoms
// reads the delta of a variable of the recursion.
type recursiveRule struct {
	insert *queryplan.Insert
	body   *conjuncts
	head   []int // the variables of the head's columns
	atom   *conjunct
}

// recursion returns the recursion of a loop, or nil if the loop has another
// shape.
func (p *program) recursion(loop *queryplan.Block,
	inLoops map[*queryplan.Block]map[*queryplan.Var]bool) *recursion {
	again, ok := loop.Term.(*queryplan.Branch)
	if !ok || again.Then != loop {
		return nil
	}
	r := &recursion{program: p, loop: loop, after: again.Else, vars: again.Vars,
		columns: map[*queryplan.Var][]int{}, moved: map[queryplan.Command]bool{},
		deltas: map[bool]bool{}}
	for _, b := range p.Blocks {
		for _, s := range b.Successors() {
			switch {
			case b == loop:
			case s == loop && r.before == nil:
				r.before = b
			case s == loop:
				return nil
			case s == r.after && b != r.before:
				if enter, ok := b.Term.(*queryplan.Branch); !ok || enter.Then != loop {
					return nil
				}
			}
		}
	}
	if r.before == nil || inLoops[r.before] != nil {
		return nil
	}
	r.late = inLoops[r.after] == nil
	enter, ok := r.before.Term.(*queryplan.Branch)
	if !ok || enter.Then != loop || enter.Else != r.after || !slices.Equal(enter.Vars, r.vars) {
		return nil
	}
	return r
}

// member reports whether the recursion fills a variable.
func (r *recursion) member(v *queryplan.Var) bool { return slices.Contains(r.vars, v) }

// reads reports whether a tree reads a variable of the recursion.
func (r *recursion) reads(n queryplan.Node) bool {
	return slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
		return r.member(s.Var)
	})
}

// readCommands reports whether the recursion is filled only in its two blocks,
// only by rules without side effects, and is not an output.
func (r *recursion) readCommands() bool {
	if !r.readBlocks(func(insert *queryplan.Insert) bool {
		if first, ok := r.composes(insert); ok {
			r.composed = append(r.composed, insert)
			r.deltas[first] = true
			return true
		}
		rule := r.rule(insert)
		r.rules = append(r.rules, rule)
		return rule != nil
	}) {
		return false
	}
	if len(r.composed) > 0 {
		return r.linearise()
	}
	return len(r.base) > 0 && len(r.rules) > 0
}

// readBlocks is readCommands for inserts of the loop that take accepts.
func (r *recursion) readBlocks(take func(insert *queryplan.Insert) bool) bool {
	for _, v := range r.vars {
		if v.Output || len(v.Cols) == 0 {
			return false
		}
	}
	for b, c := range r.Commands() {
		v := queryplan.CommandVar(c)
		_, merge := c.(*queryplan.Merge)
		insert, isInsert := c.(*queryplan.Insert)
		switch {
		case v == nil || !r.member(v):
			if b == r.loop || b == r.before && r.disturbs(c) {
				return false
			}
		case merge && (b == r.before || b == r.loop):
		case isInsert && b == r.before && !r.reads(insert.Node):
			r.base = append(r.base, insert)
		case isInsert && b == r.loop:
			if !take(insert) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// disturbs reports whether a command reads the recursion or changes what its
// first rules read. Such a command moves after the recursion.
func (r *recursion) disturbs(c queryplan.Command) bool {
	if n := queryplan.CommandNode(c); n != nil && r.reads(n) {
		return true
	}
	v := queryplan.CommandVar(c)
	return v != nil && slices.ContainsFunc(r.base, func(in *queryplan.Insert) bool {
		return slices.ContainsFunc(queryplan.Scans(in.Node), func(s *queryplan.Scan) bool {
			return s.Var == v
		})
	})
}

// rule returns the conjunction of an insert of the loop, or nil if it does not
// have exactly one recursive atom.
func (r *recursion) rule(insert *queryplan.Insert) *recursiveRule {
	for _, s := range queryplan.Scans(insert.Node) {
		if r.member(s.Var) != (s.Version == queryplan.Delta) || s.Position != "" {
			return nil
		}
	}
	body, head := conjunctsOf(insert.Node, r.reads)
	rule := &recursiveRule{insert: insert, body: body, head: head}
	if len(body.inner) > 0 {
		return nil
	}
	for _, a := range body.atoms {
		if a.scan == nil {
			continue
		}
		if rule.atom != nil {
			return nil
		}
		rule.atom = a
	}
	if rule.atom == nil {
		return nil
	}
	return rule
}

// follows chooses the demanded columns so that the demand of each recursive
// atom follows from that of the head. Columns that all rules pass on need no
// other relation for that. It returns false if no column is left.
func (r *recursion) follows() bool {
	asked := r.columns
	for _, with := range []bool{false, true} {
		r.columns = maps.Clone(asked)
		if r.settle(with) {
			return true
		}
	}
	return false
}

// settle narrows the demanded columns to those that follow. with allows the use
// of other relations of a rule.
func (r *recursion) settle(with bool) bool {
	for changed := true; changed; {
		changed = false
		for _, rule := range r.rules {
			head, ok := r.columns[rule.insert.Var]
			if !ok {
				continue // not demanded so far
			}
			to := rule.bound(head, with)
			if had, ok := r.columns[rule.atom.scan.Var]; ok {
				to = slices.DeleteFunc(slices.Clone(had), func(i int) bool {
					return !slices.Contains(to, i)
				})
			}
			if len(to) == 0 {
				return false
			}
			if !slices.Equal(to, r.columns[rule.atom.scan.Var]) {
				r.columns[rule.atom.scan.Var], changed = to, true
			}
		}
	}
	// Every variable must have a demand, or nothing of it would be derived.
	return len(r.columns) == len(r.vars)
}

// bound returns the columns of the recursive atom whose values follow from
// those of the head: the same variables or, if with is set, variables that
// other relations yield.
func (rule *recursiveRule) bound(head []int, with bool) []int {
	known := rule.known(head)
	if with {
		rule.prefix(known)
	}
	var out []int
	for i, id := range rule.atom.ids(rule.body) {
		same := rule.insert.Var == rule.atom.scan.Var && !with
		if same && !slices.Contains(head, i) {
			continue
		}
		if id >= 0 && known[id] && (!same || rule.body.find(rule.head[i]) == id) {
			out = append(out, i)
		}
	}
	return out
}

// known returns the variables of the given columns of the head.
func (rule *recursiveRule) known(head []int) map[int]bool {
	known := map[int]bool{}
	for _, i := range head {
		known[rule.body.find(rule.head[i])] = true
	}
	return known
}

// prefix returns the atoms that share variables with the known ones, one after
// the other, and adds their variables to known. The recursive atom is asked by
// these; atoms that only restrict it further are left out.
func (rule *recursiveRule) prefix(known map[int]bool) []*conjunct {
	var out []*conjunct
	wanted := rule.atom.ids(rule.body)
	for added := true; added && !allKnown(wanted, known); {
		added = false
		for _, a := range rule.body.atoms {
			ids := a.ids(rule.body)
			if a == rule.atom || slices.Contains(out, a) || !slices.ContainsFunc(ids,
				func(id int) bool { return known[id] }) {
				continue
			}
			for _, id := range ids {
				known[id] = true
			}
			out, added = append(out, a), true
		}
	}
	return out
}

func allKnown(ids []int, known map[int]bool) bool {
	return !slices.ContainsFunc(ids, func(id int) bool { return id >= 0 && !known[id] })
}

// pays reports whether a seed asks for few values of columns. Constants are
// always few.
func (r *recursion) pays(s *seed) bool {
	if s.constant() || leastAsked == 0 {
		return true
	}
	if r.catalog == nil {
		return false
	}
	est := stats.NewEstimator(r.Plan, r.catalog)
	values := 0.0
	for _, in := range r.base {
		if in.Var == s.scan.Var {
			names := queryplan.NamesOf(in.Node.Columns())
			var cols []string
			for _, i := range s.columns {
				cols = append(cols, names[i])
			}
			values += est.Of(in.Node).Distinct(cols)
		}
	}
	return est.Rows(s.from.node)*leastAsked <= values
}
