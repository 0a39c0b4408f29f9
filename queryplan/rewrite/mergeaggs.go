package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/rewrite/loops"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var mergeAggregates = &Pass{
	Name: "MergeAggregates",
	Reason: "A rule can only say one group's values at a time, so that programs state several " +
		"aggregates over the same groups as several rules. They become one pass over the data, from " +
		"which each takes its columns.",
	Unless: "The aggregates read the same tuples: the same relations, joined and filtered alike, up " +
		"to further columns of a scan and computed columns that are proved always to have a value.",
	Before: "insert n\n  aggregate [f] c: int = count()\n    scan item(_, f, _)\ninsert s\n" +
		"  aggregate [f] t: int = total(q)\n    scan item(_, f, q)",
	After: "insert agg\n  aggregate [f] c: int = count(), t: int = total(q)\n" +
		"    scan item(_, f, q)\nmerge agg\ninsert n\n  project f, c\n    scan agg(f, c, _)\n" +
		"insert s\n  project f, t\n    scan agg(f, _, t)",
	Source: "multi-query optimisation: Sellis, TODS 1988; fusing aggregates: Li et al., ICDE 2012",
	run: func(p *program) error {
		m := &aggregateMerger{program: p, DominatorTree: loops.Dominators(p.Plan),
			groups: map[string]*aggregateGroup{}}
		m.collect()
		m.rewrite()
		return nil
	},
}

// aggregateGroup is a list of aggregates that read the same tuples and have the
// same groups.
type aggregateGroup struct {
	block   *queryplan.Block // of the first
	index   int
	members []*aggregateMember
}

type aggregateMember struct {
	node  *queryplan.Aggregate
	input *joins.Conjunction
	order []int // the input's relations in the order of the signature
	// canon maps the columns of the conjunction to names that all members
	// share; out does so for the columns of the aggregate's input.
	canon, out map[string]string
}

type aggregateMerger struct {
	*program
	loops.DominatorTree
	groups map[string]*aggregateGroup
	order  []string
}

// collect groups the aggregates outside of loops. It identifies the contents of
// variables by the number of preceding writes.
func (m *aggregateMerger) collect() {
	loop := loops.Changed(m.Plan)
	writes := map[*queryplan.Var]int{}
	for _, b := range loops.ReversePostorder(m.Plan) {
		for i, c := range b.Cmds {
			if n := queryplan.CommandNode(c); n != nil && loop[b] == nil {
				queryplan.Walk(n, func(n queryplan.Node) {
					if a, ok := n.(*queryplan.Aggregate); ok {
						m.add(a, b, i, writes)
					}
				})
			}
			switch c := c.(type) {
			case *queryplan.Merge:
				writes[c.Var]++
			case *queryplan.Assign:
				writes[c.Var]++
			}
		}
	}
}

func (m *aggregateMerger) add(
	a *queryplan.Aggregate, b *queryplan.Block, index int, writes map[*queryplan.Var]int,
) {
	member := &aggregateMember{node: a,
		input: joins.Flatten(trees.Project(a.Input, identity(joins.Aggregated(a))))}
	key := m.signature(member, writes)
	g := m.groups[key]
	if g == nil {
		g = &aggregateGroup{block: b, index: index}
		m.groups[key] = g
		m.order = append(m.order, key)
	} else if !m.Dominates(g.block, b) {
		return
	}
	g.members = append(g.members, member)
}

func identity(names []string) []queryplan.Rename {
	return list.Map(names, func(name string) queryplan.Rename {
		return queryplan.Rename{From: name, To: name}
	})
}

// signature returns a text of the input and the groups of an aggregate, without
// the columns that members may have in addition. It names columns by their
// relations, and orders relations by their text.
func (m *aggregateMerger) signature(member *aggregateMember, writes map[*queryplan.Var]int) string {
	c := member.input
	texts := list.Map(c.Rels, func(r queryplan.Node) string { return relationText(r, writes) })
	member.order = make([]int, len(c.Rels))
	for i := range member.order {
		member.order[i] = i
	}
	slices.SortStableFunc(member.order, func(i, j int) int {
		return strings.Compare(texts[i], texts[j])
	})

	sources := c.Sources()
	member.canon = map[string]string{}
	var parts []string
	for k, i := range member.order {
		var equal []string
		for at, name := range positions(c.Rels[i]) {
			if name == "" {
				continue
			}
			if member.canon[name] == "" {
				member.canon[name] = fmt.Sprintf("%d.%d", k, at)
			}
			if sources[name] > 1 {
				equal = append(equal, fmt.Sprintf("%d=%s", at, member.canon[name]))
			}
		}
		parts = append(parts, texts[i]+"("+strings.Join(equal, ",")+")")
	}
	bounds := map[string]stats.Bound{}
	for _, r := range c.Rels {
		for name, b := range m.catalog.Bounds(r) {
			bounds[name] = b
		}
	}
	var rest []string
	for _, x := range c.Maps {
		text := member.text(x.Expr)
		if sources[x.Name] > 1 {
			rest = append(rest, "equal "+member.canon[x.Name]+" "+text)
		} else {
			member.canon[x.Name] = text
		}
		if !stats.AlwaysFits(x.Expr, bounds) {
			rest = append(rest, "value "+text)
		}
		if b, ok := stats.ExprBound(x.Expr, bounds); ok && sources[x.Name] == 1 {
			bounds[x.Name] = b
		}
	}
	for _, cond := range c.Conds {
		rest = append(rest, "where "+member.text(cond))
	}
	for _, s := range c.Semis {
		cols := make([]queryplan.Rename, 0, len(s.Right.Columns()))
		for _, col := range s.Right.Columns() {
			cols = append(cols, queryplan.Rename{From: col.Name, To: member.canon[col.Name]})
		}
		slices.SortFunc(cols, func(x, y queryplan.Rename) int {
			return strings.Compare(x.To, y.To)
		})
		right := trees.Rename(s.Right, cols)
		rest = append(rest, fmt.Sprintf("%s %s %q", s.Kind, relationText(right, writes),
			positions(right)))
	}
	slices.Sort(rest)
	member.out = map[string]string{}
	for _, o := range c.Out {
		member.out[o.To] = member.canon[o.From]
	}
	var by []string
	for _, name := range member.node.By {
		by = append(by, member.out[name])
	}
	slices.Sort(by)
	return strings.Join(slices.Concat(parts, slices.Compact(rest), []string{"by"}, by), "\n")
}

// relationText describes a relation of a conjunction: a scan by its variable,
// anything else by its whole text with the variables' writes.
func relationText(n queryplan.Node, writes map[*queryplan.Var]int) string {
	if s, ok := n.(*queryplan.Scan); ok {
		return fmt.Sprintf("%s %s %d", s.Var.Name, s.Version, writes[s.Var])
	}
	text := queryplan.NodeString(n)
	for _, s := range queryplan.Scans(n) {
		text += fmt.Sprintf(" %d", writes[s.Var])
	}
	return text
}

// positions returns the names of a relation's columns. For a scan, they are in
// the order of its variable's columns, followed by the name of the position.
func positions(n queryplan.Node) []string {
	if s, ok := n.(*queryplan.Scan); ok {
		return append(slices.Clip(s.Names), s.Position)
	}
	return trees.Columns(n)
}

// text prints an expression with canonical columns.
func (a *aggregateMember) text(e queryplan.Expr) string {
	return queryplan.ExprString(queryplan.RewriteExpr(e, func(e queryplan.Expr) queryplan.Expr {
		if c, ok := e.(*queryplan.ColRef); ok {
			return &queryplan.ColRef{Col: queryplan.Column{Name: a.canon[c.Col.Name],
				Type: c.Col.Type}}
		}
		return e
	}))
}

// rewrite computes each group of several aggregates once.
func (m *aggregateMerger) rewrite() {
	names := queryplan.VarNames(m.Plan)
	with := map[queryplan.Node]queryplan.Node{}
	type place struct {
		block *queryplan.Block
		index int
	}
	before := map[place][]queryplan.Command{}
	for _, key := range m.order {
		g := m.groups[key]
		if len(g.members) < 2 {
			continue
		}
		agg, outs := g.merged()
		span := queryplan.CommandSpan(g.block.Cmds[g.index])
		v := &queryplan.Var{Name: names.Fresh("agg"), Kind: queryplan.Derived, Cols: agg.Columns(),
			Keys: len(agg.By), Unique: true, Limit: -1, Span: span}
		m.Vars = append(m.Vars, v)
		at := place{g.block, g.index}
		before[at] = append(before[at], &queryplan.Insert{Var: v, Node: agg, Span: span},
			&queryplan.Merge{Var: v})
		scan := &queryplan.Scan{Var: v, Names: trees.Columns(agg)}
		for i, member := range g.members {
			with[member.node] = trees.WithColumns(trees.Rename(scan, outs[i]),
				member.node.Columns())
		}
	}
	if len(with) == 0 {
		return
	}
	for _, b := range m.Blocks {
		var cmds []queryplan.Command
		for i, c := range b.Cmds {
			cmds = append(cmds, before[place{b, i}]...)
			if n := queryplan.CommandNode(c); n != nil {
				if r := replaced(n, with); r != n {
					c = queryplan.WithNode(c, r)
				}
			}
			cmds = append(cmds, c)
		}
		b.Cmds = cmds
	}
}

// replaced replaces trees by others, outermost first.
func replaced(n queryplan.Node, with map[queryplan.Node]queryplan.Node) queryplan.Node {
	if r, ok := with[n]; ok {
		return r
	}
	in := n.Inputs()
	if len(in) == 0 {
		return n
	}
	out := list.Map(in, func(x queryplan.Node) queryplan.Node { return replaced(x, with) })
	return queryplan.WithInputs(n, out)
}

// merged returns one aggregate for a group and, for each member, the columns
// that it takes.
func (g *aggregateGroup) merged() (*queryplan.Aggregate, [][]queryplan.Rename) {
	first := g.members[0]
	c := first.input
	local := map[string]string{} // canonical name to the column of c
	for name, canon := range first.canon {
		local[canon] = name
	}
	for _, m := range g.members[1:] {
		extend(c, first.order, m, local)
	}
	c.Out = nil
	shown := map[string]string{} // canonical name to the column of the aggregate's input
	names := queryplan.NewNames()
	show := func(canon, hint string) string {
		if shown[canon] == "" {
			shown[canon] = names.Fresh(hint)
			c.Out = append(c.Out, queryplan.Rename{From: local[canon], To: shown[canon]})
		}
		return shown[canon]
	}
	agg := &queryplan.Aggregate{}
	for _, name := range first.node.By {
		// Equal grouping columns become one.
		if col := show(first.out[name], name); !slices.Contains(agg.By, col) {
			agg.By = append(agg.By, col)
		}
	}
	known := map[string]string{}
	outs := make([][]queryplan.Rename, len(g.members))
	for i, m := range g.members {
		for _, name := range m.node.By {
			outs[i] = append(outs[i], queryplan.Rename{From: show(m.out[name], name), To: name})
		}
		for _, a := range m.node.Aggs {
			id := fmt.Sprintf("%s %s %s", a.Fn, a.Out.Type, m.out[a.In])
			if known[id] == "" {
				known[id] = names.Fresh(a.Out.Name)
				made := queryplan.Agg{Fn: a.Fn,
					Out: queryplan.Column{Name: known[id], Type: a.Out.Type}}
				if a.Fn != queryplan.Count {
					made.In = show(m.out[a.In], a.In)
				}
				agg.Aggs = append(agg.Aggs, made)
			}
			outs[i] = append(outs[i], queryplan.Rename{From: known[id], To: a.Out.Name})
		}
	}
	agg.Input = c.Assemble(joins.LeftDeep(len(c.Rels)), joins.Site{Want: joins.Aggregated(agg)})
	return agg, outs
}

// extend adds the further columns, stored and computed, of another member's
// input. order has c's relations in the order of the signature. extend adds the
// new names to local.
func extend(c *joins.Conjunction, order []int, m *aggregateMember, local map[string]string) {
	for k, i := range m.order {
		theirs, ok := m.input.Rels[i].(*queryplan.Scan)
		if !ok {
			continue
		}
		own := c.Rels[order[k]].(*queryplan.Scan)
		names := slices.Clone(own.Names)
		for at, name := range theirs.Names {
			if canon := m.canon[name]; name != "" && local[canon] == "" {
				names[at] = c.Names.Fresh(name)
				local[canon] = names[at]
			}
		}
		position := own.Position
		if name := theirs.Position; name != "" && local[m.canon[name]] == "" {
			position = c.Names.Fresh(name)
			local[m.canon[name]] = position
		}
		c.Rels[order[k]] = &queryplan.Scan{Var: own.Var, Version: own.Version, Names: names,
			Position: position}
	}
	for _, x := range m.input.Maps {
		canon := m.canon[x.Name]
		if local[canon] != "" {
			continue
		}
		local[canon] = c.Names.Fresh(x.Name)
		c.AddMap(local[canon], queryplan.RewriteExpr(x.Expr, func(e queryplan.Expr) queryplan.Expr {
			if ref, ok := e.(*queryplan.ColRef); ok {
				return &queryplan.ColRef{Col: queryplan.Column{Name: local[m.canon[ref.Col.Name]],
					Type: ref.Col.Type}}
			}
			return e
		}))
	}
}
