package ast

import "github.com/redfoxdb/redfox/frontend/source"

// EachName calls visit for the place and the name of each predicate that a
// clause mentions.
func EachName(c *Clause, visit func(at source.Span, name string)) {
	var inspect func(n Node) bool
	inspect = func(n Node) bool {
		switch n := n.(type) {
		case *Apply:
			visit(n.Name.Span, n.Name.Text)
		case *PredRef:
			if n.Name != "" {
				visit(n.Span, n.Name)
			}
			for _, x := range n.Clauses {
				EachName(x, visit)
			}
		case *Block:
			for _, x := range Children(n) {
				Inspect(x, inspect)
			}
		}
		return true
	}
	Inspect(c.Left, inspect)
	Inspect(c.Right, inspect)
	if c.P2P != nil {
		for _, s := range c.P2P.Specs {
			Inspect(s.In, inspect)
		}
	}
}

// Rename returns a clause in which the predicates have the names that a
// function gives them, which gets the place and the name as written. The clause
// shares what does not change with the original.
func Rename(c *Clause, name func(at source.Span, name string) string) *Clause {
	r := renamer{name}
	out := *c
	out.Left, out.Right = r.node(c.Left), r.node(c.Right)
	if c.P2P != nil {
		p := *c.P2P
		p.Specs = nil
		for _, s := range c.P2P.Specs {
			spec := *s
			spec.In = r.node(s.In)
			p.Specs = append(p.Specs, &spec)
		}
		out.P2P = &p
	}
	return &out
}

type renamer struct {
	name func(at source.Span, name string) string
}

func (r renamer) list(nodes []Node) []Node {
	out := make([]Node, len(nodes))
	for i, n := range nodes {
		out[i] = r.node(n)
	}
	return out
}

func (r renamer) node(n Node) Node {
	switch n := n.(type) {
	case *Conj:
		return &Conj{n.Span, r.list(n.Items)}
	case *Disj:
		return &Disj{n.Span, r.list(n.Items)}
	case *Not:
		return &Not{n.Span, r.node(n.X)}
	case *Paren:
		return &Paren{n.Span, r.node(n.X)}
	case *Compare:
		c := *n
		c.Operands = r.list(n.Operands)
		return &c
	case *In:
		c := *n
		c.X, c.Items = r.node(n.X), r.list(n.Items)
		return &c
	case *If:
		c := *n
		c.Cond, c.Then, c.Else = r.node(n.Cond), r.node(n.Then), r.node(n.Else)
		return &c
	case *Binary:
		c := *n
		c.X, c.Y = r.node(n.X), r.node(n.Y)
		return &c
	case *Unary:
		c := *n
		c.X = r.node(n.X)
		return &c
	case *RefMode:
		return &RefMode{n.Span, r.node(n.X), r.node(n.V)}
	case *Apply:
		c := *n
		c.Name = &Name{n.Name.Span, r.name(n.Name.Span, n.Name.Text)}
		c.Args = r.list(n.Args)
		return &c
	case *PredRef:
		c := *n
		if n.Name != "" {
			c.Name = r.name(n.Span, n.Name)
		}
		c.Clauses = nil
		for _, x := range n.Clauses {
			c.Clauses = append(c.Clauses, Rename(x, r.name))
		}
		return &c
	case *Block:
		return &Block{n.Span, r.node(n.Head), r.list(n.Items)}
	}
	return n
}
