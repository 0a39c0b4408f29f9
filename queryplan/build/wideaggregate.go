package build

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// wideAggregate is an aggregation on its way to one over words.
type wideAggregate struct {
	names *queryplan.Names
	cols  []queryplan.Column // of the input, before it was split
	out   queryplan.Aggregate
	after queryplan.Map
	// extremes are the groups with the least or greatest wide decimal of one
	// column.
	extremes []queryplan.Node
	count    *queryplan.Column // of all rows of a group
	// computed are the results that after computes of several accumulators,
	// which may not fit.
	computed []computed
}

// computed is a result of an aggregation.
type computed struct {
	agg   queryplan.Agg
	value queryplan.Expr
}

// aggregate returns an aggregation of an input that is split already; cols are
// the columns that the input had.
//
// A total of decimals of one word that is declared to be wide is the two words
// of the sum in 128 bits that any total has. Totals and averages of wide
// decimals are made of the totals of their words and of counts; the least and
// the greatest are the first tuples in the order of the words.
//
// A result of several accumulators is checked to fit 38 digits, once for each
// group. A temporary variable holds accumulators and groups, and both the
// results and the checks read it.
func (s *splitter) aggregate(
	n *queryplan.Aggregate, in queryplan.Node, cols []queryplan.Column,
) queryplan.Node {
	w := &wideAggregate{names: queryplan.ColumnNames(n), cols: cols}
	w.out.Input, w.out.By = in, splitNames(n.By, cols)
	final := &queryplan.Project{}
	for _, name := range w.out.By {
		final.Cols = append(final.Cols, queryplan.Rename{From: name, To: name})
	}
	for _, a := range n.Aggs {
		w.add(a)
		for _, c := range a.Out.Words() {
			final.Cols = append(final.Cols, queryplan.Rename{From: c.Name, To: c.Name})
		}
	}
	var node queryplan.Node
	if len(w.out.Aggs) > 0 {
		node = &w.out
	}
	if len(w.computed) > 0 {
		node = s.checked(w)
	}
	if len(w.after.Exprs) > 0 {
		w.after.Input = node
		node = &w.after
	}
	for _, x := range w.extremes {
		if node == nil {
			node = x
		} else {
			node = &queryplan.Join{Left: node, Right: x, Unique: true}
		}
	}
	if len(w.after.Exprs) == 0 && len(w.extremes) == 0 {
		return node
	}
	final.Input = node
	return final
}

// checked fills a temporary variable with the groups, checks what is computed
// of them, and returns a scan of it.
func (s *splitter) checked(w *wideAggregate) queryplan.Node {
	v := &queryplan.Var{Name: s.names.Fresh("groups"), Kind: queryplan.Temp, Unique: true,
		Limit: -1,
		Span:  s.span}
	for _, name := range w.out.By {
		c, _ := queryplan.FindColumn(queryplan.SplitWords(w.cols), name)
		v.Cols = append(v.Cols, c)
	}
	v.Keys = len(v.Cols)
	for _, a := range w.out.Aggs {
		v.Cols = append(v.Cols, a.Out)
	}
	s.vars = append(s.vars, v)
	s.before = append(s.before, &queryplan.Assign{Var: v, Node: &w.out})
	scan := func() queryplan.Node {
		n := &queryplan.Scan{Var: v}
		for _, c := range v.Cols {
			n.Names = append(n.Names, c.Name)
		}
		return n
	}
	for _, c := range w.computed {
		group := &queryplan.Project{Input: &queryplan.Filter{Input: scan(),
			Cond: call("not", call("holds", fits(c.value)))}}
		for _, name := range w.out.By {
			group.Cols = append(group.Cols, queryplan.Rename{From: name, To: name})
		}
		s.before = append(s.before, &queryplan.Check{Node: group, Result: &c.agg, Span: s.span})
	}
	return scan()
}

// fits returns the condition that a wide decimal has a value of 38 digits. Of
// one that does not even fit 128 bits it has no value itself.
func fits(e queryplan.Expr) queryplan.Expr {
	most, _ := scalar.Pow10(scalar.MaxWideScale).Sub(scalar.Int128Of(1))
	least, _ := most.Neg()
	limit := func(n scalar.Int128) queryplan.Expr {
		return splitExpr(&queryplan.Const{Value: scalar.OfInt128(e.Type(), n)})
	}
	return call("and", call("ge", e, limit(least)), call("le", e, limit(most)))
}

// compute adds a result that is computed of accumulators.
func (w *wideAggregate) compute(a queryplan.Agg, value queryplan.Expr) {
	w.computed = append(w.computed, computed{a, value})
	w.after.Exprs = append(w.after.Exprs, splitNamed(a.Out.Name, value)...)
}

// add adds one aggregation.
func (w *wideAggregate) add(a queryplan.Agg) {
	in, _ := queryplan.FindColumn(w.cols, a.In)
	words := a.Out.Words()
	switch {
	case in.Type.IsWide() && (a.Fn == queryplan.Min || a.Fn == queryplan.Max):
		w.extreme(a, in)
	case in.Type.IsWide() && a.Fn == queryplan.Avg:
		w.compute(a, w.mean(in, a.Out.Type))
	case in.Type.IsWide() && a.Fn == queryplan.Total:
		w.compute(a, w.total(in))
	case !a.Out.Type.IsWide():
		w.out.Aggs = append(w.out.Aggs, a)
	case in.Type.Scale == a.Out.Type.Scale:
		w.out.Aggs = append(w.out.Aggs,
			queryplan.Agg{Out: words[0], Fn: queryplan.TotalHigh, In: a.In},
			queryplan.Agg{Out: words[1], Fn: queryplan.TotalLow, In: a.In})
	default:
		w.compute(a, convert(w.words(in), a.Out.Type))
	}
}

// made adds an aggregation under a name of its own.
func (w *wideAggregate) made(fn queryplan.AggFn, in string, t scalar.Type) queryplan.Expr {
	out := queryplan.Column{Name: w.names.Fresh(in + "$" + fn.String()), Type: t}
	w.out.Aggs = append(w.out.Aggs, queryplan.Agg{Out: out, Fn: fn, In: in})
	return ref(out)
}

// words returns the total of a column of one word as a wide decimal of its
// scale, as a name that splitExpr leaves alone.
func (w *wideAggregate) words(in queryplan.Column) queryplan.Expr {
	wide := scalar.WideDecimalOf(in.Type.Scale)
	return queryplan.WideOf(
		w.made(queryplan.TotalHigh, in.Name, wide.WordOf(scalar.High)),
		w.made(queryplan.TotalLow, in.Name, wide.WordOf(scalar.Low)))
}

// counted returns the number of rows.
func (w *wideAggregate) counted() queryplan.Expr {
	if w.count == nil {
		c := queryplan.Column{Name: w.names.Fresh("$count"), Type: scalar.IntType}
		w.out.Aggs = append(w.out.Aggs, queryplan.Agg{Out: c, Fn: queryplan.Count})
		w.count = &c
	}
	return ref(*w.count)
}

// total returns the total of a wide column. If the sum of the upper words
// overflows a word, the total overflows.
func (w *wideAggregate) total(in queryplan.Column) queryplan.Expr {
	cols := in.Words()
	high := w.made(queryplan.Total, cols[0].Name, cols[0].Type)
	return queryplan.TotalOfWide(in.Type, high, w.words(cols[1]), w.counted())
}

// mean returns the average of a wide column. It is exact: the sums of words fit
// 128 bits where the total may not, and the function mean adds and divides them
// without a loss.
func (w *wideAggregate) mean(in queryplan.Column, result scalar.Type) queryplan.Expr {
	cols := in.Words()
	sums := []queryplan.Expr{w.words(cols[0]), w.words(cols[1]), w.counted()}
	return &queryplan.Call{Func: scalar.Lookup("mean"), Args: sums, Result: result}
}

// extreme adds the least or greatest value of a wide column.
func (w *wideAggregate) extreme(a queryplan.Agg, in queryplan.Column) {
	p := &queryplan.Project{Input: w.out.Input}
	for _, name := range w.out.By {
		p.Cols = append(p.Cols, queryplan.Rename{From: name, To: name})
	}
	top := &queryplan.TopK{Input: p, Group: w.out.By, Limit: 1}
	to := a.Out.Words()
	for i, c := range in.Words() {
		p.Cols = append(p.Cols, queryplan.Rename{From: c.Name, To: to[i].Name})
		top.By = append(top.By, queryplan.OrderKey{Col: to[i].Name, Desc: a.Fn == queryplan.Max})
	}
	w.extremes = append(w.extremes, top)
}
