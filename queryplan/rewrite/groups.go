package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var mergeColumnGroups = &Pass{
	Name: "MergeColumnGroups",
	Reason: "Predicates loaded from one file are columns of one stored table and share its row order, so " +
		"a join of them on the table's whole key is positional: all of them become one scan of the table. " +
		"Likewise two scans of one relation that agree on its key read the same tuple.",
	Unless: "The join must be on the whole key, and the key must be known to be one.",
	Before: "join o, n\n  scan lineitem:quantity(o, n, q)\n  scan lineitem:discount(o, n, d)",
	After:  "scan lineitem(o, n, q, d)",
	Source: "decomposed storage: Copeland, Khoshafian, SIGMOD 1985; self-join elimination on keys: Cheng et al., VLDB 1999",
	run:    mergeGroups,
}

func mergeGroups(p *program) error {
	g := &grouper{program: p, tables: map[string]*queryplan.Var{}, used: map[*queryplan.Var]bool{}}
	g.declareTables()
	p.rewriteTrees(func(_ *queryplan.Block, c queryplan.Command, n queryplan.Node) queryplan.Node {
		return eachConjunction(n, rootSite(c), g.merge)
	})
	for _, name := range g.order {
		if v := g.tables[name]; g.used[v] {
			p.Vars = append(p.Vars, v)
		}
	}
	return nil
}

// grouper merges scans of one group into one.
type grouper struct {
	*program
	tables map[string]*queryplan.Var // by the table's name
	order  []string
	used   map[*queryplan.Var]bool
}

// declareTables makes a Table variable for each stored table that has a known
// key and columns in several of the plan's inputs: first the key's columns, then
// the others in the order of the inputs.
func (g *grouper) declareTables() {
	inputs := map[string][]*queryplan.Var{}
	var order []string
	for _, v := range g.Vars {
		if v.Kind == queryplan.Table {
			g.tables[v.Source] = v
			continue
		}
		rel := g.relation(v)
		if rel == nil || g.catalog.TableOf(rel).Key == nil {
			continue
		}
		if inputs[rel.Table] == nil {
			order = append(order, rel.Table)
		}
		inputs[rel.Table] = append(inputs[rel.Table], v)
	}
	names := queryplan.VarNames(g.Plan)
	for _, name := range order {
		if vars := inputs[name]; len(vars) > 1 && g.tables[name] == nil {
			if v := g.tableVar(g.catalog.Tables[name], vars); v != nil {
				v.Name = names.Fresh(name)
				g.tables[name] = v
				g.order = append(g.order, name)
			}
		}
	}
}

// relation returns the stored relation of an Input variable, or nil.
func (g *grouper) relation(v *queryplan.Var) *stats.Relation {
	if v.Kind != queryplan.Input {
		return nil
	}
	rel := g.catalog.Relation(v.Source)
	if rel == nil || len(rel.Cols) != len(v.Cols) || g.catalog.TableOf(rel) == nil {
		return nil
	}
	return rel
}

// tableVar declares the columns of a table that inputs use; nil if no input has
// its whole key.
func (g *grouper) tableVar(table *stats.Table, inputs []*queryplan.Var) *queryplan.Var {
	out := &queryplan.Var{Kind: queryplan.Table, Source: table.Name, Keys: len(table.Key), Limit: -1}
	names := queryplan.NewNames()
	add := func(stored int, t scalar.Type) {
		for i, s := range out.Stored {
			if s == stored && out.Cols[i].Type == t {
				return
			}
		}
		out.Cols = append(out.Cols, queryplan.Column{Name: names.Fresh(table.Columns[stored].Name), Type: t})
		out.Stored = append(out.Stored, stored)
	}
	for _, k := range table.Key {
		at := -1
		for _, v := range inputs {
			if i := slices.Index(g.relation(v).Cols, k); i >= 0 && at < 0 {
				at = i
				add(k, v.Cols[i].Type)
			}
		}
		if at < 0 {
			return nil
		}
	}
	for _, v := range inputs {
		for i, stored := range g.relation(v).Cols {
			add(stored, v.Cols[i].Type)
		}
	}
	return out
}

// merge puts the scans of a conjunction that read one row together.
func (g *grouper) merge(n queryplan.Node, _ site) queryplan.Node {
	if !g.meets(n) {
		return n
	}
	c := flatten(n)
	groups := map[string][]int{}
	var order []string
	for i, r := range c.rels {
		s, ok := r.(*queryplan.Scan)
		if !ok {
			continue
		}
		if id := g.rowOf(s); id != "" {
			if groups[id] == nil {
				order = append(order, id)
			}
			groups[id] = append(groups[id], i)
		}
	}
	gone := map[int]bool{}
	for _, id := range order {
		members := groups[id]
		if len(members) < 2 {
			continue
		}
		var scans []*queryplan.Scan
		for _, i := range members {
			scans = append(scans, c.rels[i].(*queryplan.Scan))
			gone[i] = true
		}
		first := members[0]
		c.rels[first] = g.together(c, scans)
		delete(gone, first)
	}
	if len(gone) == 0 {
		return n
	}
	var rels []queryplan.Node
	for i, r := range c.rels {
		if !gone[i] {
			rels = append(rels, r)
		}
	}
	c.rels = rels
	return c.assemble(leftDeep(len(rels)), site{})
}

// meets reports whether two scans of a tree may read one row: they are of one
// variable or one table.
func (g *grouper) meets(n queryplan.Node) bool {
	seen := map[*queryplan.Var]bool{}
	for _, s := range queryplan.Scans(n) {
		v := s.Var
		if table, _ := g.tableOf(v); table != nil {
			v = table
		}
		if seen[v] {
			return true
		}
		seen[v] = true
	}
	return false
}

// rowOf names the row that a scan reads: the table or variable and the names of
// its key columns. It is "" where the scan leaves out a part of the key or no key
// is known.
func (g *grouper) rowOf(s *queryplan.Scan) string {
	v := s.Var
	if table, stored := g.tableOf(v); table != nil {
		names := []string{"table", table.Source}
		for i := range table.Keys {
			at := -1
			for j, c := range stored {
				if c == table.Stored[i] && v.Cols[j].Type == table.Cols[i].Type {
					at = j
				}
			}
			if at < 0 || s.Names[at] == "" {
				return ""
			}
			names = append(names, s.Names[at])
		}
		return strings.Join(names, "\x00")
	}
	known := v.Kind == queryplan.Input || v.Kind == queryplan.Table || v.Kind == queryplan.Derived && (v.Unique || v.Checked || v.Keys == len(v.Cols))
	if !known || slices.Contains(s.Names[:v.Keys], "") {
		return ""
	}
	return strings.Join(append([]string{"var", v.Name, s.Version.String()}, s.Names[:v.Keys]...), "\x00")
}

// tableOf returns the declared table that an Input or Table variable is columns
// of, and which.
func (g *grouper) tableOf(v *queryplan.Var) (*queryplan.Var, []int) {
	if v.Kind == queryplan.Table {
		return g.tables[v.Source], v.Stored
	}
	if rel := g.relation(v); rel != nil {
		return g.tables[rel.Table], rel.Cols
	}
	return nil, nil
}

// together returns one scan of what several scans read of the same row.
func (g *grouper) together(c *conjunction, scans []*queryplan.Scan) queryplan.Node {
	v := scans[0].Var
	at := func(s *queryplan.Scan, i int) int { return i }
	if table, _ := g.tableOf(v); table != nil {
		v = table
		g.used[table] = true
		at = func(s *queryplan.Scan, i int) int {
			_, stored := g.tableOf(s.Var)
			for j := range table.Cols {
				if table.Stored[j] == stored[i] && table.Cols[j].Type == s.Var.Cols[i].Type {
					return j
				}
			}
			panic(fmt.Sprintf("rewrite: table %s lacks a column of %s", table.Name, s.Var.Name))
		}
	}
	names := make([]string, len(v.Cols))
	for _, s := range scans {
		for i, name := range s.Names {
			j := at(s, i)
			switch {
			case name == "" || names[j] == name:
			case names[j] == "" && slices.Contains(names, name):
				// Two columns of the row are to be equal.
				col := queryplan.Column{Name: c.names.Fresh(name), Type: v.Cols[j].Type}
				names[j] = col.Name
				c.conds = addCond(c.conds, equalColumns(queryplan.Column{Name: name, Type: col.Type}, col))
			case names[j] == "":
				names[j] = name
			default:
				c.alias(name, queryplan.Column{Name: names[j], Type: v.Cols[j].Type}, scans)
			}
		}
	}
	return &queryplan.Scan{Var: v, Version: scans[0].Version, Names: names}
}

// alias makes a second name of a column of merged scans mean the first. Where a
// further relation is joined on the second name, that becomes a computed column.
func (c *conjunction) alias(second string, first queryplan.Column, merged []*queryplan.Scan) {
	for _, r := range c.rels {
		s, ok := r.(*queryplan.Scan)
		if (!ok || !slices.Contains(merged, s)) && slices.Contains(columnNames(r), second) {
			c.addMap(second, &queryplan.ColRef{Col: first})
			return
		}
	}
	with := map[string]queryplan.Expr{second: &queryplan.ColRef{Col: first}}
	for i, m := range c.maps {
		if m.Name == second {
			c.addMap(second, &queryplan.ColRef{Col: first})
			return
		}
		c.maps[i].Expr = queryplan.Substitute(m.Expr, with)
	}
	for i, cond := range c.conds {
		c.conds[i] = queryplan.Substitute(cond, with)
	}
	for i, o := range c.out {
		if o.From == second {
			c.out[i].From = first.Name
		}
	}
	for i, s := range c.semis {
		cols := s.right.Columns()
		if _, matched := queryplan.FindColumn(cols, second); !matched {
			continue
		}
		if _, both := queryplan.FindColumn(cols, first.Name); both {
			c.semis[i].right = filtered(s.right, []queryplan.Expr{equalColumns(first, queryplan.Column{Name: second, Type: first.Type})})
		}
		var renames []queryplan.Rename
		for _, col := range cols {
			switch {
			case col.Name != second:
				renames = append(renames, queryplan.Rename{From: col.Name, To: col.Name})
			case !slices.Contains(columnNames(s.right), first.Name):
				renames = append(renames, queryplan.Rename{From: second, To: first.Name})
			}
		}
		c.semis[i].right = renamed(c.semis[i].right, renames)
	}
}
