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

// aggregate returns a fold over sorted pairs, or n itself if n is not a fold.
func (s *sorter) aggregate(n *queryplan.Aggregate, b *queryplan.Block,
	c queryplan.Command) queryplan.Node {
	float, ok := sortable(n)
	if !ok {
		return n
	}
	f, ok := s.ofValues(n, b)
	if !ok {
		if f, ok = s.ofBoth(n, b); !ok {
			return n
		}
	}
	f.sorted = s.pairs(f.pairs, n.By, b, c)
	if float >= 0 {
		return s.floats(f, f.out.Aggs[float].In)
	}
	f.out.Input = f.above(&queryplan.Join{Left: f.scan(), Right: f.values, Unique: true})
	return f.out
}

// sortable reports whether groups are lists if their rows come in order, and
// which of the aggregates is a total of floats; -1 if none is. Floats do not
// order as their words do, and there may be totals of one column of them.
func sortable(n *queryplan.Aggregate) (float int, ok bool) {
	float = -1
	typeOf := func(name string) scalar.Type {
		c, _ := queryplan.FindColumn(n.Input.Columns(), name)
		return c.Type
	}
	for _, name := range n.By {
		if typeOf(name).Kind == scalar.Float {
			return float, false
		}
	}
	for i, a := range n.Aggs {
		if !a.Fn.IsTotal() || typeOf(a.In).Kind != scalar.Float {
			continue
		}
		if a.Fn != queryplan.Total || typeOf(a.In) != scalar.FloatType ||
			float >= 0 && n.Aggs[float].In != a.In {
			return float, false
		}
		float = i
	}
	return float, true
}

// fold is an aggregate over a join of pairs and values.
type fold struct {
	out *queryplan.Aggregate // without its input
	// pairs have the columns of the groups first. Values have at most one tuple
	// for the columns on, by which they are joined.
	pairs  *queryplan.Project
	values queryplan.Node
	on     []string
	// above puts over the join what is computed of its rows. Bare says that
	// nothing is, so that the aggregate reads columns of the values.
	above  func(join queryplan.Node) queryplan.Node
	bare   bool
	names  *queryplan.Names
	sorted *sorted
}

// scan returns a scan of the sorted pairs.
func (f *fold) scan() queryplan.Node {
	return &queryplan.Scan{Var: f.sorted.Var, Names: queryplan.NamesOf(f.pairs.Columns())}
}

// ofValues returns a fold that aggregates what is computed of values alone,
// once for each value and not for each pair.
func (s *sorter) ofValues(n *queryplan.Aggregate, b *queryplan.Block) (*fold, bool) {
	f, ok := s.flow.Fold(n, b)
	if !ok || f.Tally {
		return nil, false
	}
	names := queryplan.ColumnNames(n)
	names.Take(n.By...)
	pairs, values := &queryplan.Project{Input: f.Pairs}, &queryplan.Project{Input: f.Values}
	out := &fold{out: &queryplan.Aggregate{By: n.By}, pairs: pairs, values: values, names: names,
		bare: true, above: func(join queryplan.Node) queryplan.Node { return join }}
	for i, from := range f.By {
		pairs.Cols = append(pairs.Cols, queryplan.Rename{From: from, To: n.By[i]})
	}
	for i, from := range f.On {
		source := names.Fresh("source")
		out.on = append(out.on, source)
		pairs.Cols = append(pairs.Cols, queryplan.Rename{From: from, To: source})
		values.Cols = append(values.Cols, queryplan.Rename{From: f.Keys[i], To: source})
	}
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
		out.out.Aggs = append(out.out.Aggs, a)
	}
	return out, true
}

// ofBoth returns a fold that aggregates what is computed of pairs and values
// together, such as a value times the weight of a pair.
func (s *sorter) ofBoth(n *queryplan.Aggregate, b *queryplan.Block) (*fold, bool) {
	var chain []queryplan.Node // the outermost first
	in := n.Input
	by := slices.Clone(n.By) // as it is called further below
	for done := false; !done; {
		switch x := in.(type) {
		case *queryplan.Map:
			for _, e := range x.Exprs {
				if queryplan.IsVolatile(e.Expr) || slices.Contains(by, e.Name) {
					return nil, false
				}
			}
			chain, in = append(chain, x), x.Input
		case *queryplan.Filter:
			if queryplan.IsVolatile(x.Cond) {
				return nil, false
			}
			chain, in = append(chain, x), x.Input
		case *queryplan.Project:
			for i, name := range by {
				at := slices.IndexFunc(x.Cols,
					func(c queryplan.Rename) bool { return c.To == name })
				by[i] = x.Cols[at].From
			}
			chain, in = append(chain, x), x.Input
		default:
			done = true
		}
	}
	j, ok := in.(*queryplan.Join)
	if !ok || j.Kind != queryplan.Inner || len(j.On()) == 0 || len(by) == 0 ||
		len(slices.Compact(slices.Sorted(slices.Values(by)))) < len(by) {
		return nil, false
	}
	for _, sides := range [2][2]queryplan.Node{{j.Left, j.Right}, {j.Right, j.Left}} {
		pairs, values := sides[0], sides[1]
		if !s.flow.FoldsFrom(pairs, values, j.On(), b) {
			continue
		}
		f := &fold{out: &queryplan.Aggregate{By: n.By, Aggs: slices.Clone(n.Aggs)}, on: j.On(),
			pairs: &queryplan.Project{Input: pairs}, values: values,
			names: queryplan.ColumnNames(n)}
		f.above = func(join queryplan.Node) queryplan.Node {
			for _, x := range slices.Backward(chain) {
				join = queryplan.WithInputs(x, []queryplan.Node{join})
			}
			return join
		}
		of := queryplan.NamesOf(pairs.Columns())
		for _, name := range slices.Concat(by, of) {
			if !slices.Contains(of, name) {
				return nil, false // a group has a column of the values
			}
			if !slices.ContainsFunc(f.pairs.Cols,
				func(c queryplan.Rename) bool { return c.From == name }) {
				f.pairs.Cols = append(f.pairs.Cols, queryplan.Rename{From: name, To: name})
			}
		}
		return f, true
	}
	return nil, false
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
