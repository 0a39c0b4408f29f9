package facts

import (
	"cmp"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// Partners returns, by the column of a table, the columns of other tables that
// each scan of the table joins with it. Rows whose value none of these columns
// has change no answer. The plan is made with the catalogue.
//
// It is the transfer of predicates along joins (Yang, Zhao, Yu and Koutris,
// "Predicate Transfer: Efficient Pre-Filtering on Multi-Join Queries", CIDR
// 2024), with exact sets in place of Bloom filters.
func Partners(plan *queryplan.Plan, cat *stats.Catalog) map[Column][]Column {
	p := partners{cat: cat, of: map[string]map[Column][]Column{}}
	eachNode(plan, func(n queryplan.Node) { p.visit(n, nil) })
	out := map[Column][]Column{}
	for _, of := range p.of {
		maps.Copy(out, of)
	}
	return out
}

// partners gathers what all scans seen so far of a table are joined with.
type partners struct {
	cat *stats.Catalog
	of  map[string]map[Column][]Column // by the table and its column
}

// joined has the columns of tables of which a column of a node must have a
// value, by its name. It does not hold for tuples that change nothing.
type joined map[string][]Column

// with returns columns with further ones, for the names of a list.
func (j joined) with(names []string, more func(name string) []Column) joined {
	out := joined{}
	for _, name := range names {
		list := slices.Clone(j[name])
		for _, c := range more(name) {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
		if len(list) > 0 {
			out[name] = list
		}
	}
	return out
}

// none adds nothing to joined columns.
func none(string) []Column { return nil }

// visit visits the scans of a tree, of whose tuples those change nothing that
// lack a partner.
func (p *partners) visit(n queryplan.Node, of joined) {
	switch n := n.(type) {
	case *queryplan.Scan:
		p.scan(n, of)
	case *queryplan.Filter:
		p.visit(n.Input, of)
	case *queryplan.Dedup:
		p.visit(n.Input, of)
	case *queryplan.Map:
		p.visit(n.Input, of.with(queryplan.NamesOf(n.Input.Columns()), none))
	case *queryplan.Aggregate:
		p.visit(n.Input, of.with(n.By, none))
	case *queryplan.Project:
		in := joined{}
		for _, c := range n.Cols {
			in[c.From] = append(in[c.From], of[c.To]...)
		}
		p.visit(n.Input, in)
	case *queryplan.Join:
		p.join(n, of)
	case *queryplan.MultiJoin:
		for i, in := range n.Nodes {
			p.visit(in, of.with(queryplan.NamesOf(in.Columns()), func(name string) (all []Column) {
				for k, other := range n.Nodes {
					if k != i {
						all = append(all, p.origins(other, name)...)
					}
				}
				return all
			}))
		}
	default:
		var room [2]queryplan.Node
		for _, in := range queryplan.AppendInputs(room[:0], n) {
			p.visit(in, nil)
		}
	}
}

// join visits the sides of a join. Tuples of its right side change nothing if
// no tuple of the left side matches them.
func (p *partners) join(n *queryplan.Join, of joined) {
	left, right := queryplan.NamesOf(n.Left.Columns()), queryplan.NamesOf(n.Right.Columns())
	p.visit(n.Left, of.with(left, func(name string) []Column {
		if n.Kind == queryplan.Anti {
			return nil
		}
		return p.origins(n.Right, name)
	}))
	if n.Kind != queryplan.Inner { // columns of the right side only are of no other use
		right = slices.DeleteFunc(right, func(name string) bool {
			return !slices.Contains(left, name)
		})
	}
	p.visit(n.Right, of.with(right, func(name string) []Column { return p.origins(n.Left, name) }))
}

// scan notes what a scan of a table is joined with.
func (p *partners) scan(s *queryplan.Scan, of joined) {
	table, stored := p.cat.Stored(s.Var)
	if table == nil {
		return
	}
	here := map[Column][]Column{}
	for i, name := range s.Names {
		others := slices.DeleteFunc(slices.Clone(of[name]), func(c Column) bool {
			return name == "" || c.Table == table.Name
		})
		if len(others) > 0 {
			here[Column{table.Name, stored[i]}] = others
		}
	}
	before, seen := p.of[table.Name]
	if seen {
		for at, list := range here {
			here[at] = slices.DeleteFunc(list, func(c Column) bool {
				return !slices.Contains(before[at], c)
			})
		}
	}
	p.of[table.Name] = here
}

// origins returns columns of tables that have all values of a node's column.
func (p *partners) origins(n queryplan.Node, name string) (all []Column) {
	switch n := n.(type) {
	case *queryplan.Scan:
		table, stored := p.cat.Stored(n.Var)
		if i := slices.Index(n.Names, name); table != nil && i >= 0 {
			return []Column{{table.Name, stored[i]}}
		}
	case *queryplan.Filter:
		return p.origins(n.Input, name)
	case *queryplan.Dedup:
		return p.origins(n.Input, name)
	case *queryplan.Map:
		return p.origins(n.Input, name)
	case *queryplan.Aggregate:
		if slices.Contains(n.By, name) {
			return p.origins(n.Input, name)
		}
	case *queryplan.Project:
		for _, c := range n.Cols {
			if c.To == name {
				return p.origins(n.Input, c.From)
			}
		}
	case *queryplan.Join:
		all = p.origins(n.Left, name)
		if n.Kind == queryplan.Inner || n.Kind == queryplan.Semi &&
			slices.Contains(queryplan.NamesOf(n.Left.Columns()), name) {
			all = append(all, p.origins(n.Right, name)...)
		}
	case *queryplan.MultiJoin:
		for _, in := range n.Nodes {
			all = append(all, p.origins(in, name)...)
		}
	}
	return all
}

// Argument returns a predicate and its argument that a column of a table is: of
// several, those with the least name.
func (c Column) Argument(cat *stats.Catalog) (pred string, arg int, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(cat.Relations)) {
		if rel := cat.Relations[name]; rel.Table == c.Table {
			if i := slices.Index(rel.Cols, c.At); i >= 0 {
				return name, i, true
			}
		}
	}
	return "", 0, false
}

// Compare orders columns.
func (c Column) Compare(d Column) int {
	return cmp.Or(cmp.Compare(c.Table, d.Table), cmp.Compare(c.At, d.At))
}
