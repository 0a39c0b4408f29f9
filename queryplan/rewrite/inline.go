package rewrite

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

var inlinePredicates = &Pass{
	Name: "InlinePredicates",
	Reason: "A predicate that is derived once and used once, or that only computes, renames or " +
		"filters the tuples of one relation, is put in place of its uses, so that it is not stored " +
		"and is optimised together with what uses it.",
	Unless: "It is an output, is recursive, has a key still to be checked, is scanned with " +
		"positions, or would be derived again in every round of a loop. A predicate is a set: a rule " +
		"that may derive a tuple twice takes its place only where repeated tuples do not matter, " +
		"never under an aggregate.",
	Before: "insert view\n  filter lt(y, 3)\n    scan a(x, y)\nmerge view\ninsert out\n  project x\n" +
		"    scan view(x, y)",
	After: "insert out\n  project x\n    filter lt(y, 3)\n      scan a(x, y)",
	Source: "view merging: Pirahesh, Hellerstein, Hasan, SIGMOD 1992; unfolding: Tamaki, Sato, ICLP " +
		"1984",
	run: func(p *program) error {
		newInliner(p).run()
		return nil
	},
}

// maxInlined bounds the operators of a tree that inlining makes, so that chains
// of views do not grow without end.
const maxInlined = 100

// definition has the facts about how a variable is filled that inlining needs.
type definition struct {
	inserts []*queryplan.Insert
	block   *queryplan.Block
	at      int // number of the first insert in the order of commands
	merges  int
	merged  int  // number of the merge
	pinned  bool // something other than full scans refers to it
}

// use is a command that scans a variable.
type use struct {
	block  *queryplan.Block
	index  int
	number int // in the order of commands
}

type inliner struct {
	*program
	loops.DominatorTree
	loop map[*queryplan.Block]map[*queryplan.Var]bool
	defs map[*queryplan.Var]*definition
	uses map[*queryplan.Var][]use
	// written is the number of the last command that fills a variable.
	written map[*queryplan.Var]int
}

func newInliner(p *program) *inliner {
	in := &inliner{
		program: p, DominatorTree: loops.Dominators(p.Plan), loop: loops.Changed(p.Plan),
		defs: map[*queryplan.Var]*definition{},
		uses: map[*queryplan.Var][]use{}, written: map[*queryplan.Var]int{},
	}
	for _, v := range p.Vars {
		if v.Kind == queryplan.Derived {
			in.defs[v] = &definition{pinned: v.Output}
		}
	}
	number := 0
	for _, b := range loops.ReversePostorder(p.Plan) {
		for i, c := range b.Cmds {
			number++
			in.command(b, i, number, c)
		}
		if br, ok := b.Term.(*queryplan.Branch); ok {
			for _, v := range br.Vars {
				in.defs[v].pinned = true
			}
		}
	}
	return in
}

func (in *inliner) command(b *queryplan.Block, index, number int, c queryplan.Command) {
	if n := queryplan.CommandNode(c); n != nil {
		seen := map[*queryplan.Var]bool{}
		for _, s := range queryplan.Scans(n) {
			if d := in.defs[s.Var]; d != nil {
				d.pinned = d.pinned || s.Version != queryplan.Full || s.Position != ""
				if !seen[s.Var] {
					seen[s.Var] = true
					in.uses[s.Var] = append(in.uses[s.Var], use{b, index, number})
				}
			}
		}
	}
	switch c := c.(type) {
	case *queryplan.Insert:
		d := in.defs[c.Var]
		if d.inserts = append(d.inserts, c); d.block == nil {
			d.block, d.at = b, number
		}
		d.pinned = d.pinned || d.block != b || d.merges > 0 || in.loop[b] != nil
		in.written[c.Var] = number
	case *queryplan.Merge:
		d := in.defs[c.Var]
		d.merges++
		d.merged = number
		d.pinned = d.pinned || in.loop[b] != nil
		in.written[c.Var] = number
	case *queryplan.Assign:
		in.written[c.Var] = number
	case *queryplan.CheckKey:
		in.defs[c.Var].pinned = true
	}
}

// run inlines variables in the order in which they are filled, so that an
// inlined tree has no views left to inline.
func (in *inliner) run() {
	for _, b := range loops.ReversePostorder(in.Plan) {
		var vars []*queryplan.Var
		for _, c := range b.Cmds {
			if ins, ok := c.(*queryplan.Insert); ok && !slices.Contains(vars, ins.Var) {
				vars = append(vars, ins.Var)
			}
		}
		for _, v := range vars {
			if n := in.view(v); n != nil {
				in.inline(v, n)
			}
		}
	}
	in.dropUnused()
}

// view returns the tree that replaces scans of v, or nil if v can never be
// inlined.
func (in *inliner) view(v *queryplan.Var) queryplan.Node {
	d := in.defs[v]
	if d.pinned || d.merges != 1 || len(d.inserts) == 0 || len(in.uses[v]) == 0 {
		return nil
	}
	nodes := make([]queryplan.Node, len(d.inserts))
	for i, ins := range d.inserts {
		// Inlining replaces commands, so the current one counts.
		n := in.current(d.block, ins)
		renames := make([]queryplan.Rename, len(v.Cols))
		for j, c := range n.Columns() {
			renames[j] = queryplan.Rename{From: c.Name, To: v.Cols[j].Name}
		}
		nodes[i] = trees.Rename(n, renames)
		// The variables that the tree reads must be the same where v is used.
		for _, s := range queryplan.Scans(n) {
			if s.Var == v || s.Version != queryplan.Full || in.written[s.Var] > d.at {
				return nil
			}
		}
	}
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &queryplan.Union{Nodes: nodes}
}

// current returns the tree of an insert that may have been replaced. The
// replacement has the same position among the inserts of its variable.
func (in *inliner) current(b *queryplan.Block, ins *queryplan.Insert) queryplan.Node {
	at := slices.Index(in.defs[ins.Var].inserts, ins)
	for _, c := range b.Cmds {
		if x, ok := c.(*queryplan.Insert); ok && x.Var == ins.Var {
			if at == 0 {
				return x.Node
			}
			at--
		}
	}
	return ins.Node
}

// inline puts n in place of every scan of v, if all of them allow it.
func (in *inliner) inline(v *queryplan.Var, n queryplan.Node) {
	unique := queryplan.IsSet(n)
	rowWise, renaming := isRowWise(n)
	size := treeSize(n)
	scans := 0
	for _, u := range in.uses[v] {
		c := u.block.Cmds[u.index]
		tree := queryplan.CommandNode(c)
		ok := treeSize(tree)+size <= maxInlined
		eachScan(tree, joins.RootSite(c).Set, func(s *queryplan.Scan, free bool) {
			if s.Var == v {
				scans++
				ok = ok && (unique || free && rowWise)
			}
		})
		filled := u.number > in.defs[v].merged && in.Dominates(in.defs[v].block, u.block)
		if !ok || !filled || in.loop[u.block] != nil && !(renaming && unique) {
			return
		}
	}
	if scans > 1 && !(rowWise && unique) {
		return
	}
	for _, u := range in.uses[v] {
		c := u.block.Cmds[u.index]
		tree := putInPlace(queryplan.CommandNode(c), v, n, unique)
		u.block.Cmds[u.index] = queryplan.WithNode(c, tree)
		for _, s := range queryplan.Scans(n) {
			if in.defs[s.Var] != nil && !slices.Contains(in.uses[s.Var], u) {
				in.uses[s.Var] = append(in.uses[s.Var], u)
			}
		}
	}
	in.uses[v] = nil
	// v is not filled any more, so its rules read nothing.
	for _, s := range queryplan.Scans(n) {
		in.uses[s.Var] = slices.DeleteFunc(in.uses[s.Var], func(u use) bool {
			ins, ok := u.block.Cmds[u.index].(*queryplan.Insert)
			return ok && ins.Var == v
		})
	}
	in.defs[v].inserts = nil
}

// putInPlace replaces the scans of v by n. If n may repeat tuples, joins with
// it may match more than once.
func putInPlace(
	tree queryplan.Node, v *queryplan.Var, n queryplan.Node, unique bool,
) queryplan.Node {
	if s, ok := tree.(*queryplan.Scan); ok {
		if s.Var == v {
			return chooseColumns(n, s)
		}
		return tree
	}
	in := tree.Inputs()
	out := make([]queryplan.Node, len(in))
	for i, x := range in {
		out[i] = putInPlace(x, v, n, unique)
	}
	if j, ok := tree.(*queryplan.Join); ok && j.Unique && !unique && out[1] != j.Right {
		return matchedAgain(&queryplan.Join{Kind: j.Kind, Left: out[0], Right: out[1]})
	}
	if len(in) == 0 {
		return tree
	}
	return queryplan.WithInputs(tree, out)
}

// chooseColumns gives a view the columns that the scan of its variable had.
func chooseColumns(n queryplan.Node, s *queryplan.Scan) queryplan.Node {
	var cols []queryplan.Rename
	for i, name := range s.Names {
		if name != "" {
			cols = append(cols, queryplan.Rename{From: s.Var.Cols[i].Name, To: name})
		}
	}
	return trees.Rename(n, cols)
}

// dropUnused removes the commands of variables that have been inlined.
func (in *inliner) dropUnused() {
	gone := func(v *queryplan.Var) bool {
		d := in.defs[v]
		return d != nil && !d.pinned && d.merges == 1 && d.block != nil && len(d.inserts) == 0
	}
	for _, b := range in.Blocks {
		b.Cmds = slices.DeleteFunc(b.Cmds, func(c queryplan.Command) bool {
			v := queryplan.CommandVar(c)
			return v != nil && gone(v)
		})
	}
	in.Vars = slices.DeleteFunc(in.Vars, gone)
}

// isRowWise reports whether a tree works on one tuple of one relation at a
// time, and whether it only chooses and renames columns.
func isRowWise(n queryplan.Node) (rowWise, renaming bool) {
	switch n := n.(type) {
	case *queryplan.Scan:
		return true, true
	case *queryplan.Project:
		return isRowWise(n.Input)
	case *queryplan.Filter, *queryplan.Map:
		rowWise, _ = isRowWise(n.Inputs()[0])
		return rowWise && joins.InConjunction(n), false
	case *queryplan.Union:
		return !slices.ContainsFunc(n.Nodes, func(in queryplan.Node) bool {
			rowWise,
				_ := isRowWise(in)
			return !rowWise
		}), false
	}
	return false, false
}

// eachScan calls f for the scans of a tree. free means that repeated tuples of
// the scan do not change the result, and cost no more than reading them.
func eachScan(n queryplan.Node, free bool, f func(s *queryplan.Scan, free bool)) {
	switch n := n.(type) {
	case *queryplan.Scan:
		f(n, free)
	case *queryplan.Join:
		eachScan(n.Left, false, f)
		eachScan(n.Right, n.Kind != queryplan.Inner, f)
	case *queryplan.MultiJoin:
		for _, in := range n.Nodes {
			eachScan(in, false, f)
		}
	default:
		for _, in := range n.Inputs() {
			eachScan(in, joins.InputSet(n, free), f)
		}
	}
}

func treeSize(n queryplan.Node) int {
	size := 1
	for _, in := range n.Inputs() {
		size += treeSize(in)
	}
	return size
}
