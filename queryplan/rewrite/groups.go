package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/graph"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/joins"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

var mergeColumnGroups = &Pass{
	Name: "MergeColumnGroups",
	Reason: "Predicates loaded from one file are columns of one stored table and share its row " +
		"order, so a join of them on the table's whole key is positional: all of them become one scan " +
		"of the table. Likewise two scans of one relation that agree on its key read the same tuple.",
	Unless: "The join must be on the whole key, and the key must be known to be one.",
	Before: "join o, n\n  scan lineitem:quantity(o, n, q)\n  scan lineitem:discount(o, n, d)",
	After:  "scan lineitem(o, n, q, d)",
	Source: "decomposed storage: Copeland, Khoshafian, SIGMOD 1985; self-join elimination on keys: " +
		"Cheng et al., VLDB 1999",
	run: mergeGroups,
}

func mergeGroups(p *program) error {
	g := &grouper{program: p, tables: map[string]*queryplan.Var{}, used: map[*queryplan.Var]bool{}}
	g.declareTables()
	p.rewriteTrees(func(_ *queryplan.Block, c queryplan.Command, n queryplan.Node) queryplan.Node {
		return joins.EachConjunction(n, joins.RootSite(c), g.merge)
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
// key and columns in several of the plan's inputs: first the key's columns,
// then the others in the order of the inputs.
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
	out := &queryplan.Var{Kind: queryplan.Table, Source: table.Name, Keys: len(table.Key),
		Limit: -1}
	names := queryplan.NewNames()
	add := func(stored int, t scalar.Type) {
		for i, s := range out.Stored {
			if s == stored && out.Cols[i].Type == t {
				return
			}
		}
		out.Cols = append(out.Cols, queryplan.Column{Name: names.Fresh(table.Columns[stored].Name),
			Type: t})
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

// merge replaces scans of a conjunction that read one row by one scan.
func (g *grouper) merge(n queryplan.Node, _ joins.Site) queryplan.Node {
	if !g.meets(n) {
		return n
	}
	c := joins.Flatten(n)
	merged := false
	// A merge renames columns, which may be keys of other scans: rows are found
	// again after each merge.
	for members := g.oneRow(c); members != nil; members = g.oneRow(c) {
		g.together(c, members)
		merged = true
	}
	if !merged {
		return n
	}
	return c.Assemble(joins.LeftDeep(len(c.Rels)), joins.Site{})
}

// oneRow returns the positions of scans that read the same row, or nil.
func (g *grouper) oneRow(c *joins.Conjunction) []int {
	rows := map[string][]int{}
	var order []string
	for i, r := range c.Rels {
		s, ok := r.(*queryplan.Scan)
		if !ok {
			continue
		}
		if id := g.rowOf(s); id != "" {
			if rows[id] == nil {
				order = append(order, id)
			}
			rows[id] = append(rows[id], i)
		}
	}
	for _, id := range order {
		if len(rows[id]) > 1 {
			return rows[id]
		}
	}
	return nil
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
// its key columns. It is "" where the scan leaves out a part of the key or no
// key is known.
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
	known := v.Kind == queryplan.Input || v.Kind == queryplan.Table ||
		v.Kind == queryplan.Derived &&
			(v.Unique || v.Checked || v.Keys == len(v.Cols))
	if !known || slices.Contains(s.Names[:v.Keys], "") || s.Position != "" {
		return ""
	}
	return strings.Join(append([]string{"var", v.Name, s.Version.String()}, s.Names[:v.Keys]...),
		"\x00")
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

// sameRow maps the columns of a scan to those of another one that reads the
// same row. It is nil if that reads too few.
func (g *grouper) sameRow(first, s *queryplan.Scan) []queryplan.Rename {
	stored := func(s *queryplan.Scan, i int) int {
		if table, cols := g.tableOf(s.Var); table != nil {
			return cols[i]
		}
		return i
	}
	var out []queryplan.Rename
	for i, name := range s.Names {
		if name == "" {
			continue
		}
		at := -1
		for j, from := range first.Names {
			if from != "" && stored(first, j) == stored(s, i) &&
				first.Var.Cols[j].Type == s.Var.Cols[i].Type {
				at = j
			}
		}
		if at < 0 {
			return nil
		}
		out = append(out, queryplan.Rename{From: first.Names[at], To: name})
	}
	return out
}

// together replaces the scans at the given positions, which read the same row,
// by one scan at the first of them.
//
// Names that stand at one column of the row are equal, and so are columns of
// the row that share a name. Both make classes of columns. A class gets one
// name, which takes the place of its other names in the whole conjunction; the
// columns of a class are compared with one another.
func (g *grouper) together(c *joins.Conjunction, members []int) {
	v := c.Rels[members[0]].(*queryplan.Scan).Var
	if table, _ := g.tableOf(v); table != nil {
		v = table
		g.used[table] = true
	}
	classes := graph.NewSets(len(v.Cols))
	type use struct {
		name string
		col  int // in the row
	}
	var uses []use
	columnOf := map[string]int{}
	for _, at := range members {
		s := c.Rels[at].(*queryplan.Scan)
		for i, name := range s.Names {
			if name == "" {
				continue
			}
			col := g.column(v, s.Var, i)
			uses = append(uses, use{name, col})
			if other, ok := columnOf[name]; ok {
				classes.Union(other, col)
			} else {
				columnOf[name] = col
			}
		}
	}
	nameOf := map[int]string{} // by class
	renames := map[string]string{}
	read := make([]string, len(v.Cols))
	for _, u := range uses {
		class := classes.Find(u.col)
		if nameOf[class] == "" {
			nameOf[class] = u.name
		}
		renames[u.name] = nameOf[class]
		read[u.col] = v.Cols[u.col].Name
	}
	row := &queryplan.Scan{Var: v, Version: c.Rels[members[0]].(*queryplan.Scan).Version,
		Names: read}
	var names []string
	for col := range v.Cols {
		if read[col] != "" {
			names = append(names, nameOf[classes.Find(col)])
		}
	}
	var rels []queryplan.Node
	for i, r := range c.Rels {
		switch {
		case i == members[0]:
			rels = append(rels, c.Named(row, names))
		case !slices.Contains(members, i):
			rels = append(rels, r)
		}
	}
	c.Rels = rels
	c.Rename(renames)
}

// column returns the position in row, which is v itself or its table, of a
// column of v.
func (g *grouper) column(row, v *queryplan.Var, i int) int {
	at, ok := g.findColumn(row, v, i)
	if !ok {
		panic(fmt.Sprintf("rewrite: table %s lacks a column of %s", row.Name, v.Name))
	}
	return at
}

// findColumn does so for a table that may lack it: the plan's has the columns
// that scans of the table use.
func (g *grouper) findColumn(row, v *queryplan.Var, i int) (at int, ok bool) {
	if row == v {
		return i, true
	}
	_, stored := g.tableOf(v)
	for j, s := range row.Stored {
		if s == stored[i] && row.Cols[j].Type == v.Cols[i].Type {
			return j, true
		}
	}
	return 0, false
}
