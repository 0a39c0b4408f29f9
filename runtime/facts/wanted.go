package facts

import (
	"cmp"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
)

// Column identifies a column of a catalogue's table.
type Column struct {
	Table string
	At    int
}

// Wanted lists, for the tables of a plan, conditions that every scan of a table
// puts on its rows. A row that fails one contributes to no answer, so a loader
// may leave it out.
//
// Sets of join partners before any join is predicate transfer (Yang, Zhao, Yu
// and Koutris, "Predicate Transfer: Efficient Pre-Filtering on Multi-Join
// Queries", CIDR 2024), with exact sets in place of Bloom filters.
type Wanted struct {
	// Conditions are comparisons of a column with constants. The column has no
	// name in them.
	Conditions map[Column][]queryplan.Expr
	// Partners are columns of other tables: a wanted row has a value that
	// occurs in each of them.
	Partners map[Column][]Column

	cat   *stats.Catalog
	asked map[string][]asked // by the table
	at    map[string]map[Column][]Column
	fills map[*queryplan.Var][]queryplan.Node
	// known has the sources of the columns of derived variables. An entry is
	// nil while it is being computed.
	known map[variable]*source
	made  map[output]source // of columns of nodes
	// twice has the scans that occur at several places of one tree.
	twice map[*queryplan.Scan]bool
}

// output identifies a column of a node.
type output struct {
	of   queryplan.Node
	name string
}

// variable identifies a column of a variable.
type variable struct {
	of *queryplan.Var
	at int
}

// asked is a comparison of one column with constants. The column has no name in
// it.
type asked struct {
	column int
	cond   queryplan.Expr
	text   string
}

func (a asked) same(b asked) bool { return a.column == b.column && a.text == b.text }

// source bounds the values of a column of a node: they occur in each of the
// scanned columns, and among the constants if isConst is set.
type source struct {
	scanned   []scanned
	constants []scalar.Value
	isConst   bool
}

// scanned is a column of a table, restricted to the rows that pass the
// comparisons and have the partners.
type scanned struct {
	Column
	// by is the scan that reads the column. Columns with the same scan belong
	// to the same row. It is nil where they may belong to several rows.
	by     *queryplan.Scan
	asked  []asked
	joined []joined
}

// joined says that the values of a column occur in another one.
type joined struct {
	column int
	with   Column
}

// mostConstants bounds the constants with which a column is compared.
const mostConstants = 64

// Wants returns the conditions of a plan's scans. The plan was made with the
// catalogue.
func Wants(plan *queryplan.Plan, cat *stats.Catalog) *Wanted {
	w := &Wanted{
		Conditions: map[Column][]queryplan.Expr{}, Partners: map[Column][]Column{}, cat: cat,
		asked: map[string][]asked{}, at: map[string]map[Column][]Column{},
		fills: map[*queryplan.Var][]queryplan.Node{}, known: map[variable]*source{},
		made: map[output]source{}, twice: map[*queryplan.Scan]bool{}}
	for _, c := range plan.Commands() {
		switch c.(type) {
		case *queryplan.Insert, *queryplan.Assign:
			v := queryplan.CommandVar(c)
			w.fills[v] = append(w.fills[v], queryplan.CommandNode(c))
		}
	}
	eachNode(plan, func(n queryplan.Node) {
		seen := map[*queryplan.Scan]bool{}
		for _, s := range queryplan.Scans(n) {
			w.twice[s] = w.twice[s] || seen[s]
			seen[s] = true
		}
	})
	eachNode(plan, func(n queryplan.Node) { w.visit(n, nil, nil) })
	for table, list := range w.asked {
		for _, a := range list {
			at := Column{table, a.column}
			w.Conditions[at] = append(w.Conditions[at], a.cond)
		}
	}
	for _, of := range w.at {
		maps.Copy(w.Partners, of)
	}
	return w
}

// sources has, for columns of a node by name, the sources in which a tuple's
// value must occur. A tuple without one contributes to no answer.
type sources map[string][]source

// with returns the sources of some names, each with those that more adds.
func (s sources) with(names []string, more func(name string) []source) sources {
	out := sources{}
	for _, name := range names {
		if list := slices.Concat(s[name], more(name)); len(list) > 0 {
			out[name] = list
		}
	}
	return out
}

// none returns no sources.
func none(string) []source { return nil }

// visit visits the scans of a tree. The tuples of the tree pass the conditions,
// and only those with a value in each of the sources contribute to answers.
func (w *Wanted) visit(n queryplan.Node, conds []queryplan.Expr, of sources) {
	switch n := n.(type) {
	case *queryplan.Scan:
		w.scan(n, conds, of)
	case *queryplan.Filter:
		w.visit(n.Input, append(slices.Clone(conds), queryplan.Conjuncts(n.Cond)...), of)
	case *queryplan.Dedup:
		w.visit(n.Input, nil, of)
	case *queryplan.Map:
		w.visit(n.Input, nil, of.with(queryplan.NamesOf(n.Input.Columns()), none))
	case *queryplan.Aggregate:
		w.visit(n.Input, nil, of.with(n.By, none))
	case *queryplan.Project:
		in := sources{}
		for _, c := range n.Cols {
			in[c.From] = append(in[c.From], of[c.To]...)
		}
		w.visit(n.Input, nil, in)
	case *queryplan.Join:
		w.join(n, of)
	case *queryplan.MultiJoin:
		for i, in := range n.Nodes {
			names := queryplan.NamesOf(in.Columns())
			w.visit(in, nil, of.with(names, func(name string) (all []source) {
				for k, other := range n.Nodes {
					if k != i && hasColumn(other, name) {
						all = append(all, w.sourceOf(other, name))
					}
				}
				return all
			}))
		}
	default:
		var room [2]queryplan.Node
		for _, in := range queryplan.AppendInputs(room[:0], n) {
			w.visit(in, nil, nil)
		}
	}
}

func hasColumn(n queryplan.Node, name string) bool {
	_, ok := queryplan.ColumnOf(n, name)
	return ok
}

// join visits the sides of a join. A tuple of the right side without a match on
// the left contributes nothing.
func (w *Wanted) join(n *queryplan.Join, of sources) {
	matched := func(other queryplan.Node) func(name string) []source {
		return func(name string) []source {
			if !hasColumn(other, name) {
				return nil
			}
			return []source{w.sourceOf(other, name)}
		}
	}
	left, right := queryplan.NamesOf(n.Left.Columns()), queryplan.NamesOf(n.Right.Columns())
	if n.Kind == queryplan.Anti {
		w.visit(n.Left, nil, of.with(left, none))
	} else {
		w.visit(n.Left, nil, of.with(left, matched(n.Right)))
	}
	if n.Kind != queryplan.Inner { // a column of the right side only is another than one above
		right = slices.DeleteFunc(right, func(name string) bool {
			return !slices.Contains(left, name)
		})
	}
	w.visit(n.Right, nil, of.with(right, matched(n.Left)))
}

// scan records the conditions and the partners of a scan. For a table with
// several scans, it keeps those that all of them have.
func (w *Wanted) scan(s *queryplan.Scan, conds []queryplan.Expr, of sources) {
	table, stored := w.cat.Stored(s.Var)
	if table == nil {
		return
	}
	list := w.abouts(s, conds)
	here := map[Column][]Column{}
	join := func(at, with Column) {
		if with.Table != table.Name && !slices.Contains(here[at], with) {
			here[at] = append(here[at], with)
		}
	}
	for i, name := range s.Names {
		if name == "" {
			continue
		}
		at := Column{table.Name, stored[i]}
		for _, from := range of[name] {
			if cond := among(s.Var.Cols[i].Type, from); cond != nil {
				list = append(list, askedOf(stored[i], cond))
			}
			for _, other := range from.scanned {
				join(at, other.Column)
				if other.Column != at || !slices.Equal(table.Key, []int{at.At}) {
					continue
				}
				// It is the same row.
				list = append(list, other.asked...)
				for _, j := range other.joined {
					join(Column{table.Name, j.column}, j.with)
				}
			}
		}
	}
	if before, seen := w.at[table.Name]; seen {
		for at, columns := range here {
			here[at] = slices.DeleteFunc(columns, func(c Column) bool {
				return !slices.Contains(before[at], c)
			})
		}
		list = slices.DeleteFunc(slices.Clone(w.asked[table.Name]), func(a asked) bool {
			return !slices.ContainsFunc(list, a.same)
		})
	}
	w.at[table.Name], w.asked[table.Name] = here, distinct(list)
}

// distinct removes repeated comparisons.
func distinct(list []asked) (out []asked) {
	for _, a := range list {
		if !slices.ContainsFunc(out, a.same) {
			out = append(out, a)
		}
	}
	return out
}

// among returns the condition that a column equals one of the constants of a
// source, or nil if there are none.
func among(t scalar.Type, s source) (cond queryplan.Expr) {
	if !s.isConst || len(s.constants) == 0 || len(s.constants) > mostConstants {
		return nil
	}
	constants := slices.SortedFunc(slices.Values(s.constants), func(a, b scalar.Value) int {
		return cmp.Compare(scalar.Format(a), scalar.Format(b))
	})
	for i, v := range constants {
		if v.Type != t {
			return nil
		}
		if i > 0 && scalar.Format(v) == scalar.Format(constants[i-1]) {
			continue
		}
		is := &queryplan.Call{Func: scalar.Lookup("eq"), Result: scalar.BooleanType,
			Args: []queryplan.Expr{unnamed(t), &queryplan.Const{Value: v}}}
		if cond == nil {
			cond = is
			continue
		}
		cond = &queryplan.Call{Func: scalar.Lookup("or"), Result: scalar.BooleanType,
			Args: []queryplan.Expr{cond, is}}
	}
	return cond
}

// unnamed stands for the column in the comparisons of asked.
func unnamed(t scalar.Type) *queryplan.ColRef {
	return &queryplan.ColRef{Col: queryplan.Column{Name: "x", Type: t}}
}

func askedOf(column int, cond queryplan.Expr) asked {
	return asked{column, cond, queryplan.ExprString(cond)}
}

// sourceOf returns the source of a node's column.
func (w *Wanted) sourceOf(n queryplan.Node, name string) source {
	key := output{n, name}
	s, ok := w.made[key]
	if !ok {
		s = w.findSource(n, name)
		w.made[key] = s
	}
	return s
}

// findSource computes what sourceOf caches.
func (w *Wanted) findSource(n queryplan.Node, name string) (s source) {
	switch n := n.(type) {
	case *queryplan.Scan:
		return w.sourceOfScan(n, name)
	case *queryplan.Values:
		i := slices.IndexFunc(n.Cols, func(c queryplan.Column) bool { return c.Name == name })
		for _, row := range n.Rows {
			s.constants = append(s.constants, row[i])
		}
		s.isConst = true
	case *queryplan.Filter:
		s = w.sourceOf(n.Input, name)
		w.filter(&s, n)
	case *queryplan.Dedup:
		return w.sourceOf(n.Input, name)
	case *queryplan.Map:
		if hasColumn(n.Input, name) {
			return w.sourceOf(n.Input, name)
		}
	case *queryplan.Aggregate:
		if slices.Contains(n.By, name) {
			return w.sourceOf(n.Input, name)
		}
	case *queryplan.Project:
		for _, c := range n.Cols {
			if c.To == name {
				return w.sourceOf(n.Input, c.From)
			}
		}
	case *queryplan.Join:
		return w.sourceOfJoin(n, name)
	case *queryplan.MultiJoin:
		for _, in := range n.Nodes {
			if hasColumn(in, name) {
				s = s.and(w.sourceOf(in, name))
			}
		}
	}
	return s
}

// sourceOfJoin is sourceOf for joins.
func (w *Wanted) sourceOfJoin(n *queryplan.Join, name string) (s source) {
	if hasColumn(n.Left, name) {
		s = w.sourceOf(n.Left, name)
		if n.Kind != queryplan.Anti {
			s = w.joinedBy(s, n.Left, n.Right)
		}
	}
	if n.Kind == queryplan.Inner && hasColumn(n.Right, name) {
		s = s.and(w.joinedBy(w.sourceOf(n.Right, name), n.Right, n.Left))
	} else if n.Kind == queryplan.Semi && hasColumn(n.Left, name) && hasColumn(n.Right, name) {
		s = s.and(w.sourceOf(n.Right, name))
	}
	return s
}

// joinedBy adds, to the scans on one side of a join, the partners that the join
// gives their other columns.
func (w *Wanted) joinedBy(s source, side, other queryplan.Node) source {
	s.scanned = slices.Clone(s.scanned)
	for _, c := range side.Columns() {
		if !hasColumn(other, c.Name) {
			continue
		}
		for _, to := range w.sourceOf(other, c.Name).scanned {
			for _, from := range w.sourceOf(side, c.Name).scanned {
				for i := range s.scanned {
					if from.by != nil && from.by == s.scanned[i].by {
						s.scanned[i].joined = append(slices.Clip(s.scanned[i].joined),
							joined{from.At, to.Column})
					}
				}
			}
		}
	}
	return s
}

// sourceOfScan is sourceOf for a scan of a table or of a derived variable.
func (w *Wanted) sourceOfScan(n *queryplan.Scan, name string) source {
	i := slices.Index(n.Names, name)
	if i < 0 {
		return source{}
	}
	if table, stored := w.cat.Stored(n.Var); table != nil {
		if table.Rows == 0 {
			return source{isConst: true}
		}
		row := scanned{Column: Column{table.Name, stored[i]}}
		if !w.twice[n] {
			row.by = n
		}
		return source{scanned: []scanned{row}}
	}
	key := variable{n.Var, i}
	if s, ok := w.known[key]; ok {
		if s == nil { // it is being found
			return source{}
		}
		return *s
	}
	w.known[key] = nil
	var out source
	for k, fill := range w.fills[n.Var] {
		s := w.sourceOf(fill, fill.Columns()[i].Name)
		if k == 0 {
			out = s
		} else {
			out = out.or(s)
		}
	}
	out.scanned = slices.Clone(out.scanned)
	for k := range out.scanned { // two scans of the variable have tuples of several rows
		out.scanned[k].by = nil
	}
	w.known[key] = &out
	return out
}

// filter adds the comparisons of a filter to those sources that come from the
// scan below it.
func (w *Wanted) filter(s *source, f *queryplan.Filter) {
	scan, table := w.filtered(f)
	if table == nil {
		return
	}
	list := w.abouts(scan, queryplan.Conjuncts(f.Cond))
	s.scanned = slices.Clone(s.scanned)
	for i := range s.scanned {
		s.scanned[i].asked = slices.Concat(s.scanned[i].asked, list)
	}
}

// and returns the source of values that lie in both.
func (s source) and(t source) source {
	out := source{scanned: slices.Concat(s.scanned, t.scanned), isConst: s.isConst,
		constants: s.constants}
	if !s.isConst {
		out.isConst, out.constants = t.isConst, t.constants
	}
	return out
}

// or returns the source of values that lie in either.
func (s source) or(t source) (out source) {
	switch {
	case s.isEmpty():
		return t
	case t.isEmpty():
		return s
	}
	for _, a := range s.scanned {
		for _, b := range t.scanned {
			if a.Column == b.Column {
				out.scanned = append(out.scanned, scanned{Column: a.Column,
					asked: slices.DeleteFunc(slices.Clone(a.asked), func(x asked) bool {
						return !slices.ContainsFunc(b.asked, x.same)
					}),
					joined: slices.DeleteFunc(slices.Clone(a.joined), func(x joined) bool {
						return !slices.Contains(b.joined, x)
					})})
			}
		}
	}
	if s.isConst && t.isConst {
		out.isConst, out.constants = true, slices.Concat(s.constants, t.constants)
	}
	return out
}

// isEmpty reports whether no value is possible.
func (s source) isEmpty() bool { return s.isConst && len(s.constants) == 0 }
