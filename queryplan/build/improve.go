package build

import (
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/queryplan"
)

// A predicate that keeps the best value of each key is filled by improvement.
// In its recursion, a set of its own has each tuple that was the best of its
// key at the end of a round: the steps. The rules run over them semi-naively. A
// round groups what the rules derive by key, and adds those groups to the steps
// whose best value beats the last step of the key. The delta is therefore the
// keys that changed. When no key changes, the last step of each key is the
// value.
//
// Older steps of a key derive nothing that the best one does not, because the
// front end has checked that the recursion is monotone. A key has as many steps
// as rounds that improve it.
//
// A predicate that keeps the first value of each key needs no steps: a round
// adds the groups of keys that it does not have. Nothing may then derive a
// tuple in an earlier or a later round than the rules do.

// steps makes the variable of the steps of each predicate of a recursion that
// keeps the best value. Rules read and fill it until done is called, which
// makes the value of each predicate.
func (b *builder) steps(s *stratum) (done func()) {
	values := map[*core.Pred]*queryplan.Var{}
	for _, p := range s.Preds {
		if !p.Improves() {
			b.vars[p].Unique = b.vars[p].Unique || p.KeepsOne()
			continue
		}
		v := b.vars[p]
		steps := &queryplan.Var{Name: b.names.Fresh(p.Name + "$steps"), Kind: queryplan.Derived,
			Cols: v.Cols, Keys: p.Keys, Limit: -1, Span: p.Span}
		b.plan.Vars = append(b.plan.Vars, steps)
		values[p], b.vars[p] = v, steps
	}
	return func() {
		for _, p := range s.Preds {
			v := values[p]
			if v == nil {
				continue
			}
			best := bestOf(p, scanOf(b.vars[p]))
			b.vars[p] = v
			b.add(&queryplan.Insert{Var: v, Node: best, Span: p.Span})
			b.merge(p)
			v.Unique = true
		}
	}
}

// improve adds the groups to the steps of a predicate that beat them, or to a
// predicate that keeps first values those of new keys.
func (b *builder) improve(p *core.Pred, found []*queryplan.Insert) {
	if len(found) == 0 {
		return
	}
	v := b.vars[p]
	groups := &queryplan.Var{Name: b.names.Fresh(p.Name + "$groups"), Kind: queryplan.Temp,
		Cols: v.Cols, Keys: p.Keys, Unique: true, Limit: -1, Span: p.Span}
	b.plan.Vars = append(b.plan.Vars, groups)
	b.add(&queryplan.Assign{Var: groups, Node: best(p, found)})

	key := &queryplan.Scan{Var: v, Names: queryplan.NamesOf(v.Cols)}
	key.Names[p.Keys] = ""
	b.add(&queryplan.Insert{Var: v, Span: found[0].Span,
		Node: &queryplan.Join{Kind: queryplan.Anti, Left: scanOf(groups), Right: key}})
	if !p.Improves() {
		return
	}
	value := v.Cols[p.Keys]
	names := queryplan.NewNames()
	for _, c := range v.Cols {
		names.Take(c.Name)
	}
	step := queryplan.Column{Name: names.Fresh(value.Name), Type: value.Type}
	last := &queryplan.Scan{Var: v, Version: queryplan.Last, Names: queryplan.NamesOf(v.Cols)}
	last.Names[p.Keys] = step.Name
	beats := map[core.Keep]string{core.KeepLeast: "lt", core.KeepGreatest: "gt"}[p.Keeps]
	b.add(&queryplan.Insert{Var: v, Span: found[0].Span, Node: onlyColumns(&queryplan.Filter{
		Input: &queryplan.Join{Left: scanOf(groups), Right: last, Unique: true},
		Cond:  call(beats, ref(value), ref(step)),
	}, queryplan.NamesOf(v.Cols))})
}

// best unites what rules derive, and groups it.
func best(p *core.Pred, found []*queryplan.Insert) queryplan.Node {
	return bestOf(p, united(found))
}

// bestOf groups tuples of a predicate by its keys and keeps the best value.
func bestOf(p *core.Pred, n queryplan.Node) queryplan.Node {
	value := n.Columns()[p.Keys]
	fn := queryplan.Min // of values that are as good as each other, too
	if p.Keeps == core.KeepGreatest {
		fn = queryplan.Max
	}
	// A result has a name of its own.
	names := queryplan.NewNames()
	for _, c := range n.Columns() {
		names.Take(c.Name)
	}
	out := queryplan.Column{Name: names.Fresh(value.Name), Type: value.Type}
	agg := &queryplan.Aggregate{Input: n, By: queryplan.NamesOf(n.Columns()[:p.Keys]),
		Aggs: []queryplan.Agg{{Out: out, Fn: fn, In: value.Name}}}
	rename := &queryplan.Project{Input: agg}
	for _, name := range agg.By {
		rename.Cols = append(rename.Cols, queryplan.Rename{From: name, To: name})
	}
	rename.Cols = append(rename.Cols, queryplan.Rename{From: out.Name, To: value.Name})
	return rename
}
