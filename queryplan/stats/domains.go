package stats

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
)

// maxDomainRounds bounds the rounds of the fixpoint over domains. Only the
// choice between the ranges of joined columns could make it longer.
const maxDomainRounds = 16

// domains estimates the domains of the columns of recursive variables from the
// rules that fill them: a variable of a rule takes its values from the smallest
// relation that binds it. The tuples that a recursion starts from say little
// about its result. For example, an analysis that begins at one entry point
// reaches most methods.
type domains struct {
	est   *Estimator
	rules map[*queryplan.Var][]queryplan.Node
	cols  map[*queryplan.Var][]ColumnEstimate // a column without values has Distinct 0
}

// raise makes the estimates of variables at least as large as the domains of
// their columns. rules has the trees that fill each of the variables.
func (e *Estimator) raise(vars []*queryplan.Var, rules map[*queryplan.Var][]queryplan.Node) {
	d := &domains{est: e, rules: rules, cols: map[*queryplan.Var][]ColumnEstimate{}}
	for _, v := range vars {
		d.cols[v] = make([]ColumnEstimate, len(v.Cols))
	}
	for range maxDomainRounds {
		changed := false
		for _, v := range vars {
			changed = d.grow(v) || changed
		}
		if !changed {
			break
		}
	}
	for _, v := range vars {
		old := e.vars[v]
		if old == nil {
			old = &Estimate{}
		}
		out := &Estimate{Rows: max(old.Rows, d.rows(v)), Cols: map[string]ColumnEstimate{}}
		for i, c := range v.Cols {
			col := d.cols[v][i]
			if was, ok := old.Cols[c.Name]; ok {
				col = united(was, col)
			}
			col.Distinct = max(1, min(col.Distinct, out.Rows))
			out.Cols[c.Name] = col
		}
		e.vars[v] = out
	}
	// Estimates made before are about smaller variables.
	clear(e.nodes)
}

// rows is the least number of tuples with all values of the domains.
func (d *domains) rows(v *queryplan.Var) float64 {
	rows := 0.0
	for _, c := range d.cols[v] {
		rows = max(rows, c.Distinct)
	}
	if len(v.Cols) == 0 {
		return 1
	}
	return rows
}

// grow adds the values that the rules give to the columns of a variable, and
// reports whether any is new.
func (d *domains) grow(v *queryplan.Var) bool {
	changed := false
	for _, n := range d.rules[v] {
		for i, c := range n.Columns() {
			had := d.cols[v][i]
			now := united(had, d.of(n, c.Name))
			changed = changed || now.Distinct > had.Distinct
			d.cols[v][i] = now
		}
	}
	return changed
}

// united is the column of two domains of which the larger one may contain the
// other.
func united(a, b ColumnEstimate) ColumnEstimate {
	switch {
	case a.Distinct == 0:
		return b
	case b.Distinct == 0:
		return a
	}
	out := ColumnEstimate{Distinct: max(a.Distinct, b.Distinct)}
	if a.HasRange && b.HasRange {
		out.Min, out.Max, out.HasRange = min(a.Min, b.Min), max(a.Max, b.Max), true
	}
	return out
}

// narrower is the smaller of two domains.
func narrower(a, b ColumnEstimate) ColumnEstimate {
	if b.Distinct < a.Distinct {
		return b
	}
	return a
}

// of returns the domain of a column of a tree.
func (d *domains) of(n queryplan.Node, name string) ColumnEstimate {
	switch n := n.(type) {
	case *queryplan.Scan:
		return d.scanned(n, name)
	case *queryplan.Map:
		for _, x := range n.Exprs {
			if x.Name == name {
				return d.computed(n.Input, x.Expr)
			}
		}
	case *queryplan.Filter:
		return d.filtered(n, name)
	case *queryplan.Project:
		for _, c := range n.Cols {
			if c.To == name {
				return d.of(n.Input, c.From)
			}
		}
	case *queryplan.Aggregate:
		for _, a := range n.Aggs {
			if a.Out.Name == name && a.In != "" {
				return d.of(n.Input, a.In)
			} else if a.Out.Name == name {
				return ColumnEstimate{Distinct: 1}
			}
		}
	case *queryplan.Join:
		if n.Kind == queryplan.Anti {
			return d.of(n.Left, name)
		}
		return d.narrowest(n, name)
	case *queryplan.MultiJoin:
		return d.narrowest(n, name)
	case *queryplan.Union:
		var out ColumnEstimate
		for _, x := range n.Nodes {
			out = united(out, d.of(x, name))
		}
		return out
	case *queryplan.Values:
		return valuesEstimate(n).column(name)
	}
	if in := n.Inputs(); len(in) == 1 && hasColumn(in[0], name) {
		return d.of(in[0], name)
	}
	return ColumnEstimate{Distinct: 1}
}

// narrowest returns the smallest domain among the inputs that have a column.
func (d *domains) narrowest(n queryplan.Node, name string) ColumnEstimate {
	var out ColumnEstimate
	found := false
	for _, in := range n.Inputs() {
		switch {
		case !hasColumn(in, name):
		case found:
			out = narrower(out, d.of(in, name))
		default:
			out, found = d.of(in, name), true
		}
	}
	return out
}

func hasColumn(n queryplan.Node, name string) bool {
	_, ok := queryplan.ColumnOf(n, name)
	return ok
}

// scanned returns the domain of a column of a scan.
func (d *domains) scanned(n *queryplan.Scan, name string) ColumnEstimate {
	cols, recursive := d.cols[n.Var]
	if !recursive {
		full := &queryplan.Scan{Var: n.Var, Names: n.Names, Position: n.Position}
		return d.est.scan(full).column(name)
	}
	if i := slices.Index(n.Names, name); i >= 0 {
		return cols[i]
	}
	rows := d.rows(n.Var)
	return ColumnEstimate{Distinct: rows, Max: max(0, rows-1), HasRange: true}
}

// filtered returns the domain of a column that conditions may fix.
func (d *domains) filtered(n *queryplan.Filter, name string) ColumnEstimate {
	in := d.of(n.Input, name)
	if in.Distinct == 0 {
		return in
	}
	one := &Estimate{Rows: in.Distinct, Cols: map[string]ColumnEstimate{name: in}}
	conds := list.Filter(queryplan.Conjuncts(n.Cond), func(c queryplan.Expr) bool {
		used := queryplan.ExprColumns(c)
		return len(used) == 1 && used[0] == name
	})
	if len(conds) == 0 {
		return in
	}
	return filtered(one, conds).column(name)
}

// computed returns the domain of an expression, that of the column with the
// most values: what it makes of several columns rarely occurs in full.
func (d *domains) computed(in queryplan.Node, x queryplan.Expr) ColumnEstimate {
	switch x := x.(type) {
	case *queryplan.ColRef:
		return d.of(in, x.Col.Name)
	case *queryplan.Const:
		return exprEstimate(&Estimate{}, x)
	}
	out := ColumnEstimate{Distinct: 1}
	for _, name := range queryplan.ExprColumns(x) {
		c := d.of(in, name)
		if c.Distinct == 0 {
			return ColumnEstimate{}
		}
		out.Distinct = max(out.Distinct, c.Distinct)
	}
	return out
}
