package build

import (
	"slices"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// A stratum that iterates is a loop over bags. `now` of a predicate has what
// the last round left of it. A round computes what it derives on its way, then
// `next` of each predicate that iterates, and only then replaces now by next.
// The loop goes on while the counter of rounds has a delta: a round adds its
// number, unless it is the last one or nothing has moved. What a round derives
// on its way is derived once more from the last contents, for its readers.

// iteration is a stratum that iterates on its way to a loop.
type iteration struct {
	*builder
	*stratum
	// now has the bags of the loop, and result the variables that have the
	// contents at the end.
	now, result map[*core.Pred]*queryplan.Var
	iterating   []*core.Pred
	rounds      *queryplan.Var
}

// iterate evaluates a stratum of lang:iterate.
func (b *builder) iterate(s *stratum) error {
	it := &iteration{builder: b, stratum: s, now: map[*core.Pred]*queryplan.Var{},
		result: map[*core.Pred]*queryplan.Var{}}
	for _, p := range s.Preds {
		it.now[p], it.result[p] = it.bag(p, "$now"), b.vars[p]
		if p.Iterates != nil {
			it.iterating = append(it.iterating, p)
		}
	}
	for _, p := range it.iterating {
		ins, err := b.derive(p, it.rulesOf(p, true))
		if err != nil {
			return err
		}
		it.assign(it.now[p], p, ins)
	}
	it.count()
	loop := &queryplan.Jump{}
	b.block.Term = loop
	b.startBlock()
	loop.To = b.block
	if err := it.round(); err != nil {
		return err
	}
	return it.finish()
}

// bag makes a temporary variable for the contents of a predicate.
func (it *iteration) bag(p *core.Pred, suffix string) *queryplan.Var {
	v := &queryplan.Var{Name: it.names.Fresh(p.Name + suffix), Kind: queryplan.Temp,
		Cols: it.vars[p].Cols, Keys: p.Keys, Unique: true, Limit: -1, Span: p.Span}
	it.plan.Vars = append(it.plan.Vars, v)
	return v
}

// rulesOf returns the rules of a predicate that give its first contents, or the
// others.
func (it *iteration) rulesOf(p *core.Pred, starts bool) []*core.Rule {
	return slices.DeleteFunc(slices.Clone(it.rules[p]), func(r *core.Rule) bool {
		return it.Starts(r) != starts
	})
}

// count starts the counter of rounds.
func (it *iteration) count() {
	p := it.iterating[0]
	cols := []queryplan.Column{{Name: "round", Type: scalar.IntType}}
	it.rounds = &queryplan.Var{Name: it.names.Fresh(p.Name + "$rounds"), Kind: queryplan.Derived,
		Cols: cols, Keys: 1, Limit: -1, Span: p.Span}
	it.plan.Vars = append(it.plan.Vars, it.rounds)
	zero := &queryplan.Values{Cols: cols,
		Rows: [][]scalar.Value{{scalar.OfInt(scalar.IntType, 0)}}}
	it.add(&queryplan.Insert{Var: it.rounds, Node: zero, Span: p.Iterates.Span})
	it.add(&queryplan.Merge{Var: it.rounds})
}

// round fills the block of the loop.
func (it *iteration) round() error {
	for _, p := range it.Preds {
		it.vars[p] = it.now[p]
	}
	for _, p := range it.Preds {
		if p.Iterates != nil {
			continue
		}
		ins, err := it.derive(p, it.rules[p])
		if err != nil {
			return err
		}
		it.assign(it.now[p], p, ins)
	}
	// One bag is enough if nothing else reads the contents before.
	next := map[*core.Pred]*queryplan.Var{}
	converges := slices.ContainsFunc(it.iterating, func(p *core.Pred) bool {
		return p.Iterates.Converges()
	})
	for _, p := range it.iterating {
		next[p] = it.now[p]
		if converges || len(it.iterating) > 1 {
			next[p] = it.bag(p, "$next")
		}
		ins, err := it.derive(p, it.rulesOf(p, false))
		if err != nil {
			return err
		}
		it.assign(next[p], p, ins)
	}
	it.advance(next)
	for _, p := range it.iterating {
		if next[p] != it.now[p] {
			it.add(&queryplan.Assign{Var: it.now[p], Node: scanOf(next[p])})
		}
	}
	again := &queryplan.Branch{Vars: []*queryplan.Var{it.rounds}, Then: it.block,
		Unbounded: it.Unbounded.IsValid(), Span: it.Unbounded}
	it.block.Term = again
	it.startBlock()
	again.Else = it.block
	return nil
}

// finish fills the variables of the predicates.
func (it *iteration) finish() error {
	for _, p := range it.iterating {
		it.vars[p] = it.result[p]
		it.complete(p, []*queryplan.Insert{{Var: it.result[p], Node: scanOf(it.now[p]),
			Span: p.Span}})
	}
	for _, p := range it.Preds {
		if p.Iterates != nil {
			continue
		}
		it.vars[p] = it.result[p]
		ins, err := it.derive(p, it.rules[p])
		if err != nil {
			return err
		}
		it.complete(p, ins)
	}
	return nil
}

// assign replaces a bag by what rules derive, as a set of which no two tuples
// agree on the key.
func (it *iteration) assign(v *queryplan.Var, p *core.Pred, found []*queryplan.Insert) {
	switch {
	case p.KeepsOne():
		it.add(&queryplan.Assign{Var: v, Node: best(p, found)})
	case hasToCheck(p) && !keepsKey(found, p.Keys):
		it.assignChecked(v, p, found)
	default:
		for i, in := range found {
			if n := in.Node; !queryplan.IsSet(n) {
				found[i] = &queryplan.Insert{Var: in.Var, Node: &queryplan.Dedup{Input: n}}
			}
		}
		n := united(found)
		if len(found) > 1 && !hasToCheck(p) {
			n = &queryplan.Dedup{Input: n}
		}
		it.add(&queryplan.Assign{Var: v, Node: n})
	}
}

// assignChecked replaces a bag by what rules derive, and fails the run if they
// derive two values for a key: these go into a variable of their own, whose key
// is checked.
func (it *iteration) assignChecked(v *queryplan.Var, p *core.Pred, found []*queryplan.Insert) {
	value := v.Cols[p.Keys]
	names := queryplan.NewNames()
	for _, c := range v.Cols {
		names.Take(c.Name)
	}
	least := queryplan.Column{Name: names.Fresh(value.Name), Type: value.Type}
	greatest := queryplan.Column{Name: names.Fresh(value.Name), Type: value.Type}
	keys := queryplan.NamesOf(v.Cols[:p.Keys])
	ends := it.bag(p, "$ends")
	ends.Cols = append(slices.Clone(v.Cols[:p.Keys]), least, greatest)
	it.add(&queryplan.Assign{Var: ends, Node: &queryplan.Aggregate{
		Input: united(found), By: keys, Aggs: []queryplan.Agg{
			{Out: least, Fn: queryplan.Min, In: value.Name},
			{Out: greatest, Fn: queryplan.Max, In: value.Name}}}})
	values := &queryplan.Var{Name: it.names.Fresh(p.Name + "$values"), Kind: queryplan.Derived,
		Cols: v.Cols, Keys: p.Keys, Checked: true, Limit: -1, Span: p.Span}
	it.plan.Vars = append(it.plan.Vars, values)
	differ := &queryplan.Filter{Input: scanOf(ends), Cond: call("ne", ref(least), ref(greatest))}
	for _, end := range []string{least.Name, greatest.Name} {
		it.add(&queryplan.Insert{Var: values, Span: p.Span,
			Node: arrange(differ, append(slices.Clip(keys), end))})
	}
	it.add(&queryplan.Merge{Var: values})
	it.add(&queryplan.CheckKey{Var: values, Span: p.Span})
	it.add(&queryplan.Assign{Var: v,
		Node: arrange(scanOf(ends), append(slices.Clip(keys), least.Name))})
}

// advance adds the number of the round, unless it is the last one.
func (it *iteration) advance(next map[*core.Pred]*queryplan.Var) {
	before := queryplan.Column{Name: "before", Type: scalar.IntType}
	var n queryplan.Node = &queryplan.Map{
		Input: &queryplan.Scan{Var: it.rounds, Version: queryplan.Delta,
			Names: []string{before.Name}},
		Exprs: []queryplan.NamedExpr{{Name: "round",
			Expr: integer("add", ref(before), number(1))}}}
	if most := it.Iteration().Most; most >= 0 {
		n = &queryplan.Filter{Input: n, Cond: call("lt",
			ref(queryplan.Column{Name: "round", Type: scalar.IntType}), number(most))}
	}
	var moved []queryplan.Node
	for _, p := range it.iterating {
		if p.Iterates.Converges() {
			moved = append(moved, it.moved(p, next[p])...)
		}
	}
	switch len(moved) {
	case 0:
	case 1:
		n = &queryplan.Join{Left: n, Right: moved[0]}
	default:
		n = &queryplan.Join{Left: n, Right: &queryplan.Union{Nodes: moved}}
	}
	it.add(&queryplan.Insert{Var: it.rounds, Node: arrange(n, []string{"round"}),
		Span: it.iterating[0].Iterates.Span})
	it.add(&queryplan.Merge{Var: it.rounds})
}

// moved returns trees of which one yields a tuple if a round has moved a
// predicate: a key came, went, or has another value.
func (it *iteration) moved(p *core.Pred, next *queryplan.Var) []queryplan.Node {
	now := it.now[p]
	keys := queryplan.NamesOf(now.Cols[:p.Keys])
	found := func(n queryplan.Node) queryplan.Node {
		count := queryplan.Column{Name: "moved", Type: scalar.IntType}
		return &queryplan.Aggregate{Input: arrange(n, nil),
			Aggs: []queryplan.Agg{{Out: count, Fn: queryplan.Count}}}
	}
	without := func(a, b *queryplan.Var) queryplan.Node {
		return found(&queryplan.Join{Kind: queryplan.Anti, Left: arrange(scanOf(a), keys),
			Right: arrange(scanOf(b), keys)})
	}
	out := []queryplan.Node{without(now, next), without(next, now)}
	if !p.Functional() {
		return out
	}
	value := now.Cols[p.Keys]
	names := queryplan.NewNames()
	for _, c := range now.Cols {
		names.Take(c.Name)
	}
	new := queryplan.Column{Name: names.Fresh(value.Name), Type: value.Type}
	scan := &queryplan.Scan{Var: next, Names: append(slices.Clip(keys), new.Name)}
	return append(out, found(&queryplan.Filter{
		Input: &queryplan.Join{Left: scan, Right: scanOf(now)},
		Cond:  apart(ref(value), ref(new), p.Iterates)}))
}

// apart is the condition that two values differ by more than they may. A
// difference that does not fit its type is too large. Integers are compared as
// floats, whose difference always fits.
func apart(a, b queryplan.Expr, i *core.Iteration) queryplan.Expr {
	differ := call("ne", a, b)
	if i.Still {
		return differ
	}
	var until queryplan.Expr = &queryplan.Const{Value: i.Until}
	if i.Until.Type.Kind != scalar.Decimal && i.Until.Type.Kind != scalar.Float {
		a, b = convert(a, scalar.FloatType), convert(b, scalar.FloatType)
		until = convert(until, scalar.FloatType)
	}
	distance := &queryplan.Call{Func: scalar.Lookup("sub"), Args: []queryplan.Expr{a, b},
		Result: a.Type()}
	distance = &queryplan.Call{Func: scalar.Lookup("abs"), Args: []queryplan.Expr{distance},
		Result: a.Type()}
	return call("and", differ, call("not", call("holds", call("le", distance, until))))
}

// united returns what rules derive, under the names of the columns of their
// variable.
func united(found []*queryplan.Insert) queryplan.Node {
	cols := found[0].Var.Cols
	nodes := list.Map(found, func(in *queryplan.Insert) queryplan.Node {
		n := &queryplan.Project{Input: in.Node}
		for i, c := range in.Node.Columns() {
			n.Cols = append(n.Cols, queryplan.Rename{From: c.Name, To: cols[i].Name})
		}
		return n
	})
	if len(nodes) == 1 {
		return nodes[0]
	}
	return &queryplan.Union{Nodes: nodes}
}
