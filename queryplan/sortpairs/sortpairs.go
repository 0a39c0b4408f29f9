package sortpairs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
)

// Name is what switches the step off.
const Name = "SortPairs"

// Sorted is a variable with the pairs of folds, sorted by the columns By.
type Sorted struct {
	Var *queryplan.Var
	By  []string
	// Loop is the block whose rounds read the pairs.
	Loop string
	// Apart are variables of which few rounds have tuples. Kernels are not to
	// compute them on the way.
	Apart []*queryplan.Var
}

// String is a line about the pairs, for people.
func (s Sorted) String() string {
	return fmt.Sprintf("%s: sorted by %s once, before the loop of %s", s.Var.Name,
		strings.Join(s.By, ", "), s.Loop)
}

// Apply returns the plan with the pairs of folds sorted before their loops, and
// what it has sorted. The given plan is not changed; without a fold it is
// returned.
//
// A round then goes through the pairs in the order of their groups and looks up
// the value of each. It is not done if the keys of groups are floats, whose
// words do not order as they do, or if the loop is entered from several blocks
// or within another loop, so that the pairs would be sorted again and again.
// Totals of floats need more than that (floats.go).
func Apply(p *queryplan.Plan) (*queryplan.Plan, []Sorted) {
	if !mayFold(p) {
		return p, nil
	}
	s := &sorter{plan: queryplan.Clone(p)}
	s.flow, s.entries = queryplan.NewFlow(s.plan), loops.Entries(s.plan)
	s.names, s.above = queryplan.VarNames(s.plan), loops.Dominators(s.plan)
	for _, b := range s.plan.Blocks {
		entry := s.entries[b]
		if entry == nil || !s.flow.InLoop(b) || s.flow.InLoop(entry) {
			continue
		}
		var cmds []queryplan.Command
		for i, c := range b.Cmds {
			n := queryplan.CommandNode(c)
			if n == nil {
				cmds = append(cmds, c)
				continue
			}
			s.before = nil
			m := queryplan.Rewrite(n, func(n queryplan.Node) queryplan.Node {
				if a, ok := n.(*queryplan.Aggregate); ok {
					return s.aggregate(a, b, c)
				}
				return n
			})
			if m != n {
				b.Cmds[i] = queryplan.WithNode(c, m)
				cmds = append(cmds, s.before...)
			}
			cmds = append(cmds, b.Cmds[i])
		}
		b.Cmds = cmds
	}
	if len(s.sorted) == 0 {
		return p, nil
	}
	for _, x := range s.sorted {
		entry := s.entries[x.block]
		entry.Cmds = append(entry.Cmds, &queryplan.Assign{Var: x.Var, Node: x.node})
		if x.most != nil {
			entry.Cmds = append(entry.Cmds, &queryplan.Assign{Var: x.most, Node: largest(x)})
		}
	}
	out := make([]Sorted, len(s.sorted))
	for i, x := range s.sorted {
		out[i] = x.Sorted
	}
	return s.plan, out
}

// mayFold reports whether an aggregate is in a loop that replaces bags.
func mayFold(p *queryplan.Plan) bool {
	for b, c := range p.Commands() {
		if _, ok := c.(*queryplan.Assign); ok && len(b.Successors()) > 0 {
			return true
		}
	}
	return false
}

type sorter struct {
	plan    *queryplan.Plan
	flow    *queryplan.Flow
	entries map[*queryplan.Block]*queryplan.Block
	above   loops.DominatorTree
	names   *queryplan.Names
	sorted  []*sorted
	before  []queryplan.Command // that run ahead of the one at hand
}

// sorted is a variable and what it is assigned.
type sorted struct {
	Sorted
	block *queryplan.Block
	node  queryplan.Node
	most  *queryplan.Var // the size of the largest group; nil if nothing asks
}

// aggregate returns a fold over sorted pairs, or an aggregate that is none as
// it is.
func (s *sorter) aggregate(n *queryplan.Aggregate, b *queryplan.Block,
	c queryplan.Command) queryplan.Node {
	f, ok := s.flow.Fold(n, b)
	if !ok || f.Tally {
		return n
	}
	typeOf := func(name string) scalar.Type {
		c, _ := queryplan.FindColumn(n.Input.Columns(), name)
		return c.Type
	}
	for _, name := range n.By {
		if typeOf(name).Kind == scalar.Float {
			return n
		}
	}
	floats := ""
	for _, a := range n.Aggs {
		if !a.Fn.IsTotal() || typeOf(a.In).Kind != scalar.Float {
			continue
		}
		if a.Fn != queryplan.Total || typeOf(a.In) != scalar.FloatType ||
			floats != "" && floats != a.In {
			return n
		}
		floats = a.In
	}
	names := queryplan.ColumnNames(n)
	names.Take(n.By...)
	pairs, values := &queryplan.Project{Input: f.Pairs}, &queryplan.Project{Input: f.Values}
	for i, from := range f.By {
		pairs.Cols = append(pairs.Cols, queryplan.Rename{From: from, To: n.By[i]})
	}
	for i, from := range f.On {
		source := names.Fresh("source")
		pairs.Cols = append(pairs.Cols, queryplan.Rename{From: from, To: source})
		values.Cols = append(values.Cols, queryplan.Rename{From: f.Keys[i], To: source})
	}
	out := &queryplan.Aggregate{By: n.By}
	renamed := map[string]string{}
	for _, a := range n.Aggs {
		if a.Fn != queryplan.Count {
			if renamed[a.In] == "" {
				renamed[a.In] = names.Fresh("value")
				values.Cols = append(values.Cols,
					queryplan.Rename{From: a.In, To: renamed[a.In]})
			}
			a.In = renamed[a.In]
		}
		out.Aggs = append(out.Aggs, a)
	}
	x := s.pairs(pairs, n.By, b, c)
	scan := &queryplan.Scan{Var: x.Var, Names: queryplan.NamesOf(pairs.Columns())}
	if floats != "" {
		return s.floats(out, x, scan, values, len(f.On), renamed[floats], names)
	}
	out.Input = &queryplan.Join{Left: scan, Right: values, Unique: true}
	return out
}

// reaches reports whether pairs that are sorted for a loop are the same in
// another one.
func (s *sorter) reaches(sorted, b *queryplan.Block, pairs queryplan.Node) bool {
	from := s.entries[sorted]
	return from == s.entries[b] || s.above.Dominates(from, b) &&
		!slices.ContainsFunc(queryplan.Scans(pairs), func(n *queryplan.Scan) bool {
			return n.Var.Kind != queryplan.Input && n.Var.Kind != queryplan.Table
		})
}

// pairs returns sorted pairs, whose first columns are those of the groups.
// Folds that read the same pairs share them.
func (s *sorter) pairs(n *queryplan.Project, by []string, b *queryplan.Block,
	c queryplan.Command) *sorted {
	cols := n.Columns()
	for _, x := range s.sorted {
		in := x.node.(*queryplan.TopK).Input.(*queryplan.Project)
		if s.reaches(x.block, b, in) && len(x.By) == len(by) &&
			queryplan.Equal(in.Input, n.Input) &&
			slices.EqualFunc(in.Cols, n.Cols, func(a, b queryplan.Rename) bool {
				return a.From == b.From
			}) {
			return x
		}
	}
	v := &queryplan.Var{Name: s.names.Fresh("pairs"), Kind: queryplan.Temp, Cols: cols,
		Keys: len(cols), Limit: -1, Span: queryplan.CommandSpan(c)}
	all := &queryplan.TopK{Input: n, Limit: math.MaxInt64}
	for _, col := range cols {
		all.By = append(all.By, queryplan.OrderKey{Col: col.Name})
	}
	s.plan.Vars = append(s.plan.Vars, v)
	x := &sorted{Sorted: Sorted{Var: v, By: by, Loop: b.Name}, block: b, node: all}
	s.sorted = append(s.sorted, x)
	return x
}
