package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/order"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/expr"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
	"github.com/redfoxdb/redfox/runtime/prepare"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Compiler turns the commands of a plan into pipelines.
type Compiler struct {
	run    *work.Run
	cols   *columns.Columns
	Tables map[*queryplan.Var]*tables.Table // of Derived and Temp variables
	sides  map[string]*builtSide
	tries  trieSides
	modes  map[*queryplan.Block][]*mode
	Flow   *queryplan.Flow
	Kept   *tables.Kept // indexes on facts that other runs have built; may be nil

	// violated is called for each constraint that does not hold, with at most
	// maxViolations tuples.
	violated      func(runtime.Violation)
	maxViolations int

	// The command that is being compiled: its name in messages, its place, its
	// block.
	label string
	span  source.Span
	block *queryplan.Block
}

// New makes the tables of a plan's variables.
func New(r *work.Run, p *queryplan.Plan, cols *columns.Columns, maxViolations int,
	violated func(runtime.Violation)) *Compiler {
	c := &Compiler{run: r, cols: cols, Tables: map[*queryplan.Var]*tables.Table{},
		sides: map[string]*builtSide{}, Flow: queryplan.NewFlow(p),
		modes:    map[*queryplan.Block][]*mode{},
		violated: violated, maxViolations: maxViolations}
	for _, v := range p.Vars {
		switch v.Kind {
		case queryplan.Derived:
			c.Tables[v] = tables.New(r.Mem, v.Name, cols.Ranges[v], c.Flow.NeedsSet(v))
		case queryplan.Temp:
			c.Tables[v] = tables.NewBag(r.Mem, v.Name, cols.Ranges[v])
		}
	}
	return c
}

// names is a set of column names.
type names map[string]bool

func (s names) with(more ...string) names {
	out := maps.Clone(s)
	for _, n := range more {
		out[n] = true
	}
	return out
}

func namesOf(cols []queryplan.Column) names {
	out := names{}
	for _, c := range cols {
		out[c.Name] = true
	}
	return out
}

// node compiles a tree. The pipelines together yield its bag; of its columns
// they carry at least the needed ones. They have no sink yet.
func (c *Compiler) node(n queryplan.Node, need names) []*pipeline {
	switch n := n.(type) {
	case *queryplan.Scan:
		if n.Version == queryplan.Last {
			return c.node(queryplan.LastTuples(n), need)
		}
		return []*pipeline{c.scan(n, need)}
	case *queryplan.Values:
		return []*pipeline{c.values(n, need)}
	case *queryplan.Filter:
		return c.filter(n, need)
	case *queryplan.Map:
		return c.mapping(n, need)
	case *queryplan.Project:
		return c.project(n, need)
	case *queryplan.Dedup:
		return c.dedup(n, need)
	case *queryplan.Join:
		return c.join(n, need)
	case *queryplan.Aggregate:
		return c.aggregate(n, need)
	case *queryplan.Union:
		var out []*pipeline
		for _, u := range n.Nodes {
			out = append(out, c.node(u, need)...)
		}
		return out
	case *queryplan.MultiJoin:
		if s, ok := n.Steps(); ok && slices.ContainsFunc(n.Nodes, c.growsIn) {
			return c.stepwise(n, s, need)
		}
		return []*pipeline{c.multiJoin(n, need)}
	case *queryplan.Seq:
		return c.seq(n, need)
	case *queryplan.TopK:
		return c.topK(n, need)
	}
	panic(fmt.Sprintf("no operator %T", n))
}

// scan compiles a scan of any version but the last.
func (c *Compiler) scan(n *queryplan.Scan, need names) *pipeline {
	all := c.cols.Of(n.Var)
	for i, name := range n.Names {
		all[i].Name = name
	}
	if n.Position != "" {
		all = append(all, positionColumn(n.Position))
	}
	p := &pipeline{}
	cols := p.choose(all, need)
	if t := c.Tables[n.Var]; t != nil {
		p.src = &tableSource{table: t, version: n.Version, cols: cols}
		return p
	}
	src := &columnSource{rows: c.cols.Rows[n.Var]}
	for _, i := range cols {
		src.cols = append(src.cols, c.cols.Stored[n.Var][i])
	}
	p.src = src
	return p
}

// positionColumn is the column of the positions of a scan. It stands behind
// those of the variable.
func positionColumn(name string) columns.Column {
	return columns.Column{Name: name, Type: scalar.IntType, Bound: columns.Positions}
}

func (c *Compiler) values(n *queryplan.Values, need names) *pipeline {
	rows := part{n: len(n.Rows)}
	all := make([]columns.Column, len(n.Cols))
	for i, col := range n.Cols {
		b := columns.Column{Name: col.Name, Type: col.Type, Dict: c.cols.Dicts.Values[n][i],
			Bound: interval.None}
		words := make([]int64, len(n.Rows))
		for r, row := range n.Rows {
			words[r] = columns.WordOf(row[i], b.Dict)
			b.Bound = b.Bound.Union(interval.Of(words[r]))
		}
		rows.cols = append(rows.cols, words)
		all[i] = b
	}
	constant := &bag{parts: []part{rows}}
	return bagPipeline(func(*work.Run) *bag { return constant }, all, need)
}

func (c *Compiler) filter(n *queryplan.Filter, need names) []*pipeline {
	pipes := c.node(n.Input, need.with(queryplan.ExprColumns(n.Cond)...))
	for _, p := range pipes {
		var rest []queryplan.Expr
		for _, e := range queryplan.Conjuncts(n.Cond) {
			if !c.fuse(p, e) {
				rest = append(rest, e)
			}
		}
		bounds := map[string]interval.Interval{}
		for _, b := range p.cols {
			if b.Type.Kind != scalar.String {
				bounds[b.Name] = b.Bound
			}
		}
		if len(rest) > 0 {
			cond := queryplan.And(rest)
			p.narrow(need.with(queryplan.ExprColumns(cond)...))
			prog := expr.Compile([]queryplan.Expr{cond}, slices.Clone(p.cols), p.slots, c.strings)
			keep := p.restrict(need)
			p.stages = append(p.stages, &filterStage{prog: prog, keep: keep})
		} else {
			p.narrow(need)
		}
		columns.Refine(n.Cond, bounds)
		for i := range p.cols {
			if r, ok := bounds[p.cols[i].Name]; ok {
				p.cols[i].Bound = r
			}
		}
	}
	return pipes
}

// strings returns the dictionary of a string that a Map computes.
func (c *Compiler) strings(e queryplan.Expr) *prepare.Dictionary {
	if d := c.cols.Dicts.Exprs[e]; d != nil {
		return d
	}
	panic("no dictionary for " + queryplan.ExprString(e))
}

// restrict keeps the needed columns and returns their slots; they are numbered
// anew.
func (p *pipeline) restrict(need names) []int {
	p.drop(need)
	keep := make([]int, len(p.cols))
	for i := range p.cols {
		keep[i] = p.cols[i].Slot
		p.cols[i].Slot = i
	}
	p.slots = len(keep)
	return keep
}

// narrow forgets the columns that are not needed, and takes them out of the
// source if nothing stands between: a column that was only there for a fused
// filter is then never widened.
func (p *pipeline) narrow(need names) {
	src, ok := p.src.(*columnSource)
	if !ok || len(p.stages) > 0 {
		p.drop(need)
		return
	}
	var cols []*store.Column
	for _, slot := range p.restrict(need) {
		cols = append(cols, src.cols[slot])
	}
	src.cols = cols
}

// drop forgets the columns that are not needed.
func (p *pipeline) drop(need names) {
	p.cols = slices.DeleteFunc(p.cols, func(b columns.Column) bool { return !need[b.Name] })
}

// fuse makes a condition part of a scan of stored columns.
func (c *Compiler) fuse(p *pipeline, e queryplan.Expr) bool {
	src, ok := p.src.(*columnSource)
	if !ok || len(p.stages) > 0 {
		return false
	}
	name, bound, ok := columns.ColumnBound(e)
	if !ok {
		name, bound, ok = p.stringBound(e)
	}
	if !ok {
		return false
	}
	col := src.cols[p.find(name).Slot]
	if col == nil || col.Len() == 0 {
		return true
	}
	f, all, none := newEntryFilter(col, bound)
	switch {
	case none:
		src.never = true
	case !all:
		src.filters = append(src.filters, f)
	}
	return true
}

// stringBound is columnBound for strings in byte order.
func (p *pipeline) stringBound(e queryplan.Expr) (column string, bound interval.Interval, ok bool) {
	call, isCall := e.(*queryplan.Call)
	if !isCall || len(call.Args) != 2 {
		return "", bound, false
	}
	col, isCol := call.Args[0].(*queryplan.ColRef)
	k, isConst := call.Args[1].(*queryplan.Const)
	if !isCol || !isConst || col.Col.Type.Kind != scalar.String {
		return "", bound, false
	}
	b := p.find(col.Col.Name)
	if b.Dict.Grows {
		return "", bound, false
	}
	lo, hi := b.Dict.Place(k.Value.Str())
	switch call.Func.Name {
	case "eq":
		return b.Name, interval.Interval{Lo: lo, Hi: hi - 1}, true
	case "lt":
		return b.Name, interval.Interval{Lo: 0, Hi: lo - 1}, true
	case "le":
		return b.Name, interval.Interval{Lo: 0, Hi: hi - 1}, true
	case "gt":
		return b.Name, interval.Interval{Lo: hi, Hi: interval.OfType(scalar.StringType).Hi}, true
	case "ge":
		return b.Name, interval.Interval{Lo: lo, Hi: interval.OfType(scalar.StringType).Hi}, true
	}
	return "", bound, false
}

func (c *Compiler) mapping(n *queryplan.Map, need names) []*pipeline {
	var exprs []queryplan.NamedExpr
	in := need
	for _, e := range n.Exprs {
		if need[e.Name] || queryplan.MayFail(e.Expr) {
			exprs = append(exprs, e)
			in = in.with(queryplan.ExprColumns(e.Expr)...)
		}
	}
	pipes := c.node(n.Input, in)
	if len(exprs) == 0 {
		return pipes
	}
	for _, p := range pipes {
		list := make([]queryplan.Expr, len(exprs))
		for i, e := range exprs {
			list[i] = e.Expr
		}
		prog := expr.Compile(list, slices.Clone(p.cols), p.slots, c.strings)
		keep := p.restrict(need)
		for i, e := range exprs {
			p.cols = append(p.cols,
				columns.Column{Name: e.Name, Slot: len(keep) + i, Type: e.Expr.Type(),
					Dict: prog.Dicts[i], Bound: prog.Ranges[i]})
		}
		p.slots = len(keep) + len(exprs)
		p.stages = append(p.stages, &mapStage{prog: prog, keep: keep})
	}
	return pipes
}

func (c *Compiler) project(n *queryplan.Project, need names) []*pipeline {
	in := names{}
	for _, col := range n.Cols {
		if need[col.To] {
			in[col.From] = true
		}
	}
	pipes := c.node(n.Input, in)
	for _, p := range pipes {
		var cols []columns.Column
		for _, col := range n.Cols {
			if need[col.To] {
				b := *p.find(col.From)
				b.Name = col.To
				cols = append(cols, b)
			}
		}
		p.cols = cols
	}
	return pipes
}

func (c *Compiler) join(n *queryplan.Join, need names) []*pipeline {
	if c.keepsRows(n) {
		return c.keptRows(n, need)
	}
	return c.joined(n, need)
}

func (c *Compiler) joined(n *queryplan.Join, need names) []*pipeline {
	on := n.On()
	if scan, cols := resolveScan(n.Right); scan != nil {
		// Joins on the same columns share an index if its key has one order,
		// that of the variable's columns.
		slices.SortStableFunc(on, func(a, b string) int { return cols[a] - cols[b] })
	}
	leftNeed := names{}
	for _, col := range n.Left.Columns() {
		if need[col.Name] {
			leftNeed[col.Name] = true
		}
	}
	var pay []string
	if n.Kind == queryplan.Inner {
		for _, col := range n.Right.Columns() {
			if need[col.Name] && !slices.Contains(on, col.Name) {
				pay = append(pay, col.Name)
			}
		}
	}
	side, payCols := c.side(n.Right, on, pay)
	bounds := side.keyBounds()
	pipes := c.node(n.Left, leftNeed.with(on...))
	for _, p := range pipes {
		st := &joinStage{side: side, kind: n.Kind}
		for i, name := range on {
			b := p.find(name)
			st.keys = append(st.keys, b.Slot)
			if r := bounds[i]; r.Empty() || !b.Bound.Empty() &&
				(b.Bound.Lo < r.Lo || b.Bound.Hi > r.Hi) {
				st.check = append(st.check, i)
			}
			if n.Kind != queryplan.Anti {
				b.Bound = b.Bound.Intersect(bounds[i])
			}
		}
		st.keep = p.restrict(need)
		for i, b := range payCols {
			b.Slot = len(st.keep) + i
			p.cols = append(p.cols, b)
			st.pay = append(st.pay, i)
		}
		p.slots = len(st.keep) + len(st.pay)
		p.stages = append(p.stages, st)
	}
	return pipes
}

// side returns the build side for a tree, and the bindings of its payload.
func (c *Compiler) side(n queryplan.Node, key, pay []string) (buildSide, []columns.Column) {
	switch scan, cols := resolveScan(n); {
	case scan == nil:
	case len(key) == 1 && cols[key[0]] == len(scan.Names):
		return c.positionSide(scan, cols, pay)
	case scan.Version == queryplan.Last && !isKeyOf(scan.Var, key, cols):
		// The last tuples are looked up by another key: they are made.
	case scan.Version != queryplan.Delta && c.Flow.GrowsAround(scan.Var, c.block):
		return c.growingSide(scan, cols, key, pay)
	}
	pipes := c.node(n, names{}.with(key...).with(pay...))
	payCols := mergedAll(pipes, pay)
	// Equal trees give equal text; renamed scans of one variable are made equal
	// by naming columns by their place.
	text := queryplan.NodeString(n)
	if scan, cols := resolveScan(n); scan != nil {
		text = fmt.Sprintf("scan %s %s", scan.Version, scan.Var.Name)
		for _, name := range slices.Concat(key, []string{""}, pay) {
			text += fmt.Sprintf(" %d", cols[name]-work.Bit(name == ""))
		}
	} else {
		text += strings.Join(key, ",") + " | " + strings.Join(pay, ",")
	}
	s := c.sides[text]
	if s == nil {
		s = &builtSide{memo: memo{inputs: c.stamp(n)}, pipes: pipes, key: key, pay: pay,
			bounds: boundsOf(mergedAll(pipes, key)),
			ofDelta: slices.ContainsFunc(queryplan.Scans(n), func(s *queryplan.Scan) bool {
				return s.Version == queryplan.Delta
			})}
		s.index = tables.Index{Name: "the index on " + describe(n), Mem: c.run.Mem,
			Key: interval.NewLayout(s.bounds), Pay: interval.NewLayout(boundsOf(payCols))}
		if c.Kept != nil {
			s.facts, s.kept = factsOf(pipes, slices.Concat(key, pay)), c.Kept
		}
		c.sides[text] = s
	}
	return s, payCols
}

// isKeyOf reports whether columns are those of a variable's key.
func isKeyOf(v *queryplan.Var, names []string, cols map[string]int) bool {
	return len(names) == v.Keys && !slices.ContainsFunc(names, func(name string) bool {
		return cols[name] >= v.Keys
	})
}

func (c *Compiler) growingSide(scan *queryplan.Scan, cols map[string]int, key,
	pay []string) (buildSide, []columns.Column) {
	v := scan.Var
	s := &growingSide{table: c.Tables[v], version: scan.Version,
		ranges: append(slices.Clip(c.cols.Ranges[v]), columns.Positions)}
	for _, name := range key {
		s.keyCols = append(s.keyCols, cols[name])
		s.bounds = append(s.bounds, s.ranges[cols[name]])
	}
	var payCols []columns.Column
	s.payCols, payCols = c.payload(scan, cols, pay)
	return s, payCols
}

// positionSide is a build side that is joined on the positions of its rows.
func (c *Compiler) positionSide(scan *queryplan.Scan, cols map[string]int,
	pay []string) (buildSide, []columns.Column) {
	places, payCols := c.payload(scan, cols, pay)
	return positionSide{tables.NewPositionIndex(c.Tables[scan.Var], scan.Version,
		columns.Positions, places)}, payCols
}

// payload returns the places of columns in a scanned variable, and the columns.
func (c *Compiler) payload(scan *queryplan.Scan, cols map[string]int,
	pay []string) (places []int, out []columns.Column) {
	all := append(c.cols.Of(scan.Var), positionColumn(scan.Position))
	for _, name := range pay {
		places = append(places, cols[name])
		b := all[cols[name]]
		b.Name = name
		out = append(out, b)
	}
	return places, out
}

// resolveScan sees through projections: it returns the scan and the place of
// each column in the scanned variable, that of the position behind the others.
func resolveScan(n queryplan.Node) (*queryplan.Scan, map[string]int) {
	switch n := n.(type) {
	case *queryplan.Scan:
		cols := map[string]int{}
		for i, name := range n.Names {
			if name != "" {
				cols[name] = i
			}
		}
		if n.Position != "" {
			cols[n.Position] = len(n.Names)
		}
		return n, cols
	case *queryplan.Project:
		scan, in := resolveScan(n.Input)
		if scan == nil {
			return nil, nil
		}
		cols := map[string]int{}
		for _, c := range n.Cols {
			cols[c.To] = in[c.From]
		}
		return scan, cols
	}
	return nil, nil
}

// describe names what a tree reads, for messages.
func describe(n queryplan.Node) string {
	var out []string
	for _, s := range queryplan.Scans(n) {
		if !slices.Contains(out, s.Var.Name) {
			out = append(out, s.Var.Name)
		}
	}
	if len(out) == 0 {
		return "constants"
	}
	return strings.Join(out, " and ")
}

func (c *Compiler) aggregate(n *queryplan.Aggregate, need names) []*pipeline {
	in := names{}.with(n.By...)
	for _, a := range n.Aggs {
		if a.Fn != queryplan.Count {
			in[a.In] = true
		}
	}
	pipes := c.node(n.Input, in)
	a := newAggregation("the groups of "+c.label, n, pipes, pipes, c.span, c.stamp(n))
	a.Ordered = c.keysAscend(n) && a.Key.Words == 1 && a.Key.Bits > tables.MaxDirectGroups
	for _, m := range c.modes[c.block] {
		if m.pick(n, a) {
			return []*pipeline{bagPipeline(m.compute, m.columns(), need)}
		}
	}
	s, isFold := c.Flow.Fold(n, c.block)
	if isFold && s.Tally {
		t := c.tallying(n, a, s)
		for _, m := range c.modes[c.block] {
			m.take(n, t)
		}
		return []*pipeline{bagPipeline(t.compute, t.columns(), need)}
	}
	if isFold {
		if f := c.folding(n, a, s); f != nil {
			p := bagPipeline(f.compute, f.columns(), need)
			p.src.(*bagSource).sameKeys = func() bool { return f.same }
			return []*pipeline{p}
		}
	}
	return []*pipeline{bagPipeline(a.compute, a.columns(), need)}
}

// bagPipeline scans the needed columns of a computed bag.
func bagPipeline(compute func(r *work.Run) *bag, cols []columns.Column, need names) *pipeline {
	p := &pipeline{}
	p.src = &bagSource{compute: compute, cols: p.choose(cols, need)}
	return p
}

// orderingOf returns the columns of a materialised input and how it is ordered.
func orderingOf(name string, n queryplan.Node, pipes []*pipeline, group []string,
	by []queryplan.OrderKey) (cols []string, o ordering) {
	cols = queryplan.NamesOf(n.Columns())
	o.name, o.binds = name, mergedAll(pipes, cols)
	for _, name := range group {
		o.group = append(o.group, slices.Index(cols, name))
	}
	for _, k := range by {
		o.by = append(o.by, order.Key{Col: slices.Index(cols, k.Col), Desc: k.Desc})
	}
	return cols, o
}

func (c *Compiler) seq(n *queryplan.Seq, need names) []*pipeline {
	pipes := c.node(n.Input, namesOf(n.Input.Columns()))
	cols, o := orderingOf("the sequence of "+c.label, n.Input, pipes, n.Group, n.Order)
	q := &sequence{cached: cached{memo: memo{inputs: c.stamp(n)}}, ordering: o, pipes: pipes,
		cols: cols}
	index := columns.Column{Name: n.Index, Type: scalar.IntType,
		Bound: interval.Interval{Lo: 0, Hi: 1 << 32}}
	return []*pipeline{bagPipeline(q.compute, append(slices.Clone(o.binds), index), need)}
}

func (c *Compiler) topK(n *queryplan.TopK, need names) []*pipeline {
	pipes := c.node(n.Input, namesOf(n.Input.Columns()))
	cols, o := orderingOf("the first tuples of "+c.label, n.Input, pipes, n.Group, n.By)
	k := &topK{cached: cached{memo: memo{inputs: c.stamp(n)}}, ordering: o, pipes: pipes,
		cols: cols, limit: n.Limit}
	return []*pipeline{bagPipeline(k.compute, o.binds, need)}
}
