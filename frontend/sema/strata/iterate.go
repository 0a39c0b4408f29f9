package strata

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/graph"
)

// arrange puts the predicates of a stratum that iterates in the order in which
// a round derives them. A round reads what iterates as the round before has
// left it, so that negation and aggregation on the way are over complete
// predicates. What a round derives on its way must not depend on itself within
// the round.
func (c *strata) arrange(s *core.Stratum, recursive bool) {
	var iterating, others []*core.Pred
	for _, p := range s.Preds {
		if p.Iterates != nil {
			iterating = append(iterating, p)
		} else {
			others = append(others, p)
		}
	}
	if !recursive {
		p := iterating[0]
		e := c.refuseIteration(p, "no rule of %s reads %s", p.Name, p.Name)
		e.Note("a round derives %s from what the round before has left of it", p.Name)
		e.Help("read %s in the rule that changes its values, or remove the directive", p.Name)
		return
	}
	s.Preds = append(c.inRoundOrder(s, others, iterating[0]), iterating...)
	most := iterating[0].Iterates
	for _, p := range iterating {
		switch {
		case p.Iterates.Most != most.Most:
			e := c.refuseIteration(p, "%s and %s depend on each other, but differ in their rounds",
				iterating[0].Name, p.Name)
			e.Label(most.Span, "the rounds of %s", iterating[0].Name)
			e.Help("give both the same number by lang:iterate")
		case !slices.ContainsFunc(s.Rules, func(r *core.Rule) bool {
			return r.Head.Pred == p && s.Starts(r)
		}):
			e := c.refuseIteration(p, "%s has no first value", p.Name)
			e.Note("each rule of %s reads it, perhaps through other predicates", p.Name)
			e.Help("add facts, or a rule for %s that does not read it", p.Name)
		case most.Most < 0:
			s.Unbounded = p.Iterates.Span
		}
	}
	for _, p := range s.Preds {
		switch {
		case p.KeysHold():
			e := c.refuseIteration(iterating[0], "each round of %s would create entities by %s",
				iterating[0].Name, shownName(p))
			e.Help("create the entities before, and read them in the rounds")
			return
		case p.KeepsOne() && p.Iterates != nil:
			return // reported
		}
	}
}

// refuseIteration reports that a predicate cannot iterate.
func (c *strata) refuseIteration(p *core.Pred, text string, args ...any) *diag.Diagnostic {
	return c.Errorf(diag.NotIterable, p.Iterates.Span, text, args...)
}

// inRoundOrder orders what a round derives on its way, each predicate behind
// those that it needs, and refuses a cycle.
func (c *strata) inRoundOrder(s *core.Stratum, preds []*core.Pred, of *core.Pred) []*core.Pred {
	number := map[*core.Pred]int{}
	for i, p := range preds {
		number[p] = i
	}
	needs := make([][]int, len(preds))
	at := map[[2]int]source.Span{}
	for _, r := range s.Rules {
		head, ok := number[r.Head.Pred]
		if !ok {
			continue
		}
		eachAtom(r.Body, false, func(a *core.Atom, _ bool) {
			if body, ok := number[a.Pred]; ok {
				needs[head] = append(needs[head], body)
				if _, ok := at[[2]int{head, body}]; !ok {
					at[[2]int{head, body}] = a.Span
				}
			}
		})
	}
	var out []*core.Pred
	for _, component := range graph.Components(needs) {
		slices.Sort(component)
		first := component[0]
		if len(component) > 1 || slices.Contains(needs[first], first) {
			c.refuseInner(preds, needs, at, component, of)
		}
		for _, i := range component {
			out = append(out, preds[i])
		}
	}
	return out
}

// refuseInner reports predicates that depend on themselves within a round.
func (c *strata) refuseInner(preds []*core.Pred, needs [][]int, at map[[2]int]source.Span,
	component []int, of *core.Pred) {
	first := component[0]
	name := shownName(preds[first])
	if p := preds[first]; p.Hidden && strings.Contains(p.Name, "$range") {
		e := c.Errorf(diag.NotIterable, p.Span, "each round of %s would enumerate another range",
			of.Name)
		e.At = "the ends of this range come from the rounds"
		e.Label(of.Iterates.Span, "%s iterates", of.Name)
		e.Help("derive the largest range that is needed in a predicate of its own, for example " +
			"number(i) <- 0 <= i, i < 100, and use number here")
		return
	}
	e := c.Errorf(diag.NotIterable, preds[first].Span, "%s depends on itself within a round of %s",
		name, of.Name)
	for _, head := range component {
		for _, body := range needs[head] {
			if slices.Contains(component, body) {
				e.Label(at[[2]int{head, body}], "%s reads %s here", shownName(preds[head]),
					shownName(preds[body]))
				break
			}
		}
	}
	e.Label(of.Iterates.Span, "%s iterates", of.Name)
	e.Help("derive %s without itself, or let it iterate as well: it then reads the round before",
		name)
}
