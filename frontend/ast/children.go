package ast

// Children returns the nodes directly below n, in text order. The clauses in a
// PredRef are not nodes and are not among them.
func Children(n Node) []Node {
	switch n := n.(type) {
	case *Conj:
		return n.Items
	case *Disj:
		return n.Items
	case *Not:
		return []Node{n.X}
	case *Paren:
		return []Node{n.X}
	case *Compare:
		return n.Operands
	case *In:
		return append([]Node{n.X}, n.Items...)
	case *If:
		return []Node{n.Cond, n.Then, n.Else}
	case *Binary:
		return []Node{n.X, n.Y}
	case *Unary:
		return []Node{n.X}
	case *Apply:
		return n.Args
	case *RefMode:
		return []Node{n.X, n.V}
	case *Block:
		return append([]Node{n.Head}, n.Items...)
	}
	return nil
}

// Inspect calls visit for n and, where visit returns true, for its children in
// text order. It enters neither predicate literals nor blocks.
func Inspect(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	if _, ok := n.(*Block); ok {
		return
	}
	for _, x := range Children(n) {
		Inspect(x, visit)
	}
}

// Unparen returns what stands in parentheses, however many there are.
func Unparen(n Node) Node {
	for {
		p, ok := n.(*Paren)
		if !ok {
			return n
		}
		n = p.X
	}
}
