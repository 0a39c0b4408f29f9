package build

import (
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// A predicate that numbers its keys has two variables: a set of keys, which its
// rules fill, and the keys with their numbers, which are the positions of the
// keys in the set. A round adds the keys that are new first, then their
// numbers.

// numbered makes the variable of the keys.
func (b *builder) numbered(p *core.Pred, v *queryplan.Var, names *queryplan.Names) {
	v.Unique = true
	keys := &queryplan.Var{Name: names.Fresh(p.Name + "$keys"), Kind: queryplan.Derived,
		Cols: v.Cols[:p.Keys], Keys: p.Keys, Limit: -1, Span: p.Span}
	b.keys[p] = keys
	b.plan.Vars = append(b.plan.Vars, keys)
}

// filled returns the variable that the rules of a predicate fill.
func (b *builder) filled(p *core.Pred) *queryplan.Var {
	if keys := b.keys[p]; keys != nil {
		return keys
	}
	return b.vars[p]
}

// read returns the variable that atoms of a predicate scan, and the number of
// its columns. Where the positions of keys are the numbers themselves, it is
// the set of keys.
func (b *builder) read(p *core.Pred) (v *queryplan.Var, columns int) {
	if p.Numbers != nil && p.Numbers.Step == 1 {
		return b.keys[p], p.Keys
	}
	return b.vars[p], len(p.Args)
}

// given returns the arguments of a head that its rule computes.
func given(h *core.Atom) []core.Term {
	if h.Pred.Numbers != nil {
		return h.Args[:h.Pred.Keys]
	}
	return h.Args
}

// merge ends a round of a predicate.
func (b *builder) merge(p *core.Pred) {
	if keys := b.keys[p]; keys != nil {
		b.add(&queryplan.Merge{Var: keys})
		b.add(&queryplan.Insert{Var: b.vars[p], Node: newNumbers(p, keys), Span: p.Span})
	}
	b.add(&queryplan.Merge{Var: b.vars[p]})
}

// newNumbers yields the keys that the last round added, with their numbers.
func newNumbers(p *core.Pred, keys *queryplan.Var) queryplan.Node {
	names := queryplan.NewNames()
	scan := &queryplan.Scan{Var: keys, Version: queryplan.Delta}
	for _, c := range keys.Cols {
		names.Take(c.Name)
		scan.Names = append(scan.Names, c.Name)
	}
	number := p.Args[p.Keys].Name
	if p.Numbers.Step == 1 && p.Numbers.Start == 0 {
		scan.Position = number
		return scan
	}
	names.Take(number)
	scan.Position = names.Fresh("position")
	arithmetic := func(name string, x queryplan.Expr, y int64) queryplan.Expr {
		return &queryplan.Call{Func: scalar.Lookup(name), Result: scalar.IntType,
			Args: []queryplan.Expr{x,
				&queryplan.Const{Value: scalar.OfInt(scalar.IntType, y)}}}
	}
	at := ref(queryplan.Column{Name: scan.Position, Type: scalar.IntType})
	n := &queryplan.Project{Input: &queryplan.Map{Input: scan, Exprs: []queryplan.NamedExpr{{
		Name: number, Expr: arithmetic("add", arithmetic("mul", at, p.Numbers.Step),
			p.Numbers.Start)}}}}
	for _, c := range keys.Cols {
		n.Cols = append(n.Cols, queryplan.Rename{From: c.Name, To: c.Name})
	}
	n.Cols = append(n.Cols, queryplan.Rename{From: number, To: number})
	return n
}
