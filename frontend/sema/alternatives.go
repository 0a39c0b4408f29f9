package sema

import (
	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
)

// maxAlternatives bounds the disjunctive normal form of one clause.
const maxAlternatives = 1024

// alternatives returns the disjunctive normal form of a formula: a list of
// conjunctions of atoms, comparisons and negations. It reports false, and an
// error, if there are too many.
func (c *checker) alternatives(n ast.Node) ([][]ast.Node, bool) {
	out, ok := dnf(n)
	if !ok {
		d := c.errorf(diag.TooManyAlternatives, n.Pos(), "this formula has more than %d alternatives when it is multiplied out", maxAlternatives)
		help(d, "move parts of it to helper predicates, one rule for each alternative")
	}
	return out, ok
}

func dnf(n ast.Node) ([][]ast.Node, bool) {
	switch n := n.(type) {
	case nil:
		return [][]ast.Node{nil}, true
	case *ast.Paren:
		switch unparen(n).(type) {
		case *ast.Conj, *ast.Disj, *ast.Not, *ast.Compare, *ast.Apply:
			return dnf(n.X)
		}
	case *ast.Disj:
		var out [][]ast.Node
		for _, x := range n.Items {
			alts, ok := dnf(x)
			if !ok || len(out)+len(alts) > maxAlternatives {
				return nil, false
			}
			out = append(out, alts...)
		}
		return out, true
	case *ast.Conj:
		out := [][]ast.Node{nil}
		for _, x := range n.Items {
			alts, ok := dnf(x)
			if !ok || len(out)*len(alts) > maxAlternatives {
				return nil, false
			}
			if len(alts) == 1 {
				for i := range out {
					out[i] = append(out[i], alts[0]...)
				}
				continue
			}
			product := make([][]ast.Node, 0, len(out)*len(alts))
			for _, left := range out {
				for _, right := range alts {
					product = append(product, append(left[:len(left):len(left)], right...))
				}
			}
			out = product
		}
		return out, true
	}
	return [][]ast.Node{{n}}, true
}

// disjunction returns the first disjunction of a formula that is not under
// negation, or nil.
func disjunction(n ast.Node) *ast.Disj {
	var found *ast.Disj
	inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Not:
			return false
		case *ast.Disj:
			if found == nil {
				found = n
			}
		}
		return found == nil
	})
	return found
}
