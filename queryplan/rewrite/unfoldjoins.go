package rewrite

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var unfoldJoins = &Pass{
	Name: "UnfoldJoins",
	Reason: "A predicate that joins relations may be far larger than what is ever looked up in it. " +
		"Where looking up in its relations costs less than to derive and store it, it is not derived, " +
		"and its join takes its place. A negated atom, too, asks for the matches of few tuples only.",
	Unless: "It is an output, is recursive, has a key still to be checked, or is read in another way " +
		"than by joins; or its join repeats tuples that it would not, and that matters; or it is " +
		"expected to save less than a third of the cost.",
	Before: "insert v\n  project m, t\n    ... scan h(m, u), s(t, u)\nmerge v\nblock loop:\n" +
		"  insert p\n    anti join m, t\n      ... scan delta q(x, m), k(x, t)\n      scan v(m, t)",
	After: "block loop:\n  assign few\n    ... scan delta q(x, m), k(x, t)\n" +
		"  insert p\n    anti join m, t\n      scan few(x, m, t)\n" +
		"      project m, t\n        ... scan few(_, m, t), h(m, u), s(t, u)",
	Source: "magic sets: Bancilhon, Maier, Sagiv, Ullman, PODS 1986; unfolding: Tamaki, Sato, ICLP " +
		"1984",
	run: func(p *program) error {
		u := &unfolder{inliner: newInliner(p), est: stats.NewEstimator(p.Plan, p.catalog),
			names: queryplan.VarNames(p.Plan)}
		for _, b := range loops.ReversePostorder(p.Plan) {
			for _, c := range slices.Clone(b.Cmds) {
				if ins, ok := c.(*queryplan.Insert); ok {
					u.try(ins.Var)
				}
			}
		}
		return nil
	},
}

// unfoldGain is the smallest ratio of the costs with a predicate and without
// it. Tests lower it.
var unfoldGain = 1.5

// loopRounds is the assumed number of rounds after which the delta versions of
// a rule have seen all tuples.
const loopRounds = 100

// unfolder replaces predicates by the joins that derive them.
type unfolder struct {
	*inliner
	est   *stats.Estimator
	names *queryplan.Names
}

// unfolding is a predicate whose uses are being rewritten.
type unfolding struct {
	v      *queryplan.Var
	node   queryplan.Node // the tree that derives the predicate
	unique bool           // node repeats no tuples
	est    *stats.Estimator
	// before holds the temporaries of the current command.
	before []*queryplan.Assign
	failed bool
}

// unfolded is a use of the predicate and its replacement.
type unfolded struct {
	use
	before []*queryplan.Assign
	node   queryplan.Node
}

// try unfolds a predicate if that pays.
func (u *unfolder) try(v *queryplan.Var) {
	d := u.defs[v]
	if d == nil || len(d.inserts) != 1 {
		return
	}
	n := u.view(v)
	if n == nil || !isPlainJoin(n) {
		return
	}
	x := &unfolding{v: v, node: n, unique: queryplan.IsSet(n), est: u.est}
	scan := &queryplan.Scan{Var: v, Names: queryplan.NamesOf(v.Cols)}
	with := storedCost*u.est.Rows(scan) + u.cost(d.block, n)
	without := 0.0
	var places []unfolded
	for _, at := range u.uses[v] {
		c := at.block.Cmds[at.index]
		tree := queryplan.CommandNode(c)
		if at.number <= d.merged || !u.Dominates(d.block, at.block) ||
			treeSize(tree)+treeSize(n) > maxInlined {
			return
		}
		x.before = nil
		place := unfolded{use: at, node: x.tree(tree, joins.RootSite(c).Set)}
		if place.before = x.before; x.failed {
			return
		}
		rounds := 1.0
		if u.loop[at.block] != nil {
			rounds = loopRounds
		}
		with += rounds * u.cost(at.block, tree)
		without += rounds * u.cost(at.block, place.node)
		for _, t := range place.before {
			without += rounds * u.cost(at.block, t.Node)
		}
		places = append(places, place)
	}
	taken := with >= unfoldGain*without && with-without > leastSaved
	what := "stored, and not joined where it is used"
	if taken {
		what = "joined where it is used, and not stored"
	}
	u.choose("UnfoldJoins", d.block, d.inserts[0], fmt.Sprintf(
		"%s: with its uses it costs %.3g stored and %.3g joined", what, with, without))
	if taken {
		u.put(x, places)
	}
}

// isPlainJoin reports whether a tree is a conjunction of several stored
// relations.
func isPlainJoin(n queryplan.Node) bool {
	if !joins.InConjunction(n) {
		return false
	}
	c := joins.Flatten(n)
	return len(c.Rels) > 1 && onlyScans(c) && !slices.ContainsFunc(c.Semis,
		func(s joins.Semijoin) bool {
			rowWise, _ := isRowWise(s.Right)
			return !rowWise
		})
}

// cost returns the cost of a tree in its best order, in one round of a loop.
func (u *unfolder) cost(b *queryplan.Block, n queryplan.Node) float64 {
	cost := 0.0
	joins.EachConjunction(n, joins.Site{},
		func(n queryplan.Node, _ joins.Site) queryplan.Node {
			c := joins.Flatten(n)
			c.KeepIndexes(u.loop[b])
			g := joins.NewGraph(c, u.est, u.loop[b])
			for _, rels := range g.Parts() {
				cost += g.Best(rels).Stream
			}
			return n
		})
	return cost
}

// tree replaces the scans of the predicate. set means that repeated tuples of
// the tree do not matter.
func (x *unfolding) tree(n queryplan.Node, set bool) queryplan.Node {
	switch n := n.(type) {
	case *queryplan.Scan:
		if n.Var != x.v {
			return n
		}
		x.failed = x.failed || !x.unique && !set
		return chooseColumns(x.node, n)
	case *queryplan.Join:
		if n.Kind != queryplan.Inner && x.reads(n.Right) {
			return x.asks(n, set)
		}
		if !x.reads(n) {
			return n
		}
		return matchedAgain(&queryplan.Join{Kind: n.Kind, Left: x.tree(n.Left, set),
			Right: x.tree(n.Right, set)})
	}
	if !x.reads(n) {
		return n
	}
	return queryplan.WithInputs(n, list.Map(n.Inputs(), func(in queryplan.Node) queryplan.Node {
		return x.tree(in, joins.InputSet(n, set))
	}))
}

// reads reports whether a tree scans the predicate.
func (x *unfolding) reads(n queryplan.Node) bool {
	return slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
		return s.Var == x.v
	})
}

// asks replaces a semi or anti join with the predicate by one with the
// predicate's tuples that match the left side. The left side is computed first,
// because it is read twice.
func (x *unfolding) asks(n *queryplan.Join, set bool) queryplan.Node {
	on := n.On()
	if rowWise, _ := isRowWise(n.Right); !rowWise || len(on) == 0 {
		x.failed = true
		return n
	}
	few := x.tree(n.Left, set)
	if _, renaming := isRowWise(few); !renaming {
		v, assign := newTemporary("", few)
		x.before = append(x.before, assign.(*queryplan.Assign))
		x.est.Assume(v, assign.(*queryplan.Assign).Node)
		few = trees.WithColumns(&queryplan.Scan{Var: v, Names: queryplan.NamesOf(v.Cols)},
			few.Columns())
	}
	keys := list.Map(on, func(name string) queryplan.Rename {
		return queryplan.Rename{From: name, To: name}
	})
	found := matchedAgain(&queryplan.Join{Left: trees.Rename(few, keys),
		Right: trees.Rename(x.tree(n.Right, true), keys)})
	return matchedAgain(&queryplan.Join{Kind: n.Kind, Left: few, Right: found})
}

// put replaces the uses of a predicate.
func (u *unfolder) put(x *unfolding, places []unfolded) {
	for _, place := range places {
		cmds := place.block.Cmds
		cmds[place.index] = queryplan.WithNode(cmds[place.index], place.node)
	}
	// Insert temporaries last, because they change the numbers of commands.
	for _, b := range u.Blocks {
		var cmds []queryplan.Command
		for i, c := range b.Cmds {
			for _, place := range places {
				if place.block == b && place.index == i {
					for _, t := range place.before {
						t.Var.Name = u.names.Fresh("few")
						t.Var.Span = queryplan.CommandSpan(c)
						u.Vars = append(u.Vars, t.Var)
						cmds = append(cmds, t)
					}
				}
			}
			cmds = append(cmds, c)
		}
		b.Cmds = cmds
	}
	u.defs[x.v].inserts = nil
	u.dropUnused()
	u.inliner = newInliner(u.program)
}
