package delta

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/source"
)

// rewriter rewrites formulas. Starting is set where every predicate stands for
// what it held before the transaction.
type rewriter struct {
	*transaction
	starting bool
}

// rewrite returns the clauses that a clause becomes: itself, if it has no delta
// logic that matters.
func (t *transaction) rewrite(c *clause) []*ast.Clause {
	w := rewriter{transaction: t}
	node := *c.node
	node.Right = w.node(c.node.Right)
	node.P2P = w.specifiers(c.node.P2P)
	if c.kind == constraint {
		node.Left = w.node(c.node.Left)
	}
	if c.kind != rule {
		return []*ast.Clause{&node}
	}
	var heads, found []ast.Node
	var out []*ast.Clause
	for _, item := range items(c.node.Left) {
		h, ok := atomOf(item)
		if !ok {
			heads = append(heads, item)
			continue
		}
		name := h.apply.Name.Text
		if p := t.preds[name]; p.pulse && h.apply.Delta == "" {
			inserted := *h.apply
			inserted.Delta = "+"
			h.apply = &inserted
		}
		switch {
		case h.apply.Delta == "-":
			if deletion := w.deletion(node, h); deletion != nil {
				out = append(out, deletion)
				continue
			}
			heads = append(heads, w.relation(h, "-"+name))
		case h.apply.Delta != "" && t.framed[name]:
			delta := h.apply.Delta
			if !t.preds[name].functional() {
				delta = "+"
			}
			heads = append(heads, w.renamedHead(h, delta+name))
		case h.apply.Delta != "" || c.isNew || t.derives[name]:
			heads = append(heads, w.head(h))
		case t.isMaker(h):
			// The stored tuples have the entities of the other heads.
			found = append(found, w.relation(h, name))
		}
	}
	if len(heads) > 0 {
		node.Left = conjunction(heads)
		if found != nil {
			node.Arrow, node.Right = ast.Rule, conjunction(append(items(node.Right), found...))
		}
		out = append(out, &node)
	}
	if len(heads) < len(items(c.node.Left)) {
		for _, part := range out {
			part.PartOf = c.node
		}
	}
	return out
}

// deletion returns the rule for a deletion whose head leaves arguments open:
// tuples with any value there are deleted. It is nil if the head has none.
func (w rewriter) deletion(rule ast.Clause, h atom) *ast.Clause {
	name := h.apply.Name.Text
	args := w.list(h.args())
	if h.apply.Square && h.value == nil {
		args = append(args, &ast.Wildcard{Span: h.apply.Span})
	}
	open := 0
	for i, x := range args {
		if x, ok := ast.Unparen(x).(*ast.Wildcard); ok {
			if open++; open == 1 {
				args = slices.Clone(args)
			}
			args[i] = &ast.Var{Span: x.Span, Name: fmt.Sprintf("_old%d$", open)}
		}
	}
	if open == 0 || rule.P2P != nil {
		return nil
	}
	at := h.apply.Span
	rule.Left = apply("-"+name, args, at)
	body := append(items(rule.Right), apply(w.start(name), args, at))
	rule.Arrow, rule.Right = ast.Rule, conjunction(body)
	return &rule
}

// relation returns an atom as one of a relation with another name.
func (w rewriter) relation(a atom, name string) ast.Node {
	return apply(name, w.list(a.args()), a.apply.Span)
}

// renamedHead returns a head as one of another predicate of the same shape.
func (w rewriter) renamedHead(h atom, name string) ast.Node {
	renamed := *h.apply
	renamed.Delta = ""
	renamed.Name = &ast.Name{Span: h.apply.Name.Span, Text: name}
	return w.head(atom{&renamed, h.value})
}

// head returns a head whose arguments are rewritten.
func (w rewriter) head(h atom) ast.Node {
	a := *h.apply
	a.Args = w.list(a.Args)
	if h.value == nil {
		return &a
	}
	value := w.node(h.value)
	return &ast.Compare{Span: a.Span.To(value.Pos()), Operands: []ast.Node{&a, value},
		Ops: []string{"="}, OpSpans: []source.Span{a.Span}}
}

func (w rewriter) specifiers(p *ast.P2P) *ast.P2P {
	if p == nil {
		return nil
	}
	out := *p
	out.Specs = nil
	for _, s := range p.Specs {
		spec := *s
		spec.In = w.node(s.In)
		out.Specs = append(out.Specs, &spec)
	}
	return &out
}

func (w rewriter) list(nodes []ast.Node) []ast.Node {
	if nodes == nil {
		return nil
	}
	out := make([]ast.Node, len(nodes))
	for i, n := range nodes {
		out[i] = w.node(n)
	}
	return out
}

// node returns a formula in which events and stages are predicates.
func (w rewriter) node(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Conj:
		return &ast.Conj{Span: n.Span, Items: w.list(n.Items)}
	case *ast.Disj:
		return &ast.Disj{Span: n.Span, Items: w.list(n.Items)}
	case *ast.Not:
		return &ast.Not{Span: n.Span, X: w.node(n.X)}
	case *ast.Paren:
		return &ast.Paren{Span: n.Span, X: w.node(n.X)}
	case *ast.In:
		c := *n
		c.X, c.Items = w.node(n.X), w.list(n.Items)
		return &c
	case *ast.If:
		c := *n
		c.Cond, c.Then, c.Else = w.node(n.Cond), w.node(n.Then), w.node(n.Else)
		return &c
	case *ast.Binary:
		c := *n
		c.X, c.Y = w.node(n.X), w.node(n.Y)
		return &c
	case *ast.Unary:
		c := *n
		c.X = w.node(n.X)
		return &c
	case *ast.RefMode:
		return &ast.RefMode{Span: n.Span, X: w.node(n.X), V: w.node(n.V)}
	case *ast.Compare:
		// A deletion has no value for a key: it may delete several.
		if a, ok := atomOf(n); ok && a.apply.Delta == "-" {
			return w.relation(a, "-"+a.apply.Name.Text)
		}
		c := *n
		c.Operands = w.list(n.Operands)
		return &c
	case *ast.Apply:
		return w.application(n)
	}
	return n
}

// application returns an application of the predicate that an event or a stage
// is.
func (w rewriter) application(n *ast.Apply) ast.Node {
	c := *n
	c.Args = w.list(n.Args)
	c.Delta, c.Stage = "", ""
	name := n.Name.Text
	switch {
	case n.Delta == "-":
		c.Split, name = -1, "-"+name
	case n.Delta != "":
		name = n.Delta + name
	case stages[n.Stage] || w.starting && n.Stage == "":
		name = w.start(name)
	}
	if name != n.Name.Text {
		c.Name = &ast.Name{Span: n.Name.Span, Text: name}
	}
	return &c
}

// start returns the predicate of what a predicate held before the transaction.
func (t *transaction) start(name string) string {
	p := t.preds[name]
	switch {
	case p == nil || !t.changed[name] && !t.affected[name]:
		return name
	case t.affected[name] && !t.ws.stored[name] && !t.atStart[name]:
		t.atStart[name] = true
		t.queue = append(t.queue, name)
	}
	return name + core.StartSuffix
}

// copyAtStart adds the rules of a derived predicate for what it held before the
// transaction.
func (t *transaction) copyAtStart(p *pred) {
	w := rewriter{t, true}
	for _, c := range p.rules {
		node := *c.node
		node.Right, node.P2P = w.node(c.node.Right), w.specifiers(c.node.P2P)
		for _, h := range c.heads {
			if h.apply.Name.Text == p.name {
				node.Left, node.PartOf = w.renamedHead(h, p.name+core.StartSuffix), c.node
				copied := node
				if made := w.madeAtStart(c, p.name); made != nil {
					body := append(items(node.Right), made...)
					copied.Arrow, copied.Right = ast.Rule, conjunction(body)
				}
				t.made = append(t.made, &copied)
			}
		}
	}
}

// madeAtStart returns what finds the entities that a head of a clause has and
// another head of it creates.
func (w rewriter) madeAtStart(c *clause, head string) []ast.Node {
	var out []ast.Node
	for _, h := range c.heads {
		if name := h.apply.Name.Text; name != head && w.isMaker(h) {
			out = append(out, w.relation(h, w.start(name)))
		}
	}
	return out
}

// isMaker reports whether an atom of a head creates an entity: whether it is
// one of a refmode or a constructor.
func (t *transaction) isMaker(h atom) bool {
	return t.makes[h.apply.Name.Text] != "" || slices.ContainsFunc(h.apply.Args,
		func(x ast.Node) bool { _, ok := x.(*ast.RefMode); return ok })
}
