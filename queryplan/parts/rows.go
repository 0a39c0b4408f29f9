package parts

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// Rows is a plan whose work over the rows of one table can be divided. Engines
// run Part over ranges of these rows, all other facts whole, and Merge makes
// the plan's outputs of what they yield.
type Rows struct {
	// Of is the variable whose rows are divided.
	Of   *queryplan.Var
	Part *queryplan.Plan
	// Merge reads the outputs of Part as the relations that PartSource names.
	Merge *queryplan.Plan
}

// PartSource names the relation that holds an output of a part for Merge.
func PartSource(part int, output string) string { return fmt.Sprintf(" %d %s", part, output) }

// Stored says where the rows of a variable are stored: variables of one table
// have them in common.
type Stored struct {
	Table any // comparable
	Rows  int
}

// ByRows divides a plan into a number of parts by the rows of the table that
// has the most of those by whose rows it can be divided. It returns nil, and
// the reason, if there is no such table.
func ByRows(p *queryplan.Plan, parts int, stored func(*queryplan.Var) Stored) (*Rows, string) {
	var inserts []*queryplan.Insert
	var bags []*queryplan.Assign
	made := map[*queryplan.Var]bool{}
	for _, b := range p.Blocks {
		if _, branches := b.Term.(*queryplan.Branch); branches {
			return nil, "it has a loop"
		}
		for _, c := range b.Cmds {
			for _, s := range queryplan.Scans(queryplan.CommandNode(c)) {
				if isFilled(s.Var) && !made[s.Var] {
					return nil, fmt.Sprintf("it reads %s, which it fills", s.Var.Name)
				}
			}
			switch c := c.(type) {
			case *queryplan.Insert:
				inserts = append(inserts, c)
			case *queryplan.Assign:
				if made[c.Var] {
					return nil, fmt.Sprintf("it fills %s twice", c.Var.Name)
				}
				made[c.Var] = true
				bags = append(bags, c)
			case *queryplan.Clear:
				if c.Var.Kind != queryplan.Temp {
					return nil, "it does more than to derive tuples"
				}
			case *queryplan.Merge, *queryplan.CheckKey:
			default:
				return nil, "it does more than to derive tuples"
			}
		}
	}
	var best *divider
	reason := "it reads no table"
	for _, v := range p.Vars {
		if v.Kind != queryplan.Input && v.Kind != queryplan.Table {
			continue
		}
		d := &divider{of: v, stored: stored, ends: make([]end, len(inserts))}
		switch why := d.divide(bags, inserts); {
		case why != "":
			reason = why
		case best == nil || stored(v).Rows > stored(best.of).Rows:
			best = d
		}
	}
	if best == nil {
		return nil, reason
	}
	return best.plans(p, bags, inserts, parts), ""
}

// divider divides the trees of a plan by the rows of a variable.
type divider struct {
	of     *queryplan.Var
	stored func(*queryplan.Var) Stored
	ends   []end // of the insertions
}

// end is where the work of parts ends in a tree.
type end struct {
	node queryplan.Node
	// again makes the operator's result of those of the parts; nil if they are
	// only put together.
	again func(queryplan.Node) queryplan.Node
	// above are the operators of one input above it, from the root down.
	above []queryplan.Node
}

// divide finds the ends of all trees, or returns why there are none. Each part
// makes the bags.
func (d *divider) divide(bags []*queryplan.Assign, inserts []*queryplan.Insert) string {
	for _, c := range bags {
		if d.scans(c.Node) > 0 || drops(c.Node) {
			return fmt.Sprintf("%s is needed as a whole", c.Var.Name)
		}
	}
	for i, c := range inserts {
		n := c.Node
		if d.scans(n) != 1 {
			return fmt.Sprintf("%s does not read one table once", c.Var.Name)
		}
		if len(n.Columns()) == 0 {
			return fmt.Sprintf("%s has no columns", c.Var.Name)
		}
		for !d.splits(n) {
			again := againOrOnce(n)
			if again != nil && d.splits(n.Inputs()[0]) {
				d.ends[i].again = again
				break
			}
			if len(n.Inputs()) != 1 {
				return fmt.Sprintf("%s is no sum over the rows of %s", c.Var.Name, d.of.Name)
			}
			d.ends[i].above = append(d.ends[i].above, n)
			n = n.Inputs()[0]
		}
		if d.ends[i].again == nil && len(d.ends[i].above) > 0 {
			return fmt.Sprintf("%s is no sum over the rows of %s", c.Var.Name, d.of.Name)
		}
		d.ends[i].node = n
	}
	return ""
}

// scans counts the scans of the table's rows in a tree, by any variable.
func (d *divider) scans(n queryplan.Node) (count int) {
	queryplan.Walk(n, func(n queryplan.Node) {
		if s, ok := n.(*queryplan.Scan); ok && d.same(s.Var) {
			count++
		}
	})
	return count
}

func (d *divider) same(v *queryplan.Var) bool {
	return (v.Kind == queryplan.Input || v.Kind == queryplan.Table) &&
		d.stored(v).Table == d.stored(d.of).Table
}

// splits reports whether the tree over all rows yields the bag of what it
// yields over parts of them. Inputs beside the table's are read whole by each
// part, so they must not count decimals.
func (d *divider) splits(n queryplan.Node) bool {
	switch n := n.(type) {
	case *queryplan.Scan:
		return n.Position == ""
	case *queryplan.Filter:
		return d.splits(n.Input)
	case *queryplan.Map:
		return d.splits(n.Input)
	case *queryplan.Project:
		return d.splits(n.Input)
	case *queryplan.Join:
		if d.scans(n.Left) > 0 {
			return !drops(n.Right) && d.splits(n.Left)
		}
		return n.Kind == queryplan.Inner && !drops(n.Left) && d.splits(n.Right)
	case *queryplan.MultiJoin:
		ok := true
		for _, in := range n.Nodes {
			if d.scans(in) > 0 {
				ok = ok && d.splits(in)
			} else {
				ok = ok && !drops(in)
			}
		}
		return ok
	}
	return false
}

// plans makes the plans of the parts and of the merge.
func (d *divider) plans(p *queryplan.Plan, bags []*queryplan.Assign,
	inserts []*queryplan.Insert, parts int) *Rows {
	part := &queryplan.Plan{}
	begin := &queryplan.Block{Name: "b0", Term: &queryplan.Halt{}}
	part.Blocks = []*queryplan.Block{begin}
	names := queryplan.NewNames()
	read := map[*queryplan.Var]bool{}
	for _, v := range p.Vars {
		names.Take(v.Name)
	}
	reads := func(n queryplan.Node) {
		for _, s := range queryplan.Scans(n) {
			read[s.Var] = true
		}
	}
	for _, c := range bags {
		read[c.Var] = true
		reads(c.Node)
		begin.Cmds = append(begin.Cmds, c)
	}
	merged := map[queryplan.Command]queryplan.Node{}
	var inputs []*queryplan.Var
	for i, c := range inserts {
		e := d.ends[i]
		reads(e.node)
		cols := e.node.Columns()
		out := &queryplan.Var{Name: names.Fresh(c.Var.Name), Kind: queryplan.Derived, Cols: cols,
			Keys: len(cols), Limit: -1, Output: true, Span: c.Span}
		if a, ok := e.node.(*queryplan.Aggregate); ok {
			out.Keys, out.Unique = len(a.By), true
		}
		part.Vars = append(part.Vars, out)
		begin.Cmds = append(begin.Cmds, &queryplan.Insert{Var: out, Node: e.node, Span: c.Span},
			&queryplan.Merge{Var: out})
		all := &queryplan.Union{}
		for k := range parts {
			in := &queryplan.Var{Name: names.Fresh(c.Var.Name), Kind: queryplan.Input, Cols: cols,
				Keys: out.Keys, Source: PartSource(k, out.Name), Limit: -1, Span: c.Span}
			inputs = append(inputs, in)
			all.Nodes = append(all.Nodes,
				&queryplan.Scan{Var: in, Names: queryplan.NamesOf(cols)})
		}
		n := queryplan.Node(all)
		if e.again != nil {
			n = e.again(n)
		}
		for _, over := range slices.Backward(e.above) {
			n = queryplan.WithInputs(over, []queryplan.Node{n})
		}
		merged[c] = n
	}
	merge := &queryplan.Plan{Vars: inputs}
	for _, v := range p.Vars {
		if read[v] {
			part.Vars = append(part.Vars, v)
		}
		if v.Kind == queryplan.Derived || v.Output {
			merge.Vars = append(merge.Vars, v)
		}
	}
	end := &queryplan.Block{Name: "b0", Term: &queryplan.Halt{}}
	merge.Blocks = []*queryplan.Block{end}
	for _, c := range p.Commands() {
		if v := queryplan.CommandVar(c); v != nil && v.Kind == queryplan.Temp {
			continue
		}
		if n := merged[c]; n != nil {
			c = queryplan.WithNode(c, n)
		}
		end.Cmds = append(end.Cmds, c)
	}
	return &Rows{Of: d.of, Part: queryplan.Clone(part), Merge: queryplan.Clone(merge)}
}

// againOrOnce is Again with totals, and Dedup.
func againOrOnce(n queryplan.Node) func(of queryplan.Node) queryplan.Node {
	if _, ok := n.(*queryplan.Dedup); ok {
		return func(of queryplan.Node) queryplan.Node { return &queryplan.Dedup{Input: of} }
	}
	return Again(n, true)
}

// Again returns what makes the result of an operator of the results that it has
// over the parts of its input; nil if nothing does. Totals of parts may
// overflow where that of all does not: they are for callers that then run the
// whole. Averages, and totals of floats, would be rounded twice.
func Again(n queryplan.Node, totals bool) func(of queryplan.Node) queryplan.Node {
	switch n := n.(type) {
	case *queryplan.TopK:
		return func(of queryplan.Node) queryplan.Node {
			return &queryplan.TopK{Input: of, Group: n.Group, By: n.By, Limit: n.Limit}
		}
	case *queryplan.Aggregate:
		aggs := slices.Clone(n.Aggs)
		for i := range aggs {
			a := &aggs[i]
			a.In = a.Out.Name
			switch {
			case a.Fn == queryplan.Count:
				a.Fn = queryplan.Total
			case a.Fn == queryplan.Min || a.Fn == queryplan.Max:
			case a.Fn == queryplan.Total && totals && a.Out.Type.Kind != scalar.Float:
			default:
				return nil
			}
		}
		return func(of queryplan.Node) queryplan.Node {
			return &queryplan.Aggregate{Input: of, By: n.By, Aggs: aggs}
		}
	}
	return nil
}
