package parts

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/queryplan"
)

// Rows is a plan divided by the rows of one table. Engines run Part over ranges
// of these rows and all other facts, and Merge computes the plan's outputs from
// the partial results.
type Rows struct {
	// Of is a variable that reads the divided table.
	Of   *queryplan.Var
	Part *queryplan.Plan
	// Merge reads the outputs of Part as the relations that PartSource names.
	Merge *queryplan.Plan
	// Both lists the variables that every part computes for itself.
	Both []string
	// Computes says that Merge computes results, such as averages. If it drops
	// a row, or a total overflows, the plan must run undivided.
	Computes bool
}

// PartSource names the relation that holds an output of a part for Merge.
func PartSource(part int, output string) string { return fmt.Sprintf(" %d %s", part, output) }

// Stored identifies the table in which a variable is stored. Variables of one
// table share its rows.
type Stored struct {
	Table any // comparable
	Rows  int
	// Derived means that an earlier part of the program derives it, so that its
	// size is not known.
	Derived bool
}

// ByRows divides a plan into a number of parts by the rows of the largest table
// for which that is possible. It returns nil and the reason if there is none.
func ByRows(p *queryplan.Plan, parts int, stored func(*queryplan.Var) Stored) (*Rows, string) {
	for _, b := range p.Blocks {
		if _, branches := b.Term.(*queryplan.Branch); branches {
			return nil, "it has a loop"
		}
		for _, c := range b.Cmds {
			if _, checks := c.(*queryplan.Check); checks {
				return nil, "it tests a constraint"
			}
		}
	}
	var best *divider
	reason := "it reads no table"
	for _, v := range p.Vars {
		if v.Kind != queryplan.Input && v.Kind != queryplan.Table || stored(v).Derived {
			continue
		}
		d := &divider{of: v, stored: stored, ends: map[queryplan.Command]end{},
			divided: map[*queryplan.Var]bool{}}
		switch why := d.divide(p); {
		case why != "":
			reason = why
		case best == nil || stored(v).Rows > stored(best.of).Rows:
			best = d
		}
	}
	if best == nil {
		return nil, reason
	}
	return best.plans(p, parts), ""
}

// divider divides the trees of a plan by the rows of a variable.
type divider struct {
	of     *queryplan.Var
	stored func(*queryplan.Var) Stored
	ends   map[queryplan.Command]end // of insertions
	// divided are the variables that parts fill. The others do not depend on
	// the table, and every part computes them for itself.
	divided  map[*queryplan.Var]bool
	computes bool // the merge does, as TwoSteps says
}

// end is the operator at which the work of parts ends in a tree.
type end struct {
	node queryplan.Node
	// again combines the partial results; it is nil if they are only united.
	again func(queryplan.Node) queryplan.Node
	// above are the operators of one input above it, from the root down.
	above []queryplan.Node
}

// most is the share of the table's rows that every part may read for variables
// that it computes for itself.
const most = 1.0 / 8

// divide finds the ends of all trees that read the table, or returns why there
// are none.
func (d *divider) divide(p *queryplan.Plan) string {
	for _, c := range p.Commands() {
		if n := queryplan.CommandNode(c); n != nil && d.scans(n) > 0 {
			d.divided[queryplan.CommandVar(c)] = true
		}
	}
	if len(d.divided) == 0 {
		return fmt.Sprintf("it does not read %s", d.of.Name)
	}
	others := map[any]int{}
	for _, c := range p.Commands() {
		v := queryplan.CommandVar(c)
		n := queryplan.CommandNode(c)
		for _, s := range queryplan.Scans(n) {
			if d.divided[s.Var] {
				return fmt.Sprintf("it reads %s, which it fills", s.Var.Name)
			}
		}
		why := ""
		switch c.(type) {
		case *queryplan.Insert:
			if d.divided[v] {
				why = d.insert(c, v, n)
			}
		case *queryplan.Assign, *queryplan.Clear:
			if d.divided[v] {
				why = fmt.Sprintf("%s is needed as a whole", v.Name)
			}
		case *queryplan.CheckKey:
			if !d.divided[v] {
				why = fmt.Sprintf("the key of %s is checked once", v.Name)
			}
		}
		if n != nil && !d.divided[v] {
			for _, s := range queryplan.Scans(n) {
				if !isFilled(s.Var) {
					of := d.stored(s.Var)
					others[of.Table] = of.Rows
					if of.Derived {
						why = fmt.Sprintf("the size of %s is not known", s.Var.Name)
					}
				}
			}
			if drops(n) {
				why = fmt.Sprintf("%s counts decimals", v.Name)
			}
		}
		if why != "" {
			return why
		}
	}
	rows := 0
	for _, n := range others {
		rows += n
	}
	if float64(rows) > most*float64(d.stored(d.of).Rows) {
		return fmt.Sprintf("what goes with %s is large", d.of.Name)
	}
	return ""
}

// insert finds the end of an insertion into a variable, or returns why there is
// none.
func (d *divider) insert(c queryplan.Command, v *queryplan.Var, n queryplan.Node) string {
	if d.scans(n) != 1 {
		return fmt.Sprintf("%s does not read one table once", v.Name)
	}
	if len(n.Columns()) == 0 {
		return fmt.Sprintf("%s has no columns", v.Name)
	}
	e := end{}
	for !d.splits(n) {
		if first, again, computes := TwoSteps(n); again != nil && d.splits(n.Inputs()[0]) {
			n, e.again = first, again
			d.computes = d.computes || computes
			break
		}
		if len(n.Inputs()) != 1 {
			return fmt.Sprintf("%s is no sum over the rows of %s", v.Name, d.of.Name)
		}
		e.above = append(e.above, n)
		n = n.Inputs()[0]
	}
	if e.again == nil && len(e.above) > 0 {
		return fmt.Sprintf("%s is no sum over the rows of %s", v.Name, d.of.Name)
	}
	e.node = n
	d.ends[c] = e
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

// splits reports whether the result of a tree over all rows is the union of its
// results over parts of them. Every part reads the inputs beside the table
// whole, so they must not count decimals.
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
func (d *divider) plans(p *queryplan.Plan, parts int) *Rows {
	r := &Rows{Of: d.of, Computes: d.computes}
	names := queryplan.NewNames()
	keep := false // the merge makes what each part makes as well
	for _, v := range p.Vars {
		names.Take(v.Name)
		if isFilled(v) && !d.divided[v] {
			r.Both = append(r.Both, v.Name)
			keep = keep || v.Output
		}
	}
	var part, merge []queryplan.Command
	var outs, inputs []*queryplan.Var
	read := map[*queryplan.Var]bool{}
	reads := func(n queryplan.Node) {
		for _, s := range queryplan.Scans(n) {
			read[s.Var] = true
		}
	}
	for _, c := range p.Commands() {
		v := queryplan.CommandVar(c)
		e, ends := d.ends[c]
		switch {
		case !d.divided[v]:
			read[v] = true
			reads(queryplan.CommandNode(c))
			part = append(part, c)
			if keep {
				merge = append(merge, c)
			}
			continue
		case !ends:
			merge = append(merge, c)
			continue
		}
		reads(e.node)
		out := e.output(names.Fresh(v.Name), queryplan.CommandSpan(c))
		outs = append(outs, out)
		part = append(part, &queryplan.Insert{Var: out, Node: e.node, Span: out.Span},
			&queryplan.Merge{Var: out})
		all := &queryplan.Union{}
		for k := range parts {
			in := &queryplan.Var{Name: names.Fresh(v.Name), Kind: queryplan.Input, Cols: out.Cols,
				Keys: out.Keys, Source: PartSource(k, out.Name), Limit: -1, Span: out.Span}
			inputs = append(inputs, in)
			all.Nodes = append(all.Nodes,
				&queryplan.Scan{Var: in, Names: queryplan.NamesOf(out.Cols)})
		}
		merge = append(merge, queryplan.WithNode(c, e.whole(all)))
	}
	ofPart, ofMerge := outs, inputs
	for _, v := range p.Vars {
		if read[v] {
			ofPart = append(ofPart, v)
		}
		if d.divided[v] || v.Output || keep && read[v] && v != d.of {
			ofMerge = append(ofMerge, v)
		}
	}
	r.Part, r.Merge = planOf(ofPart, part), planOf(ofMerge, merge)
	for _, v := range r.Part.Vars[len(outs):] {
		v.Output, v.OrderBy, v.Limit = false, nil, -1
	}
	return r
}

// planOf returns a plan of one block, with variables of its own.
func planOf(vars []*queryplan.Var, cmds []queryplan.Command) *queryplan.Plan {
	return queryplan.Clone(&queryplan.Plan{Vars: vars, Blocks: []*queryplan.Block{
		{Name: "b0", Cmds: cmds, Term: &queryplan.Halt{}}}})
}

// output returns the variable that a part fills.
func (e *end) output(name string, at source.Span) *queryplan.Var {
	cols := e.node.Columns()
	out := &queryplan.Var{Name: name, Kind: queryplan.Derived, Cols: cols, Keys: len(cols),
		Limit: -1, Output: true, Span: at}
	if a, ok := e.node.(*queryplan.Aggregate); ok {
		out.Keys, out.Unique = len(a.By), true
	}
	return out
}

// whole returns the tree over what all parts yield.
func (e *end) whole(all queryplan.Node) queryplan.Node {
	if e.again != nil {
		all = e.again(all)
	}
	for _, over := range slices.Backward(e.above) {
		all = queryplan.WithInputs(over, []queryplan.Node{all})
	}
	return all
}
