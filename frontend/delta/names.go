package delta

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
)

// stages has the names of stages in both dialects: whether each is the state
// before the transaction.
var stages = map[string]bool{
	"start": true, "prev": true, "previous": true, "init": true, "initial": true, "final": false,
}

// atom is an application with the value that stands behind it, or nil.
type atom struct {
	apply *ast.Apply
	value ast.Node
}

// atomOf returns the atom that a head is: p(x), or f[x] = v in either order.
func atomOf(n ast.Node) (a atom, ok bool) {
	switch n := ast.Unparen(n).(type) {
	case *ast.Apply:
		return atom{apply: n}, true
	case *ast.Compare:
		if len(n.Ops) != 1 || n.Ops[0] != "=" {
			return a, false
		}
		for i, x := range n.Operands {
			if f, ok := ast.Unparen(x).(*ast.Apply); ok && f.Square {
				return atom{f, n.Operands[1-i]}, true
			}
		}
	}
	return a, false
}

// args returns all arguments, the value last.
func (a atom) args() []ast.Node {
	if a.value == nil {
		return a.apply.Args
	}
	return append(slices.Clone(a.apply.Args), a.value)
}

// shape returns the number of arguments, and of keys among them, or -1 if the
// form does not show it.
func (a atom) shape() (arity, keys int) {
	arity, keys = len(a.apply.Args), a.apply.Split
	if a.apply.Square {
		arity, keys = arity+1, arity
	}
	return arity, keys
}

// items returns the conjuncts of a formula.
func items(n ast.Node) []ast.Node {
	switch n := ast.Unparen(n).(type) {
	case nil:
		return nil
	case *ast.Conj:
		var out []ast.Node
		for _, x := range n.Items {
			out = append(out, items(x)...)
		}
		return out
	default:
		return []ast.Node{n}
	}
}
