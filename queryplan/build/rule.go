package build

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// rule is one rule or constraint on its way to operators. A variable's column
// has the variable's name.
type rule struct {
	b     *builder
	names *queryplan.Names // of columns; those of all variables are taken
	// uses counts the occurrences of a variable. One that occurs once joins
	// nothing and is not read.
	uses map[*core.Var]int
	// first is the position of the literal to start with, or -1, and versions
	// those of the atoms that do not read the full relation, by position.
	first    int
	versions map[int]queryplan.Version
	// set says that repeated bindings do no harm: the tuples go into a set. In
	// an aggregate's body they would count twice.
	set bool
}

// newRule counts the variables of a head or of what else is shown of a body.
func newRule(b *builder, head []core.Term, shown []*core.Var, body []core.Literal) *rule {
	r := &rule{b: b, names: queryplan.NewNames(), uses: map[*core.Var]int{}, first: -1}
	use := func(v *core.Var) {
		r.uses[v]++
		r.names.Take(v.Name)
	}
	for _, t := range head {
		if v, ok := t.(*core.Var); ok {
			use(v)
		}
	}
	for _, v := range shown {
		use(v)
	}
	eachVar(body, use)
	return r
}

// eachVar calls f for every occurrence of a variable in a body, in order.
func eachVar(body []core.Literal, f func(*core.Var)) {
	for _, l := range body {
		switch l := l.(type) {
		case *core.Atom:
			for _, t := range l.Args {
				if v, ok := t.(*core.Var); ok {
					f(v)
				}
			}
		case *core.Let:
			f(l.Var)
			eachExprVar(l.Expr, f)
		case *core.Test:
			eachExprVar(l.Expr, f)
		case *core.Not:
			eachVar(l.Body, f)
		}
	}
}

func eachExprVar(e core.Expr, f func(*core.Var)) {
	switch e := e.(type) {
	case core.VarExpr:
		f(e.Var)
	case *core.Call:
		for _, a := range e.Args {
			eachExprVar(a, f)
		}
	}
}

// rule returns the tree that yields the head's tuples. A join starts with the
// literal at first, if that is not negative.
func (b *builder) rule(
	cr *core.Rule, first int, versions map[int]queryplan.Version,
) (queryplan.Node, error) {
	r := newRule(b, cr.Head.Args, ruleVars(cr), cr.Body)
	r.first, r.versions = first, versions
	r.set = cr.Agg == nil && cr.Seq == nil || countsDistinct(cr)
	n, err := r.body(cr)
	if err == nil {
		n, err = r.head(n, &cr.Head)
	}
	if err != nil {
		return nil, fmt.Errorf("rule for %s: %w", cr.Head.Pred.Name, err)
	}
	return n, nil
}

// ruleVars returns the variables that a rule uses beside head and body.
func ruleVars(cr *core.Rule) []*core.Var {
	var out []*core.Var
	for _, a := range cr.Agg {
		out = append(append(out, a.Out), a.Inputs()...)
	}
	if s := cr.Seq; s != nil {
		out = append(append(out, s.Index), s.Vars()...)
	}
	return out
}

func (r *rule) body(cr *core.Rule) (queryplan.Node, error) {
	s, err := r.conjunction(stream{}, cr.Body)
	if err != nil {
		return nil, err
	}
	switch {
	case cr.Agg != nil:
		return r.aggregate(s.orUnit(), cr)
	case cr.Seq != nil:
		return &queryplan.Seq{Input: s.orUnit(), Group: varNames(cr.Seq.Group),
			Order: orderKeys(cr.Seq.Order), Index: cr.Seq.Index.Name}, nil
	}
	return s.orUnit(), nil
}

func orderKeys(keys []core.SeqKey) []queryplan.OrderKey {
	return list.Map(keys, func(k core.SeqKey) queryplan.OrderKey {
		return queryplan.OrderKey{Col: k.Var.Name, Desc: k.Desc}
	})
}

func varNames(vars []*core.Var) []string {
	return list.Map(vars, func(v *core.Var) string { return v.Name })
}

// aggregate groups the bindings of a body by the head's other variables. A
// total is taken in the type of its result, so that of narrow integers fits;
// one that is a wide decimal takes numbers of one word as they are.
func (r *rule) aggregate(in queryplan.Node, cr *core.Rule) (queryplan.Node, error) {
	n := &queryplan.Aggregate{}
	outs := map[*core.Var]bool{}
	for _, a := range cr.Agg {
		outs[a.Out] = true
	}
	for _, t := range cr.Head.Args {
		if v, ok := t.(*core.Var); ok && !outs[v] && !slices.Contains(n.By, v.Name) {
			n.By = append(n.By, v.Name)
		}
	}
	if chooses(cr) && len(cr.Agg) > 1 {
		return nil, fmt.Errorf("%s beside other aggregations", cr.Agg[0].Fn)
	}
	if cr.Agg[0].Fn == core.StringJoin {
		return r.joined(in, n.By, cr), nil
	}
	before, after := &queryplan.Map{}, &queryplan.Map{}
	for _, a := range cr.Agg {
		agg := queryplan.Agg{Out: column(a.Out), Fn: planFns[a.Fn]}
		switch {
		case agg.Fn == queryplan.Count && a.Out.Type != scalar.IntType:
			agg.Out = queryplan.Column{Name: r.names.Fresh(a.Out.Name), Type: scalar.IntType}
			after.Exprs = append(after.Exprs, queryplan.NamedExpr{Name: a.Out.Name,
				Expr: convert(ref(agg.Out), a.Out.Type)})
		case agg.Fn == queryplan.Count:
		case a.Fn == core.Total && a.Out.Type.IsWide() && !a.In.Type.IsWide():
			agg.In = a.In.Name
		case agg.Fn != queryplan.Avg && a.In.Type != a.Out.Type:
			agg.In = r.names.Fresh(a.In.Name)
			before.Exprs = append(before.Exprs,
				queryplan.NamedExpr{Name: agg.In, Expr: convert(ref(column(a.In)), a.Out.Type)})
		default:
			agg.In = a.In.Name
		}
		n.Aggs = append(n.Aggs, agg)
	}
	if chooses(cr) {
		in = r.chosen(in, n.By, cr)
	}
	if n.Input = in; len(before.Exprs) > 0 {
		before.Input, n.Input = in, before
	}
	if len(after.Exprs) > 0 {
		after.Input = n
		return after, nil
	}
	return n, nil
}

// head arranges columns as the head's arguments. The columns' names do not
// matter to whoever inserts them.
func (r *rule) head(n queryplan.Node, h *core.Atom) (queryplan.Node, error) {
	cols := n.Columns()
	made := &queryplan.Map{Input: n}
	args := given(h)
	from := make([]string, len(args))
	for i, t := range args {
		want := h.Pred.Args[i]
		var e queryplan.Expr
		switch t := t.(type) {
		case core.Const:
			e = &queryplan.Const{Value: t.Value}
		case *core.Var:
			c, ok := queryplan.FindColumn(cols, t.Name)
			if !ok {
				return nil, fmt.Errorf("head variable %s is not bound", t.Name)
			}
			e = ref(c)
			from[i] = t.Name
		}
		if e.Type() != want.Type {
			e, from[i] = convert(e, want.Type), ""
		}
		if from[i] == "" {
			from[i] = r.names.Fresh(want.Name)
			made.Exprs = append(made.Exprs, queryplan.NamedExpr{Name: from[i], Expr: e})
		}
	}
	if len(made.Exprs) > 0 {
		n = made
	}
	if slices.EqualFunc(n.Columns(), from, func(c queryplan.Column, name string) bool {
		return c.Name == name
	}) {
		return n, nil
	}
	p := &queryplan.Project{Input: n}
	for i, name := range from {
		p.Cols = append(p.Cols, queryplan.Rename{From: name, To: h.Pred.Args[i].Name})
	}
	return p, nil
}

func column(v *core.Var) queryplan.Column { return queryplan.Column{Name: v.Name, Type: v.Type} }

func ref(c queryplan.Column) queryplan.Expr { return &queryplan.ColRef{Col: c} }

func convert(e queryplan.Expr, to scalar.Type) queryplan.Expr {
	return &queryplan.Call{Func: scalar.Lookup("convert"), Args: []queryplan.Expr{e}, Result: to}
}

func call(name string, args ...queryplan.Expr) queryplan.Expr {
	return &queryplan.Call{Func: scalar.Lookup(name), Args: args, Result: scalar.BooleanType}
}

func expr(e core.Expr) queryplan.Expr {
	switch e := e.(type) {
	case core.VarExpr:
		return ref(column(e.Var))
	case core.Const:
		return &queryplan.Const{Value: e.Value}
	case *core.Call:
		c := &queryplan.Call{Func: e.Func, Result: e.Result}
		for _, a := range e.Args {
			c.Args = append(c.Args, expr(a))
		}
		return c
	}
	panic(fmt.Sprintf("queryplan/build: no expression %T", e))
}
