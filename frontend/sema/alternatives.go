package sema

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// maxAlternatives bounds the disjunctive normal form of one clause.
const maxAlternatives = 1024

// alternative is one conjunction of a disjunctive normal form.
type alternative struct {
	items []ast.Node
	picks []source.Span // the item of each disjunction that it comes from
}

// alternatives returns the disjunctive normal form of a formula: a list of
// conjunctions of atoms, comparisons and negations. A disjunction of
// comparisons over variables that atoms bind stays one test, so that the atoms
// are not joined once for each of its alternatives. If there are too many
// alternatives, it reports an error and returns false.
func (c *checker) alternatives(n ast.Node) ([]alternative, bool) {
	if disjunction(n) == nil {
		return []alternative{{items: conjuncts(n)}}, true
	}
	out, ok := dnf(n, atomVars(n))
	if !ok {
		d := c.Errorf(diag.TooManyAlternatives, n.Pos(),
			"this formula has more than %d alternatives when it is multiplied out", maxAlternatives)
		d.Help("move parts of it to helper predicates, one rule for each alternative")
	}
	return out, ok
}

// dnf multiplies out. bound has the variables of the atoms around n, which hold
// for every alternative in n.
func dnf(n ast.Node, bound map[string]bool) ([]alternative, bool) {
	switch n := n.(type) {
	case nil:
		return []alternative{{}}, true
	case *ast.Paren:
		switch ast.Unparen(n).(type) {
		case *ast.Conj, *ast.Disj, *ast.Not, *ast.Compare, *ast.In, *ast.Apply:
			return dnf(n.X, bound)
		}
	case *ast.Disj:
		if isTest(n, bound) {
			return []alternative{{items: []ast.Node{n}}}, true
		}
		var out []alternative
		for _, x := range n.Items {
			alts, ok := dnf(x, with(bound, atomVars(x)))
			if !ok || len(out)+len(alts) > maxAlternatives {
				return nil, false
			}
			for _, a := range alts {
				a.picks = append([]source.Span{x.Pos()}, a.picks...)
				out = append(out, a)
			}
		}
		return out, true
	case *ast.Conj:
		out := []alternative{{}}
		for _, x := range n.Items {
			alts, ok := dnf(x, bound)
			if !ok || len(out)*len(alts) > maxAlternatives {
				return nil, false
			}
			if len(alts) == 1 {
				for i := range out {
					out[i].items = append(out[i].items, alts[0].items...)
				}
				continue
			}
			product := make([]alternative, 0, len(out)*len(alts))
			for _, left := range out {
				for _, right := range alts {
					product = append(product, alternative{slices.Concat(left.items, right.items),
						slices.Concat(left.picks, right.picks)})
				}
			}
			out = product
		}
		return out, true
	}
	return []alternative{{items: []ast.Node{n}}}, true
}

// disjunction returns the first disjunction of a formula that is not under
// negation, or nil.
func disjunction(n ast.Node) *ast.Disj {
	var found *ast.Disj
	ast.Inspect(n, func(n ast.Node) bool {
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

// atomVars returns the variables that the atoms of a conjunction bind, whatever
// alternatives it has inside.
func atomVars(n ast.Node) map[string]bool {
	vars := map[string]bool{}
	for _, item := range conjuncts(n) {
		var atoms []ast.Node
		switch item := item.(type) {
		case *ast.Apply:
			if !isReserved(item) {
				atoms = arguments(item)
			}
		case *ast.Compare:
			if len(item.Ops) == 1 && item.Ops[0] == "=" {
				for i, x := range item.Operands {
					if f, ok := ast.Unparen(x).(*ast.Apply); ok && isFunctionAtom(f) {
						atoms = append(atoms, f.Args...)
						atoms = append(atoms, item.Operands[1-i])
					}
				}
			}
		}
		for _, arg := range atoms {
			if v, ok := ast.Unparen(arg).(*ast.Var); ok {
				vars[v.Name] = true
			}
		}
	}
	return vars
}

func with(a, b map[string]bool) map[string]bool {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]bool, len(a)+len(b))
	for _, m := range []map[string]bool{a, b} {
		for name := range m {
			out[name] = true
		}
	}
	return out
}

// isTest reports whether a formula is made of comparisons, all of whose
// variables are bound.
func isTest(n ast.Node, bound map[string]bool) bool {
	all := func(items []ast.Node) bool {
		for _, x := range items {
			if !isTest(x, bound) {
				return false
			}
		}
		return true
	}
	switch n := ast.Unparen(n).(type) {
	case *ast.Conj:
		return all(n.Items)
	case *ast.Disj:
		return all(n.Items)
	case *ast.In:
		v, ok := ast.Unparen(n.X).(*ast.Var)
		return ok && bound[v.Name] && len(n.Items) <= maxTested
	case *ast.Compare:
		for _, x := range n.Operands {
			if !isComputed(x, bound) {
				return false
			}
		}
		return true
	}
	return false
}

// isComputed reports whether an expression needs no atom of its own.
func isComputed(n ast.Node, bound map[string]bool) bool {
	ok := true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Var:
			ok = ok && bound[n.Name]
		case *ast.Apply:
			ok = ok && n.Square && scalar.Lookup(n.Name.Text) != nil &&
				scalar.IsBuiltin(n.Name.Text)
		case *ast.Literal, *ast.Paren, *ast.Binary, *ast.Unary:
		default:
			ok = false
		}
		return ok
	})
	return ok
}
