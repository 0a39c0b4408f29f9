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
