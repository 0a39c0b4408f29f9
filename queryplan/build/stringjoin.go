package build

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// joined concatenates the texts of each group in their order. Each round of a
// loop concatenates neighbours, so n texts take log n rounds, and a round is
// linear in the size of the texts. A piece is a text, its place and the last
// place of its group. The group is one text when its last place is 0.
func (r *rule) joined(in queryplan.Node, by []string, cr *core.Rule) queryplan.Node {
	a := cr.Agg[0]
	pieces := r.pieces(in, by, cr)
	b := r.b
	enter := &queryplan.Branch{Vars: []*queryplan.Var{pieces}}
	b.block.Term = enter
	b.startBlock()
	loop := b.block
	insert := func(n queryplan.Node) {
		b.add(&queryplan.Insert{Var: pieces, Node: n, Span: cr.Span})
	}
	insert(r.neighbours(pieces, len(by), a.Separator))
	insert(r.leftOver(pieces, len(by)))
	b.add(&queryplan.Merge{Var: pieces})
	again := &queryplan.Branch{Vars: enter.Vars, Then: loop}
	b.block.Term = again
	b.startBlock()
	enter.Then, enter.Else, again.Else = loop, b.block, b.block

	out := &queryplan.Project{}
	p := r.piece(pieces, len(by), queryplan.Full)
	out.Input = &queryplan.Filter{Input: p.scan, Cond: call("eq", p.last, number(0))}
	for i, name := range by {
		out.Cols = append(out.Cols, queryplan.Rename{From: p.scan.Names[i], To: name})
	}
	out.Cols = append(out.Cols,
		queryplan.Rename{From: p.scan.Names[len(by)+2], To: a.Out.Name})
	return out
}

// pieces fills a variable with the texts of each group, their places and the
// last place.
func (r *rule) pieces(in queryplan.Node, by []string, cr *core.Rule) *queryplan.Var {
	a := cr.Agg[0]
	// The order may name groups, and the text may be one.
	text := queryplan.Column{Name: r.names.Fresh("text"), Type: scalar.StringType}
	place := queryplan.Column{Name: r.names.Fresh("place"), Type: scalar.IntType}
	size := queryplan.Column{Name: r.names.Fresh("size"), Type: scalar.IntType}
	last := queryplan.Column{Name: r.names.Fresh("last"), Type: scalar.IntType}
	in = &queryplan.Map{Input: in, Exprs: []queryplan.NamedExpr{
		{Name: text.Name, Expr: ref(column(a.In))}}}
	cols := append(slices.Clip(by), text.Name)
	var order []queryplan.OrderKey
	for _, k := range orderKeys(a.By) {
		if !slices.Contains(cols, k.Col) {
			cols, order = append(cols, k.Col), append(order, k)
		}
	}
	order = append(order, queryplan.OrderKey{Col: text.Name})
	numbered := arrange(&queryplan.Seq{Input: arrange(in, cols), Group: by, Order: order,
		Index: place.Name}, append(append(slices.Clip(by), place.Name), text.Name))
	t := r.b.temporary(cr, "ranked", len(by)+1, numbered)
	sizes := &queryplan.Aggregate{Input: scanOf(t), By: by,
		Aggs: []queryplan.Agg{{Out: size, Fn: queryplan.Count}}}
	all := &queryplan.Map{Input: &queryplan.Join{Left: scanOf(t), Right: sizes, Unique: true},
		Exprs: []queryplan.NamedExpr{{Name: last.Name,
			Expr: integer("sub", ref(size), number(1))}}}
	names := append(slices.Clip(by), last.Name, place.Name, text.Name)
	n := arrange(all, names)
	v := &queryplan.Var{Name: r.b.names.Fresh(cr.Head.Pred.Name + "$pieces"),
		Kind: queryplan.Derived, Cols: n.Columns(), Keys: len(by) + 2, Unique: true, Limit: -1,
		Span: cr.Span}
	r.b.plan.Vars = append(r.b.plan.Vars, v)
	r.b.add(&queryplan.Insert{Var: v, Node: n, Span: cr.Span})
	r.b.add(&queryplan.Merge{Var: v})
	return v
}

// piece is a scan of the pieces and their columns behind the groups.
type piece struct {
	scan              *queryplan.Scan
	last, place, text queryplan.Expr
}

func (r *rule) piece(v *queryplan.Var, groups int, version queryplan.Version) piece {
	names := queryplan.NamesOf(v.Cols)
	at := func(i int) queryplan.Expr { return ref(v.Cols[groups+i]) }
	return piece{&queryplan.Scan{Var: v, Version: version, Names: names}, at(0), at(1), at(2)}
}

// neighbours concatenates the pieces at even places with those behind them.
func (r *rule) neighbours(v *queryplan.Var, groups int, separator string) queryplan.Node {
	left, right := r.piece(v, groups, queryplan.Delta), r.piece(v, groups, queryplan.Delta)
	next := r.names.Fresh("next")
	behind := queryplan.Column{Name: r.names.Fresh("behind"), Type: scalar.StringType}
	first := &queryplan.Map{Input: &queryplan.Filter{Input: left.scan, Cond: isEven(left.place)},
		Exprs: []queryplan.NamedExpr{{Name: next, Expr: integer("add", left.place, number(1))}}}
	right.scan.Names = slices.Clone(right.scan.Names)
	right.scan.Names[groups+1], right.scan.Names[groups+2] = next, behind.Name
	add := func(x, y queryplan.Expr) queryplan.Expr {
		return &queryplan.Call{Func: scalar.Lookup("add"), Args: []queryplan.Expr{x, y},
			Result: scalar.StringType}
	}
	between := &queryplan.Const{Value: scalar.OfString(separator)}
	return r.halved(&queryplan.Join{Left: first, Right: right.scan, Unique: true}, v, groups, left,
		add(add(left.text, between), ref(behind)))
}

// leftOver keeps the piece at the end that has none behind it.
func (r *rule) leftOver(v *queryplan.Var, groups int) queryplan.Node {
	p := r.piece(v, groups, queryplan.Delta)
	alone := call("and", call("eq", p.place, p.last),
		call("and", isEven(p.place), call("gt", p.place, number(0))))
	return r.halved(&queryplan.Filter{Input: p.scan, Cond: alone}, v, groups, p, p.text)
}

// halved makes pieces of half as many places.
func (r *rule) halved(n queryplan.Node, v *queryplan.Var, groups int, p piece,
	text queryplan.Expr) queryplan.Node {
	made := &queryplan.Map{Input: n}
	out := &queryplan.Project{Input: made}
	for _, c := range v.Cols[:groups] {
		out.Cols = append(out.Cols, queryplan.Rename{From: c.Name, To: c.Name})
	}
	for i, e := range []queryplan.Expr{integer("div", p.last, number(2)),
		integer("div", p.place, number(2)), text} {
		name := r.names.Fresh("half")
		made.Exprs = append(made.Exprs, queryplan.NamedExpr{Name: name, Expr: e})
		out.Cols = append(out.Cols, queryplan.Rename{From: name, To: v.Cols[groups+i].Name})
	}
	return out
}

func isEven(x queryplan.Expr) queryplan.Expr {
	return call("eq", integer("bitand", x, number(1)), number(0))
}
