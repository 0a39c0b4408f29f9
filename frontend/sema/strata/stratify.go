package strata

import (
	"container/heap"
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/graph"
)

// strata reports cycles without strata, and strata that may never be complete.
type strata struct {
	*diag.Reporter
	// counts has the functions that a program counts, and keeps no best value
	// of.
	counts map[*core.Pred]bool
	// keeps has the directive by which a function could keep the least or the
	// greatest value of a key, where its only aggregation takes that.
	keeps map[*core.Pred]string
}

// dependency is why one predicate needs another.
type dependency struct {
	from, to int // head, body predicate
	kind     dependencyKind
	span     source.Span
}

type dependencyKind uint8

const (
	positive dependencyKind = iota
	negative
	aggregated
	sequenced
)

// Order orders the predicates in strata: strongly connected components of the
// dependency graph (Tarjan, 1972), each as early as its first predicate in the
// text allows. Negation and aggregation inside a component have no least model
// and are refused, with the cycle. See Apt, Blair and Walker, Towards a Theory
// of Declarative Knowledge (1988).
func Order(program *core.Program, rules []*core.Rule, report *diag.Reporter) {
	c := &strata{Reporter: report, counts: map[*core.Pred]bool{},
		keeps: map[*core.Pred]string{}}
	number := make(map[*core.Pred]int, len(program.Preds))
	for i, p := range program.Preds {
		number[p] = i
	}
	graph := make([][]dependency, len(program.Preds))
	for _, r := range rules {
		head := number[r.Head.Pred]
		kind := positive
		if len(r.Agg) > 0 && !r.Head.Pred.Improves() { // requireMonotone looks at the others
			kind = aggregated
			p := r.Head.Pred
			c.counts[p] = !p.Hidden && p.Keys == len(p.Args)-1 &&
				(r.Agg[0].Fn == core.Count || r.Agg[0].Fn == core.CountDistinct)
			if !p.Hidden && p.Keys == len(p.Args)-1 && len(r.Agg) == 1 {
				c.keeps[p] = map[core.AggFn]string{core.Min: "lang:recursiveMin",
					core.Max: "lang:recursiveMax"}[r.Agg[0].Fn]
			}
		} else if r.Seq != nil {
			kind = sequenced
		}
		eachAtom(r.Body, false, func(a *core.Atom, negated bool) {
			d := dependency{from: head, to: number[a.Pred], kind: kind, span: a.Span}
			if negated && kind == positive {
				d.kind = negative
			}
			graph[head] = append(graph[head], d)
		})
	}
	component, sizes := components(graph)
	recursive := make([]bool, len(sizes))
	for i, s := range sizes {
		recursive[i] = s > 1
	}
	for head, deps := range graph {
		for _, d := range deps {
			if component[head] == component[d.to] {
				recursive[component[head]] = true
			}
		}
	}
	iterates := make([]bool, len(sizes))
	for i, p := range program.Preds {
		iterates[component[i]] = iterates[component[i]] || p.Iterates != nil
	}
	refused := c.refuseCycles(program, graph, component, iterates)

	rulesOf := make([][]*core.Rule, len(sizes))
	for _, r := range rules {
		n := component[number[r.Head.Pred]]
		rulesOf[n] = append(rulesOf[n], r)
	}
	predsOf := make([][]*core.Pred, len(sizes))
	for i, p := range program.Preds {
		predsOf[component[i]] = append(predsOf[component[i]], p)
	}
	for _, n := range schedule(graph, component, len(sizes)) {
		if len(rulesOf[n]) == 0 {
			continue
		}
		s := &core.Stratum{Preds: predsOf[n], Rules: rulesOf[n], Recursive: recursive[n]}
		program.Strata = append(program.Strata, s)
		if iterates[n] {
			s.Recursive = false
			c.arrange(s, recursive[n])
			continue
		}
		if s.Recursive && !refused[n] {
			c.warnGrowth(s)
			c.requireMonotone(s)
		}
	}
}

// eachAtom calls f for the atoms of a body, also inside negations.
func eachAtom(body []core.Literal, negated bool, f func(a *core.Atom, negated bool)) {
	for _, l := range body {
		switch l := l.(type) {
		case *core.Atom:
			f(l, negated)
		case *core.Not:
			eachAtom(l.Body, true, f)
		}
	}
}

// components returns the strongly connected component of every node, and the
// sizes of the components.
func components(deps [][]dependency) (component []int, sizes []int) {
	successors := make([][]int, len(deps))
	for i := range deps {
		for _, d := range deps[i] {
			successors[i] = append(successors[i], d.to)
		}
	}
	component = make([]int, len(deps))
	for i, nodes := range graph.Components(successors) {
		for _, v := range nodes {
			component[v] = i
		}
		sizes = append(sizes, len(nodes))
	}
	return component, sizes
}

// schedule orders components so that each follows those it needs, and otherwise
// by their first predicate in the text.
func schedule(graph [][]dependency, component []int, n int) []int {
	first := make([]int, n)
	for i := range first {
		first[i] = -1
	}
	for node, c := range component {
		if first[c] < 0 {
			first[c] = node
		}
	}
	missing := make([]int, n)
	users := make([][]int, n)
	for head, deps := range graph {
		for _, d := range deps {
			a, b := component[head], component[d.to]
			if a != b {
				missing[a]++
				users[b] = append(users[b], a)
			}
		}
	}
	ready := &byFirst{first: first}
	for c := range n {
		if missing[c] == 0 {
			ready.items = append(ready.items, c)
		}
	}
	heap.Init(ready)
	var out []int
	for ready.Len() > 0 {
		c := heap.Pop(ready).(int)
		out = append(out, c)
		for _, u := range users[c] {
			if missing[u]--; missing[u] == 0 {
				heap.Push(ready, u)
			}
		}
	}
	return out
}

// byFirst is a heap of components, the one that comes first in the text on top.
type byFirst struct {
	first []int
	items []int
}

func (h *byFirst) Len() int           { return len(h.items) }
func (h *byFirst) Less(i, j int) bool { return h.first[h.items[i]] < h.first[h.items[j]] }
func (h *byFirst) Swap(i, j int)      { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *byFirst) Push(x any)         { h.items = append(h.items, x.(int)) }
func (h *byFirst) Pop() any {
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	return last
}

// refuseCycles reports negation, aggregation and numbering inside a component,
// once for each component, with a shortest cycle. It returns the components.
// Components that iterate have none: they read what is complete.
func (c *strata) refuseCycles(
	program *core.Program, graph [][]dependency, component []int, iterates []bool,
) map[int]bool {
	reported := map[int]bool{}
	for head, deps := range graph {
		for _, d := range deps {
			if d.kind == positive || component[head] != component[d.to] ||
				iterates[component[head]] || reported[component[head]] {
				continue
			}
			reported[component[head]] = true
			c.explainCycle(program, d, cyclePath(graph, component, d.to, head))
		}
	}
	return reported
}

// cyclePath returns the edges of a shortest path inside one component.
func cyclePath(graph [][]dependency, component []int, from, to int) []dependency {
	if from == to {
		return nil
	}
	came := map[int]dependency{}
	seen := map[int]bool{from: true}
	queue := []int{from}
	for len(queue) > 0 && !seen[to] {
		v := queue[0]
		queue = queue[1:]
		for _, d := range graph[v] {
			if component[d.to] == component[from] && !seen[d.to] {
				seen[d.to] = true
				came[d.to] = d
				queue = append(queue, d.to)
			}
		}
	}
	var out []dependency
	for v := to; v != from; v = came[v].from {
		out = append([]dependency{came[v]}, out...)
	}
	return out
}

// rangeCycle shows how the ends of a range depend on the head.
func (c *strata) rangeCycle(e *diag.Diagnostic, program *core.Program, rest []dependency) {
	cycle := []string{"the range"}
	for _, step := range rest {
		p := program.Preds[step.to]
		if p.Hidden {
			continue
		}
		if len(cycle) == 1 {
			e.Label(step.span, "its ends come from %s", p.Name)
		}
		cycle = append(cycle, p.Name)
	}
	e.Note("the cycle is %s -> %s", strings.Join(cycle, " -> "), cycle[0])
	e.Note("the values of the range can only be known when %s is complete", cycle[len(cycle)-1])
}

func (c *strata) explainCycle(program *core.Program, d dependency, rest []dependency) {
	name := func(i int) string {
		n := program.Preds[i].Name
		if program.Preds[i].Hidden {
			if end := strings.IndexAny(n, "$#"); end > 0 {
				n = n[:end]
			}
		}
		return n
	}
	code, how, through := diag.NegationInRecursion, "negates", "negation"
	switch d.kind {
	case aggregated:
		code, how, through = diag.AggregationInRecursion, "aggregates over", "aggregation"
	case sequenced:
		code, how, through = diag.SequenceInRecursion, "numbers", "seq<<>>"
	}
	e := c.Errorf(code, d.span, "%s depends on itself through %s", name(d.from), through)
	if p := program.Preds[d.to]; p.Hidden && strings.Contains(p.Name, "$range") {
		e.At = "the ends of this range come from the recursion, through " + through
		c.rangeCycle(e, program, rest)
		e.Help("derive the largest range that is needed in a predicate of its own, for example " +
			"number(i) <- 0 <= i, i < 100, and use number here")
		return
	}
	e.At = fmt.Sprintf("%s %s %s here", name(d.from), how, name(d.to))
	cycle := []string{name(d.from), name(d.to)}
	for _, step := range rest {
		verb := "uses"
		switch step.kind {
		case negative:
			verb = "negates"
		case aggregated:
			verb = "aggregates over"
		case sequenced:
			verb = "numbers"
		}
		if name(step.from) == name(step.to) {
			continue // one of them was made for the other
		}
		e.Label(step.span, "%s %s %s here", name(step.from), verb, name(step.to))
		cycle = append(cycle, name(step.to))
	}
	e.Note("the cycle is %s", strings.Join(cycle, " -> "))
	for i, from := range cycle[:len(cycle)-1] {
		_, _, event := core.Event(from)
		if _, _, ok := core.Event(cycle[i+1]); event && !ok {
			e.Help("if the state before the transaction is meant, write %s@prev", cycle[i+1])
		}
	}
	switch d.kind {
	case negative:
		e.Note("what is not in %s can only be known when %s is complete", name(d.to), name(d.to))
		e.Help("negate a predicate that does not depend on %s", name(d.from))
	case aggregated:
		e.Note("an aggregate of %s can only be computed when %s is complete", name(d.to),
			name(d.to))
		if p := program.Preds[d.from]; c.keeps[p] != "" {
			e.Help("to keep one value of a key while more are derived, write the rule without agg and "+
				"add %s(`%s).", c.keeps[p], p.Name)
		}
		e.Help("compute the recursive predicate without the aggregate, and aggregate its result in a " +
			"predicate of its own")
		if p := program.Preds[d.from]; c.counts[p] {
			e.Help("if only lower bounds on %s are read, write lang:recursiveMax(`%s).", p.Name, p.Name)
		}
	case sequenced:
		e.Help("compute the recursive predicate first, and number its result in a predicate of its own")
	}
}
