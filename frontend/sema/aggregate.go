package sema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
)

func (c *checker) disjunctionUnderP2P(cl *clause, d *ast.Disj) {
	e := c.Errorf(diag.DisjunctionInAggregate, d.Span,
		"the body of %s<<>> cannot contain a disjunction", cl.Node.P2P.Name)
	e.Note("a binding that several alternatives give would count once or more than once, depending " +
		"on how it is read")
	var vars []string
	seen := map[string]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		if v, ok := n.(*ast.Var); ok && !seen[v.Name] {
			seen[v.Name] = true
			vars = append(vars, v.Name)
		}
		return true
	})
	list := strings.Join(vars, ", ")
	text := strings.Join(strings.Fields(d.Span.Text()), " ")
	if len(text) > 60 {
		text = "..."
	}
	e.Help("move it to a helper predicate, _either(%s) <- %s., and aggregate over _either(%s)",
		list,
		text, list)
}

// p2p lowers the head of agg<<>> and seq<<>>.
func (lo *lowering) p2p(k *conj) {
	if lo.cl.body == nil {
		lo.cl.Broken = true
		lo.c.nothingToWorkOn(lo.cl.Node.P2P)
		return
	}
	switch p2p := lo.cl.Node.P2P; {
	case p2p.Name == "seq" && len(p2p.Specs) > 0:
		lo.numbering(k)
	case p2p.Name == "seq":
		lo.sequence(k)
	default:
		lo.aggregation(k)
	}
}

func (c *checker) nothingToWorkOn(p *ast.P2P) {
	d := c.Errorf(diag.EmptyAggregateBody, p.Span, "%s<<>> has nothing to work on", p.Name)
	d.Help("write a body after >>")
}

func (lo *lowering) aggregation(k *conj) {
	p2p := lo.cl.Node.P2P
	if len(p2p.Specs) == 0 {
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.UnknownAggregation, p2p.Span, "agg<<>> says nothing to compute")
		d.Help("write for example agg<<n = count()>> or agg<<s = total(x)>>")
		return
	}
	outs := map[string]*ast.Spec{}
	for _, s := range p2p.Specs {
		lo.spec(s, outs, k)
	}
	if lo.cl.Broken {
		return
	}
	used := map[string]bool{}
	for _, h := range lo.cl.heads {
		lo.aggregateHead(h, outs, used, k)
	}
	for _, s := range p2p.Specs {
		if !used[s.Out.Text] && !lo.cl.Broken {
			lo.cl.Broken = true
			d := lo.c.Errorf(diag.AggregateOutput, s.Span,
				"the head does not use %s, the value of %s",
				s.Out.Text, s.Fn.Text)
			d.Help("make it the value of a head atom, as in f[...] = %s", s.Out.Text)
		}
	}
}

// spec lowers one specifier u = total(x).
func (lo *lowering) spec(s *ast.Spec, outs map[string]*ast.Spec, k *conj) {
	aggregation, ok := vocabulary.AggregationOf(s.Fn.Text)
	fn := aggregation.Fn
	if !ok {
		lo.cl.Broken = true
		lo.unknownAggregation(s)
		return
	}
	if other := outs[s.Out.Text]; other != nil {
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.AggregateOutput, s.Out.Span, "%s is computed twice", s.Out.Text)
		d.Label(other.Out.Span, "first here")
		d.Help("give each aggregation a variable of its own")
		return
	}
	outs[s.Out.Text] = s
	switch {
	case fn == core.Count && s.In != nil:
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.AggregateInput, s.In.Pos(), "count takes no argument")
		d.Note("it counts the bindings of the body, not the distinct values of %s",
			s.In.Pos().Text())
		d.Help("write count(), or count_distinct(%s) to count the distinct values",
			s.In.Pos().Text())
		return
	case fn != core.Count && s.In == nil:
		lo.cl.Broken = true
		d := lo.c.Errorf(diag.AggregateInput, s.Span, "%s needs a variable of the body", s.Fn.Text)
		_, call, _ := strings.Cut(aggregation.Form, " = ")
		d.Help("write %s = %s", s.Out.Text, call)
		return
	}
	a := normal.Aggregate{Span: s.Span, Fn: fn}
	if !lo.parameters(s, &a, k) {
		lo.cl.Broken = true
		return
	}
	if a.Out = lo.output(s, "aggregate", k); a.Out == nil {
		return
	}
	if s.In != nil {
		in := lo.aggregateInput(s, k)
		if in == nil {
			lo.cl.Broken = true
			return
		}
		a.In = in
	}
	lo.u.Aggs = append(lo.u.Aggs, a)
}

func (lo *lowering) unknownAggregation(s *ast.Spec) {
	d := lo.c.Errorf(diag.UnknownAggregation, s.Fn.Span, "there is no aggregation %s", s.Fn.Text)
	if vocabulary.IsNumbering(s.Fn.Text) {
		d.Help("numbers are written " + numberingExample)
		return
	}
	if near, ok := vocabulary.SynonymOf(s.Fn.Text); ok {
		d.Help("did you mean %s?", near)
	} else if near, ok := diag.Suggest(s.Fn.Text, vocabulary.AggregationNames()); ok {
		d.Help("did you mean %s?", near)
		d.Replace(s.Fn.Span, near)
	}
	d.Help("the aggregations are %s", vocabulary.AggregationCalls())
}

// output makes the variable of the result of a specifier.
func (lo *lowering) output(s *ast.Spec, what string, k *conj) *normal.Var {
	// A name of the body is bound there and cannot be the output.
	for _, item := range conjuncts(lo.cl.body) {
		if at := occurrence(item, s.Out.Text); at != nil {
			lo.cl.Broken = true
			d := lo.c.Errorf(diag.AggregateOutput, s.Out.Span,
				"%s is the %s's result, but the body uses it too", s.Out.Text, what)
			d.Label(at.Span, "used here, before the %s has a value", what)
			d.Help("name the result differently; to filter by it, write a second rule over the "+
				"%s's predicate", what)
			return nil
		}
	}
	k.scope.Write(s.Out.Text)
	out := lo.variable(&ast.Var{Span: s.Out.Span, Name: s.Out.Text}, k.scope)
	out.Out = true
	return out
}

func (lo *lowering) aggregateInput(s *ast.Spec, k *conj) *normal.Var {
	switch e := lo.operand(s.In, k).(type) {
	case nil:
		return nil
	case normal.Ref:
		if _, ok := ast.Unparen(s.In).(*ast.Wildcard); ok {
			d := lo.c.Errorf(diag.AggregateInput, s.In.Pos(),
				"%s needs a variable of the body, not _",
				s.Fn.Text)
			d.Help("name the argument of the body's atom and use its name here")
			return nil
		}
		return e.Var
	default:
		v := lo.fresh(s.In.Pos(), k.scope)
		k.add(&normal.Equation{Span: s.In.Pos(), X: v, Y: e})
		return v.Var
	}
}

// occurrence returns the first place where a variable is written.
func occurrence(n ast.Node, name string) *ast.Var {
	var found *ast.Var
	ast.Inspect(n, func(n ast.Node) bool {
		if v, ok := n.(*ast.Var); ok && v.Name == name && found == nil {
			found = v
		}
		return found == nil
	})
	return found
}

// aggregateHead lowers f[k...] = u.
func (lo *lowering) aggregateHead(
	h ast.Node, outs map[string]*ast.Spec, used map[string]bool, k *conj,
) {
	a, value := headAtom(h)
	if a == nil {
		lo.badHead(h)
		return
	}
	args := arguments(a)
	if value != nil {
		args = append(args[:len(args):len(args)], value)
	}
	isRefused := false
	for i, arg := range args {
		switch arg := ast.Unparen(arg).(type) {
		case *ast.Var:
			s := outs[arg.Name]
			if s == nil {
				continue
			}
			used[arg.Name] = true
			_, keys := shapeOf(a)
			if p := lo.c.predOf(a, true); p != nil && keys < 0 && p.Arity == len(args) {
				keys = p.Keys
			}
			if i < len(args)-1 || keys != len(args)-1 {
				lo.cl.Broken, isRefused = true, true
				d := lo.c.Errorf(diag.AggregateOutput, arg.Span,
					"%s is the aggregate's result and can only be the value of a function",
					arg.Name)
				d.Label(s.Span, "computed here")
				write := functionHead(a, args, value, i, outs)
				d.Help("write %s", write)
				d.Replace(h.Pos(), write)
			}
		case *ast.Literal, *ast.Wildcard:
		default:
			if !isRefused {
				lo.aggregateExpression(h, arg, outs)
			}
		}
	}
	if lo.cl.Broken {
		return
	}
	lo.head(h, k)
}

// functionHead rewrites p(k, u) and p[k, u] = v as p[k] = u for the help of a
// diagnostic. A value that has results stays the value.
func functionHead(
	a *ast.Apply, args []ast.Node, value ast.Node, out int, outs map[string]*ast.Spec,
) string {
	result := args[out]
	if value != nil && mentions(value, outs) {
		result = value
	}
	var keys []string
	for _, arg := range args {
		text := arg.Pos().Text()
		if !mentions(arg, outs) && !slices.Contains(keys, text) {
			keys = append(keys, text)
		}
	}
	return fmt.Sprintf("%s[%s] = %s", a.Name.Text, strings.Join(keys, ", "), result.Pos().Text())
}

// mentions reports whether an expression has results of an aggregate.
func mentions(n ast.Node, outs map[string]*ast.Spec) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		v, ok := n.(*ast.Var)
		found = found || ok && outs[v.Name] != nil
		return !found
	})
	return found
}

// lowerUpdate lowers total[k] += e: an aggregate with the function total.
func (c *checker) lowerUpdate(cl *clause) {
	a, isApply := ast.Unparen(cl.Node.Left).(*ast.Apply)
	if !isApply || !a.Square {
		d := c.Errorf(diag.BadHead, cl.Node.Left.Pos(), "+= needs a function on its left")
		d.Help("write total[k] += e.")
		cl.Broken = true
		return
	}
	if c.reservedHead(a) {
		cl.Broken = true
		return
	}
	p := c.predOf(a, true)
	if p == nil || !c.fits(a, p) {
		cl.Broken = true
		return
	}
	lo := c.lowering(cl, nil)
	k := &conj{scope: normal.NewScope(nil)}
	k.scope.Note(cl.Node.Left)
	k.scope.Note(cl.Node.Right)
	head := &normal.Atom{Span: a.Span, Pred: &p.Pred}
	for _, arg := range a.Args {
		switch arg := ast.Unparen(arg).(type) {
		case *ast.Var:
			head.Args = append(head.Args,
				normal.Ref{Var: lo.variable(arg, k.scope), Span: arg.Span})
		case *ast.Literal:
			head.Args = append(head.Args, &normal.Const{Value: arg.Value, Span: arg.Span})
		default:
			d := c.Errorf(diag.ExpressionInAggregateHead, arg.Pos(),
				"the keys of += are variables of its "+
					"right side")
			d.Help("write a rule with agg<<u = total(x)>> and bind the key in its body")
			cl.Broken = true
			return
		}
	}
	e := lo.operand(cl.Node.Right, k)
	if e == nil || cl.Broken {
		cl.Broken = true
		return
	}
	in, ok := e.(normal.Ref)
	if !ok {
		in = lo.fresh(cl.Node.Right.Pos(), k.scope)
		k.add(&normal.Equation{Span: cl.Node.Right.Pos(), X: in, Y: e})
	}
	out := lo.fresh(a.Span, k.scope)
	out.Var.Out = true
	head.Args = append(head.Args, out)
	lo.u.Heads = []*normal.Atom{head}
	lo.u.Aggs = []normal.Aggregate{{Span: cl.Node.Span, Out: out.Var, Fn: core.Total, In: in.Var}}
	report := &unbound{clause: cl}
	lo.u.Body = lo.order(k, report)
	lo.checkHeads(report)
	p.ruleSpan = a.Span
	cl.Units = []*normal.Unit{lo.u}
	c.reportUnbound(report, 1)
}
