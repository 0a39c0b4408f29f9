package lower

import (
	"slices"
	"strconv"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// into computes an operator with its tuples going to t.
func (l *lowerer) into(n queryplan.Node, t target) error {
	switch n := n.(type) {
	case *queryplan.Scan, *queryplan.Seq, *queryplan.TopK:
		v, err := l.view(n, t.cols)
		if err != nil {
			return err
		}
		return l.copy(v, t, queryplan.NodeHead(n))
	case *queryplan.Project:
		t.cols = sources(n, t.cols)
		return l.into(n.Input, t)
	case *queryplan.Dedup:
		if t.set {
			return l.into(n.Input, t)
		}
		v, err := l.view(n, t.cols)
		if err != nil {
			return err
		}
		return l.copy(v, t, queryplan.NodeHead(n))
	case *queryplan.Values:
		k := l.kernel(&harmony.Values{Cols: n.Cols, Rows: n.Rows}, queryplan.NodeHead(n))
		for i, c := range n.Cols {
			k.loads[c.Name] = i
		}
		k.end(t)
		return nil
	case *queryplan.Filter:
		in, err := l.view(n.Input, append(exprColumns(n.Cond), t.cols...))
		if err != nil {
			return err
		}
		k := l.over(in, queryplan.NodeHead(n))
		k.k.Makes = n
		k.add(&harmony.Filter{Cond: k.expr(n.Cond)})
		k.end(t)
		return nil
	case *queryplan.Map:
		return l.mapExprs(n, t)
	case *queryplan.Join:
		return l.join(n, t)
	case *queryplan.MultiJoin:
		most := 1 // what reads a temp is fused with one kernel that fills it
		if n.Uneven && t.set {
			most = maxParts
		}
		parts, err := l.partsOf(n, most)
		if err != nil {
			return err
		}
		for _, part := range parts {
			if err := l.into(part, t); err != nil {
				return err
			}
		}
		return nil
	case *queryplan.Aggregate:
		return l.aggregate(n, t)
	case *queryplan.Union:
		for _, in := range n.Nodes {
			if err := l.into(in, t); err != nil {
				return err
			}
		}
		return nil
	}
	return &SurvivorError{Op: queryplan.NodeHead(n), Span: l.span}
}

// mapExprs computes the columns that are wanted, and those that may drop a
// tuple.
func (l *lowerer) mapExprs(n *queryplan.Map, t target) error {
	var exprs []queryplan.NamedExpr
	wanted := slices.Clone(t.cols)
	for _, e := range n.Exprs {
		if slices.Contains(t.cols, e.Name) || queryplan.MayFail(e.Expr) {
			exprs = append(exprs, e)
			wanted = append(wanted, exprColumns(e.Expr)...)
		}
	}
	in, err := l.view(n.Input, wanted)
	if err != nil {
		return err
	}
	k := l.over(in, queryplan.NodeHead(n))
	k.k.Makes = n
	computed := make([]harmony.Operand, len(exprs))
	for i, e := range exprs {
		computed[i] = k.expr(e.Expr)
		k.need(computed[i])
	}
	for i, e := range exprs {
		k.vals[e.Name] = computed[i]
	}
	k.end(t)
	return nil
}

// exprColumns returns the columns that an expression refers to.
func exprColumns(e queryplan.Expr) []string {
	var out []string
	queryplan.WalkExpr(e, func(e queryplan.Expr) {
		if ref, ok := e.(*queryplan.ColRef); ok {
			out = append(out, ref.Col.Name)
		}
	})
	return out
}

// copy moves the tuples of a view to t.
func (l *lowerer) copy(v view, t target, op string) error {
	l.over(v, op).end(t)
	return nil
}

// join probes an index of the right side with the tuples of the left.
func (l *lowerer) join(n *queryplan.Join, t target) error {
	on := n.On()
	left, err := l.view(n.Left, append(on[:len(on):len(on)], t.cols...))
	if err != nil {
		return err
	}
	wanted := on
	if n.Kind == queryplan.Inner {
		wanted = append(on[:len(on):len(on)], t.cols...)
	}
	right, ok := l.lastByKey(n)
	if !ok {
		right, err = l.view(n.Right, wanted)
	}
	if err != nil {
		return err
	}
	if at, ok := positionOf(n, right); ok {
		return l.joinByPosition(n, left, right, at, t)
	}
	if slices.ContainsFunc(on, func(name string) bool {
		return right.at[name] == right.rel.Position() ||
			slices.ContainsFunc(on, func(other string) bool {
				return other != name && right.at[other] == right.at[name]
			})
	}) {
		// Two columns of the key are one of the relation, or one is the
		// position, which tables of keys do not have.
		if right, err = l.copied(n.Right, right); err != nil {
			return err
		}
	}
	// Keys in the relation's order: joins that name columns differently share
	// their index.
	slices.SortFunc(on, func(a, b string) int { return right.at[a] - right.at[b] })
	kind, probe := harmony.Exists, harmony.ProbeExists
	switch {
	case n.Kind == queryplan.Anti:
		probe = harmony.ProbeAbsent
	case n.Kind == queryplan.Inner && n.Unique:
		kind, probe = harmony.Unique, harmony.ProbeUnique
	case n.Kind == queryplan.Inner:
		kind, probe = harmony.Multi, harmony.ProbeMulti
	}
	x := l.index(kind, right, on)
	x.Busy = x.Busy || l.closing[n]
	l.emit(&harmony.Build{Index: x})
	k := l.over(left, queryplan.NodeHead(n))
	k.k.Makes = n
	s := &harmony.Probe{Kind: probe, Index: x}
	for _, name := range on {
		s.Key = append(s.Key, k.column(name))
	}
	k.probe(s, left, right)
	k.end(t)
	return nil
}

// lastByKey returns the right side of a join that looks up the last tuples of a
// variable by its key. An index has them; no kernel reads them as rows.
func (l *lowerer) lastByKey(n *queryplan.Join) (view, bool) {
	s, ok := n.Right.(*queryplan.Scan)
	if !ok || s.Version != harmony.Last || n.Kind != queryplan.Inner || !n.Unique {
		return view{}, false
	}
	on := n.On()
	if len(on) != s.Var.Keys || slices.ContainsFunc(on, func(name string) bool {
		return slices.Index(s.Names, name) >= s.Var.Keys
	}) {
		return view{}, false
	}
	return l.viewOfScan(s), true
}

// positionOf returns the column of a join by whose value, a position, rows of
// the right side are found. Other columns are compared when the row is found,
// which does not do for rows without a match. Floats are equal as words are in
// joins, which eq does not say.
func positionOf(n *queryplan.Join, right view) (name string, ok bool) {
	on := n.On()
	if right.version == harmony.Delta || n.Kind == queryplan.Anti && len(on) > 1 {
		return "", false
	}
	for _, c := range on {
		if right.at[c] == right.rel.Position() {
			name, ok = c, true
		} else if right.rel.Cols[right.at[c]].Type.Kind == scalar.Float {
			return "", false
		}
	}
	return name, ok
}

// joinByPosition finds rows of the right side by their positions, the column at
// of the left.
func (l *lowerer) joinByPosition(n *queryplan.Join, left, right view, at string, t target) error {
	on := n.On()
	kind, probe := harmony.Unique, harmony.ProbeUnique
	switch {
	case n.Kind == queryplan.Anti:
		kind, probe = harmony.Exists, harmony.ProbeAbsent
	case n.Kind == queryplan.Semi && len(on) == 1:
		kind, probe = harmony.Exists, harmony.ProbeExists
	}
	x := l.index(kind, right, []string{at})
	l.emit(&harmony.Build{Index: x})
	k := l.over(left, queryplan.NodeHead(n))
	k.k.Makes = n
	s := &harmony.Probe{Kind: probe, Index: x, Key: []harmony.Operand{k.column(at)}}
	k.probe(s, left, right)
	for _, name := range on {
		if name == at {
			continue
		}
		same := &harmony.Map{Out: &harmony.Reg{Type: scalar.BooleanType}, Func: scalar.Lookup("eq"),
			Args: []harmony.Operand{k.column(name), {Reg: k.read(cell{s.Out, right.at[name]})}}}
		k.add(same)
		k.add(&harmony.Filter{Cond: harmony.Operand{Reg: same.Out}})
	}
	k.end(t)
	return nil
}

// probe adds a probe of the right side of a join, whose columns are gathered of
// the row that it finds.
func (k *kernel) probe(s *harmony.Probe, left, right view) {
	if s.Kind.Finds() {
		s.Out = &harmony.Reg{Row: right.rel}
		for name, at := range right.at {
			if _, ok := left.at[name]; !ok {
				k.gathers[name] = cell{s.Out, at}
			}
		}
	}
	k.add(s)
}

// index returns the index of a view by columns, one for all joins that can
// share it.
func (l *lowerer) index(kind harmony.IndexKind, v view, on []string) *harmony.Index {
	key := list.Map(on, func(name string) int { return v.at[name] })
	for _, x := range l.out.Indexes {
		if x.Kind == kind && x.Of == v.rel && x.Version == v.version && slices.Equal(x.Key, key) {
			return x
		}
	}
	x := &harmony.Index{Name: l.fresh("i"), Kind: kind, Of: v.rel, Version: v.version, Key: key,
		Span: l.span}
	l.out.Indexes = append(l.out.Indexes, x)
	return x
}

// aggregate accumulates in groups and reads them.
func (l *lowerer) aggregate(n *queryplan.Aggregate, t target) error {
	wanted := slices.Clone(n.By)
	for _, a := range n.Aggs {
		if a.Fn != queryplan.Count {
			wanted = append(wanted, a.In)
		}
	}
	inputs, err := l.addends(n.Input)
	if err != nil {
		return err
	}
	views := make([]view, len(inputs))
	for i, in := range inputs {
		if views[i], err = l.view(in, wanted); err != nil {
			return err
		}
	}
	cols := n.Columns()
	g := &harmony.Groups{Name: l.fresh("g"), Keys: cols[:len(n.By)], Span: l.span}
	for _, a := range n.Aggs {
		acc := harmony.Acc{Out: a.Out, Fn: a.Fn}
		if a.Fn != queryplan.Count {
			acc.In = typeOf(views[0].rel.Cols, views[0].at[a.In])
		}
		g.Accs = append(g.Accs, acc)
	}
	g.ShareCells(func(i, k int) bool { return n.Aggs[i].In == n.Aggs[k].In })
	l.out.Groups = append(l.out.Groups, g)
	l.emit(&harmony.Clear{Var: g})
	for _, in := range views {
		k := l.over(in, queryplan.NodeHead(n))
		s := &harmony.Group{To: g}
		for _, name := range n.By {
			s.Key = append(s.Key, k.column(name))
		}
		for _, a := range n.Aggs {
			var o harmony.Operand
			if a.Fn != queryplan.Count {
				o = k.column(a.In)
			}
			s.Vals = append(s.Vals, o)
		}
		k.finish(s)
	}
	k := l.kernel(&harmony.GroupRows{Groups: g}, queryplan.NodeHead(n))
	k.k.Makes = n
	for i, c := range g.Columns() {
		k.loads[c.Name] = i
	}
	k.end(t)
	return nil
}

// kernel is a kernel that is being written. Columns of the operator at hand are
// loaded and gathered when they are first asked for, as late as can be.
type kernel struct {
	l       *lowerer
	k       *harmony.Kernel
	loads   map[string]int // columns of the source
	gathers map[string]cell
	vals    map[string]harmony.Operand // columns that stand in registers
	cells   map[cell]*harmony.Reg      // what is loaded and gathered
	calls   map[string]harmony.Operand // by their text
}

// cell is a column of the source's row, or of the row that a probe has found.
type cell struct {
	row *harmony.Reg // nil for the source's
	col int
}

func (l *lowerer) kernel(s harmony.Source, op string) *kernel {
	return &kernel{
		l: l, k: &harmony.Kernel{Source: s, Ops: []string{op}, Span: l.span},
		loads: map[string]int{}, gathers: map[string]cell{}, vals: map[string]harmony.Operand{},
		cells: map[cell]*harmony.Reg{}, calls: map[string]harmony.Operand{},
	}
}

// over starts a kernel over a view.
func (l *lowerer) over(v view, op string) *kernel {
	k := l.kernel(&harmony.Rows{Rel: v.rel, Version: v.version}, op)
	k.loads = v.at
	return k
}

func (k *kernel) add(s harmony.Stage) { k.k.Stages = append(k.k.Stages, s) }

// column returns the register of a column.
func (k *kernel) column(name string) harmony.Operand {
	if o, ok := k.vals[name]; ok {
		return o
	}
	from, ok := k.gathers[name]
	if !ok {
		if from.col, ok = k.loads[name]; !ok {
			panic("harmony/lower: a kernel has no column " + name)
		}
	}
	k.vals[name] = harmony.Operand{Reg: k.read(from)}
	return k.vals[name]
}

// read returns the register that a cell is loaded or gathered into. Two names
// may stand for one cell.
func (k *kernel) read(from cell) *harmony.Reg {
	r := k.cells[from]
	switch {
	case r != nil:
	case from.row != nil:
		r = &harmony.Reg{Type: typeOf(from.row.Row.Cols, from.col)}
		k.add(&harmony.Gather{Out: r, Row: from.row, Col: from.col})
	default:
		r = &harmony.Reg{Type: typeOf(k.k.Source.Columns(), from.col)}
		k.add(&harmony.Load{Out: r, Col: from.col})
	}
	k.cells[from] = r
	return r
}

// typeOf returns the type of a column, or of the position behind the others.
func typeOf(cols []harmony.Column, at int) scalar.Type {
	if at == len(cols) {
		return scalar.IntType
	}
	return cols[at].Type
}

// expr returns the register of an expression over columns. Equal calls share
// one, unless their values may differ.
func (k *kernel) expr(e queryplan.Expr) harmony.Operand {
	switch e := e.(type) {
	case *queryplan.ColRef:
		return k.column(e.Col.Name)
	case *queryplan.Call:
		text := queryplan.ExprString(e)
		if o, ok := k.calls[text]; ok {
			return o
		}
		s := &harmony.Map{Out: &harmony.Reg{Type: e.Result}, Func: e.Func}
		for _, a := range e.Args {
			s.Args = append(s.Args, k.expr(a))
		}
		k.add(s)
		out := harmony.Operand{Reg: s.Out}
		if !queryplan.IsVolatile(e) {
			k.calls[text] = out
		}
		return out
	}
	return harmony.Operand{Const: e.(*queryplan.Const).Value}
}

// need drops the row where a computed value is absent or does not fit.
func (k *kernel) need(o harmony.Operand) {
	if o.Reg != nil && !harmony.Present(k.k)[o.Reg] {
		k.add(&harmony.Need{Reg: o.Reg})
	}
}

// end gives the tuple to the target.
func (k *kernel) end(t target) {
	vals := list.Map(t.cols, k.column)
	k.finish(t.sink(vals))
}

// finish runs the kernel.
func (k *kernel) finish(s harmony.Sink) {
	k.k.Name = "k" + strconv.Itoa(k.l.kernels)
	k.l.kernels++
	k.k.Sinks = []harmony.Sink{s}
	k.l.emit(&harmony.Run{Kernel: k.k})
}
