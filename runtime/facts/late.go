package facts

import (
	"cmp"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/stats"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Shown reports which columns of stored tables a plan only carries to its
// outputs, without a look at their strings, past a join or a limit that may
// leave few rows. Their strings can be read after the run. The plan was made
// with the catalogue, and no output is a stored table.
func Shown(plan *queryplan.Plan, cat *stats.Catalog) func(pred string, arg int) bool {
	s := newShown(plan, cat, func(Column) bool { return true })
	s.solve()
	return func(pred string, arg int) bool {
		rel := cat.Relation(pred)
		return rel != nil && s.carriedOut[Column{rel.Table, rel.Cols[arg]}]
	}
}

// Computed reports which columns of stored tables a plan, made with the
// catalogue, only computes with. Nothing depends on how many different values
// such a column has.
func Computed(plan *queryplan.Plan, cat *stats.Catalog) func(pred string, arg int) bool {
	s := newShown(plan, cat, func(Column) bool { return true })
	s.computes = true
	s.solve()
	return func(pred string, arg int) bool {
		rel := cat.Relation(pred)
		return rel != nil && !s.failed[Column{rel.Table, rel.Cols[arg]}]
	}
}

// LatePlan is a plan over facts in which row numbers stand for the strings of
// some columns.
type LatePlan struct {
	Plan *queryplan.Plan
	// Outputs has, for each output with such columns, the reader of each
	// column's strings; nil for other columns.
	Outputs map[string][]store.LateStrings
	// Refused are the columns of row numbers that the plan does look at. Their
	// strings must be read before the run.
	Refused []*store.Column
}

// Late returns a plan over row numbers for a database in which some columns of
// strings are not read yet. A limit over such a column moves to the
// presentation of the result, unless that would read many strings.
func Late(plan *queryplan.Plan, db *store.Database, cat *stats.Catalog) (*LatePlan, error) {
	late := map[Column]*store.Column{}
	for _, t := range Tables(db) {
		for i, c := range t.Columns {
			if c.Late != nil {
				late[Column{t.Name, i}] = c
			}
		}
	}
	s := newShown(plan, cat, func(c Column) bool { return late[c] != nil })
	s.estimator = stats.NewEstimator(plan, cat)
	s.solve()
	out := &LatePlan{Outputs: map[string][]store.LateStrings{}}
	for _, t := range Tables(db) {
		for i, c := range t.Columns {
			if s.failed[Column{t.Name, i}] {
				out.Refused = append(out.Refused, c)
			}
		}
	}
	if out.Refused != nil {
		return out, nil
	}
	out.Plan = s.numbered()
	for _, v := range plan.Vars {
		if !v.Output || !s.has(v) {
			continue
		}
		strings := make([]store.LateStrings, len(v.Cols))
		for i := range v.Cols {
			if from, ok := s.vars[v][i]; ok {
				strings[i] = late[from].Late
			}
		}
		out.Outputs[v.Name] = strings
	}
	return out, queryplan.Verify(out.Plan)
}

// shown is the analysis behind Shown, Computed and Late.
type shown struct {
	plan      *queryplan.Plan
	cat       *stats.Catalog
	wanted    func(Column) bool
	estimator *stats.Estimator // nil if nothing is known of the data
	computes  bool             // expressions may look at columns, and outputs may not
	scanned   map[*queryplan.Var]bool

	failed     map[Column]bool
	carriedOut map[Column]bool // those that reach an output
	// vars has the columns that those of Temp and Derived variables carry.
	// narrowed has those that pass a join before they reach a Temp.
	vars     map[*queryplan.Var]map[int]Column
	narrowed map[Column]bool
}

func newShown(plan *queryplan.Plan, cat *stats.Catalog, wanted func(Column) bool) *shown {
	s := &shown{plan: plan, cat: cat, wanted: wanted, failed: map[Column]bool{},
		scanned: map[*queryplan.Var]bool{}}
	eachNode(plan, func(n queryplan.Node) {
		for _, scan := range queryplan.Scans(n) {
			s.scanned[scan.Var] = true
		}
	})
	return s
}

// solve runs the analysis until no further column fails. Columns that meet in a
// variable fail together.
func (s *shown) solve() {
	for {
		failed := len(s.failed)
		s.vars, s.carriedOut = map[*queryplan.Var]map[int]Column{}, map[Column]bool{}
		s.narrowed = map[Column]bool{}
		for settled := false; !settled; {
			settled = true
			for _, b := range s.plan.Blocks {
				for _, cmd := range b.Cmds {
					settled = s.command(cmd) && settled
				}
			}
		}
		if len(s.failed) == failed {
			return
		}
	}
}

// command follows columns through a command. It returns true if nothing has
// changed.
func (s *shown) command(cmd queryplan.Command) bool {
	n, into := queryplan.CommandNode(cmd), queryplan.CommandVar(cmd)
	if n == nil {
		if _, ok := cmd.(*queryplan.CheckKey); ok {
			s.fail(slices.Collect(maps.Values(s.vars[into]))...)
		}
		return true
	}
	in, isLimit := n, false
	if top, ok := n.(*queryplan.TopK); ok && s.presents(into, top) {
		in, isLimit = top.Input, true
	}
	c := s.carry(in)
	if s.computes {
		s.fail(c.all()...)
		return true
	}
	if isLimit && s.showsMany(in, c) {
		s.fail(c.all()...)
	}
	_, isAssign := cmd.(*queryplan.Assign)
	isOut := into != nil && into.Output && !s.scanned[into]
	if !isAssign && !isOut {
		s.fail(c.all()...)
		return true
	}
	if isAssign {
		s.fail(slices.Collect(maps.Keys(c.deduped))...)
		maps.Copy(s.narrowed, c.narrowed)
	}
	known, before := s.vars[into]
	if !before {
		known = map[int]Column{}
		s.vars[into] = known
	}
	for i, col := range n.Columns() {
		from, isLate := c.cols[col.Name]
		old, was := known[i]
		if before && (was != isLate || old != from) {
			s.fail(old, from)
			continue
		}
		if !isLate {
			continue
		}
		known[i] = from
		if isOut {
			s.carriedOut[from] = true
			if !isLimit && !c.narrowed[from] {
				s.fail(from)
			}
		}
	}
	return before
}

// fail marks columns that must be read before the run. It ignores the zero
// Column.
func (s *shown) fail(cols ...Column) {
	for _, c := range cols {
		if c.Table != "" {
			s.failed[c] = true
		}
	}
}

// presents reports whether a limit is the one that the presentation of an
// output applies anyway.
func (s *shown) presents(into *queryplan.Var, top *queryplan.TopK) bool {
	return into != nil && into.Output && !s.scanned[into] && len(top.Group) == 0 &&
		into.Limit == top.Limit && slices.Equal(into.OrderBy, top.By)
}

// mostShown is the share of a table's rows up to which strings are read after
// the run. Beyond it, reading all of them in order is faster.
const mostShown = 1.0 / 8

// showsMany reports whether a plan without the limit over n would show too many
// rows.
func (s *shown) showsMany(n queryplan.Node, c carried) bool {
	if s.estimator == nil {
		return false
	}
	for _, from := range c.cols {
		if t := s.cat.Tables[from.Table]; s.estimator.Rows(n) > mostShown*float64(t.Rows) {
			return true
		}
	}
	return false
}

// carried has the columns of an operator that nothing has looked at yet.
type carried struct {
	cols map[string]Column // by name
	// narrowed are those that have passed a join. deduped are those of a Dedup:
	// it tells tuples apart by row numbers whose strings may be equal.
	narrowed, deduped map[Column]bool
}

// all returns the columns, sorted.
func (c carried) all() []Column {
	out := slices.Collect(maps.Values(c.cols))
	slices.SortFunc(out, func(a, b Column) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.At, b.At))
	})
	return out
}

// named returns the columns of some names.
func (c carried) named(names []string) []Column {
	var out []Column
	for _, name := range names {
		if from, ok := c.cols[name]; ok {
			out = append(out, from)
		}
	}
	return out
}

func newCarried() carried {
	return carried{map[string]Column{}, map[Column]bool{}, map[Column]bool{}}
}

// carry follows columns through an operator.
func (s *shown) carry(n queryplan.Node) carried {
	out := newCarried()
	var inputs []carried
	for _, in := range n.Inputs() {
		c := s.carry(in)
		inputs = append(inputs, c)
		maps.Copy(out.narrowed, c.narrowed)
		maps.Copy(out.deduped, c.deduped)
	}
	// counts is for operators that count tuples: two rows with equal strings
	// must not count as different.
	counts := func() {
		for _, c := range inputs {
			s.fail(slices.Collect(maps.Keys(c.deduped))...)
		}
	}
	switch n := n.(type) {
	case *queryplan.Scan:
		s.scan(n, out)
	case *queryplan.Values:
	case *queryplan.Filter:
		s.fail(inputs[0].named(queryplan.ExprColumns(n.Cond))...)
		out.cols = inputs[0].cols
	case *queryplan.Map:
		maps.Copy(out.cols, inputs[0].cols)
		for _, e := range n.Exprs {
			if ref, ok := e.Expr.(*queryplan.ColRef); !ok {
				if s.computes {
					continue
				}
				s.fail(inputs[0].named(queryplan.ExprColumns(e.Expr))...)
			} else if from, ok := inputs[0].cols[ref.Col.Name]; ok {
				out.cols[e.Name] = from
			}
		}
	case *queryplan.Project:
		for _, c := range n.Cols {
			if from, ok := inputs[0].cols[c.From]; ok {
				out.cols[c.To] = from
			}
		}
	case *queryplan.Dedup:
		out.cols = inputs[0].cols
		for _, from := range out.cols {
			out.deduped[from] = true
		}
	case *queryplan.Join:
		s.join(n, inputs, out)
	case *queryplan.Aggregate:
		counts()
		s.fail(inputs[0].named(n.By)...)
		for _, a := range n.Aggs {
			if s.computes {
				break
			}
			s.fail(inputs[0].named([]string{a.In})...)
		}
	default: // a limit, a number: it compares all columns
		counts()
		for _, c := range inputs {
			s.fail(c.all()...)
		}
	}
	return out
}

// scan starts the columns that a scan reads.
func (s *shown) scan(n *queryplan.Scan, out carried) {
	table, at := s.cat.Stored(n.Var)
	for i, name := range n.Names {
		from, ok := s.vars[n.Var][i]
		if table != nil && (s.computes || n.Var.Cols[i].Type.Kind == scalar.String) {
			from = Column{table.Name, at[i]}
			ok = s.wanted(from)
		}
		if name != "" && ok && !s.failed[from] {
			out.cols[name] = from
			if table == nil && s.narrowed[from] {
				out.narrowed[from] = true
			}
		}
	}
}

// join follows columns through a join.
func (s *shown) join(n *queryplan.Join, inputs []carried, out carried) {
	for side, c := range inputs {
		s.fail(c.named(n.On())...)
		for name, from := range c.cols {
			out.narrowed[from] = true
			if side == 0 || n.Kind == queryplan.Inner {
				out.cols[name] = from
			}
		}
	}
}

// numbered returns the plan in which row numbers stand for the columns.
func (s *shown) numbered() *queryplan.Plan {
	out := queryplan.Clone(s.plan)
	for i, v := range s.plan.Vars {
		to := out.Vars[i]
		table, at := s.cat.Stored(v)
		for c := range v.Cols {
			_, isLate := s.vars[v][c]
			if table != nil {
				from := Column{table.Name, at[c]}
				isLate = v.Cols[c].Type.Kind == scalar.String && s.wanted(from)
			}
			if isLate {
				to.Cols[c].Type = scalar.IntType
			}
		}
		if v.Output && s.has(v) {
			to.OrderBy, to.Limit = nil, -1
		}
	}
	for b, block := range out.Blocks {
		for i, cmd := range block.Cmds {
			n := queryplan.CommandNode(cmd)
			if n == nil {
				continue
			}
			into := queryplan.CommandVar(s.plan.Blocks[b].Cmds[i])
			if top, ok := n.(*queryplan.TopK); ok && s.presents(into, top) && s.has(into) {
				n = top.Input
			}
			block.Cmds[i] = queryplan.WithNode(cmd, queryplan.Rewrite(n, retype))
		}
	}
	return out
}

// has reports whether a variable carries such columns.
func (s *shown) has(v *queryplan.Var) bool { return len(s.vars[v]) > 0 }

// retype updates the types of copied columns.
func retype(n queryplan.Node) queryplan.Node {
	m, ok := n.(*queryplan.Map)
	if !ok {
		return n
	}
	exprs := slices.Clone(m.Exprs)
	for i, e := range exprs {
		if ref, ok := e.Expr.(*queryplan.ColRef); ok {
			col, _ := queryplan.ColumnOf(m.Input, ref.Col.Name)
			exprs[i].Expr = &queryplan.ColRef{Col: col}
		}
	}
	return &queryplan.Map{Input: m.Input, Exprs: exprs}
}
