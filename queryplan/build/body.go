package build

import (
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// stream is the bindings found so far: an operator with a column for each bound
// variable that is needed. A nil node is the one empty binding.
type stream struct {
	node  queryplan.Node
	bound map[*core.Var]bool
}

// orUnit returns the operator, for the empty binding a constant.
func (s stream) orUnit() queryplan.Node {
	if s.node == nil {
		return &queryplan.Values{Rows: [][]scalar.Value{{}}}
	}
	return s.node
}

// conjunction extends bindings by those of a body. Tests, computations and
// negations come as soon as their variables are bound; atoms in the order of
// the source, except that one which shares no variable with those before it
// waits for the others, so that products are made only where there is no way
// round. An equality that computes a variable does so ahead of the variable's
// atoms, which are then joined on it, and one between expressions of both sides
// of a product makes it a join: p(x), q(y), y = x + 1 and p(x), q(y), 2 * y = x
// + 1 are no products either.
func (r *rule) conjunction(s stream, body []core.Literal) (stream, error) {
	s.bound = maps.Clone(s.bound)
	if s.bound == nil {
		s.bound = map[*core.Var]bool{}
	}
	binds := maps.Clone(s.bound)
	for _, l := range body {
		switch l := l.(type) {
		case *core.Atom:
			for _, t := range l.Args {
				if v, ok := t.(*core.Var); ok {
					binds[v] = true
				}
			}
		case *core.Let:
			binds[l.Var] = true
		}
	}
	first, versions := r.first, r.versions
	r.first, r.versions = -1, nil // they speak of the outer body only
	left := make([]int, len(body))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		at := slices.Index(left, first)
		if at < 0 {
			at = r.next(s, body, left, binds)
		}
		if at < 0 {
			return s, fmt.Errorf("a variable of the body is not bound")
		}
		taken := []int{left[at]}
		var err error
		switch l := body[left[at]].(type) {
		case *core.Atom:
			links := r.links(s, l, body, left)
			r.atom(&s, l, versions[left[at]], body, links)
			taken = append(taken, links...)
		case *core.Let:
			r.let(&s, l)
		case *core.Test:
			if let := s.computes(l); let != nil {
				r.let(&s, let)
			} else {
				s.node = &queryplan.Filter{Input: s.orUnit(), Cond: expr(l.Expr)}
			}
		case *core.Not:
			err = r.not(&s, l)
		}
		if err != nil {
			return s, err
		}
		left = slices.DeleteFunc(left, func(i int) bool { return slices.Contains(taken, i) })
	}
	return s, nil
}

// binds reports whether all variables of an expression are bound.
func (s stream) binds(e core.Expr) bool {
	all := true
	eachExprVar(e, func(v *core.Var) { all = all && s.bound[v] })
	return all
}

func hasVar(e core.Expr) bool {
	found := false
	eachExprVar(e, func(*core.Var) { found = true })
	return found
}

// computes turns an equality into the computation of its one unbound variable
// from bound ones, if it is one; otherwise it returns nil. An equality with a
// constant works better as a filter of the atom that binds the variable.
func (s stream) computes(t *core.Test) *core.Let {
	eq, ok := t.Expr.(*core.Call)
	if !ok || eq.Func.Name != "eq" {
		return nil
	}
	for i, side := range eq.Args {
		v, ok := side.(core.VarExpr)
		other := eq.Args[1-i]
		if ok && !s.bound[v.Var] && hasVar(other) && s.binds(other) {
			return &core.Let{Span: t.Span, Var: v.Var, Expr: other}
		}
	}
	return nil
}

// next returns the index in left of the literal to take next, or -1 if none can
// be. The variables in binds are bound by this conjunction sooner or later.
func (r *rule) next(s stream, body []core.Literal, left []int, binds map[*core.Var]bool) int {
	connected, reads, any := -1, -1, -1
	for i, at := range left {
		if a, ok := body[at].(*core.Atom); ok {
			if any < 0 {
				any = i
			}
			if reads < 0 && len(r.reads(a)) > 0 {
				reads = i
			}
			if connected < 0 && s.node != nil &&
				(r.connects(s, a) || len(r.links(s, a, body, left)) > 0) {
				connected = i
			}
			continue
		}
		var ready bool
		switch l := body[at].(type) {
		case *core.Let:
			ready = s.binds(l.Expr)
		case *core.Test:
			ready = s.binds(l.Expr) || s.computes(l) != nil
		case *core.Not:
			ready = true
			eachVar(l.Body, func(v *core.Var) { ready = ready && (s.bound[v] || !binds[v]) })
		}
		if ready {
			return i
		}
	}
	switch {
	case connected >= 0:
		return connected
	case reads >= 0:
		return reads
	}
	return any
}

// reads returns the variables of an atom that have columns.
func (r *rule) reads(a *core.Atom) []*core.Var {
	var out []*core.Var
	for _, t := range a.Args {
		if v, ok := t.(*core.Var); ok && r.uses[v] > 1 && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// connects reports whether an atom shares a variable with the bindings. One
// that reads nothing is a test of its relation and connects too.
func (r *rule) connects(s stream, a *core.Atom) bool {
	reads := r.reads(a)
	return len(reads) == 0 || slices.ContainsFunc(reads, func(v *core.Var) bool {
		return s.bound[v]
	})
}

// links returns the positions of the equalities, among those left, by which an
// atom that shares no variable can be joined: one side is bound, the other is
// an expression over the atom.
func (r *rule) links(s stream, a *core.Atom, body []core.Literal, left []int) []int {
	if s.node == nil || r.connects(s, a) {
		return nil
	}
	own := stream{bound: map[*core.Var]bool{}}
	for _, v := range r.reads(a) {
		own.bound[v] = true
	}
	var out []int
	for _, i := range left {
		if t, ok := body[i].(*core.Test); ok {
			if x, _ := link(s, own, t); x != nil {
				out = append(out, i)
			}
		}
	}
	return out
}

// link splits an equality into its side over left and its side over right, nil
// if it has no such sides.
func link(left, right stream, t *core.Test) (l, r core.Expr) {
	eq, ok := t.Expr.(*core.Call)
	if !ok || eq.Func.Name != "eq" {
		return nil, nil
	}
	for i, l := range eq.Args {
		r := eq.Args[1-i]
		if hasVar(l) && hasVar(r) && left.binds(l) && right.binds(r) {
			return l, r
		}
	}
	return nil, nil
}

// atom joins the tuples of an atom, on the variables that it shares or on the
// equalities at links.
func (r *rule) atom(
	s *stream, a *core.Atom, version queryplan.Version, body []core.Literal, links []int,
) {
	n := r.scan(a, version)
	reads := r.reads(a)
	right := stream{node: n, bound: map[*core.Var]bool{}}
	for _, v := range reads {
		right.bound[v] = true
	}
	for _, i := range links {
		lhs, rhs := link(*s, right, body[i].(*core.Test))
		on, ok := lhs.(core.VarExpr)
		if !ok || right.bound[on.Var] {
			on = core.VarExpr{Var: &core.Var{Name: r.names.Fresh("$on"), Type: lhs.Type()}}
			r.let(s, &core.Let{Var: on.Var, Expr: lhs})
		}
		r.let(&right, &core.Let{Var: on.Var, Expr: rhs})
	}
	for v := range right.bound {
		s.bound[v] = true
	}
	switch {
	case s.node == nil:
		s.node = n
	case r.set && len(reads) == 0:
		s.node = &queryplan.Join{Kind: queryplan.Semi, Left: s.node, Right: onlyColumns(n, nil)}
	default:
		j := &queryplan.Join{Left: s.node, Right: right.node}
		j.Unique = j.MatchesOnce()
		s.node = j
	}
}

// scan reads the tuples of an atom: constants and repeated variables become
// filters on columns of their own.
func (r *rule) scan(a *core.Atom, version queryplan.Version) queryplan.Node {
	v, columns := r.b.read(a.Pred)
	scan := &queryplan.Scan{Var: v, Version: version, Names: make([]string, columns)}
	var node queryplan.Node = scan
	seen := map[*core.Var]bool{}
	for i, t := range a.Args {
		col := queryplan.Column{Type: a.Pred.Args[i].Type}
		var same queryplan.Expr
		switch t := t.(type) {
		case core.Const:
			col.Name = r.names.Fresh(a.Pred.Args[i].Name)
			same = &queryplan.Const{Value: t.Value}
		case *core.Var:
			switch {
			case seen[t]:
				col.Name = r.names.Fresh(t.Name)
				same = ref(column(t))
			case r.uses[t] > 1:
				seen[t] = true
				col.Name = t.Name
			}
		}
		if i < columns {
			scan.Names[i] = col.Name
		} else {
			scan.Position = col.Name
		}
		if same != nil {
			node = &queryplan.Filter{Input: node, Cond: call("eq", ref(col), same)}
		}
	}
	return node
}

func (r *rule) let(s *stream, l *core.Let) {
	e := expr(l.Expr)
	if s.bound[l.Var] {
		s.node = &queryplan.Filter{Input: s.orUnit(), Cond: call("eq", ref(column(l.Var)), e)}
		return
	}
	s.bound[l.Var] = true
	if c, ok := e.(*queryplan.Const); ok && s.node == nil {
		s.node = &queryplan.Values{Cols: []queryplan.Column{column(l.Var)},
			Rows: [][]scalar.Value{{c.Value}}}
		return
	}
	exprs := []queryplan.NamedExpr{{Name: l.Var.Name, Expr: e}}
	if m, ok := s.node.(*queryplan.Map); ok && !usesAny(e, m.Exprs) {
		s.node = &queryplan.Map{Input: m.Input, Exprs: append(slices.Clone(m.Exprs), exprs...)}
		return
	}
	s.node = &queryplan.Map{Input: s.orUnit(), Exprs: exprs}
}

// usesAny reports whether e uses a column that one of exprs computes.
func usesAny(e queryplan.Expr, exprs []queryplan.NamedExpr) bool {
	for _, name := range queryplan.ExprColumns(e) {
		if slices.ContainsFunc(exprs, func(x queryplan.NamedExpr) bool { return x.Name == name }) {
			return true
		}
	}
	return false
}

// not removes the bindings for which the inner body has one too.
func (r *rule) not(s *stream, l *core.Not) error {
	if cond, ok := conditions(l.Body); ok {
		if queryplan.MayFail(cond) {
			cond = call("holds", cond)
		}
		s.node = &queryplan.Filter{Input: s.orUnit(), Cond: call("not", cond)}
		return nil
	}
	body := r.hoist(s, l.Body)
	var shared []string
	outer := map[*core.Var]bool{}
	eachVar(body, func(v *core.Var) {
		if s.bound[v] && !outer[v] {
			outer[v] = true
			shared = append(shared, v.Name)
		}
	})
	var in stream
	if needsOuter(body, outer) {
		// The inner body computes with variables that only the outer one binds:
		// it starts from their distinct values.
		in.node = onlyColumns(s.orUnit(), shared)
		if !queryplan.IsSet(in.node) {
			in.node = &queryplan.Dedup{Input: in.node}
		}
		in.bound = outer
	}
	set := r.set
	r.set = true
	in, err := r.conjunction(in, body)
	r.set = set
	if err != nil {
		return err
	}
	j := &queryplan.Join{Kind: queryplan.Anti, Left: s.orUnit(),
		Right: onlyColumns(in.orUnit(), shared)}
	j.Unique = j.MatchesOnce()
	s.node = j
	return nil
}

// hoist computes outside a negation what the negated body computes from outer
// variables alone, so that !q(x + 1) is one anti join. It returns the rest of
// the body. What may be without a value stays inside, where it makes the
// negation true.
func (r *rule) hoist(s *stream, body []core.Literal) []core.Literal {
	if s.node == nil {
		return body
	}
	var rest []core.Literal
	for _, l := range body {
		let, ok := l.(*core.Let)
		if t, isTest := l.(*core.Test); isTest {
			let = s.computes(t)
			ok = let != nil
		}
		if ok && !s.bound[let.Var] && s.binds(let.Expr) && !queryplan.MayFail(expr(let.Expr)) {
			r.let(s, let)
		} else {
			rest = append(rest, l)
		}
	}
	return rest
}

// conditions returns a body as one condition if it has tests only.
func conditions(body []core.Literal) (queryplan.Expr, bool) {
	var conds []queryplan.Expr
	for _, l := range body {
		t, ok := l.(*core.Test)
		if !ok {
			return nil, false
		}
		conds = append(conds, expr(t.Expr))
	}
	if len(conds) == 0 {
		return nil, false
	}
	return queryplan.And(conds), true
}

// needsOuter reports whether a negated body uses an outer variable where its
// own atoms, computations and conversions do not bind it.
func needsOuter(body []core.Literal, outer map[*core.Var]bool) bool {
	binds := map[*core.Var]bool{}
	for _, l := range body {
		if a, ok := l.(*core.Atom); ok {
			for _, t := range a.Args {
				if v, ok := t.(*core.Var); ok {
					binds[v] = true
				}
			}
		}
	}
	missing := func(e core.Expr) bool {
		found := false
		eachExprVar(e, func(v *core.Var) { found = found || !binds[v] })
		return found
	}
	for range body {
		for _, l := range body {
			let, ok := l.(*core.Let)
			if t, isTest := l.(*core.Test); isTest {
				let = stream{bound: binds}.computes(t)
				ok = let != nil && isConversion(let.Expr)
			}
			if ok && !missing(let.Expr) {
				binds[let.Var] = true
			}
		}
	}
	found := false
	for _, l := range body {
		if _, ok := l.(*core.Atom); !ok {
			eachVar([]core.Literal{l}, func(v *core.Var) { found = found || outer[v] && !binds[v] })
		}
	}
	return found
}

// isConversion reports whether an expression is the value of a variable in
// another type.
func isConversion(e core.Expr) bool {
	k, ok := e.(*core.Call)
	if !ok || k.Func.Name != "convert" {
		return false
	}
	_, ok = k.Args[0].(core.VarExpr)
	return ok
}

// onlyColumns projects onto the named columns where n has others; their order
// does not matter.
func onlyColumns(n queryplan.Node, names []string) queryplan.Node {
	if len(n.Columns()) == len(names) {
		return n
	}
	return arrange(n, names)
}

// arrange projects onto the named columns in their order.
func arrange(n queryplan.Node, names []string) queryplan.Node {
	if slices.EqualFunc(n.Columns(), names, func(c queryplan.Column, name string) bool {
		return c.Name == name
	}) {
		return n
	}
	p := &queryplan.Project{Input: n}
	for _, name := range names {
		p.Cols = append(p.Cols, queryplan.Rename{From: name, To: name})
	}
	return p
}
