package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var eliminateCommonSubexpressions = &Pass{
	Name: "EliminateCommonSubexpressions",
	Reason: "A join, aggregate or sort that several rules contain is computed once, into a " +
		"temporary; an expression that is part of another of the same map is taken from its column.",
	Unless: "What it reads may have changed in between, or its result is much larger than what it " +
		"is made from, or it is only met as the right side of joins on the same columns, of which " +
		"engines keep one index.",
	Before: "insert p\n  join y\n    scan a(x, y)\n    scan b(y, z)\ninsert q\n  filter lt(x, 3)\n" +
		"    join y\n      scan a(x, y)\n      scan b(y, z)",
	After: "assign shared\n  join y\n    scan a(x, y)\n    scan b(y, z)\ninsert p\n" +
		"  scan shared(x, y, z)\ninsert q\n  filter lt(x, 3)\n    scan shared(x, y, z)",
	Source: "Cocke, 1970; for queries: Zhou et al., SIGMOD 2007",
	run: func(p *program) error {
		p.rewriteTrees(func(_ *queryplan.Block, _ queryplan.Command,
			n queryplan.Node) queryplan.Node {
			return queryplan.Rewrite(n, shareExprs)
		})
		for newSharer(p).run() {
			// Shared trees may have parts that occur several times.
		}
		return nil
	},
}

// sharer finds equal trees. It numbers trees so that equal trees over equal
// contents have the same number.
type sharer struct {
	*program
	loops.DominatorTree
	loop    map[*queryplan.Block]map[*queryplan.Var]bool
	numbers map[string]int
	last    int // the number given last
	number  map[occurrence]int
	counts  map[int]int
	est     *stats.Estimator
}

// occurrence is a tree at a site. The contents that it reads may differ from
// site to site.
type occurrence struct {
	node  queryplan.Node
	block *queryplan.Block
	index int
}

func newSharer(p *program) *sharer {
	return &sharer{
		program: p, DominatorTree: loops.Dominators(p.Plan), loop: loops.Changed(p.Plan),
		numbers: map[string]int{}, number: map[occurrence]int{}, counts: map[int]int{},
	}
}

// run replaces trees that occur several times, outer ones first, and reports
// whether there was one.
func (s *sharer) run() bool {
	blocks := loops.ReversePostorder(s.Plan)
	writes := map[*queryplan.Var]int{}
	for _, b := range blocks {
		for i, c := range b.Cmds {
			if n := queryplan.CommandNode(c); n != nil {
				s.numberTree(n, b, i, writes)
			}
			countWrite(c, writes)
		}
	}
	all := map[int][]found{}
	var order []int
	for _, b := range blocks {
		for i, c := range b.Cmds {
			if n := queryplan.CommandNode(c); n != nil {
				s.pick(n, b, i, "", all, &order)
			}
		}
	}
	return s.assign(all, order)
}

// found is an occurrence of a shared tree. joined names the join columns if it
// is the right side of a join.
type found struct {
	occurrence
	joined string
}

func countWrite(c queryplan.Command, writes map[*queryplan.Var]int) {
	switch c := c.(type) {
	case *queryplan.Merge:
		writes[c.Var]++
	case *queryplan.Assign:
		writes[c.Var]++
	}
}

// numberTree numbers a tree and its parts and returns its number.
func (s *sharer) numberTree(
	n queryplan.Node, b *queryplan.Block, index int, writes map[*queryplan.Var]int,
) int {
	var key strings.Builder
	key.WriteString(queryplan.NodeHead(n))
	for _, in := range n.Inputs() {
		fmt.Fprintf(&key, " %d", s.numberTree(in, b, index, writes))
	}
	switch n := n.(type) {
	case *queryplan.Scan:
		fmt.Fprintf(&key, " %d", writes[n.Var])
		// In a loop, the number of writes does not identify the contents.
		if s.loop[b][n.Var] {
			key.WriteString(" " + b.Name)
		}
	case *queryplan.Values:
		key.Reset()
		key.WriteString(queryplan.NodeString(n))
	}
	id, ok := s.numbers[key.String()]
	if !ok || trees.IsVolatile(n) {
		s.last++
		id = s.last
		s.numbers[key.String()] = id
	}
	s.number[occurrence{n, b, index}] = id
	s.counts[id]++
	return id
}

// pick collects the outermost trees that occur more than once and are worth
// sharing.
func (s *sharer) pick(
	n queryplan.Node, b *queryplan.Block, index int, joined string, all map[int][]found,
	order *[]int,
) {
	at := occurrence{n, b, index}
	id := s.number[at]
	if s.counts[id] > 1 && isCostly(n) && s.fits(n) {
		if all[id] == nil {
			*order = append(*order, id)
		}
		if all[id] == nil || s.reaches(all[id][0].occurrence, at) {
			all[id] = append(all[id], found{at, joined})
		}
		return
	}
	for i, in := range n.Inputs() {
		joined := ""
		if j, ok := n.(*queryplan.Join); ok && i == 1 {
			joined = "index " + strings.Join(j.On(), " ")
		}
		s.pick(in, b, index, joined, all, order)
	}
}

// oneIndex reports whether a tree occurs only as the right side of joins on the
// same columns.
func oneIndex(places []found) bool {
	return places[0].joined != "" && !slices.ContainsFunc(places, func(f found) bool {
		return f.joined != places[0].joined
	})
}

// reaches reports whether what is computed before the command at from exists
// and is unchanged at to.
func (s *sharer) reaches(from, to occurrence) bool {
	if from.block == to.block {
		return true
	}
	changed := s.loop[to.block]
	return s.Dominates(from.block, to.block) && s.loop[from.block] == nil &&
		!slices.ContainsFunc(queryplan.Scans(to.node), func(x *queryplan.Scan) bool {
			return changed[x.Var]
		})
}

// isCostly reports whether a tree does more than read, filter and compute row
// by row.
func isCostly(n queryplan.Node) bool {
	rowWise, _ := isRowWise(n)
	_, constant := n.(*queryplan.Values)
	return !rowWise && !constant
}

// maxShared is the largest ratio of a shared result to its inputs.
const maxShared = 16

// fits reports whether a tree's result is not much larger than its inputs.
func (s *sharer) fits(n queryplan.Node) bool {
	if s.est == nil {
		s.est = stats.NewEstimator(s.Plan, s.catalog)
	}
	read := 0.0
	for _, x := range queryplan.Scans(n) {
		read += s.est.Rows(x)
	}
	return s.est.Rows(n) <= maxShared*read
}

// assign computes the shared trees into temporaries, and reports whether there
// are any.
func (s *sharer) assign(all map[int][]found, order []int) bool {
	names := queryplan.VarNames(s.Plan)
	type place struct {
		block *queryplan.Block
		index int
	}
	before := map[place][]queryplan.Command{}
	with := map[place]map[queryplan.Node]queryplan.Node{}
	for _, id := range order {
		places := all[id]
		if len(places) < 2 || oneIndex(places) {
			continue
		}
		n := places[0].node
		v := &queryplan.Var{Name: names.Fresh("shared"), Kind: queryplan.Temp, Cols: n.Columns(),
			Keys: len(n.Columns()), Limit: -1,
			Span: queryplan.CommandSpan(places[0].block.Cmds[places[0].index])}
		s.Vars = append(s.Vars, v)
		first := place{places[0].block, places[0].index}
		before[first] = append(before[first], &queryplan.Assign{Var: v, Node: n})
		for _, o := range places {
			at := place{o.block, o.index}
			if with[at] == nil {
				with[at] = map[queryplan.Node]queryplan.Node{}
			}
			with[at][o.node] = &queryplan.Scan{Var: v, Names: trees.Columns(n)}
		}
	}
	for _, b := range s.Blocks {
		var cmds []queryplan.Command
		for i, c := range b.Cmds {
			at := place{b, i}
			cmds = append(cmds, before[at]...)
			if r := with[at]; r != nil {
				c = queryplan.WithNode(c, replaced(queryplan.CommandNode(c), r))
			}
			cmds = append(cmds, c)
		}
		b.Cmds = cmds
	}
	return len(before) > 0
}

// shareExprs splits a map in two if one of its expressions is part of another.
// The first map computes that column and the second one uses it. A tuple for
// which it has no value is dropped either way.
func shareExprs(n queryplan.Node) queryplan.Node {
	m, ok := n.(*queryplan.Map)
	if !ok || len(m.Exprs) < 2 || trees.IsVolatile(m) {
		return n
	}
	var first, then []queryplan.NamedExpr
	for i, e := range m.Exprs {
		made := e
		for j, part := range m.Exprs {
			if _, call := part.Expr.(*queryplan.Call); !call || i == j {
				continue
			}
			if queryplan.EqualExpr(part.Expr, made.Expr) && j > i {
				continue // of two equal expressions, the first is computed
			}
			ref := &queryplan.ColRef{Col: queryplan.Column{Name: part.Name, Type: part.Expr.Type()}}
			made.Expr = queryplan.RewriteExpr(made.Expr, func(x queryplan.Expr) queryplan.Expr {
				if queryplan.EqualExpr(x, part.Expr) {
					return ref
				}
				return x
			})
		}
		if made.Expr == e.Expr {
			first = append(first, e)
		} else {
			then = append(then, made)
		}
	}
	if len(then) == 0 {
		return n
	}
	// A shared expression may use another one. It then comes later, and there
	// is one split for each level.
	names := func(list []queryplan.NamedExpr) []string {
		var out []string
		for _, e := range list {
			out = append(out, e.Name)
		}
		return out
	}
	known := slices.Concat(trees.Columns(m.Input), names(first))
	out := queryplan.Node(&queryplan.Map{Input: m.Input, Exprs: first})
	for len(then) > 0 {
		var now, later []queryplan.NamedExpr
		for _, e := range then {
			if trees.HasAll(known, queryplan.ExprColumns(e.Expr)) {
				now = append(now, e)
			} else {
				later = append(later, e)
			}
		}
		out = &queryplan.Map{Input: out, Exprs: now}
		known = append(known, names(now)...)
		then = later
	}
	return trees.WithColumns(out, m.Columns())
}
